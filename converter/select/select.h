/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h: a timeline and its counters -> what is shown of them: the rows that were asked for.
 *
 * - Stands behind everything that learns from the trace (clocks, alignment, the compiler's tables)
 *   and before everything that shows or sums: what is left out still served as evidence, and no
 *   file, table or counter has it.
 * - A record none of whose rows are left is booked as discarded, cause `filtered`, so that the
 *   balance closes; timeline.counts.n_filtered counts the rows.
 * - An arrow stays where both of its ends do. Rows are never cut.
 * - A process that no row can be of (by its rank, host or pid) is no longer shown at all.
 * - Without a criterion all is shown, and no row is copied.
 */
#ifndef FLEXTRACE_SELECT_H
#define FLEXTRACE_SELECT_H

#include "model/kernel_costs.h"
#include "model/timeline/event_class.h"
#include "base/error.h"
#include "model/ledger/ledger.h"
#include "model/user_options.h"

/* FLEXTRACE_E_USAGE: a text is no list of numbers, no time, no regular expression (POSIX, extended)
 * or names an attribute that there is not. Either time of a range may be missing; one is a whole
 * number of ns as in the CSV files, or behind a `+` the time since the first row, with a unit (ns,
 * us, ms, s). */
int select_check(const struct select_options *options, struct flextrace_error *error);

struct select_input {
	const struct select_options *options; /* weak, all */
	const struct timeline *timeline;
	const struct table *counters;        /* of it, computed ones among them */
	const struct event_classes *classes; /* rows may be asked for by their class and category */
	const struct kernel_costs *costs;    /* NULL: no compiler information */
	struct ledger *ledger;
};

/* What is shown of a timeline: weak but for what select_run() says. */
struct selection {
	struct timeline timeline;
	struct identity identity; /* of it: processes that are not shown are excluded */
	bool is_all;
};

/* Stores what is shown. It shares all with the timeline but for rows, arrows and
 * tracks that had to be copied; selection_release() in any case. */
int select_run(const struct select_input *input, struct selection *ret,
               struct flextrace_error *error);
void selection_release(struct selection *selection);

#endif
