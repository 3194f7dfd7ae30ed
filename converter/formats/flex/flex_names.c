/* SPDX-License-Identifier: Apache-2.0 */
#include "flex_names.h"

#include <stdbool.h>
#include <string.h>

#include "flextrace/events.h"
#include "formats/kit/paths.h"

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

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool begins_with(const char *name, const char *text)
{
	return strncmp(name, text, strlen(text)) == 0;
}

uint8_t flex_runtime_kind(const char *name)
{
	if (begins_with(name, "Compute of ") && path_ends_with(name, "-HostPrep"))
		return FLEXTRACE_RUNTIME_DATA_CONVERT;
	if (path_ends_with(name, " DtoF"))
		return FLEXTRACE_RUNTIME_FILE_TRANSFER_DTOF;
	for (size_t i = 0; i < COUNT(runtime_names); i++) {
		if (begins_with(name, runtime_names[i].text))
			return runtime_names[i].kind;
	}
	return FLEXTRACE_RUNTIME_USER;
}
