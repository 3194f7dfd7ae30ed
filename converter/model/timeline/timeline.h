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
	struct op_call *calls;     /* owned: in the order of their host rows */
	struct op_tensor *tensors; /* owned */
	uint32_t n_calls, n_tensors;
	struct tick_op *ops; /* owned: device_row.source */
	uint64_t n_ops;
	struct zone *zones; /* owned: device_row.source of marker rows */
	uint64_t n_zones;
	struct mark_run *runs;            /* owned: zone.run */
	struct loose_stamp *loose_stamps; /* owned: of slots, in no row */
	uint32_t n_loose_stamps;
	struct marker *markers; /* owned: zone.marker */
	uint32_t n_markers;
	const struct identity *identity;     /* weak */
	const struct clocks *clocks;         /* weak */
	struct clock_count *clock_counts;    /* owned: one of each of clocks_report() */
	const struct alignment *alignment;   /* weak */
	const struct ledger *ledger;         /* weak */
	const struct stream_set *streams;    /* weak: only keys, no tables */
	const struct string_pool *strings;   /* weak */
	int64_t first_time_ns, last_time_ns; /* over all rows; 0, 0 when there is none */
	uint64_t n_crossing;                 /* host rows on overflow lanes */
	/* Kernels that began before one of their queue had ended (TS3 before its TS4), for how long
	 * in all, and at most. */
	uint64_t n_overlaps, overlap_ns, largest_overlap_ns;
	uint64_t n_filtered; /* rows that select left out */
	/* Whether any control block tells of that: what has none costs no look at its rows. */
	bool has_groups, has_power, has_bytes;
	bool has_steps;                  /* any host row is one */
	bool has_arrows;                 /* between host rows */
	const struct table *sync_points; /* weak: struct sync_point of host programs; or NULL */
};

#endif
