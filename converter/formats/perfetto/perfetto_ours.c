/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is on tracks of a file of ours -> the events that it was made of. What an importer had told
 * of a row stands in front of what flextrace says of it, which begins with its kind.
 */
#include <string.h>

#include "base/text/json_scan.h"
#include "model/words/kinds.h"
#include "perfetto_impl.h"

/* -- what is said of a row -------------------------------------------------------------------- */

/* Finds a kind of one of its tables by its label, or as the one that its category means. */
static uint8_t find_kind(const struct row_kind *(*kind_of)(uint8_t), uint8_t n,
                         const struct trace_value *label, const struct trace_text *category)
{
	for (uint8_t i = 0; i < n; i++) {
		const struct row_kind *kind = kind_of(i);

		if (label->kind == TRACE_TEXT
		            ? trace_text_is(&label->text, kind->label)
		            : kind->is_usual && trace_text_is(category, kind->category))
			return i;
	}
	return n;
}

/* What an importer told ends where the last `kind` begins, or at the end, if it says that. */
static void split(struct our_row *row)
{
	struct trace_text rest = row->all.members, key, before = rest;
	struct trace_value value;
	bool is_first = true;

	row->label.kind = TRACE_ABSENT;
	while (told_next(&rest, &key, &value)) {
		if (trace_text_is(&key, "kind") && value.kind == TRACE_TEXT) {
			row->label = value;
			row->ours = before;
			row->has_told = !is_first;
		}
		is_first = false;
		before = rest;
	}
}

/* What `told` begins with, to the part of ours. */
static struct trace_text told_of(const struct our_row *row)
{
	size_t n = (size_t)(row->ours.bytes - row->all.members.bytes);

	return (struct trace_text){row->all.members.bytes, n};
}

int our_row_read(struct perfetto *perfetto, uint32_t category, const char *members, bool is_device,
                 struct our_row *ret_row)
{
	const char *all;

	*ret_row = (struct our_row){.kind = 0};
	FLEXTRACE_TRY(perfetto_tell_always(perfetto, category, members, &all));
	if (!told_read(all, strlen(all), &ret_row->all))
		return FLEXTRACE_OK;
	ret_row->ours = ret_row->all.members;
	split(ret_row);
	if (is_device)
		ret_row->kind = find_kind(kind_of_device, DEVICE_ROW_KIND_COUNT, &ret_row->label,
		                          &ret_row->all.category);
	else
		ret_row->kind = find_kind(kind_of_host, HOST_ASYNC + 1, &ret_row->label,
		                          &ret_row->all.category);
	ret_row->is_known = ret_row->kind < (is_device ? DEVICE_ROW_KIND_COUNT : HOST_ASYNC + 1);
	if (ret_row->is_known && ret_row->label.kind == TRACE_TEXT && !ret_row->has_told) {
		const struct row_kind *kind = is_device ? kind_of_device(ret_row->kind)
		                                        : kind_of_host(ret_row->kind);

		ret_row->has_told = kind->is_usual ||
		                    !trace_text_is(&ret_row->all.category, kind->category);
	}
	return FLEXTRACE_OK;
}

/* A member of ours. */
static bool find(const struct our_row *row, const char *key, struct trace_value *ret_value)
{
	const struct told ours = {.members = row->ours};

	return told_find(&ours, key, ret_value);
}

uint64_t our_row_number(const struct our_row *row, const char *key, uint64_t other)
{
	struct trace_value value;
	uint64_t number;

	return find(row, key, &value) && trace_value_u64(&value, &number) ? number : other;
}

int our_row_text(struct perfetto *perfetto, const struct our_row *row, const char *key,
                 uint32_t *ret_string)
{
	const struct told ours = {.members = row->ours};

	return our_row_text_of(perfetto, &ours, key, ret_string);
}

int our_row_text_of(struct perfetto *perfetto, const struct told *told, const char *key,
                    uint32_t *ret_string)
{
	struct trace_value value;
	char *copy;
	int code;

	*ret_string = 0;
	if (!told_find(told, key, &value))
		return FLEXTRACE_OK;
	copy = strndup(value.text.bytes, value.text.length);
	if (!copy)
		return FLEXTRACE_E_MEMORY;
	if (value.kind == TRACE_TEXT)
		copy[json_unescape(copy, value.text.length)] = '\0';
	code = string_intern(&perfetto->import.cache, copy, ret_string);
	free(copy);
	return code;
}

uint8_t our_row_status(const struct our_row *row)
{
	struct trace_value value;
	uint8_t status = TIME_CERTIFIED;

	if (!find(row, "status", &value))
		return TIME_CERTIFIED;
	while (status < TIME_GIVEN && !trace_text_is(&value.text, time_status_name(status)))
		status++;
	return status;
}

/* What an importer had told, as it stood there. */
int our_row_told(struct perfetto *perfetto, const struct our_row *row, uint32_t *ret_string)
{
	struct trace_text told = told_of(row), category = row->all.category;
	struct writer text;
	int code;

	writer_open_memory(&text);
	writer_literal(&text, "{\"cat\":\"");
	writer_append(&text, category.bytes, category.length);
	writer_char(&text, '"');
	if (told.length) {
		writer_char(&text, ',');
		writer_append(&text, told.bytes, told.length);
	}
	writer_char(&text, '}');
	writer_char(&text, '\0');
	code = writer_failed(&text)
	               ? FLEXTRACE_E_MEMORY
	               : string_intern(&perfetto->import.cache, text.buffer, ret_string);
	writer_abandon(&text);
	return code;
}

/* -- intervals of the host -------------------------------------------------------------------- */

/* What begins and ends with a record of its own. */
static int write_edges(struct perfetto *perfetto, const struct perfetto_track *track,
                       const struct event edges[2], int64_t begin_ns)
{
	struct event begin = edges[0];

	begin.clock_ns = (uint64_t)begin_ns;
	FLEXTRACE_TRY(import_write(&perfetto->import, track->stream, &begin));
	return import_write(&perfetto->import, track->stream, &edges[1]);
}

static int write_collective(struct perfetto *perfetto, const struct perfetto_track *track,
                            const struct perfetto_open *open, struct event edges[2], uint32_t args)
{
	const char *text = perfetto_string(perfetto, args);
	const struct our_row of = {.ours = {text, strlen(text)}};
	uint32_t group, peers;

	FLEXTRACE_TRY(our_row_text(perfetto, &of, "group", &group));
	FLEXTRACE_TRY(our_row_text(perfetto, &of, "peers", &peers));
	edges[0].class = edges[1].class = RECORD_COLLECTIVE;
	for (uint32_t i = 0; i < 2; i++)
		edges[i].payload.collective = (struct flextrace_collective){
			.group = perfetto_string(perfetto, group),
			.seq = our_row_number(&of, "seq", 0),
			.op = perfetto_string(perfetto, open->name),
			.bytes = our_row_number(&of, "bytes", 0),
			.peers = perfetto_string(perfetto, peers),
			.phase = i ? FLEXTRACE_PHASE_EXIT : FLEXTRACE_PHASE_ENTER,
		};
	return write_edges(perfetto, track, edges, open->begin_ns);
}

static int write_window(struct perfetto *perfetto, const struct perfetto_track *track,
                        const struct perfetto_open *open, struct event edges[2])
{
	edges[0].class = edges[1].class = RECORD_WINDOW;
	for (uint32_t i = 0; i < 2; i++)
		edges[i].payload.window = (struct flextrace_window){
			.edge = i ? FLEXTRACE_EDGE_END : FLEXTRACE_EDGE_BEGIN,
			.name = perfetto_string(perfetto, open->name),
		};
	return write_edges(perfetto, track, edges, open->begin_ns);
}

static int write_async(struct perfetto *perfetto, const struct perfetto_track *track,
                       const struct perfetto_open *open, struct event edges[2],
                       const struct our_row *row)
{
	for (uint32_t i = 0; i < 2; i++)
		edges[i].payload.edge = (struct flextrace_span_edge){
			.kind = row->kind == HOST_STEP   ? FLEXTRACE_RUNTIME_STEP
		                : row->kind >= HOST_STEP ? FLEXTRACE_RUNTIME_USER
		                                         : row->kind,
			.name = perfetto_string(perfetto, open->name),
			.correlation = our_row_number(row, "correlation", 0),
		};
	edges[0].class = RECORD_ASYNC_BEGIN;
	edges[1].class = RECORD_ASYNC_END;
	return write_edges(perfetto, track, edges, open->begin_ns);
}

static int write_scope(struct perfetto *perfetto, const struct perfetto_track *track,
                       const struct perfetto_open *open, struct event *event,
                       const struct our_row *row, uint32_t args)
{
	uint64_t correlation = our_row_number(row, "correlation", 0);

	if (row->has_told) {
		told_find_u64(&row->all, "correlation", &correlation);
	}
	event->class = RECORD_SCOPE;
	event->payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)open->begin_ns,
		.kind = row->kind == HOST_STEP ? FLEXTRACE_RUNTIME_STEP : row->kind,
		.name = perfetto_string(perfetto, open->name),
		.correlation = correlation,
		.file = perfetto_string(perfetto, open->location.file),
		.line = open->location.line,
	};
	return import_write_scope(&perfetto->import, track->stream, event,
	                          perfetto_string(perfetto, args));
}

static int write_host(struct perfetto *perfetto, const struct perfetto_track *track,
                      const struct perfetto_open *open)
{
	const struct perfetto_thing *thing = &perfetto->file.things[track->thing];
	struct event edges[2];
	struct our_row row;
	uint32_t args;

	edges[0] = perfetto_event_of(perfetto, track, RECORD_SCOPE, open->end_ns);
	FLEXTRACE_TRY(our_row_read(perfetto, open->category, open->members ? open->members : "",
	                           false, &row));
	edges[0].origins[0] = origin_make(0, open->packet);
	edges[0].status = our_row_status(&row);
	edges[1] = edges[0];
	if (!row.is_known)
		row.kind = FLEXTRACE_RUNTIME_USER;
	row.has_told |= thing->is_torch && row.kind != HOST_WINDOW;
	if (row.has_told || !row.is_known)
		FLEXTRACE_TRY(our_row_told(perfetto, &row, &args));
	else
		FLEXTRACE_TRY(our_row_text(perfetto, &row, "args", &args));
	if (row.kind == HOST_COLLECTIVE)
		return write_collective(perfetto, track, open, edges, args);
	if (row.kind == HOST_WINDOW)
		return write_window(perfetto, track, open, edges);
	if (thing->is_async)
		return write_async(perfetto, track, open, edges, &row);
	return write_scope(perfetto, track, open, edges, &row, args);
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
	struct our_row row;
	uint32_t value;

	FLEXTRACE_TRY(our_row_read(perfetto, of->category, of->members, false, &row));
	if (is_of_arrow(&row))
		return FLEXTRACE_OK;
	if (track->thing == FLEXTRACE_NONE)
		return import_lose(&perfetto->import, LOSS_UNUSED, 1);
	if (perfetto->file.things[track->thing].kind == THING_CORE)
		return perfetto_write_our_mark(perfetto, of, &row);
	event.payload.instant = (struct flextrace_instant){
		.name = perfetto_string(perfetto, of->name),
		.correlation = our_row_number(&row, "correlation", 0),
	};
	if (row.label.kind == TRACE_TEXT) {
		if (row.has_told)
			FLEXTRACE_TRY(our_row_told(perfetto, &row, &value));
		else
			FLEXTRACE_TRY(our_row_text(perfetto, &row, "value", &value));
		event.class = RECORD_ANNOTATION;
		event.payload.annotation = (struct flextrace_annotation){
			.key = perfetto_string(perfetto, of->name),
			.value = perfetto_string(perfetto, value),
		};
	}
	return import_write(&perfetto->import, track->stream, &event);
}

/* The total of a device's memory, with the record that made it so. */
static int write_memory(struct perfetto *perfetto, const struct perfetto_track *track,
                        const struct track_event *of, const struct our_row *row)
{
	struct event event = perfetto_event_of(perfetto, track, RECORD_MEMORY, of->time_ns);
	struct flextrace_memory *memory = &event.payload.memory;
	struct trace_value op;

	if (!told_find(&row->all, "op", &op))
		return FLEXTRACE_OK;
	*memory = (struct flextrace_memory){
		.device = perfetto->file.things[track->thing].number,
		.address = our_row_number(row, "address", 0),
		.bytes = our_row_number(row, "bytes", 0),
	};
	while (memory->op < FLEXTRACE_MEMORY_RESIZE &&
	       !trace_text_is(&op.text, memory_op_name((uint8_t)memory->op)))
		memory->op++;
	event.vtid = (int32_t)our_row_number(row, "tid", (uint64_t)-1);
	return import_write(&perfetto->import, track->stream, &event);
}

/* Those of devices are derived from their rows, but for their memory, and for what the firmware of
 * a core said. */
static int write_of_device(struct perfetto *perfetto, const struct perfetto_track *track,
                           const struct track_event *of)
{
	struct our_row row;

	if (!*of->members)
		return perfetto_write_our_value(perfetto, of);
	FLEXTRACE_TRY(our_row_read(perfetto, 0, of->members, true, &row));
	return write_memory(perfetto, track, of, &row);
}

int perfetto_write_our_counter(struct perfetto *perfetto, const struct track_event *of)
{
	const struct perfetto_track *track = &perfetto->file.tracks[of->track];
	struct event event = perfetto_event_of(perfetto, track, RECORD_COUNTER, of->time_ns);

	if (track->thing == FLEXTRACE_NONE)
		return import_lose(&perfetto->import, LOSS_UNUSED, 1);
	if (perfetto->file.things[track->thing].kind == THING_DEVICE)
		return write_of_device(perfetto, track, of);
	if (track->unit) /* flextrace found it: programs say no units */
		return FLEXTRACE_OK;
	event.payload.counter = (struct flextrace_counter){
		.name = perfetto_string(perfetto, track->name),
		.value = of->value,
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
