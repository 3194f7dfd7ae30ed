/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "flex_impl.h"

/* -- names ----------------------------------------------------------------------------------- */

struct name_rule {
	const char *text;
	uint32_t value;
};

static const struct name_rule suffixes[] = {
	{" Cmpt Exec", FLEXTRACE_ESTIMATE_EXEC},
	{" Cmpt Prep", FLEXTRACE_ESTIMATE_PREP},
	{" DmaI", FLEXTRACE_ESTIMATE_DMA_IN},
	{" DmaO", FLEXTRACE_ESTIMATE_DMA_OUT},
};

/* What a name begins with; of two that fit the first holds. */
static const struct name_rule runtime_names[] = {
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

static const char *const protocol_names[] = {"SenRdma", "Host DMA",  "HCOLL",
                                             "Wdone",   "Wait for ", "R5 ",
                                             "Send ",   "DLM Wait",  "Cleanup "};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool begins_with(const char *name, const char *text)
{
	return strncmp(name, text, strlen(text)) == 0;
}

static bool ends_with(const char *name, size_t length, const char *text)
{
	size_t n = strlen(text);

	return length > n && memcmp(name + length - n, text, n) == 0;
}

/* The kind of host work that a name tells. */
static uint32_t runtime_kind(const char *name)
{
	size_t length = strlen(name);

	if (begins_with(name, "Compute of ") && ends_with(name, length, "-HostPrep"))
		return FLEXTRACE_RUNTIME_DATA_CONVERT;
	if (ends_with(name, length, " DtoF"))
		return FLEXTRACE_RUNTIME_FILE_TRANSFER_DTOF;
	for (size_t i = 0; i < COUNT(runtime_names); i++) {
		if (begins_with(name, runtime_names[i].text))
			return runtime_names[i].value;
	}
	return FLEXTRACE_RUNTIME_USER;
}

bool flex_is_protocol(const char *name)
{
	for (size_t i = 0; i < COUNT(protocol_names); i++) {
		if (begins_with(name, protocol_names[i]))
			return true;
	}
	return false;
}

void flex_cut_name(struct flex_call *call)
{
	const struct trace_text *name = &call->full_name;

	call->part = FLEXTRACE_ESTIMATE_WHOLE;
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		if (!ends_with(name->bytes, name->length, suffixes[i].text))
			continue;
		call->part = (uint8_t)suffixes[i].value;
		call->name.length = name->length - strlen(suffixes[i].text);
	}
}

/* -- attributes ------------------------------------------------------------------------------ */

enum attribute {
	IS_STAMP,
	IS_STAMPS,
	IS_POWER,
	IS_BYTES,
	IS_GROUP,
	IS_PEER,
	IS_TYPE,
	IS_CORRELATION,
	IS_OTHER
};

static enum attribute attribute_of(const struct trace_text *key)
{
	static const struct name_rule names[] = {
		{"cycles_ts", IS_STAMPS}, {"Power", IS_POWER},
		{"Bytes", IS_BYTES},      {"bytes", IS_BYTES},
		{"CollGroup", IS_GROUP},  {"Peer", IS_PEER},
		{"Type", IS_TYPE},        {"correlation", IS_CORRELATION},
	};

	if (key->length == 3 && memcmp(key->bytes, "TS", 2) == 0 && key->bytes[2] >= '1' &&
	    key->bytes[2] <= '0' + FLEXTRACE_N_STAMPS)
		return IS_STAMP;
	for (size_t i = 0; i < COUNT(names); i++) {
		if (trace_text_is(key, names[i].text))
			return (enum attribute)names[i].value;
	}
	return IS_OTHER;
}

/* A counter of more bits is told by its low ones. */
static bool read_stamp(const struct trace_value *value, uint32_t *ret_ts)
{
	uint64_t ticks;

	if (!trace_value_u64(value, &ticks))
		return false;
	*ret_ts = (uint32_t)ticks;
	return true;
}

static bool read_stamps(const struct trace_value *value, uint32_t *ret_ts)
{
	struct trace_text rest = value->text;
	struct trace_value element;
	int n = 0;

	if (value->kind != TRACE_JSON)
		return false;
	for (; trace_array_next(&rest, &element); n++) {
		if (n == FLEXTRACE_N_STAMPS || !read_stamp(&element, &ret_ts[n]))
			return false;
	}
	return n == FLEXTRACE_N_STAMPS;
}

static bool read_peer(const struct trace_value *value, int32_t *ret_peer)
{
	int64_t peer;

	if (!trace_value_i64(value, &peer) || peer < -1 || peer > INT32_MAX)
		return false;
	*ret_peer = (int32_t)peer;
	return true;
}

static bool read_text(const struct trace_value *value, struct trace_text *ret_text)
{
	if (value->kind != TRACE_TEXT && value->kind != TRACE_NUMBER)
		return false;
	*ret_text = value->text;
	return true;
}

static bool read_power(const struct trace_value *value, uint32_t *ret_power)
{
	return read_stamp(value, ret_power);
}

/* Takes an attribute. False: it has no such value. */
static bool read_attribute(const struct trace_arg *arg, struct flex_call *call)
{
	switch (attribute_of(&arg->key)) {
	case IS_STAMP:
		call->has_stamps = true;
		return read_stamp(&arg->value, &call->ts[arg->key.bytes[2] - '1']);
	case IS_STAMPS:
		call->has_stamps = true;
		return read_stamps(&arg->value, call->ts);
	case IS_POWER:
		return read_power(&arg->value, &call->power);
	case IS_BYTES:
		return trace_value_u64(&arg->value, &call->bytes);
	case IS_GROUP:
		return read_text(&arg->value, &call->group);
	case IS_PEER:
		return read_peer(&arg->value, &call->peer);
	case IS_TYPE:
		return read_text(&arg->value, &call->type);
	case IS_CORRELATION:
		return trace_value_u64(&arg->value, &call->correlation);
	case IS_OTHER:
		break;
	}
	return true;
}

int flex_read_args(struct flex *flex, const struct trace_event *event, const char *category,
                   struct trace_text *ret_args)
{
	struct json_text *text = &flex->args;

	json_text_clear(text);
	json_text_open(text, '{');
	if (category)
		json_text_string(text, "cat", category);
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct trace_arg *arg = &event->args[i];

		if (arg->value.kind == TRACE_TEXT)
			json_text_string(text, arg->key.bytes, arg->value.text.bytes);
		else
			json_text_raw(text, arg->key.bytes, arg->value.text.bytes);
	}
	json_text_close(text, '}');
	return json_text_get(text, &ret_args->bytes, &ret_args->length);
}

void flex_call_begin(const struct trace_event *event, struct flex_call *ret_call)
{
	static const struct trace_text none = {"", 0};

	*ret_call = (struct flex_call){
		.begin_ns = event->ts_ns,
		.end_ns = event->ts_ns,
		.offset_bytes = event->offset_bytes,
		.record = origin_make(0, event->number).record,
		.full_name = event->name.bytes ? event->name : none,
		.args = none,
		.group = none,
		.type = none,
		.peer = -1,
	};
	ret_call->name = ret_call->full_name;
}

const char *flex_call_attributes(const struct trace_event *event, struct flex_call *call)
{
	const char *fault = NULL;

	for (uint32_t i = 0; i < event->n_args; i++) {
		if (!read_attribute(&event->args[i], call) && call->has_stamps)
			fault = "an attribute is no such number or text";
	}
	return fault;
}

/* What is no control block may use the names of its attributes as it likes. */
int flex_call_read_own(struct flex *flex, const struct trace_event *event,
                       struct flex_call *ret_call, const char **ret_fault)
{
	flex_call_begin(event, ret_call);
	*ret_fault = flex_call_attributes(event, ret_call);
	if (ret_call->has_stamps) {
		flex_cut_name(ret_call);
		return FLEXTRACE_OK;
	}
	*ret_fault = NULL;
	ret_call->kind = (uint8_t)runtime_kind(ret_call->full_name.bytes);
	return event->n_args ? flex_read_args(flex, event, NULL, &ret_call->args) : FLEXTRACE_OK;
}
