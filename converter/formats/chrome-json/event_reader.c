/* SPDX-License-Identifier: Apache-2.0 */
#include "event_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SPOOL_BYTES ((size_t)8 << 20)
#define TOO_LATE    "its time is 2^62 ns (146 years) or later"

void event_import_release(struct event_import *events)
{
	event_opens_release(events);
	event_line_release(&events->line);
	event_edges_release(&events->edges);
	text_list_release(&events->unused);
	free(events->path);
	map_release(&events->rank_index);
	map_release(&events->thread_index);
	for (uint32_t i = 0; i < events->n_ranks; i++)
		free(events->ranks[i].trips.trips);
	free(events->ranks);
	free(events->threads);
	json_text_release(&events->args);
	free(events->scratch);
}

int event_reject(struct event_import *events, enum loss_cause cause, const char *fault,
                 const char **ret_fault)
{
	*ret_fault = fault;
	return import_lose(&events->import, cause, 1);
}

/* -- intervals ------------------------------------------------------------------------------- */

static int write_args(struct event_import *events, const struct event_thread *thread,
                      const struct event_call *call)
{
	struct event event = event_of_thread(events, thread, RECORD_SCOPE_ARGS, call);

	event.payload.scope_args = (struct flextrace_scope_args){
		.correlation = call->correlation,
		.args = call->args.bytes,
	};
	return event_write(events, thread->rank, &event);
}

static int write_scope(struct event_import *events, const struct event_thread *thread,
                       const struct event_call *call)
{
	struct event event = event_of_thread(events, thread, RECORD_SCOPE, call);

	if (call->args.length)
		FLEXTRACE_TRY(write_args(events, thread, call));
	event.payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)call->begin_ns,
		.kind = call->kind,
		.name = call->full_name.bytes,
		.correlation = call->correlation,
	};
	return event_write(events, thread->rank, &event);
}

int event_take_call(struct event_import *events, uint32_t thread, struct event_call *call,
                    const char **ret_fault)
{
	bool is_taken = false;

	if (call->end_ns < call->begin_ns)
		return event_reject(events, LOSS_BACKWARDS, "its end is before its begin",
		                    ret_fault);
	/* Of device work 0 would be a time that nobody knows. */
	if (call->has_stamps || call->is_device) {
		call->begin_ns = call->begin_ns ? call->begin_ns : 1;
		call->end_ns = call->end_ns ? call->end_ns : 1;
	}
	if (events->filter)
		FLEXTRACE_TRY(events->filter->take_call(events->filter, events,
		                                        &events->threads[thread], call, &is_taken));
	if (!is_taken)
		FLEXTRACE_TRY(events->reader->take_call(events, &events->threads[thread], call,
		                                        &is_taken));
	if (is_taken)
		return FLEXTRACE_OK;
	if (call->has_stamps)
		return block_add_part(events, events->threads[thread].rank, call, call->end_ns,
		                      true);
	return write_scope(events, &events->threads[thread], call);
}

static int take_complete(struct event_import *events, const struct trace_event *event,
                         const char **ret_fault)
{
	struct event_call call;
	uint32_t thread;

	if (!event->has_dur)
		return event_reject(events, LOSS_MALFORMED, "it has no duration", ret_fault);
	FLEXTRACE_TRY(events->reader->read_call(events, event, &call, ret_fault));
	if (*ret_fault || __builtin_add_overflow(event->ts_ns, event->dur_ns, &call.end_ns))
		return event_reject(events, LOSS_MALFORMED,
		                    *ret_fault ? *ret_fault : "its end is no time", ret_fault);
	if (call.end_ns >= EVENT_END_NS)
		return event_reject(events, LOSS_MALFORMED, TOO_LATE, ret_fault);
	FLEXTRACE_TRY(event_find_thread(events, event, &thread));
	return event_take_call(events, thread, &call, ret_fault);
}

/* -- begin and end --------------------------------------------------------------------------- */

/* What has no end was not over when its rank was last heard of. */
static int leave_open(struct event_import *events, const struct event_thread *thread,
                      const struct event_call *call)
{
	struct event event = event_of_thread(events, thread, RECORD_BEGIN, call);
	int64_t last_ns = events->ranks[thread->rank].last_ns;

	if (call->is_device)
		return import_lose(&events->import, LOSS_UNMATCHED_BEGIN, 1);
	if (call->has_stamps) {
		FLEXTRACE_TRY(import_lose(&events->import, LOSS_UNMATCHED_BEGIN, 1));
		return block_add_part(events, thread->rank, call,
		                      last_ns > call->begin_ns ? last_ns : call->begin_ns, false);
	}
	event.clock_ns = (uint64_t)call->begin_ns;
	event.payload.edge = (struct flextrace_span_edge){
		.name = call->full_name.bytes,
		.correlation = call->correlation,
		.kind = call->kind,
	};
	return event_write(events, thread->rank, &event);
}

int event_leave_open(struct event_import *events)
{
	struct event_call call;

	for (uint32_t i = 0; i < events->n_threads; i++) {
		while (event_close(events, i, NULL, &call))
			FLEXTRACE_TRY(leave_open(events, &events->threads[i], &call));
	}
	return FLEXTRACE_OK;
}

/* -- files ----------------------------------------------------------------------------------- */

static int leave_file(struct event_import *events)
{
	int code = FLEXTRACE_OK;

	if (events->path && !events->is_file_used)
		code = text_list_add(&events->unused, "%s %s", events->reader->tool, events->path);
	free(events->path);
	events->path = NULL;
	events->is_file_used = false;
	return code;
}

int event_begin_file(struct event_import *events, const struct event_reader *reader, void *own,
                     const char *path)
{
	FLEXTRACE_TRY(leave_file(events));
	events->reader = reader;
	events->own = own;
	events->path = strdup(path);
	if (!events->path)
		return FLEXTRACE_E_MEMORY;
	events->n_files++;
	events->last.thread = MAP_NONE;
	events->import.faults = (struct faults){0};
	return events->reader->begin ? events->reader->begin(events) : FLEXTRACE_OK;
}

int event_end_file(struct event_import *events)
{
	FLEXTRACE_TRY(event_edges_join(events));
	FLEXTRACE_TRY(event_leave_open(events));
	return events->reader->end ? events->reader->end(events) : FLEXTRACE_OK;
}

/* -- points ---------------------------------------------------------------------------------- */

int event_write_point(struct event_import *events, const struct trace_event *event,
                      struct event *out)
{
	uint32_t thread;

	FLEXTRACE_TRY(event_find_thread(events, event, &thread));
	out->vpid = events->ranks[events->threads[thread].rank].vpid;
	out->vtid = events->threads[thread].vtid;
	out->clock_ns = (uint64_t)event->ts_ns;
	out->n_origins = 1;
	out->origins[0] = event_origin(events, events->threads[thread].rank,
	                               origin_make(0, event->number).record);
	return event_write(events, events->threads[thread].rank, out);
}

static int take_instant(struct event_import *events, const struct trace_event *event)
{
	struct event out = {.class = RECORD_INSTANT};

	out.payload.instant.name = event->name.bytes ? event->name.bytes : "";
	trace_event_number(event, "correlation", &out.payload.instant.correlation);
	return event_write_point(events, event, &out);
}

/* Ids that are no numbers pair by their text. */
static uint64_t id_of(const struct trace_value *id)
{
	uint64_t number = 0;

	if (id->kind == TRACE_ABSENT || trace_value_u64(id, &number))
		return number;
	return hash_bytes(HASH_NO_BYTES, id->text.bytes, id->text.length);
}

static int take_async(struct event_import *events, const struct trace_event *event)
{
	struct event out = {.class = event->ph == 'b' ? RECORD_ASYNC_BEGIN : RECORD_ASYNC_END};

	out.payload.edge.name = event->name.bytes ? event->name.bytes : "";
	out.payload.edge.correlation = id_of(&event->id);
	return event_write_point(events, event, &out);
}

static bool is_value(const struct trace_arg *arg, double *ret_value)
{
	return !arg->is_member && trace_value_double(&arg->value, ret_value);
}

/* One value has the event's name; of several each has its own behind it. */
static int take_counter(struct event_import *events, const struct trace_event *event,
                        const char **ret_fault)
{
	uint32_t n = 0;
	double value;

	for (uint32_t i = 0; i < event->n_args; i++)
		n += is_value(&event->args[i], &value);
	if (!n)
		return event_reject(events, LOSS_MALFORMED, "it has no value", ret_fault);
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct trace_text *key = &event->args[i].key;
		const char *name = event->name.bytes ? event->name.bytes : "";
		struct event out = {.class = RECORD_COUNTER, .payload.counter.device = -1};
		uint64_t length = strlen(name) + key->length + 2;

		if (!is_value(&event->args[i], &out.payload.counter.value))
			continue;
		FLEXTRACE_TRY(ARRAY_RESERVE(events->scratch, events->n_scratch, length));
		snprintf(events->scratch, length, "%s%s%s", name, n > 1 ? "/" : "",
		         n > 1 ? key->bytes : "");
		out.payload.counter.name = events->scratch;
		FLEXTRACE_TRY(event_write_point(events, event, &out));
	}
	return FLEXTRACE_OK;
}

/* -- one event ------------------------------------------------------------------------------- */

int event_push_timed(struct event_import *events, const struct trace_event *event,
                     const char **ret_fault)
{
	struct trace_event moved;

	if (events->filter && events->filter->move) {
		moved = *event;
		FLEXTRACE_TRY(events->filter->move(events->filter, events, &moved));
		event = &moved;
	}
	if (!event->has_ts || event->ts_ns < 0)
		return event_reject(events, LOSS_MALFORMED,
		                    event->has_ts ? "its time is negative" : "it has no time",
		                    ret_fault);
	if (event->ts_ns >= EVENT_END_NS)
		return event_reject(events, LOSS_MALFORMED, TOO_LATE, ret_fault);
	switch (event->ph) {
	case 'X':
		return take_complete(events, event, ret_fault);
	case 'B':
	case 'E':
		return event_edge_take(events, event, ret_fault);
	case 'b':
	case 'e':
		return take_async(events, event);
	case 'i':
	case 'I':
	case 'n':
		return take_instant(events, event);
	case 'C':
		return take_counter(events, event, ret_fault);
	default:
		return event_reject(events, LOSS_UNKNOWN_EVENT, "its phase is not known",
		                    ret_fault);
	}
}

int event_push(struct event_import *events, const struct trace_event *event, const char **ret_fault)
{
	*ret_fault = NULL;
	if (events->filter && event_is_arrow(event)) /* of two tools: ours are drawn anew */
		return import_lose(&events->import, LOSS_UNUSED, 1);
	return events->reader->event(events, event, ret_fault);
}

/* -- out -------------------------------------------------------------------------------------- */

int event_end_files(struct event_import *events)
{
	FLEXTRACE_TRY(leave_file(events));
	if (events->n_ranks)
		FLEXTRACE_TRY(text_list_take(&events->import.streams->files, &events->unused));
	return event_define_all(events);
}
