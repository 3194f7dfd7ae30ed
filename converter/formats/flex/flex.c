/* SPDX-License-Identifier: Apache-2.0 */
#include "flex.h"

#include "flex_names.h"

/* -- who ------------------------------------------------------------------------------------- */

static int add_rank(struct event_import *events, uint32_t pid, uint64_t number, uint32_t *ret_rank)
{
	struct event_rank rank = {.pid = pid, .rank = FLEXTRACE_RANK_UNKNOWN};
	struct import_stream stream = {.instance = 0};

	if (number < EVENT_MAPPED_ID)
		rank.rank = (int32_t)number;
	else
		rank.program = pid;
	rank.vpid = number < EVENT_MAPPED_ID ? (int32_t)number
	                                     : EVENT_MAPPED_ID + (int32_t)events->n_ranks;
	rank.os_pid = (uint32_t)rank.vpid;
	event_make_uuid(stream.uuid, string_get(events->import.strings, pid), number);
	FLEXTRACE_TRY(event_add_rank(events, &rank, stream, ret_rank));
	return map_put(&events->rank_index, pid, 0, *ret_rank);
}

static int find_rank(struct event_import *events, const struct trace_event *event,
                     uint32_t *ret_rank)
{
	uint64_t number;
	uint32_t pid;

	FLEXTRACE_TRY(event_intern_id(events, &event->pid, &pid, &number));
	*ret_rank = map_find(&events->rank_index, pid, 0);
	if (*ret_rank == MAP_NONE)
		FLEXTRACE_TRY(add_rank(events, pid, number, ret_rank));
	return event_note_file(events, *ret_rank);
}

static int intern_thread(struct event_import *events, const struct trace_event *event,
                         uint32_t *ret_text, uint64_t *ret_number)
{
	return event_intern_id(events, &event->tid, ret_text, ret_number);
}

static int define(struct event_import *events, uint32_t rank)
{
	const struct flextrace_device device = {.name = "AIU"};
	const struct flextrace_clock_domain domain = {.counter_bits = 32};

	if (!events->ranks[rank].has_device)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(event_define(events, rank, RECORD_DEVICE, &device));
	return event_define(events, rank, RECORD_CLOCK_DOMAIN, &domain);
}

/* -- intervals ------------------------------------------------------------------------------- */

/* What is no control block may use the names of its attributes as it likes. */
static int read_call(struct event_import *events, const struct trace_event *event,
                     struct event_call *ret_call, const char **ret_fault)
{
	event_call_begin(event, ret_call);
	*ret_fault = event_call_attributes(event, ret_call);
	if (ret_call->has_stamps) {
		block_cut_name(ret_call);
		return FLEXTRACE_OK;
	}
	*ret_fault = NULL;
	ret_call->kind = flex_runtime_kind(ret_call->full_name.bytes);
	return event->n_args ? event_read_args(events, event, NULL, &ret_call->args) : FLEXTRACE_OK;
}

static int note_trip(struct event_import *events, const struct event_thread *thread,
                     const struct event_call *call, bool *ret_is_taken)
{
	*ret_is_taken = false;
	if (call->has_stamps || !trace_text_is(&call->full_name, "AIU Roundtrip"))
		return FLEXTRACE_OK;
	return round_trip_add(events, thread->rank, call);
}

/* -- metadata -------------------------------------------------------------------------------- */

static int take_metadata(struct event_import *events, const struct trace_event *event)
{
	const struct trace_arg *name = trace_event_arg(event, "name");
	uint32_t rank, thread;

	FLEXTRACE_TRY(event_find_rank(events, event, &rank));
	if (event->name.bytes && name && name->value.kind == TRACE_TEXT) {
		if (trace_text_is(&event->name, "process_name"))
			return string_intern(&events->import.cache, name->value.text.bytes,
			                     &events->ranks[rank].program);
		if (trace_text_is(&event->name, "thread_name")) {
			FLEXTRACE_TRY(event_find_thread(events, event, &thread));
			return string_intern(&events->import.cache, name->value.text.bytes,
			                     &events->threads[thread].name);
		}
	}
	return import_lose(&events->import, LOSS_UNUSED,
	                   1); /* how a viewer sorts and labels its rows */
}

/* -- one event ------------------------------------------------------------------------------- */

static int push_moved(struct event_import *events, const struct trace_event *event,
                      const char **ret_fault)
{
	struct trace_event moved = *event;

	FLEXTRACE_TRY(events->filter->move(events->filter, events, &moved));
	return event_push_timed(events, &moved, ret_fault);
}

static int take_event(struct event_import *events, const struct trace_event *event,
                      const char **ret_fault)
{
	if (event_is_arrow(event))
		return import_lose(&events->import, LOSS_UNUSED, 1); /* ours are drawn anew */
	if (event->ph == 'M')
		return take_metadata(events, event);
	return events->filter ? push_moved(events, event, ret_fault)
	                      : event_push_timed(events, event, ret_fault);
}

static bool has_stamp(const struct trace_event *event)
{
	return trace_event_arg(event, "TS1");
}

const struct event_reader flex_events = {
	.tool = "flex",
	.runtime = "Flex",
	.boot = "imported rank ",
	.knows_event = has_stamp,
	.event = take_event,
	.read_call = read_call,
	.find_rank = find_rank,
	.intern_thread = intern_thread,
	.take_call = note_trip,
	.define = define,
};
