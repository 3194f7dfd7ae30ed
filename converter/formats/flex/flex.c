/* SPDX-License-Identifier: Apache-2.0 */
#include "flex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "flex_impl.h"

#define SPOOL_BYTES ((size_t)8 << 20)
#define TOO_LATE    "its time is 2^62 ns (146 years) or later"

void flex_release(struct flex *flex)
{
	flex_opens_release(flex);
	flex_line_release(&flex->line);
	flex_edges_release(&flex->edges);
	text_list_release(&flex->unused);
	free(flex->path);
	map_release(&flex->rank_index);
	map_release(&flex->thread_index);
	for (uint32_t i = 0; i < flex->n_ranks; i++)
		free(flex->ranks[i].trips.trips);
	free(flex->ranks);
	free(flex->threads);
	json_text_release(&flex->args);
	free(flex->scratch);
}

int flex_reject(struct flex *flex, enum loss_cause cause, const char *fault, const char **ret_fault)
{
	*ret_fault = fault;
	return import_lose(&flex->import, cause, 1);
}

/* -- intervals ------------------------------------------------------------------------------- */

static int write_args(struct flex *flex, const struct flex_thread *thread,
                      const struct flex_call *call)
{
	struct event event = flex_event_of(flex, thread->rank, RECORD_SCOPE_ARGS, call);

	event.vtid = thread->vtid;
	event.payload.scope_args = (struct flextrace_scope_args){
		.correlation = call->correlation,
		.args = call->args.bytes,
	};
	return flex_write(flex, thread->rank, &event);
}

static int write_scope(struct flex *flex, const struct flex_thread *thread,
                       const struct flex_call *call)
{
	struct event event = flex_event_of(flex, thread->rank, RECORD_SCOPE, call);
	const char *name = call->full_name.bytes;

	if (call->args.length)
		FLEXTRACE_TRY(write_args(flex, thread, call));
	event.vtid = thread->vtid;
	event.payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)call->begin_ns,
		.kind = call->kind,
		.name = name,
		.correlation = call->correlation,
	};
	return flex_write(flex, thread->rank, &event);
}

int flex_take_call(struct flex *flex, uint32_t thread, struct flex_call *call,
                   const char **ret_fault)
{
	bool is_taken = false;

	if (call->end_ns < call->begin_ns)
		return flex_reject(flex, LOSS_BACKWARDS, "its end is before its begin", ret_fault);
	/* 0 would be a time that nobody knows. */
	call->begin_ns = call->begin_ns ? call->begin_ns : 1;
	call->end_ns = call->end_ns ? call->end_ns : 1;
	if (flex->filter)
		FLEXTRACE_TRY(flex->filter->take_call(flex->filter, flex, &flex->threads[thread],
		                                      call, &is_taken));
	if (!is_taken)
		FLEXTRACE_TRY(
			flex->reader->take_call(flex, &flex->threads[thread], call, &is_taken));
	if (is_taken)
		return FLEXTRACE_OK;
	if (call->has_stamps)
		return flex_add_part(flex, flex->threads[thread].rank, call, call->end_ns, true);
	return write_scope(flex, &flex->threads[thread], call);
}

static int take_complete(struct flex *flex, const struct trace_event *event, const char **ret_fault)
{
	struct flex_call call;
	uint32_t thread;

	if (!event->has_dur)
		return flex_reject(flex, LOSS_MALFORMED, "it has no duration", ret_fault);
	FLEXTRACE_TRY(flex_call_read(flex, event, &call, ret_fault));
	if (*ret_fault || __builtin_add_overflow(event->ts_ns, event->dur_ns, &call.end_ns))
		return flex_reject(flex, LOSS_MALFORMED,
		                   *ret_fault ? *ret_fault : "its end is no time", ret_fault);
	if (call.end_ns >= FLEX_END_NS)
		return flex_reject(flex, LOSS_MALFORMED, TOO_LATE, ret_fault);
	FLEXTRACE_TRY(flex_find_thread(flex, event, &thread));
	return flex_take_call(flex, thread, &call, ret_fault);
}

/* -- begin and end --------------------------------------------------------------------------- */

/* What has no end was not over when its rank was last heard of. */
static int leave_open(struct flex *flex, const struct flex_thread *thread,
                      const struct flex_call *call)
{
	struct event event = flex_event_of(flex, thread->rank, RECORD_BEGIN, call);
	int64_t last_ns = flex->ranks[thread->rank].last_ns;

	if (call->is_device)
		return import_lose(&flex->import, LOSS_UNMATCHED_BEGIN, 1);
	if (call->has_stamps) {
		FLEXTRACE_TRY(import_lose(&flex->import, LOSS_UNMATCHED_BEGIN, 1));
		return flex_add_part(flex, thread->rank, call,
		                     last_ns > call->begin_ns ? last_ns : call->begin_ns, false);
	}
	event.clock_ns = (uint64_t)call->begin_ns;
	event.vtid = thread->vtid;
	event.payload.edge = (struct flextrace_span_edge){
		.name = call->full_name.bytes,
		.correlation = call->correlation,
		.kind = call->kind,
	};
	return flex_write(flex, thread->rank, &event);
}

int flex_leave_open(struct flex *flex)
{
	struct flex_call call;

	for (uint32_t i = 0; i < flex->n_threads; i++) {
		while (flex_close(flex, i, NULL, &call))
			FLEXTRACE_TRY(leave_open(flex, &flex->threads[i], &call));
	}
	return FLEXTRACE_OK;
}

/* -- files ----------------------------------------------------------------------------------- */

static int leave_file(struct flex *flex)
{
	int code = FLEXTRACE_OK;

	if (flex->path && !flex->is_file_used)
		code = text_list_add(&flex->unused, "%s %s", flex->reader->tool, flex->path);
	free(flex->path);
	flex->path = NULL;
	flex->is_file_used = false;
	return code;
}

int flex_begin_file(struct flex *flex, const struct event_reader *reader, void *own,
                    const char *path)
{
	FLEXTRACE_TRY(leave_file(flex));
	flex->reader = reader;
	flex->own = own;
	flex->path = strdup(path);
	if (!flex->path)
		return FLEXTRACE_E_MEMORY;
	flex->n_files++;
	flex->last_thread = MAP_NONE;
	flex->import.faults = (struct faults){0};
	return flex->reader->begin ? flex->reader->begin(flex) : FLEXTRACE_OK;
}

int flex_take_member(void *context, const struct trace_text *key, const struct trace_value *value)
{
	struct flex *flex = context;

	return flex->reader->member ? flex->reader->member(flex, key, value) : FLEXTRACE_OK;
}

int flex_end_file(struct flex *flex)
{
	FLEXTRACE_TRY(flex_edges_join(flex));
	FLEXTRACE_TRY(flex_leave_open(flex));
	return flex->reader->end ? flex->reader->end(flex) : FLEXTRACE_OK;
}

/* -- points ---------------------------------------------------------------------------------- */

int flex_write_point(struct flex *flex, const struct trace_event *event, struct event *out)
{
	uint32_t thread;

	FLEXTRACE_TRY(flex_find_thread(flex, event, &thread));
	out->vpid = flex->ranks[flex->threads[thread].rank].vpid;
	out->vtid = flex->threads[thread].vtid;
	out->clock_ns = (uint64_t)event->ts_ns;
	out->n_origins = 1;
	out->origins[0] = flex_origin(flex, flex->threads[thread].rank,
	                              origin_make(0, event->number).record);
	return flex_write(flex, flex->threads[thread].rank, out);
}

static int take_instant(struct flex *flex, const struct trace_event *event)
{
	struct event out = {.class = RECORD_INSTANT};
	const struct trace_arg *correlation = trace_event_arg(event, "correlation");

	out.payload.instant.name = event->name.bytes ? event->name.bytes : "";
	if (correlation)
		trace_value_u64(&correlation->value, &out.payload.instant.correlation);
	return flex_write_point(flex, event, &out);
}

/* Ids that are no numbers pair by their text. */
static uint64_t id_of(const struct trace_value *id)
{
	uint64_t number = UINT64_C(0xcbf29ce484222325);

	if (id->kind == TRACE_ABSENT || trace_value_u64(id, &number))
		return id->kind == TRACE_ABSENT ? 0 : number;
	for (size_t i = 0; i < id->text.length; i++)
		number = (number ^ (unsigned char)id->text.bytes[i]) * UINT64_C(0x100000001b3);
	return number;
}

static int take_async(struct flex *flex, const struct trace_event *event)
{
	struct event out = {.class = event->ph == 'b' ? RECORD_ASYNC_BEGIN : RECORD_ASYNC_END};

	out.payload.edge.name = event->name.bytes ? event->name.bytes : "";
	out.payload.edge.correlation = id_of(&event->id);
	return flex_write_point(flex, event, &out);
}

static bool is_value(const struct trace_arg *arg, double *ret_value)
{
	return !arg->is_member && trace_value_double(&arg->value, ret_value);
}

/* One value has the event's name; of several each has its own behind it. */
static int take_counter(struct flex *flex, const struct trace_event *event, const char **ret_fault)
{
	uint32_t n = 0;
	double value;

	for (uint32_t i = 0; i < event->n_args; i++)
		n += is_value(&event->args[i], &value);
	if (!n)
		return flex_reject(flex, LOSS_MALFORMED, "it has no value", ret_fault);
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct trace_text *key = &event->args[i].key;
		const char *name = event->name.bytes ? event->name.bytes : "";
		struct event out = {.class = RECORD_COUNTER};
		uint64_t length = strlen(name) + key->length + 2;

		if (!is_value(&event->args[i], &out.payload.counter.value))
			continue;
		FLEXTRACE_TRY(ARRAY_RESERVE(flex->scratch, flex->n_scratch, length));
		snprintf(flex->scratch, length, "%s%s%s", name, n > 1 ? "/" : "",
		         n > 1 ? key->bytes : "");
		out.payload.counter.name = flex->scratch;
		FLEXTRACE_TRY(flex_write_point(flex, event, &out));
	}
	return FLEXTRACE_OK;
}

/* -- metadata -------------------------------------------------------------------------------- */

static int take_metadata(struct flex *flex, const struct trace_event *event)
{
	const struct trace_arg *name = trace_event_arg(event, "name");
	uint32_t rank, thread;

	FLEXTRACE_TRY(flex_find_rank(flex, event, &rank));
	if (event->name.bytes && name && name->value.kind == TRACE_TEXT) {
		if (trace_text_is(&event->name, "process_name"))
			return string_intern(&flex->import.cache, name->value.text.bytes,
			                     &flex->ranks[rank].program);
		if (trace_text_is(&event->name, "thread_name")) {
			FLEXTRACE_TRY(flex_find_thread(flex, event, &thread));
			return string_intern(&flex->import.cache, name->value.text.bytes,
			                     &flex->threads[thread].name);
		}
	}
	return import_lose(&flex->import, LOSS_UNUSED,
	                   1); /* how a viewer sorts and labels its rows */
}

/* -- one event ------------------------------------------------------------------------------- */

int flex_push_timed(struct flex *flex, const struct trace_event *event, const char **ret_fault)
{
	if (!event->has_ts || event->ts_ns < 0)
		return flex_reject(flex, LOSS_MALFORMED,
		                   event->has_ts ? "its time is negative" : "it has no time",
		                   ret_fault);
	if (event->ts_ns >= FLEX_END_NS)
		return flex_reject(flex, LOSS_MALFORMED, TOO_LATE, ret_fault);
	switch (event->ph) {
	case 'X':
		return take_complete(flex, event, ret_fault);
	case 'B':
	case 'E':
		return flex_edge_take(flex, event, ret_fault);
	case 'b':
	case 'e':
		return take_async(flex, event);
	case 'i':
	case 'I':
	case 'n':
		return take_instant(flex, event);
	case 'C':
		return take_counter(flex, event, ret_fault);
	default:
		return flex_reject(flex, LOSS_UNKNOWN_EVENT, "its phase is not known", ret_fault);
	}
}

static int push_moved(struct flex *flex, const struct trace_event *event, const char **ret_fault)
{
	struct trace_event moved = *event;

	FLEXTRACE_TRY(flex->filter->move(flex->filter, flex, &moved));
	return flex_push_timed(flex, &moved, ret_fault);
}

static int take_event(struct flex *flex, const struct trace_event *event, const char **ret_fault)
{
	if (flex_is_arrow(event))
		return import_lose(&flex->import, LOSS_UNUSED, 1); /* ours are drawn anew */
	if (event->ph == 'M')
		return take_metadata(flex, event);
	return flex->filter ? push_moved(flex, event, ret_fault)
	                    : flex_push_timed(flex, event, ret_fault);
}

int flex_push(struct flex *flex, const struct trace_event *event, const char **ret_fault)
{
	*ret_fault = NULL;
	return flex->reader->event(flex, event, ret_fault);
}

/* -- the reader of Flex's files -------------------------------------------------------------- */

static bool has_stamp(const struct trace_event *event)
{
	return trace_event_arg(event, "TS1");
}

static int note_trip(struct flex *flex, const struct flex_thread *thread,
                     const struct flex_call *call, bool *ret_is_taken)
{
	*ret_is_taken = false;
	if (call->has_stamps || !trace_text_is(&call->full_name, "AIU Roundtrip"))
		return FLEXTRACE_OK;
	return flex_add_trip(flex, thread->rank, call);
}

const struct event_reader flex_events = {
	.tool = "flex",
	.runtime = "Flex",
	.boot = "imported rank ",
	.knows_event = has_stamp,
	.event = take_event,
	.read_call = flex_call_read_own,
	.find_rank = flex_find_own_rank,
	.intern_thread = flex_intern_own_thread,
	.take_call = note_trip,
	.define = flex_define_own,
};

/* -- out -------------------------------------------------------------------------------------- */

int flex_end_files(struct flex *flex)
{
	FLEXTRACE_TRY(leave_file(flex));
	if (flex->n_ranks)
		FLEXTRACE_TRY(text_list_take(&flex->import.streams->files, &flex->unused));
	return flex_define(flex);
}

int flex_next(struct import *import, uint32_t *ret_stream, struct event *ret_event)
{
	return flex_line_next((struct flex *)import, ret_stream, ret_event);
}
