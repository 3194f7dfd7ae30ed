/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_read.h: how the rows of a timeline are read. Any number of readers may read at once.
 */
#ifndef FLEXTRACE_TIMELINE_READ_H
#define FLEXTRACE_TIMELINE_READ_H

#include "timeline.h"

/* The rows of devices where only those of control blocks matter: none, if the trace has markers
 * only. */
static inline const struct table *timeline_op_rows(const struct timeline *timeline)
{
	static const struct table none = TABLE_INIT;

	return timeline->n_ops ? &timeline->device_rows : &none;
}

/* Of a row or any other interval, which does not end before it begins. */
static inline uint64_t interval_ns(int64_t start_time_ns, int64_t end_time_ns)
{
	return (uint64_t)end_time_ns - (uint64_t)start_time_ns;
}

/* The first and the last stamp that was taken; 0: there is none. */
static inline uint64_t tick_op_first(const struct tick_op *op)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (op->ticks[i])
			return op->ticks[i];
	}
	return 0;
}

static inline uint64_t tick_op_last(const struct tick_op *op)
{
	for (int i = FLEXTRACE_N_STAMPS; i-- > 0;) {
		if (op->ticks[i])
			return op->ticks[i];
	}
	return 0;
}

#endif
