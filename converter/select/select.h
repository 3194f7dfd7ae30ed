/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h: the timeline -> the rows of it that were asked for.
 *
 * - Stands behind everything that learns from the trace (clocks, alignment, the compiler's tables)
 *   and before everything that shows or sums: what is left out still served as evidence, and no
 *   file, table or counter has it.
 * - A record none of whose rows are left is booked as discarded, cause `filtered`, so that the
 *   balance closes; timeline.n_filtered counts the rows.
 * - An arrow stays where both of its ends do. Rows are never cut.
 * - A process that no row can be of (by its rank, host or pid) is no longer shown at all.
 * - Without a criterion nothing is touched.
 */
#ifndef FLEXTRACE_SELECT_H
#define FLEXTRACE_SELECT_H

#include "model/findings.h"
#include "base/error.h"
#include "model/ledger/ledger.h"

/* Texts as they were given; all weak. */
struct select_options {
	const char *ranks;       /* "0,2-5"; NULL = all */
	const char *jobs;        /* likewise */
	const char *time_range;  /* "FROM,TO", see select_check() */
	const char *const *keep; /* "ATTRIBUTE:REGEX": rows must match all of them */
	uint32_t n_keep;
	const char *const *drop; /* likewise: rows must match none */
	uint32_t n_drop;
	uint64_t skip;  /* of the rows that are left, in order of time */
	uint64_t count; /* 0 = all */
	bool drop_globals;
};

/* FLEXTRACE_E_USAGE: a text is no list of numbers, no time, no regular expression (POSIX, extended)
 * or names an attribute that there is not. Either time of a range may be missing; one is a whole
 * number of ns as in the CSV files, or behind a `+` the time since the first row, with a unit (ns,
 * us, ms, s). */
int select_check(const struct select_options *options, struct flextrace_error *error);

/* Leaves the rows that are asked for, perhaps by what was found in them: classes and costs.
 * `identity` and `ledger` are those of the timeline. */
int select_run(const struct select_options *options, const struct findings *findings,
               struct timeline *timeline, struct identity *identity, struct ledger *ledger,
               struct flextrace_error *error);

#endif
