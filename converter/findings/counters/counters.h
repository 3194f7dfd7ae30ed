/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h: the counters of a timeline: those that were recorded, and those computed from its
 * rows.
 *
 *   Power            W of a device from each sample on, 0 where it is not known
 *   TransferBW       GB/s (10^9 bytes) of all transfers of a device under way, each at its mean
 *   PT Active        percentage of the matrix unit that the kernels of a device reach
 *   ConcurrentPreps  open Prep intervals of a device
 */
#ifndef FLEXTRACE_COUNTERS_H
#define FLEXTRACE_COUNTERS_H

#include "findings/power.h"
#include "model/kernel_costs.h"
#include "model/timeline/timeline.h"

enum computed_counter {
	COUNTER_POWER,
	COUNTER_TRANSFER_BW,
	COUNTER_PT_ACTIVE,
	COUNTER_CONCURRENT_PREPS,
	COMPUTED_COUNTER_COUNT
};

/* As rows name it. */
const char *computed_counter_name(enum computed_counter counter);

struct counters_input {
	const struct timeline *timeline;  /* weak, all */
	const struct kernel_costs *costs; /* NULL: no `PT Active` */
	const struct power *power;        /* NULL: no `Power` */
	struct power_samples *samples;    /* of its devices: taken */
	struct string_cache *strings;
	bool is_off[COMPUTED_COUNTER_COUNT];
};

/* Appends all counters to `counters`, which is empty, in order of time: struct counter_row. A row
 * that was computed has the class of a control block. FLEXTRACE_E_MEMORY or 0. */
int counters_find(struct table *counters, const struct counters_input *input);

#endif
