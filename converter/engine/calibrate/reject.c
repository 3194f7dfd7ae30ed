/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rejects false brackets before lines are fitted. A bracket that was matched to the wrong operation
 * can bend the whole map, and a large error hides small ones from all methods that look only at
 * extremes. The neighbours of a false bracket reveal it. In a window of brackets all bounds are
 * carried to the window's middle along the slope, widened by what the rate may wander on the way.
 * If more than half of them agree, a bracket that misses their interval is false. A false bracket
 * that is only too wide does no harm and stays. A window ends at an idle gap, since what is carried
 * over a gap is too wide to contradict anything.
 */
#include <math.h>

#include "calibrate_impl.h"
#include "step.h"
#include "base/marzullo.h"

#define WINDOW         64u
#define MIN_VOTERS     4u
#define FRACTION       16   /* votes are in 1/16 ns */
#define SLACK_NS       1.0  /* of rounding */
#define MAX_CARRIED_NS 1e15 /* beyond that a bracket says nothing about its window's middle */
#define GAP_SHARE      4    /* of a window's length: what is longer is a gap */

/* The middle of a window, to which all is carried. */
struct middle {
	uint64_t x;
	int64_t t;
	wide_int ref;
};

struct vote {
	uint32_t claim;
	struct interval interval;
};

static int64_t clamp(double ns)
{
	return (int64_t)(fmin(fmax(ns, -MAX_CARRIED_NS), MAX_CARRIED_NS) * FRACTION);
}

/* phi at `x` as far from the middle, in ns. */
static double far_of(const struct reference *reference, wide_int middle, uint64_t x)
{
	return ldexp((double)(reference_at(reference, x) - middle), -PHI_BITS);
}

/* How far phi may go, in ns, from `x` to the middle. */
static void wander(struct walk *walk, const struct middle *middle, uint64_t x, double *ret_down,
                   double *ret_up)
{
	struct step step = x <= middle->x ? band_step(walk, x, middle->x)
	                                  : band_step(walk, middle->x, x);

	*ret_down = ldexp((double)(x <= middle->x ? step.fall : step.rise), -PHI_BITS);
	*ret_up = ldexp((double)(x <= middle->x ? step.rise : step.fall), -PHI_BITS);
}

/* What a claim says about phi in the middle of its window. */
static struct interval carry(const struct claim *claim, struct walk *walk,
                             const struct middle *middle)
{
	double lo = -INFINITY, hi = INFINITY, down, up;

	if (claim->before != INT64_MIN) {
		wander(walk, middle, claim->first, &down, &up);
		lo = (double)(claim->before - middle->t) -
		     far_of(walk->reference, middle->ref, claim->first) - down;
	}
	if (claim->after != INT64_MAX) {
		wander(walk, middle, claim->last, &down, &up);
		hi = (double)(claim->after - middle->t) -
		     far_of(walk->reference, middle->ref, claim->last) + up;
	}
	return (struct interval){clamp(lo - SLACK_NS), clamp(hi + SLACK_NS)};
}

static uint32_t judge(struct evidence *evidence, const struct vote *votes, uint32_t n)
{
	struct interval intervals[WINDOW], hull;
	int64_t lo = INT64_MIN, hi = INT64_MAX;
	int64_t spare[2 * WINDOW];
	uint32_t n_false = 0;

	for (uint32_t i = 0; i < n; i++) {
		intervals[i] = votes[i].interval;
		if (intervals[i].lo > lo)
			lo = intervals[i].lo;
		if (intervals[i].hi < hi)
			hi = intervals[i].hi;
	}
	if (lo <= hi || n < MIN_VOTERS)
		return 0;
	if (marzullo_hull(intervals, n, 1.0, spare, &hull) <= n / 2)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (intervals[i].lo <= hull.hi && intervals[i].hi >= hull.lo)
			continue;
		evidence->is_false[votes[i].claim] = 1;
		n_false++;
	}
	return n_false;
}

/* Judges the brackets [from, to) by each other. */
static uint32_t judge_window(struct evidence *evidence, uint32_t from, uint32_t to,
                             const struct reference *reference)
{
	const struct claim *claim = &evidence->claims[from + (to - from) / 2];
	struct middle middle = {
		.x = claim->last,
		.t = claim->after != INT64_MAX ? claim->after : claim->before,
	};
	struct walk walk = {.reference = reference};
	struct vote votes[WINDOW];
	uint32_t n = 0;

	middle.ref = reference_at(reference, middle.x);
	for (uint32_t i = from; i < to; i++) {
		if (evidence->is_false[i])
			continue;
		votes[n].claim = i;
		votes[n++].interval = carry(&evidence->claims[i], &walk, &middle);
	}
	return judge(evidence, votes, n);
}

/* Where the window [from, to) ends, or a gap begins behind enough of it. */
static uint32_t end_of(const struct evidence *evidence, uint32_t from, uint32_t to)
{
	uint64_t length = evidence->claims[to - 1].last - evidence->claims[from].last;

	for (uint32_t i = from + MIN_VOTERS; i < to; i++) {
		uint64_t far = evidence->claims[i].last - evidence->claims[i - 1].last;

		if (far > length / GAP_SHARE)
			return i;
	}
	return to;
}

uint32_t reject_false(struct evidence *evidence, const struct reference *reference)
{
	uint32_t n_false = 0, begin = 0, to;

	for (uint32_t from = 0; from < evidence->n; from = to) {
		uint32_t least = from;

		to = evidence->n - from < WINDOW ? evidence->n : from + WINDOW;
		to = end_of(evidence, from, to);
		/* What is left before a gap, or the end, is not judged by a few. */
		if (to - from < MIN_VOTERS)
			begin = 0;
		if (to - from < WINDOW && from > begin)
			least = to - begin > WINDOW ? to - WINDOW : begin;
		n_false += judge_window(evidence, least, to, reference);
		if (to < evidence->n && to - from < WINDOW)
			begin = to;
	}
	return n_false;
}
