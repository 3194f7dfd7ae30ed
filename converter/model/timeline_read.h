/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_read.h: how the rows of a timeline are read. Any number of readers may read at once.
 */
#ifndef FLEXTRACE_TIMELINE_READ_H
#define FLEXTRACE_TIMELINE_READ_H

#include "timeline.h"

/* Starts at the first row of a table, which stays as it is. */
static inline void timeline_read(struct table_cursor *cursor, const struct table *table)
{
	table_read(cursor, (struct table *)table, false);
}

/* The same for the rows of devices where only those of control blocks matter: none, if the trace
 * has markers only. */
static inline void timeline_read_ops(struct table_cursor *cursor, const struct timeline *timeline)
{
	static const struct table none = TABLE_INIT;

	timeline_read(cursor, timeline->n_ops ? &timeline->device_rows : &none);
}

/* Of a row or any other interval, which does not end before it begins. */
static inline uint64_t interval_ns(int64_t start_time_ns, int64_t end_time_ns)
{
	return (uint64_t)end_time_ns - (uint64_t)start_time_ns;
}

#endif
