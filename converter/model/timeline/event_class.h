/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_class.h: what device work is for, in the classes of the AIU Trace Analyzer. Of processes
 * of other dialects only the first five are known.
 *
 * - Kernels' Prep and Exec are COMPUTE_PREP and COMPUTE_EXEC, DMA and copies DATA_IN and DATA_OUT,
 *   all else OTHER, unless its name tells a protocol.
 * - With a collective group: names with "Host DMA" or "HCOLL" are steps of MAIU_HDMA_PROTOCOL_*;
 *   "Set BcList" and "Xseg to rank" MAIU_PROTOCOL_SERIAL; other data MAIU_P2PRDMA_PROTOCOL_*.
 * - Copies without a group that start between the first and the last kernel of their device, where
 *   the timeline has several ranks, are messages: MAIU_PROTOCOL_SEND_DATA and _RECV_DATA, of 128
 *   bytes MAIU_PROTOCOL_SIGNAL_DATA and _ACK.
 */
#ifndef FLEXTRACE_EVENT_CLASS_H
#define FLEXTRACE_EVENT_CLASS_H

#include "model/timeline/timeline.h"

enum event_class {
	CLASS_OTHER,
	CLASS_COMPUTE_PREP,
	CLASS_COMPUTE_EXEC,
	CLASS_DATA_IN,
	CLASS_DATA_OUT,
	CLASS_SERIAL,
	CLASS_HDMA_WAIT_DATA,
	CLASS_HDMA_WAIT_ACK,
	CLASS_HDMA_SIGNAL_DATA,
	CLASS_HDMA_SIGNAL_ACK,
	CLASS_HDMA_MONITOR_NOTICE,
	CLASS_HDMA_SEND_DATA,
	CLASS_HDMA_RECV_DATA,
	CLASS_P2P_SEND_DATA,
	CLASS_P2P_RECV_DATA,
	CLASS_SEND_DATA,
	CLASS_RECV_DATA,
	CLASS_SIGNAL_DATA,
	CLASS_SIGNAL_ACK,
	EVENT_CLASS_COUNT
};

/* "COMPUTE_EXEC" */
const char *event_class_name(uint8_t class);

struct event_classes {
	const struct timeline *timeline; /* weak */
	struct kernel_span *spans;       /* owned, by struct device; NULL: one rank only */
};

/* Looks at all rows where there are several ranks. FLEXTRACE_E_MEMORY or 0; release in any case. */
int event_classes_init(struct event_classes *classes, const struct timeline *timeline);
void event_classes_release(struct event_classes *classes);

/* Of a host row, by its kind: ROUNDTRIP_AIU and the like, "OTHER". */
const char *event_class_of_host(uint8_t dialect, uint8_t kind);

/* Of a row that is not a marker's. */
enum event_class event_class_of(const struct event_classes *classes, const struct device_row *row);

#endif
