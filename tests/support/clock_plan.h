/* SPDX-License-Identifier: Apache-2.0 */
/* clock_plan.h: a rate that is told from place to place, and its sum. */
#ifndef CLOCK_PLAN_H
#define CLOCK_PLAN_H

#include <stdint.h>

struct plan_bend {
	double ns, rate;    /* from there on */
	long double sum_ns; /* up to there */
};

struct clock_plan {              /* zeroes: 0 everywhere */
	struct plan_bend *bends; /* owned */
	uint32_t n, n_allocated;
};

/* From `ns` on, which is not before the last. */
void plan_add(struct clock_plan *plan, double ns, double rate);
void plan_release(struct clock_plan *plan);

/* The sum of the rate up to a place. */
long double plan_at(const struct clock_plan *plan, double ns);

#endif
