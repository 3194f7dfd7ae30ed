/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_oracle.h"

#include <math.h>
#include <stdlib.h>

/* A bound of host time at a tick. */
struct bound {
	int64_t x, t;
	bool is_upper;
};

static int compare(const void *left, const void *right)
{
	const struct bound *a = left, *b = right;

	if (a->x != b->x)
		return (a->x > b->x) - (a->x < b->x);
	return a->is_upper - b->is_upper;
}

/* Some operations of a trace. */
struct range {
	uint32_t from, to;
};

static uint32_t list_bounds(const struct clock_truth *truth, struct range range, uint32_t life,
                            struct bound *bounds)
{
	uint32_t n = 0;

	for (uint32_t i = range.from; i < range.to; i++) {
		const struct truth_op *op = &truth->ops[i];

		if (op->life != life || op->lie != TRUTH_HONEST || op->slipped)
			continue;
		bounds[n++] = (struct bound){(int64_t)op->ticks[0], op->submit_ns, false};
		bounds[n++] = (struct bound){(int64_t)op->ticks[FLEXTRACE_N_STAMPS - 1],
		                             op->complete_ns, true};
	}
	for (uint32_t i = 0; i < truth->n_syncs && truth->n_lives == 1; i++) {
		const struct truth_sync *sync = &truth->syncs[i];

		if (sync->after_op < range.from || sync->after_op >= range.to)
			continue;
		bounds[n++] = (struct bound){(int64_t)sync->ticks, sync->before_ns, false};
		bounds[n++] = (struct bound){(int64_t)sync->ticks, sync->after_ns, true};
	}
	qsort(bounds, n, sizeof(*bounds), compare);
	return n;
}

/* What a pair of bounds asks of the rate, and by how much a rate misses it. */
struct pair {
	double rate, missed;
};

/*
 * The pair that a rate misses by most. `sign` 1: the first is an upper bound and asks for a least
 * rate, -1: a lower one that asks for a greatest.
 */
static struct pair worst_pair(const struct bound *bounds, uint32_t n, double rate, int sign)
{
	struct pair worst = {rate, 0};
	uint32_t from = n;
	double best = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		double off = sign * ((double)(bounds[i].t - bounds[0].t) -
		                     rate * (double)(bounds[i].x - bounds[0].x));

		if (bounds[i].is_upper == (sign > 0)) {
			if (off < best) {
				best = off;
				from = i;
			}
		} else if (from < n && off - best > worst.missed) {
			double dx = (double)(bounds[i].x - bounds[from].x);

			worst.missed = off - best;
			worst.rate = dx > 0 ? (double)(bounds[i].t - bounds[from].t) / dx
			                    : sign * INFINITY;
		}
	}
	return worst;
}

/* The least or greatest rate that all pairs leave: each round takes the worst pair of the last
 * one, as Newton's method does. */
static double find_rate(const struct bound *bounds, uint32_t n, double rate, int sign)
{
	for (int round = 0; round < 100 && isfinite(rate); round++) {
		struct pair worst = worst_pair(bounds, n, rate, sign);

		if (worst.missed < 1e-3)
			break;
		rate = worst.rate;
	}
	return rate;
}

bool clock_oracle_fits(const struct clock_truth *truth, uint32_t from, uint32_t to, double rho)
{
	struct range range = {from, to};
	struct bound *bounds = calloc(2ull * (truth->n_ops + truth->n_syncs) + 1, sizeof(*bounds));
	bool fits = true;

	for (uint32_t life = 0; life < truth->n_lives && fits; life++) {
		uint32_t n = list_bounds(truth, range, life, bounds);
		double least = find_rate(bounds, n, 1e-3, 1) / (1 + rho);
		double most = find_rate(bounds, n, 1e6, -1) / (1 - rho);

		fits = least <= most;
	}
	free(bounds);
	return fits;
}
