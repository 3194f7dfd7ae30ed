/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bracket that was matched to the wrong operation can bend the whole map, and large lies hide
 * small ones from everything that looks only at extremes. Its neighbours know better: in a window
 * of brackets, all bounds are carried to the window's middle along the slope, widened by what the
 * rate may wander on the way. Where more than half agree, whoever misses their place is false. A
 * lie that only widens its bracket does no harm and stays. A window ends at an idle gap: what is
 * carried over a gap is too wide to contradict anyone.
 */
#include <math.h>

#include "calibrate_impl.h"
#include "marzullo.h"

#define WINDOW         64u
#define MIN_VOTERS     4u
#define FRACTION       16   /* votes are in 1/16 ns */
#define SLACK_NS       1.0  /* of rounding */
#define MAX_CARRIED_NS 1e15 /* beyond that a bracket says nothing about its window's middle */
#define GAP_SHARE      4    /* of a window's length: what is longer is a gap */

/* The middle of a window, to which all is carried. */
struct middle {
	uint64_t x;
	int64_t host_ns;
	wide_int ref;
};

struct vote {
	uint32_t bracket;
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

/* What a bracket says about phi in the middle of its window, at `x` and `host_ns`. */
static struct interval carry(const struct evidence *evidence, const struct bracket *bracket,
                             struct walk *walk, const struct middle *middle)
{
	uint64_t first = bracket->first_ticks - evidence->ticks0;
	uint64_t last = bracket->last_ticks - evidence->ticks0;
	double lo = -INFINITY, hi = INFINITY, down, up;

	if (bracket->before_host_ns != INT64_MIN) {
		wander(walk, middle, first, &down, &up);
		lo = (double)(bracket->before_host_ns - middle->host_ns) -
		     far_of(walk->reference, middle->ref, first) - down;
	}
	if (bracket->after_host_ns != INT64_MAX) {
		wander(walk, middle, last, &down, &up);
		hi = (double)(bracket->after_host_ns - middle->host_ns) -
		     far_of(walk->reference, middle->ref, last) + up;
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
		evidence->is_false[votes[i].bracket] = 1;
		n_false++;
	}
	return n_false;
}

/* Judges the brackets [from, to) by each other. */
static uint32_t judge_window(struct evidence *evidence, uint32_t from, uint32_t to,
                             const struct reference *reference)
{
	const struct bracket *bracket = evidence->brackets[from + (to - from) / 2];
	struct middle middle = {
		.x = bracket->last_ticks - evidence->ticks0,
		.host_ns = bracket->after_host_ns != INT64_MAX ? bracket->after_host_ns
	                                                       : bracket->before_host_ns,
	};
	struct walk walk = {reference, 0};
	struct vote votes[WINDOW];
	uint32_t n = 0;

	middle.ref = reference_at(reference, middle.x);
	for (uint32_t i = from; i < to; i++) {
		if (evidence->is_false[i])
			continue;
		votes[n].bracket = i;
		votes[n++].interval = carry(evidence, evidence->brackets[i], &walk, &middle);
	}
	return judge(evidence, votes, n);
}

/* Where the window [from, to) ends, or a gap begins behind enough of it. */
static uint32_t end_of(const struct evidence *evidence, uint32_t from, uint32_t to)
{
	uint64_t length = evidence->brackets[to - 1]->last_ticks -
	                  evidence->brackets[from]->last_ticks;

	for (uint32_t i = from + MIN_VOTERS; i < to; i++) {
		uint64_t far = evidence->brackets[i]->last_ticks -
		               evidence->brackets[i - 1]->last_ticks;

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
