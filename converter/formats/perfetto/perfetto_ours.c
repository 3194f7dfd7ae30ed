/* SPDX-License-Identifier: Apache-2.0 */
/* What is on tracks of a file of ours -> the events that it was made of; of hosts, and points. */
#include <string.h>

#include "model/words/kinds.h"
#include "perfetto_impl.h"

/* -- intervals of the host -------------------------------------------------------------------- */

static int write_collective(struct perfetto *perfetto, const struct perfetto_track *track,
                            const struct perfetto_open *open, struct event *event, const char *args)
{
	struct flextrace_collective *collective = &event->payload.collective;
	const struct told of = {.members = {args, strlen(args)}};

	event->class = RECORD_COLLECTIVE;
	FLEXTRACE_TRY(perfetto_fill(perfetto, &of, RECORD_COLLECTIVE, collective));
	collective->op = perfetto_string(perfetto, open->name);
	return import_write_edges(&perfetto->import, track->stream, event, open->begin_ns);
}

static const char *name_of(struct perfetto *perfetto, const struct perfetto_open *open,
                           const struct our_row *row)
{
	return perfetto_number(&row->ours, "unnamed", 0) ? ""
	                                                 : perfetto_string(perfetto, open->name);
}

static int write_async(struct perfetto *perfetto, const struct perfetto_track *track,
                       const struct perfetto_open *open, struct event *event,
                       const struct our_row *row)
{
	event->class = RECORD_ASYNC_SPAN;
	event->payload.span = (struct flextrace_span){
		.kind = row->kind == HOST_STEP  ? FLEXTRACE_RUNTIME_STEP
	                : row->kind > HOST_STEP ? FLEXTRACE_RUNTIME_USER
	                                        : row->kind,
		.begin_ns = (uint64_t)open->begin_ns,
		.end_ns = (uint64_t)open->end_ns,
		.name = name_of(perfetto, open, row),
		.correlation = perfetto_number(&row->ours, "correlation", 0),
	};
	return import_write(&perfetto->import, track->stream, event);
}

/* One of the records that an operation's row was told by. They all begin with its correlation. */
static int write_attribute(struct perfetto *perfetto, const struct perfetto_track *track,
                           const struct event *scope, enum record_class class,
                           const struct told *of, bool is_output)
{
	struct event event = *scope;

	event.class = class;
	FLEXTRACE_TRY(perfetto_fill(perfetto, of, class, &event.payload));
	event.payload.op.correlation = scope->payload.scope.correlation;
	if (class == RECORD_OP)
		event.payload.op.n_cores = (uint32_t)perfetto_number(of, "cores", 0);
	if (class == RECORD_TENSOR)
		event.payload.tensor.is_output = is_output;
	return import_write(&perfetto->import, track->stream, &event);
}

static int write_tensors(struct perfetto *perfetto, const struct perfetto_track *track,
                         const struct event *scope, struct trace_text list, bool is_output)
{
	struct trace_value value;

	while (trace_array_next(&list, &value)) {
		const struct told tensor = {.members = value.text};

		if (value.kind == TRACE_JSON)
			FLEXTRACE_TRY(write_attribute(perfetto, track, scope, RECORD_TENSOR,
			                              &tensor, is_output));
	}
	return FLEXTRACE_OK;
}

/* An operation whose arguments are what its records told becomes these again; the rest is kept. */
static int write_attributes(struct perfetto *perfetto, const struct perfetto_track *track,
                            const struct event *scope, const char **args)
{
	const struct told of = {.members = {*args, strlen(*args)}};
	struct trace_value inputs, outputs, value;

	if (!scope->payload.scope.correlation || !told_find(&of, "inputs", &inputs) ||
	    !told_find(&of, "outputs", &outputs) || inputs.kind != TRACE_JSON ||
	    outputs.kind != TRACE_JSON)
		return FLEXTRACE_OK;
	if (told_find(&of, "cores", &value))
		FLEXTRACE_TRY(write_attribute(perfetto, track, scope, RECORD_OP, &of, false));
	if (told_find(&of, "op_name", &value) || told_find(&of, "module", &value) ||
	    told_find(&of, "opcode", &value) || told_find(&of, "frames", &value))
		FLEXTRACE_TRY(write_attribute(perfetto, track, scope, RECORD_OP_INFO, &of, false));
	FLEXTRACE_TRY(write_tensors(perfetto, track, scope, inputs.text, false));
	FLEXTRACE_TRY(write_tensors(perfetto, track, scope, outputs.text, true));
	return perfetto_member(perfetto, &of, "args", args);
}

static int write_scope(struct perfetto *perfetto, const struct perfetto_track *track,
                       const struct perfetto_open *open, struct event *event,
                       const struct our_row *row, const char *args)
{
	uint64_t correlation = perfetto_number(&row->ours, "correlation", 0);

	event->payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)open->begin_ns,
		.kind = row->kind == HOST_STEP ? FLEXTRACE_RUNTIME_STEP : row->kind,
		.name = name_of(perfetto, open, row),
		.correlation = row->has_told
	                               ? perfetto_number(&row->all, "correlation", correlation)
	                               : correlation,
		.file = perfetto_string(perfetto, open->location.file),
		.line = open->location.line,
	};
	if (row->kind == FLEXTRACE_RUNTIME_OP && !row->has_told)
		FLEXTRACE_TRY(write_attributes(perfetto, track, event, &args));
	return import_write_scope(&perfetto->import, track->stream, event, args);
}

static int write_host(struct perfetto *perfetto, const struct perfetto_track *track,
                      const struct perfetto_open *open)
{
	const struct perfetto_thing *thing = &perfetto->file.things[track->thing];
	struct event event = perfetto_event_of(perfetto, track, RECORD_SCOPE, open->end_ns);
	struct our_row row;
	const char *args;

	FLEXTRACE_TRY(
		our_row_read(perfetto, thing->dialect, open->category, open->members, false, &row));
	event.origins[0] = origin_make(0, open->packet);
	event.status = our_row_status(&row);
	if (!row.is_known)
		row.kind = FLEXTRACE_RUNTIME_USER;
	row.has_told |= thing->is_torch && row.kind != HOST_WINDOW;
	if (row.has_told || !row.is_known)
		FLEXTRACE_TRY(our_row_told(perfetto, &row, &args));
	else
		FLEXTRACE_TRY(perfetto_member(perfetto, &row.ours, "args", &args));
	if (row.kind == HOST_COLLECTIVE)
		return write_collective(perfetto, track, open, &event, args);
	if (row.kind == HOST_WINDOW) {
		event.class = RECORD_WINDOW;
		event.payload.window.name = name_of(perfetto, open, &row);
		return import_write_edges(&perfetto->import, track->stream, &event, open->begin_ns);
	}
	if (thing->is_async)
		return write_async(perfetto, track, open, &event, &row);
	return write_scope(perfetto, track, open, &event, &row, args);
}

int perfetto_write_our_interval(struct perfetto *perfetto, const struct perfetto_track *track,
                                const struct perfetto_open *open)
{
	if (track->thing == FLEXTRACE_NONE)
		return import_lose(&perfetto->import, LOSS_UNUSED, 1);
	switch (perfetto->file.things[track->thing].kind) {
	case THING_THREAD:
		return write_host(perfetto, track, open);
	case THING_QUEUE:
	case THING_CORE:
		return perfetto_write_our_op(perfetto, track, open);
	default:
		return FLEXTRACE_OK; /* losses: the file's attribute says them */
	}
}

/* -- points ----------------------------------------------------------------------------------- */

/* Where an arrow leaves from or arrives at, there is one that has only the arrow. */
static bool is_of_arrow(const struct our_row *row)
{
	static const char *const arrows[] = {"ac2g", "message", "fwdbwd", "critical_path"};

	for (size_t i = 0; i < sizeof(arrows) / sizeof(*arrows); i++) {
		if (trace_text_is(&row->all.category, arrows[i]))
			return true;
	}
	return false;
}

int perfetto_write_our_instant(struct perfetto *perfetto, const struct track_event *of)
{
	const struct perfetto_track *track = &perfetto->file.tracks[of->track];
	struct event event = perfetto_event_of(perfetto, track, RECORD_INSTANT, of->time_ns);
	const char *name = perfetto_string(perfetto, of->name), *value = "";
	struct our_row row;

	FLEXTRACE_TRY(our_row_read(perfetto, 0, of->category, of->members, false, &row));
	if (is_of_arrow(&row))
		return FLEXTRACE_OK;
	if (track->thing == FLEXTRACE_NONE)
		return import_lose(&perfetto->import, LOSS_UNUSED, 1);
	if (perfetto->file.things[track->thing].kind == THING_CORE)
		return perfetto_write_our_mark(perfetto, of, &row);
	if (!row.has_label) {
		event.payload.instant = (struct flextrace_instant){
			.name = name, .correlation = perfetto_number(&row.ours, "correlation", 0)};
	} else {
		FLEXTRACE_TRY(row.has_told ? our_row_told(perfetto, &row, &value)
		                           : perfetto_member(perfetto, &row.ours, "value", &value));
		event.class = RECORD_ANNOTATION;
		event.payload.annotation = (struct flextrace_annotation){.key = name,
		                                                         .value = value};
	}
	return import_write(&perfetto->import, track->stream, &event);
}

/* The total of a device's memory, with the record that made it so. */
static int write_memory(struct perfetto *perfetto, const struct perfetto_track *track,
                        const struct track_event *of)
{
	struct event event = perfetto_event_of(perfetto, track, RECORD_MEMORY, of->time_ns);
	struct flextrace_memory *memory = &event.payload.memory;
	struct trace_value op;
	struct our_row row;

	FLEXTRACE_TRY(our_row_read(perfetto, 0, 0, of->members, true, &row));
	if (!told_find(&row.all, "op", &op))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(perfetto_fill(perfetto, &row.ours, RECORD_MEMORY, memory));
	memory->device = perfetto->file.things[track->thing].number;
	memory->op = word_find(memory_op_name, FLEXTRACE_MEMORY_RESIZE + 1, &op.text);
	event.vtid = (int32_t)perfetto_number(&row.ours, "tid", (uint64_t)-1);
	return import_write(&perfetto->import, track->stream, &event);
}

/* What flextrace finds itself, of rows that are here. */
static bool is_found(const char *name)
{
	static const char *const names[] = {"Power",     "TransferBW",
	                                    "PT Active", "ConcurrentPreps",
	                                    "error bar", "collective bus bandwidth"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* Those of devices are their memory, what the firmware of a core said, and what programs said. */
int perfetto_write_our_counter(struct perfetto *perfetto, const struct track_event *of)
{
	const struct perfetto_track *track = &perfetto->file.tracks[of->track];
	const struct perfetto_thing *thing;
	struct event event = perfetto_event_of(perfetto, track, RECORD_COUNTER, of->time_ns);
	const char *name = perfetto_string(perfetto, track->name);

	if (track->thing == FLEXTRACE_NONE)
		return import_lose(&perfetto->import, LOSS_UNUSED, 1);
	thing = &perfetto->file.things[track->thing];
	if (is_found(name))
		return FLEXTRACE_OK;
	if (thing->kind == THING_DEVICE && strstr(name, " core "))
		return perfetto_write_our_value(perfetto, of);
	if (thing->kind == THING_DEVICE && *of->members)
		return write_memory(perfetto, track, of);
	event.payload.counter = (struct flextrace_counter){
		.name = name,
		.value = of->value,
		.unit = track->unit ? perfetto_string(perfetto, track->unit) : "",
		.device = thing->kind == THING_DEVICE ? (int32_t)thing->number : -1,
	};
	return import_write(&perfetto->import, track->stream, &event);
}

bool perfetto_draws_flow(const struct perfetto_file *file, const struct perfetto_track *from,
                         const struct perfetto_track *to)
{
	return from->thing != FLEXTRACE_NONE && to->thing != FLEXTRACE_NONE &&
	       from->stream == to->stream && from->vtid >= 0 && to->vtid >= 0 &&
	       file->things[from->thing].is_torch && file->things[to->thing].is_torch;
}
