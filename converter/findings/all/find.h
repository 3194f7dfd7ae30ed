/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h: makes struct findings, once: all that is found in a timeline.
 *
 * There are two of them, as select/ stands between: what a row is (its class, its cost, a computed
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
#include "model/ledger/ledger.h"
#include "model/rank_rows.h"
#include "model/timeline/event_class.h"
#include "model/timeline/findings.h"
#include "model/timeline/transfer_ends.h"

struct findings_input {
	const struct timeline *timeline; /* of derive; weak, all */
	struct string_cache *strings;
	struct ledger *ledger;            /* gets warnings */
	const char *const *compiler_info; /* see compiler_info.h */
	uint32_t n_compiler_info;
	const char *kernels_from; /* see kernel_times.h; NULL = none */
	const char *power_unit;   /* NULL = as devices tell */
	const struct emitted *emitted;
	const struct aie_options *aie;
	double core_hz; /* 0 = as the trace tells */
	bool counter_is_off[COMPUTED_COUNTER_COUNT];
	bool has_rank_rows; /* for files of single ranks */
	bool draws_no_flows, marks_no_iterations;
};

/* Everything that findings point to: owned, but for what `input` has. */
struct found {
	struct findings all;   /* of what derive made: without messages and iterations */
	struct findings shown; /* of what select left of it */
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
	struct iterations iterations;
	uint32_t *iteration_of_op;
	struct rank_rows rank_rows;
};

/* Finds power, the last that asks clocks for places: their maps may go then, before there are more
 * rows. `found` is zero before, and is released in any case. FLEXTRACE_E_MEMORY or 0. */
int findings_place(struct found *found, const struct findings_input *input);

/* Then makes `all` and `counters`. FLEXTRACE_E_INPUT: the compiler's files, or the times of another
 * run, cannot be read. */
int findings_find(struct found *found, const struct findings_input *input,
                  struct flextrace_error *error);

/* Makes `shown`, of what select made of `all` and `counters`. FLEXTRACE_E_MEMORY or 0. */
int findings_find_shown(struct found *found, const struct findings_input *input,
                        const struct timeline *shown);
void findings_release(struct found *found);

#endif
