/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h: what the stages make and everything behind them reads: rows in the order of output,
 * their tracks and flows. What was found in them is in findings.h.
 */
#ifndef FLEXTRACE_TIMELINE_H
#define FLEXTRACE_TIMELINE_H

#include "model/identity/identity.h"
#include "model/ledger/ledger.h"
#include "model/model.h"

struct alignment; /* alignment.h */
struct clocks;    /* clocks.h */

/* What stands on a counter's segment: control blocks and zones of the firmware, each with the worst
 * status of its rows. */
struct clock_count {
	uint64_t events, certified, assumed, outliers;
};

/* What recorded operations say of themselves besides their names. */
struct op_calls {
	struct op_call *calls;     /* owned: in the order of their host rows */
	struct op_tensor *tensors; /* owned */
	uint32_t n_calls, n_tensors;
};

/* What the firmware marked. */
struct timeline_marks {
	struct zone *zones; /* owned: device_row.source of marker rows */
	uint64_t n_zones;
	struct mark_run *runs; /* owned: zone.run */
	uint64_t n_runs;
	struct loose_stamp *loose_stamps; /* owned: of slots, in no row */
	uint32_t n_loose_stamps;
};

struct timeline_counts {
	struct clock_count *clocks; /* owned: one of each of clocks_report() */
	uint64_t n_crossing;        /* host rows on overflow lanes */
	uint64_t n_filtered;        /* rows that select left out */
	/* Kernels that began before one of their queue had ended (TS3 before its TS4), for how long
	 * in all, and at most. */
	uint64_t n_overlaps, overlap_ns, largest_overlap_ns;
};

/* What has none of something costs no look at its rows. */
struct timeline_has {
	bool groups, power, bytes; /* any control block tells of it */
	bool steps;                /* any host row is one */
	bool arrows;               /* between host rows */
};

/* Made whole by derive_finish() and const from then on. What emit and analysis read is one that
 * select made of it: that has only rows that were asked for, and computed counters. */
struct timeline {
	struct table host_rows;   /* struct host_row, in output order */
	struct table device_rows; /* struct device_row, in output order */
	struct table instants;    /* struct instant_row, in output order */
	struct table counters;    /* struct counter_row */
	struct table memory;      /* struct memory_row */
	struct table flows_from;  /* struct flow, by from_time_ns; its id is its place + 1 */
	struct track *tracks;     /* owned */
	uint32_t n_tracks;
	struct op_calls op_calls;
	struct tick_op *ops; /* owned: device_row.source */
	uint64_t n_ops;
	/* Owned, by `ops`: place of the host row that launched it, from 0, also where it seems to
	 * begin before that row; FLEXTRACE_NONE: none. NULL: nothing was launched by any. */
	uint32_t *launch_of_op;
	struct timeline_marks marks;
	struct marker *markers; /* owned: zone.marker */
	uint32_t n_markers;
	struct timeline_counts counts;
	struct timeline_has has;
	int64_t first_time_ns, last_time_ns; /* over all rows; 0, 0 when there is none */
	const struct identity *identity;     /* weak, all */
	const struct clocks *clocks;
	const struct alignment *alignment;
	const struct ledger *ledger;
	const struct stream_set *streams; /* only keys, no tables */
	const struct string_pool *strings;
	const struct table *sync_points; /* struct sync_point of host programs; or NULL */
};

#endif
