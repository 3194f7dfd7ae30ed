/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h: makes struct findings, once: all that is found in a timeline.
 *
 * It takes two steps, as select/ stands between: what a row is (its class, its cost, a computed
 * counter) does not depend on what else is shown, and rows are asked for by it. What rows did
 * together (messages, iterations) is found in those that are shown.
 */
#ifndef FLEXTRACE_FINDINGS_FIND_H
#define FLEXTRACE_FINDINGS_FIND_H

#include "base/error.h"
#include "findings/compiler_info.h"
#include "findings/counters/counters.h"
#include "findings/iterations.h"
#include "findings/kernel_times.h"
#include "findings/power.h"
#include "findings/statistics/owners.h"
#include "findings/work/call_tree.h"
#include "findings/work/device_time.h"
#include "findings/work/work_stats.h"
#include "model/ledger/ledger.h"
#include "model/collective_rates.h"
#include "model/found_rows.h"
#include "model/timeline/event_class.h"
#include "model/timeline/findings.h"
#include "model/timeline/transfer_ends.h"
#include "model/user_options.h"

struct findings_input {
	const struct timeline *timeline; /* of derive; weak, all */
	struct string_cache *strings;
	struct ledger *ledger; /* gets warnings */
	const struct findings_options *options;
	const struct emitted *emitted;
	double core_hz; /* 0 = as the trace tells */
	bool counter_is_off[COMPUTED_COUNTER_COUNT];
	bool draws_no_flows, draws_paths, marks_no_iterations;
};

/* Findings, and all that they point to: owned, but for what `input` has. */
struct findings_owner {
	struct findings findings; /* of what is shown, once all of it is found */
	struct owners owners;
	struct compiler_info compiler_info;
	struct kernel_times kernel_times;
	struct kernel_costs costs;
	struct power power;
	struct power_samples *samples;
	struct table counters; /* recorded and computed: struct counter_row */
	struct event_classes classes;
	struct transfers transfers;
	struct table flows; /* those shown and the messages; without any message it is empty */
	struct table paths; /* these, and critical paths, if they are drawn */
	struct iterations iterations;
	uint32_t *iteration_of_op;
	struct found_rows found_rows;
	struct collective_rates collective_rates;
	struct call_tree call_tree;
	struct work_stats work_stats;
	struct device_times device_times;
	struct findings_memo memo;
};

/* Finds power, the last that asks clocks for places: their maps may go then, before there are more
 * rows. `all` is zero before, and is released in any case. FLEXTRACE_E_MEMORY or 0. */
int findings_place(struct findings_owner *all, const struct findings_input *input);

/* Then finds what rows are: owners, costs, `counters` and classes. FLEXTRACE_E_INPUT: the
 * compiler's files, or the times of another run, cannot be read. */
int findings_find_rows(struct findings_owner *all, const struct findings_input *input,
                       struct flextrace_error *error);

/* Then completes `findings`, of what select made of the timeline. FLEXTRACE_E_MEMORY or 0. */
int findings_find(struct findings_owner *all, const struct findings_input *input,
                  const struct timeline *shown);
void findings_release(struct findings_owner *all);

#endif
