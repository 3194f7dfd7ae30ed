/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AIE traces as JSON: an array of Chrome trace events whose times are cycles. A pid is a unit,
 * called by the metadata event process_name, a tid one of its slots. Events may come in any order:
 * a spool sorts them; of equal times those of a slot keep that of the file.
 */
#include <string.h>

#include "aie_impl.h"
#include "formats/chrome-json/trace_events.h"

#define MAX_LOOK     64   /* events that say nothing of whose they are */
#define LOOK_BYTES   4096 /* of text at a time */
#define SPOOL_BYTES  ((size_t)4 << 20)
#define TRACE_OF     "_trace for tile"
#define NS_PER_CYCLE 1000 /* as times are read: a cycle is written like a microsecond */

/* -- whose file ------------------------------------------------------------------------------ */

static bool is_process_name(const struct trace_event *event, const struct trace_arg **ret_name)
{
	*ret_name = trace_event_arg(event, "name");
	return event->ph == 'M' && event->name.bytes &&
	       trace_text_is(&event->name, "process_name") && *ret_name &&
	       (*ret_name)->value.kind == TRACE_TEXT;
}

static bool is_event_of_core(const struct trace_event *event)
{
	static const char *const names[] = {"INSTR_EVENT_0", "INSTR_EVENT_1", "LOCK_STALL",
	                                    "LockStall"};

	if ((event->ph != 'B' && event->ph != 'E') || !event->name.bytes)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (trace_text_is(&event->name, names[i]))
			return true;
	}
	return false;
}

int aie_is_json(const struct probe *probe)
{
	struct flextrace_error error = {0};
	struct probe_text text = {.probe = probe};
	const struct trace_source source = probe_source(&text);
	struct trace_events *events = trace_events_open_source(&source, probe->path, LOOK_BYTES,
	                                                       &error);
	const struct trace_arg *name;
	struct trace_event event;
	bool is_aie = false;

	for (int i = 0; events && i < MAX_LOOK && !is_aie; i++) {
		if (trace_events_next(events, &event, &error) <= 0)
			break;
		is_aie = is_event_of_core(&event) || (is_process_name(&event, &name) &&
		                                      strstr(name->value.text.bytes, TRACE_OF));
	}
	trace_events_close(events);
	return error.code == FLEXTRACE_E_MEMORY ? error.code : is_aie;
}

int aie_has_events(const char *path)
{
	struct flextrace_error error = {0};
	struct trace_events *events = trace_events_open(path, &error);
	struct trace_event event;
	int code = events ? trace_events_next(events, &event, &error) : error.code;

	trace_events_close(events);
	return code == FLEXTRACE_E_MEMORY ? code : code >= 0;
}

/* -- one event ------------------------------------------------------------------------------- */

struct json_file {
	struct aie *aie;
	struct spool *edges; /* owned: struct aie_edge by cycle */
};

static int find_unit(struct aie *aie, const struct trace_event *event, uint32_t *ret_unit)
{
	const char *text = event->pid.kind == TRACE_ABSENT ? "" : event->pid.text.bytes;
	uint32_t id, number = FLEXTRACE_NONE;
	uint64_t pid;

	if (trace_value_u64(&event->pid, &pid) && pid < FLEXTRACE_NONE)
		number = (uint32_t)pid;
	FLEXTRACE_TRY(string_intern(&aie->import.cache, text, &id));
	return aie_find_unit(aie, id, number, ret_unit);
}

static int find_slot(struct aie *aie, const struct trace_event *event, const char *name,
                     struct aie_edge *edge)
{
	uint64_t tid = 0;
	uint32_t id;

	trace_value_u64(&event->tid, &tid);
	FLEXTRACE_TRY(find_unit(aie, event, &edge->unit));
	FLEXTRACE_TRY(string_intern(&aie->import.cache, name, &id));
	return aie_find_slot(aie, edge->unit, (uint32_t)tid, id, &edge->slot);
}

static int take_metadata(struct aie *aie, const struct trace_event *event)
{
	const struct trace_arg *name;
	struct aie_edge edge;
	uint32_t unit;

	if (is_process_name(event, &name)) {
		FLEXTRACE_TRY(find_unit(aie, event, &unit));
		return string_intern(&aie->import.cache, name->value.text.bytes,
		                     &aie->units[unit].name);
	}
	if (event->name.bytes && trace_text_is(&event->name, "thread_name") && name &&
	    name->value.kind == TRACE_TEXT)
		return find_slot(aie, event, name->value.text.bytes, &edge);
	return import_lose(&aie->import, LOSS_UNUSED, 1);
}

static const char *fault_of(const struct trace_event *event)
{
	if (event->ph != 'B' && event->ph != 'E')
		return "its phase is not known";
	if (!event->has_ts)
		return "it has no time";
	if (event->ts_ns < 0)
		return "its time is negative";
	if (event->ts_ns % NS_PER_CYCLE)
		return "its time is no whole cycle";
	return event->name.bytes && event->name.length ? NULL : "it has no name";
}

static int take_event(struct json_file *file, const struct trace_event *event)
{
	const char *fault = fault_of(event);
	struct aie_edge edge = {
		.is_rise = event->ph == 'B',
		.origin = origin_make(file->aie->import.streams->files.n - 1, event->number),
	};
	void *item;

	if (fault)
		return import_reject(&file->aie->import,
		                     event->ph == 'B' || event->ph == 'E' ? LOSS_MALFORMED
		                                                          : LOSS_UNKNOWN_EVENT,
		                     fault, event->offset_bytes);
	FLEXTRACE_TRY(find_slot(file->aie, event, event->name.bytes, &edge));
	FLEXTRACE_TRY(
		spool_add(file->edges, (uint64_t)event->ts_ns / NS_PER_CYCLE, sizeof(edge), &item));
	memcpy(item, &edge, sizeof(edge));
	return FLEXTRACE_OK;
}

/* -- one file -------------------------------------------------------------------------------- */

static int take_edges(struct json_file *file)
{
	struct spool_item item;
	struct aie_edge edge;
	int code;

	while ((code = spool_next(file->edges, &item)) > 0) {
		memcpy(&edge, item.bytes, sizeof(edge));
		FLEXTRACE_TRY(aie_take_edge(file->aie, &edge, item.key));
	}
	FLEXTRACE_TRY(code);
	return aie_end_file(file->aie);
}

static int read_events(struct json_file *file, struct trace_events *events, const char *path,
                       struct flextrace_error *error)
{
	struct trace_event event;
	int code, status = FLEXTRACE_OK;

	while (status >= 0 && (code = trace_events_next(events, &event, error)) > 0)
		status = event.ph == 'M' ? take_metadata(file->aie, &event)
		                         : take_event(file, &event);
	if (status >= 0 && code < 0)
		return code;
	if (status >= 0)
		status = take_edges(file);
	return status < 0 ? status : trace_events_end(events, &file->aie->import, path);
}

int aie_read_json(struct aie *aie, const char *path, struct flextrace_error *error)
{
	struct json_file file = {.aie = aie};
	struct trace_events *events = trace_events_open(path, error);
	int code;

	if (!events)
		return error->code;
	file.edges = spool_new(SPOOL_BYTES);
	code = file.edges ? read_events(&file, events, path, error) : FLEXTRACE_E_MEMORY;
	spool_free(file.edges);
	trace_events_close(events);
	return code;
}
