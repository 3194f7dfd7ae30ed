/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations.h: what a rank did again and again: the steps that its program recorded, else the
 * turns of the loop in the sequence of its kernels' names (repeats.h).
 *
 * Turns are cut so that as many whole ones as possible lie in the loop, and where that leaves a
 * choice, at the longest pauses. What looks like a turn before or behind the loop counts, too.
 * Memory: 4 bytes per kernel; besides, first 18 per kernel of one rank at a time, then 16 per
 * kernel of ranks that have iterations, and 48 per iteration.
 */
#ifndef FLEXTRACE_ITERATIONS_H
#define FLEXTRACE_ITERATIONS_H

#include "model/timeline/timeline_read.h"
#include "findings/statistics/owners.h"
#include "findings/statistics/spread.h"

enum iteration_source { ITERATIONS_NONE, ITERATIONS_STEPS, ITERATIONS_KERNELS };

struct iteration {
	int64_t start_time_ns, end_time_ns;
	uint64_t period_ns; /* from its start to the next one's; COLUMN_NONE_U64: none follows */
	uint32_t process;
	uint32_t number; /* from 0 */
	uint32_t n_kernels;
	uint32_t name; /* string: of the step; 0 = none */
};

struct iteration_summary { /* of a process */
	uint32_t process;
	uint32_t n_iterations;
	uint64_t turn_kernels; /* kernels in each, where their sequence told them; else 0 */
	uint64_t n_kernels;    /* of the process */
	uint64_t n_covered;    /* of these in iterations */
	double coverage_percent;
	struct spread periods; /* or SPREAD_NONE */
	uint8_t source;        /* enum iteration_source */
};

struct iterations {
	const struct timeline *timeline;     /* weak */
	struct iteration_summary *summaries; /* owned, by struct process */
	struct iteration *all;               /* owned, by start, then rank */
	uint32_t n;
};

/* Finds them. FLEXTRACE_E_MEMORY or 0; iterations_release() in any case. */
int iterations_find(struct iterations *iterations, const struct timeline *timeline,
                    const struct owners *owners);
void iterations_release(struct iterations *iterations);

/* Stores for each struct tick_op 1 + the number of the iteration that its main row starts in, 0 =
 * none; NULL where there are no iterations. Owned by the caller. FLEXTRACE_E_MEMORY or 0. */
int iterations_mark(const struct iterations *iterations, uint32_t **ret_of_op);

#endif
