/* SPDX-License-Identifier: Apache-2.0 */
#include "model/timeline/event_class.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/strings.h"
#include "model/words/kinds.h"

#define SIGNAL_BYTES 128

struct kernel_span { /* starts of the first and the last kernel of a device */
	int64_t first_ns, last_ns;
	bool has_any;
};

const char *event_class_name(uint8_t class)
{
	static const char *const names[EVENT_CLASS_COUNT] = {
		[CLASS_OTHER] = "OTHER",
		[CLASS_COMPUTE_PREP] = "COMPUTE_PREP",
		[CLASS_COMPUTE_EXEC] = "COMPUTE_EXEC",
		[CLASS_DATA_IN] = "DATA_IN",
		[CLASS_DATA_OUT] = "DATA_OUT",
		[CLASS_SERIAL] = "MAIU_PROTOCOL_SERIAL",
		[CLASS_HDMA_WAIT_DATA] = "MAIU_HDMA_PROTOCOL_WAIT_DATA",
		[CLASS_HDMA_WAIT_ACK] = "MAIU_HDMA_PROTOCOL_WAIT_ACK",
		[CLASS_HDMA_SIGNAL_DATA] = "MAIU_HDMA_PROTOCOL_SIGNAL_DATA",
		[CLASS_HDMA_SIGNAL_ACK] = "MAIU_HDMA_PROTOCOL_SIGNAL_ACK",
		[CLASS_HDMA_MONITOR_NOTICE] = "MAIU_HDMA_PROTOCOL_MONITOR_NOTICE",
		[CLASS_HDMA_SEND_DATA] = "MAIU_HDMA_PROTOCOL_SEND_DATA",
		[CLASS_HDMA_RECV_DATA] = "MAIU_HDMA_PROTOCOL_RECV_DATA",
		[CLASS_P2P_SEND_DATA] = "MAIU_P2PRDMA_PROTOCOL_SEND_DATA",
		[CLASS_P2P_RECV_DATA] = "MAIU_P2PRDMA_PROTOCOL_RECV_DATA",
		[CLASS_SEND_DATA] = "MAIU_PROTOCOL_SEND_DATA",
		[CLASS_RECV_DATA] = "MAIU_PROTOCOL_RECV_DATA",
		[CLASS_SIGNAL_DATA] = "MAIU_PROTOCOL_SIGNAL_DATA",
		[CLASS_SIGNAL_ACK] = "MAIU_PROTOCOL_SIGNAL_ACK",
	};

	return names[class];
}

const char *event_class_of_host(uint8_t dialect, uint8_t kind)
{
	switch (dialect == DIALECT_AIU ? kind : 0) {
	case FLEXTRACE_RUNTIME_DATA_CONVERT:
		return "SEN_DATA_CONVERT";
	case FLEXTRACE_RUNTIME_PREPARE_AND_SYNC_RDMA:
		return "MAIU_WIREUP";
	case FLEXTRACE_RUNTIME_RDMA_BARRIER1:
	case FLEXTRACE_RUNTIME_RDMA_BARRIER2:
	case FLEXTRACE_RUNTIME_RDMA_BARRIER3:
		return "MAIU_BARRIER";
	case FLEXTRACE_RUNTIME_LAUNCH_SUPER_NODE:
		return "ROUNDTRIP_FLEX";
	case FLEXTRACE_RUNTIME_SUPER_NODE_EXECUTION:
		return "ROUNDTRIP_AIU";
	default:
		return "OTHER";
	}
}

/* -- where kernels are ------------------------------------------------------------------------- */

static bool has_several_ranks(const struct identity *identity)
{
	int32_t first = -1;

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (identity->processes[i].rank < 0 || identity->processes[i].is_excluded)
			continue;
		if (first >= 0 && identity->processes[i].rank != first)
			return true;
		first = identity->processes[i].rank;
	}
	return false;
}

int event_classes_init(struct event_classes *classes, const struct timeline *timeline)
{
	*classes = (struct event_classes){.timeline = timeline};
	if (!has_several_ranks(timeline->identity))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(classes->spans, timeline->identity->n_devices + 1ull));
	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		struct kernel_span *span;

		if (row->kind != ROW_EXEC)
			continue;
		span = &classes->spans[timeline->tracks[row->track].owner];
		if (!span->has_any)
			span->first_ns = row->start_time_ns;
		span->last_ns = row->start_time_ns;
		span->has_any = true;
	}
	return FLEXTRACE_OK;
}

void event_classes_release(struct event_classes *classes)
{
	free(classes->spans);
	classes->spans = NULL;
}

/* -- one row ----------------------------------------------------------------------------------- */

static enum event_class class_of_kind(uint8_t kind)
{
	switch (kind) {
	case ROW_PREP:
		return CLASS_COMPUTE_PREP;
	case ROW_EXEC:
		return CLASS_COMPUTE_EXEC;
	case ROW_DMA_IN:
	case ROW_MEMCPY_HTOD:
		return CLASS_DATA_IN;
	case ROW_DMA_OUT:
	case ROW_MEMCPY_DTOH:
		return CLASS_DATA_OUT;
	default:
		return CLASS_OTHER;
	}
}

/* A step of a collective through the host; of two that fit the first holds. */
static enum event_class class_of_host_dma(const char *name, enum event_class class)
{
	static const struct {
		const char *text;
		enum event_class class;
	} rules[] = {
		{"Wait for Data Avail Notice", CLASS_HDMA_WAIT_DATA},
		{"Wait for Notice (gather notifications)", CLASS_HDMA_WAIT_DATA},
		{"R5 Wait DATA", CLASS_HDMA_WAIT_DATA},
		{"Wait for ACK", CLASS_HDMA_WAIT_ACK},
		{"R5 Wait ACK", CLASS_HDMA_WAIT_ACK},
		{"Send ACK Instruction", CLASS_HDMA_SIGNAL_ACK},
		{"R5 Send ACK", CLASS_HDMA_SIGNAL_ACK},
		{"Send Instruction", CLASS_HDMA_SIGNAL_DATA},
		{"HCOLL Signal", CLASS_HDMA_SIGNAL_DATA},
		{"R5 Send DATA", CLASS_HDMA_SIGNAL_DATA},
		{"Wait for Notice", CLASS_HDMA_MONITOR_NOTICE},
		{"Wait for Delivery Notice", CLASS_HDMA_MONITOR_NOTICE},
	};

	if (class == CLASS_DATA_IN && strstr(name, "Wdone"))
		return CLASS_HDMA_WAIT_DATA;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (strstr(name, rules[i].text))
			return rules[i].class;
	}
	if (class == CLASS_DATA_OUT)
		return CLASS_HDMA_SEND_DATA;
	return class == CLASS_DATA_IN ? CLASS_HDMA_RECV_DATA : class;
}

static enum event_class class_in_group(const char *name, enum event_class class)
{
	if (strstr(name, "Host DMA") || strstr(name, "HCOLL"))
		return class_of_host_dma(name, class);
	if (strstr(name, "DLM Wait"))
		return CLASS_HDMA_WAIT_DATA;
	if (strstr(name, "Set BcList") || strstr(name, "Xseg to rank"))
		return CLASS_SERIAL;
	if (class == CLASS_DATA_OUT)
		return CLASS_P2P_SEND_DATA;
	return class == CLASS_DATA_IN ? CLASS_P2P_RECV_DATA : class;
}

static enum event_class class_of_copy(const struct event_classes *classes,
                                      const struct device_row *row, const struct tick_op *op,
                                      enum event_class class)
{
	const struct kernel_span *span = classes->spans ? &classes->spans[op->device] : NULL;
	bool is_signal = op->bytes == SIGNAL_BYTES;

	if (!span || !span->has_any || row->start_time_ns <= span->first_ns ||
	    row->start_time_ns >= span->last_ns)
		return class;
	if (class == CLASS_DATA_OUT)
		return is_signal ? CLASS_SIGNAL_DATA : CLASS_SEND_DATA;
	return is_signal ? CLASS_SIGNAL_ACK : CLASS_RECV_DATA;
}

enum event_class event_class_of(const struct event_classes *classes, const struct device_row *row)
{
	const struct tick_op *op = &classes->timeline->ops[row->source];
	enum event_class class = class_of_kind(row->kind);
	const char *name;

	if (classes->timeline->tracks[row->track].dialect != DIALECT_AIU)
		return class;
	if (!op->group && row->kind != ROW_MEMCPY_HTOD && row->kind != ROW_MEMCPY_DTOH)
		return class;
	name = string_get(classes->timeline->strings, op->name);
	if (op->group)
		return class_in_group(name, class);
	if (strstr(name, "Cleanup Host DMA Wait for ACK"))
		return CLASS_HDMA_WAIT_ACK;
	return class_of_copy(classes, row, op, class);
}
