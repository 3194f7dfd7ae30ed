/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A difference-constraint system on a path: an exit bounds the clock from below by the last enter
 * of the others, an enter from above by their first exit. For one mean rate, two carried bounds
 * tell the largest miss; it is convex over the means, as each pair of bounds is linear in them.
 */
#include "align_oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define MOST_RATE 200e-6
#define N_HALVES  60

struct bound { /* of the true time less the host's, at a host time; +-INFINITY: none */
	int64_t host_ns;
	double lo, hi;
};

struct oracle {
	struct bound *bounds; /* owned, by time */
	uint32_t n;
	double rho;
};

/* The last enter and the first exit of a round's other ranks, in true time. */
static void find_others(const struct align_truth *truth, uint32_t from, uint32_t to,
                        double *ret_enter_ns, double *ret_exit_ns)
{
	*ret_enter_ns = -INFINITY;
	*ret_exit_ns = INFINITY;
	for (uint32_t i = from; i < to; i++) {
		const struct truth_point *point = &truth->points[i];

		if (point->point.process == truth->scene.odd_rank)
			continue;
		*ret_enter_ns = fmax(*ret_enter_ns, point->enter_ns);
		*ret_exit_ns = fmin(*ret_exit_ns, point->exit_ns);
	}
}

static void add_round(struct oracle *oracle, const struct align_truth *truth, uint32_t from,
                      uint32_t to)
{
	int64_t base_ns = truth->hosts[truth->scene.odd_rank].offset_ns;
	double last_enter_ns, first_exit_ns;

	find_others(truth, from, to, &last_enter_ns, &first_exit_ns);
	for (uint32_t i = from; i < to; i++) {
		const struct sync_point *point = &truth->points[i].point;
		int64_t enter_ns = point->enter_host_ns - base_ns;
		int64_t exit_ns = point->exit_host_ns - base_ns;

		if (point->process != truth->scene.odd_rank)
			continue;
		oracle->bounds[oracle->n++] = (struct bound){enter_ns, -INFINITY,
		                                             first_exit_ns - (double)enter_ns};
		oracle->bounds[oracle->n++] =
			(struct bound){exit_ns, last_enter_ns - (double)exit_ns, INFINITY};
	}
}

static int compare_bounds(const void *left, const void *right)
{
	const struct bound *a = left, *b = right;

	return (a->host_ns > b->host_ns) - (a->host_ns < b->host_ns);
}

static double miss_at(const struct oracle *oracle, double mean)
{
	double lo = -INFINITY, hi = INFINITY, miss = -INFINITY;

	for (uint32_t i = 0; i < oracle->n; i++) {
		const struct bound *bound = &oracle->bounds[i];
		double dx = i > 0 ? (double)(bound->host_ns - bound[-1].host_ns) : 0;

		lo = fmax(lo + (mean - oracle->rho) * dx, bound->lo);
		hi = fmin(hi + (mean + oracle->rho) * dx, bound->hi);
		miss = fmax(miss, lo - hi);
	}
	return miss;
}

static double least_miss(const struct oracle *oracle)
{
	double from = -MOST_RATE, to = MOST_RATE;

	for (int i = 0; i < N_HALVES; i++) {
		double third = (to - from) / 3;

		if (miss_at(oracle, from + third) < miss_at(oracle, to - third))
			to -= third;
		else
			from += third;
	}
	return miss_at(oracle, (from + to) / 2);
}

double align_oracle_miss_ns(const struct align_truth *truth, double rho)
{
	struct oracle oracle = {.rho = rho};
	uint32_t from = 0;
	double miss;

	oracle.bounds = calloc(2ull * truth->n_points + 1, sizeof(*oracle.bounds));
	assert_non_null(oracle.bounds);
	for (uint32_t i = 0; i < truth->n_points; i++) {
		if (i + 1 < truth->n_points && truth->points[i + 1].round == truth->points[i].round)
			continue;
		add_round(&oracle, truth, from, i + 1);
		from = i + 1;
	}
	qsort(oracle.bounds, oracle.n, sizeof(*oracle.bounds), compare_bounds);
	miss = least_miss(&oracle);
	free(oracle.bounds);
	return miss;
}
