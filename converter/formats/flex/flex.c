/* SPDX-License-Identifier: Apache-2.0 */
#include "flex.h"

#include <string.h>

#include "base/text/ascii.h"
#include "formats/kit/paths.h"

/* -- names ----------------------------------------------------------------------------------- */

struct name_kind {
	const char *text;
	uint8_t kind;
};

/* What a name begins with; of two that fit the first holds. */
static const struct name_kind runtime_names[] = {
	{"AIU Roundtrip", FLEXTRACE_RUNTIME_SUPER_NODE_EXECUTION},
	{"Flex RoundTrip", FLEXTRACE_RUNTIME_LAUNCH_SUPER_NODE},
	{"SenFusedDeviceNode", FLEXTRACE_RUNTIME_LAUNCH_SUPER_NODE},
	{"Execute Graph", FLEXTRACE_RUNTIME_GRAPH_EXECUTION},
	{"ScheduleCompute", FLEXTRACE_RUNTIME_LAUNCH_SCHEDULE_COMPUTE},
	{"LaunchComputeStream", FLEXTRACE_RUNTIME_LAUNCH_COMPUTE_STREAM},
	{"WaitForCompletionAndReturnStatus", FLEXTRACE_RUNTIME_SCHEDULE_WAIT},
	{"PrepareDmas", FLEXTRACE_RUNTIME_PREPARE_DMAS},
	{"PrepareAndSyncRdma", FLEXTRACE_RUNTIME_PREPARE_AND_SYNC_RDMA},
	{"Barrier1", FLEXTRACE_RUNTIME_RDMA_BARRIER1},
	{"Barrier2", FLEXTRACE_RUNTIME_RDMA_BARRIER2},
	{"Barrier3", FLEXTRACE_RUNTIME_RDMA_BARRIER3},
	{"PostKeys", FLEXTRACE_RUNTIME_POST_RDMA_KEYS},
	{"FetchKeys", FLEXTRACE_RUNTIME_FETCH_RDMA_KEYS},
	{"Update CBs", FLEXTRACE_RUNTIME_UPDATE_RDMA_CBS},
	{"Deadlock Check", FLEXTRACE_RUNTIME_CHECK_RDMA_DEADLOCK},
	{"AllocateFrame of graph", FLEXTRACE_RUNTIME_RESIZE_TENSOR_ALLOCATION},
	{"FixupAllocations", FLEXTRACE_RUNTIME_MALLOC},
	{"CreatePipoIovas", FLEXTRACE_RUNTIME_CREATE_VIRTUAL_ADDRESSES},
	{"SchedulerConstruct", FLEXTRACE_RUNTIME_INIT_SCHEDULER},
	{"LaunchClearScratchpad", FLEXTRACE_RUNTIME_CLEAR_CACHE},
	{"LaunchPreloadScratchpad", FLEXTRACE_RUNTIME_PRELOAD_CACHE},
	{"Compute of ", FLEXTRACE_RUNTIME_NODE_COMPUTE},
};

/* enum flextrace_runtime_kind of a call. */
static uint8_t runtime_kind(const char *name)
{
	if (text_begins(name, "Compute of ") && path_ends_with(name, "-HostPrep"))
		return FLEXTRACE_RUNTIME_DATA_CONVERT;
	if (path_ends_with(name, " DtoF"))
		return FLEXTRACE_RUNTIME_FILE_TRANSFER_DTOF;
	for (size_t i = 0; i < sizeof(runtime_names) / sizeof(*runtime_names); i++) {
		if (text_begins(name, runtime_names[i].text))
			return runtime_names[i].kind;
	}
	return FLEXTRACE_RUNTIME_USER;
}

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
	ret_call->kind = runtime_kind(ret_call->full_name.bytes);
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

	FLEXTRACE_TRY(find_rank(events, event, &rank));
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

static int take_event(struct event_import *events, const struct trace_event *event,
                      const char **ret_fault)
{
	if (event_is_arrow(event))
		return import_lose(&events->import, LOSS_UNUSED, 1); /* ours are drawn anew */
	if (event->ph == 'M')
		return take_metadata(events, event);
	return event_push_timed(events, event, ret_fault);
}

static bool has_stamp(const struct trace_event *event)
{
	return trace_event_arg(event, "TS1");
}

const struct event_reader flex_events = {
	.tool = "flex",
	.runtime = "Flex",
	.dialect = "aiu",
	.boot = "imported rank ",
	.knows_event = has_stamp,
	.event = take_event,
	.read_call = read_call,
	.find_rank = find_rank,
	.take_call = note_trip,
	.define = define,
};
