/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h: what was found in a timeline, once, for all that write about it.
 */
#ifndef FLEXTRACE_FINDINGS_H
#define FLEXTRACE_FINDINGS_H

#include "model/aie_options.h"
#include "model/kernel_costs.h"
#include "timeline.h"

struct collective_rates; /* collective_rates.h */
struct call_tree;        /* findings/work/call_tree.h */
struct device_times;     /* findings/work/device_time.h */
struct emitted;          /* ledger/emitted.h */
struct event_classes;    /* event_class.h */
struct iterations;       /* findings/iterations.h */
struct owners;           /* findings/owners.h */
struct power;            /* findings/power.h */
struct found_rows;       /* found_rows.h */
struct transfers;        /* transfer_ends.h */
struct work_stats;       /* findings/work/work_stats.h */

/* What several tables are made of: the first one makes it. */
struct findings_memo {
	void *value; /* owned; NULL until then */
	void (*release)(void *value);
};

static inline void findings_memo_release(struct findings_memo *memo)
{
	if (memo->value)
		memo->release(memo->value);
	memo->value = NULL;
}

/* Const, like the timeline; all weak. NULL is: not looked for. */
struct findings {
	const struct timeline *timeline;     /* never NULL, both */
	const struct owners *owners;         /* whose lines come first */
	const struct table *flows;           /* launches, and messages between devices */
	const struct event_classes *classes; /* of all rows, before select left some out */
	const struct kernel_costs *costs;    /* NULL: no compiler information */
	const struct power *power;
	const struct transfers *transfers;
	const struct collective_rates *collective_rates;
	const struct iterations *iterations;
	/* By struct tick_op: 1 + number of its iteration, 0 = none; NULL: there are none. */
	const uint32_t *iteration_of_op;
	const struct found_rows *found_rows;
	const struct emitted *emitted; /* what programs counted; NULL: nobody did */
	const struct aie_options *aie; /* NULL: the defaults */
	struct call_tree *call_tree;   /* empty until it is first asked for; call_tree_borrow() */
	struct work_stats *work_stats; /* likewise; work_stats_borrow() */
	struct device_times *device_times; /* likewise; device_times_borrow() */
	struct findings_memo *memo;
};

#endif
