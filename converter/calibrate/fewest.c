/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fewest eras that explain all evidence, where the clock broke its promise.
 *
 * A clock whose rate stays within rho of a mean m meets evidence if and only if each pair of its
 * bounds does (difference constraints on a path): of two places dx apart, the first not after hi
 * and the second not before lo, lo - hi <= m (1 + rho) dx; the first not before lo and the second
 * not after hi, hi - lo >= m (1 - rho) dx. So each pair leaves a least or a greatest mean, and the
 * steepest pair of a new bound with those before is a tangent to their hull.
 *
 * An era takes in evidence, from the left, until no mean is left: the next one begins there. That
 * makes as few eras as there can be, and each ends as late as it can. From the right, each begins
 * as early as it can. So if the clock broke its promise no more often than it must have, the k-th
 * break lies between the k-th border from the right and the k-th one from the left. What is
 * in front of the one and behind the other is of one era for certain, its core; what is between
 * the two fits either side.
 *
 * Short eras say that evidence is false, or that the clock broke its promise all the time: that is
 * for others (track.c, parts.c).
 */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "blocks.h"
#include "calibrate_impl.h"

#define MIN_KNOTS 16u /* of an era's core */
#define PHI_NS    (1.0 / (1 << PHI_BITS))

struct spot {
	int64_t x, t;
};

/* The lower hull of spots, by x. */
struct chain {
	struct spot *spots; /* owned, of blocks.h */
	uint32_t n;
};

/* An era that takes in evidence. */
struct grower {
	struct chain upper, lower; /* of bounds `hi`, and of `lo` upside down */
	double slope, rho;         /* ns per tick where phi is level; relative */
	double least, most;        /* the means that are left */
};

struct borders {
	uint32_t *knots; /* owned: with which each era ends, the first one behind it */
	uint32_t n, n_allocated;
};

static bool is_above(const struct spot *left, const struct spot *spot, const struct spot *right)
{
	return (wide_int)(spot->t - left->t) * (right->x - left->x) >=
	       (wide_int)(right->t - left->t) * (spot->x - left->x);
}

static void chain_add(struct chain *chain, struct spot spot)
{
	while (chain->n > 0 && chain->spots[chain->n - 1].x == spot.x) {
		if (chain->spots[chain->n - 1].t <= spot.t)
			return;
		chain->n--;
	}
	while (chain->n > 1 &&
	       is_above(&chain->spots[chain->n - 2], &chain->spots[chain->n - 1], &spot))
		chain->n--;
	chain->spots[chain->n++] = spot;
}

/* The steepest way from any spot of the chain to one that is not in front of it, phi per tick. */
static double chain_steepest(const struct chain *chain, struct spot to)
{
	uint32_t first = 0, n = chain->n;

	if (n > 0 && chain->spots[n - 1].x == to.x && chain->spots[--n].t < to.t)
		return INFINITY;
	if (n == 0)
		return -INFINITY;
	for (uint32_t last = n - 1; first < last;) {
		uint32_t at = (first + last) / 2;

		if (is_above(&chain->spots[at], &chain->spots[at + 1], &to))
			last = at;
		else
			first = at + 1;
	}
	return (double)(to.t - chain->spots[first].t) / (double)(to.x - chain->spots[first].x);
}

static void grower_begin(struct grower *grower)
{
	grower->upper.n = grower->lower.n = 0;
	grower->least = 0;
	grower->most = INFINITY;
}

/* Takes in a knot; backward, all is turned by half a turn. False: no mean is left. */
static bool grower_take(struct grower *grower, const struct knot *knot, bool is_backward)
{
	int64_t x = is_backward ? -(int64_t)knot->x : (int64_t)knot->x;
	int64_t lo = is_backward ? -knot->hi : knot->lo, hi = is_backward ? -knot->lo : knot->hi;
	bool has_lo = lo > -PHI_UNBOUNDED, has_hi = hi < PHI_UNBOUNDED;

	if (has_lo) {
		double way = chain_steepest(&grower->upper, (struct spot){x, lo});

		grower->least = fmax(grower->least,
		                     (grower->slope + way * PHI_NS) / (1 + grower->rho));
	}
	if (has_hi) {
		double way = -chain_steepest(&grower->lower, (struct spot){x, -hi});

		grower->most = fmin(grower->most,
		                    (grower->slope + way * PHI_NS) / (1 - grower->rho));
	}
	if (grower->least > grower->most)
		return false;
	if (has_hi)
		chain_add(&grower->upper, (struct spot){x, hi});
	if (has_lo)
		chain_add(&grower->lower, (struct spot){x, -lo});
	return true;
}

/* Lists the borders of eras that each go on as far as they can. 1: done, 0: some are too short. */
static int list_borders(struct grower *grower, const struct knot *knots, uint32_t n,
                        bool is_backward, struct borders *borders)
{
	uint32_t begin = 0;

	grower_begin(grower);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = is_backward ? n - 1 - i : i;

		if (grower_take(grower, &knots[at], is_backward))
			continue;
		if (i - begin < MIN_KNOTS)
			return 0;
		FLEXTRACE_TRY(
			ARRAY_RESERVE(borders->knots, borders->n_allocated, borders->n + 1ull));
		borders->knots[borders->n++] = is_backward ? at + 1 : at;
		begin = i;
		grower_begin(grower);
		grower_take(grower, &knots[at], is_backward);
	}
	return 1;
}

/* -- what they make -------------------------------------------------------------------------- */

struct division {
	const struct knot *knots; /* weak */
	uint32_t n_knots;
	struct borders lefts,
		rights; /* as early as they can be, from the last one on, and as late */
	struct grower grower;
};

/* Finds the knots of an era's core. */
static void find_core(const struct division *division, uint32_t era, uint32_t *ret_from,
                      uint32_t *ret_to)
{
	uint32_t n = division->rights.n;

	*ret_from = era > 0 ? division->rights.knots[era - 1] : 0;
	*ret_to = era < n ? division->lefts.knots[n - 1 - era] : division->n_knots;
}

/* Whether both ways lead to as many eras, each with a core. */
static bool is_clear(const struct division *division)
{
	if (division->lefts.n != division->rights.n || division->lefts.n == 0)
		return false;
	for (uint32_t era = 0; era <= division->rights.n; era++) {
		uint32_t from, to;

		find_core(division, era, &from, &to);
		if (to < from + MIN_KNOTS)
			return false;
	}
	return true;
}

static void make_eras(struct division *division, struct reference *reference)
{
	uint32_t n = division->rights.n;
	double slope = 0;

	for (uint32_t i = 0; i <= n; i++) {
		const struct knot *knots = division->knots;
		struct grower *grower = &division->grower;
		double slope_lo, slope_hi;
		uint32_t from, to;

		find_core(division, i, &from, &to);
		grower_begin(grower);
		for (uint32_t at = from; at < to; at++)
			grower_take(grower, &knots[at], false);
		slope_lo = fmax(grower->least, MIN_SLOPE);
		slope_hi = fmin(grower->most, MAX_SLOPE);
		if (slope < slope_lo || slope > slope_hi)
			slope = (slope_lo + slope_hi) / 2;
		reference_add_era(
			reference,
			&(struct span){
				.from = i > 0 ? knots[from].x : 0,
				.to = i < n ? knots[to].x : UINT64_MAX,
				.reach_from = i > 0 ? knots[division->lefts.knots[n - i] - 1].x : 0,
				.reach_to = i < n ? knots[division->rights.knots[i]].x : UINT64_MAX,
				.slope = slope,
				.least = slope_lo * (1 - grower->rho),
				.most = slope_hi * (1 + grower->rho),
			});
	}
}

static int divide(struct division *division, struct reference *reference)
{
	int is_long = list_borders(&division->grower, division->knots, division->n_knots, false,
	                           &division->rights);

	if (is_long > 0)
		is_long = list_borders(&division->grower, division->knots, division->n_knots, true,
		                       &division->lefts);
	if (is_long <= 0 || !is_clear(division))
		return is_long < 0 ? is_long : 0;
	FLEXTRACE_TRY(reference_init_eras(reference, division->rights.n + 1));
	make_eras(division, reference);
	return reference_join_eras(reference, division->grower.rho);
}

int reference_init_fewest(struct reference *reference, const struct evidence *evidence,
                          double slope, double rho)
{
	struct reference straight;
	struct division division = {.grower = {.rho = rho}};
	struct grower *grower = &division.grower;
	struct knot *knots = NULL;
	int code = reference_init_straight(&straight, slope, rho);

	*reference = (struct reference){0};
	if (code >= 0)
		code = band_constrain(evidence, &straight, true, &knots, &division.n_knots);
	if (code >= 0) {
		grower->slope = slope_ns(straight.pieces[0].slope);
		grower->upper.spots = blocks_allocate(division.n_knots, sizeof(struct spot));
		grower->lower.spots = blocks_allocate(division.n_knots, sizeof(struct spot));
		division.knots = knots;
		code = grower->upper.spots && grower->lower.spots ? divide(&division, reference)
		                                                  : FLEXTRACE_E_MEMORY;
	}
	blocks_free(grower->upper.spots);
	blocks_free(grower->lower.spots);
	free(division.lefts.knots);
	free(division.rights.knots);
	blocks_free(knots);
	reference_release(&straight);
	return code;
}
