/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bracket that was matched to the wrong operation can bend the whole map, and large lies hide
 * small ones from everything that looks only at extremes. Its neighbours know better: in a window
 * of brackets, all bounds are carried to the window's middle along the slope, widened by what the
 * rate may wander on the way. Where more than half agree, whoever misses their place is false. A
 * lie that only widens its bracket does no harm and stays.
 */
#include <math.h>

#include "calibrate_impl.h"
#include "marzullo.h"

#define WINDOW         64u
#define MIN_VOTERS     4u
#define FRACTION       16   /* votes are in 1/16 ns */
#define SLACK_NS       1.0  /* of rounding */
#define MAX_CARRIED_NS 1e15 /* beyond that a bracket says nothing about its window's middle */

/* The middle of a window, to which all is carried. */
struct middle {
	uint64_t x;
	int64_t host_ns;
	wide_int ref;
	double wander; /* ns per tick, the most in the window */
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

/* What a bracket says about phi in the middle of its window, at `x` and `host_ns`. */
static struct interval carry(const struct evidence *evidence, const struct bracket *bracket,
                             const struct reference *reference, const struct middle *middle)
{
	uint64_t first = bracket->first_ticks - evidence->ticks0;
	uint64_t last = bracket->last_ticks - evidence->ticks0;
	double lo = -INFINITY, hi = INFINITY;

	if (bracket->before_host_ns != INT64_MIN)
		lo = (double)(bracket->before_host_ns - middle->host_ns) -
		     far_of(reference, middle->ref, first) -
		     middle->wander * fabs((double)(int64_t)(first - middle->x));
	if (bracket->after_host_ns != INT64_MAX)
		hi = (double)(bracket->after_host_ns - middle->host_ns) -
		     far_of(reference, middle->ref, last) +
		     middle->wander * fabs((double)(int64_t)(last - middle->x));
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

static double wander_between(const struct reference *reference, uint64_t from, uint64_t to)
{
	const struct piece *piece = reference_piece(reference, from);
	const struct piece *end = reference->pieces + reference->n_pieces;
	uint64_t most = 0;

	for (; piece < end && (most == 0 || piece->x <= to); piece++) {
		most = piece->rise > most ? piece->rise : most;
		most = piece->fall > most ? piece->fall : most;
	}
	return ldexp((double)most, -WANDER_BITS);
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
	struct vote votes[WINDOW];
	uint32_t n = 0;

	middle.ref = reference_at(reference, middle.x);
	middle.wander = wander_between(reference,
	                               evidence->brackets[from]->last_ticks - evidence->ticks0,
	                               evidence->brackets[to - 1]->last_ticks - evidence->ticks0);
	for (uint32_t i = from; i < to; i++) {
		if (evidence->is_false[i])
			continue;
		votes[n].bracket = i;
		votes[n++].interval = carry(evidence, evidence->brackets[i], reference, &middle);
	}
	return judge(evidence, votes, n);
}

uint32_t reject_false(struct evidence *evidence, const struct reference *reference)
{
	uint32_t n_false = 0;

	for (uint32_t from = 0; from < evidence->n; from += WINDOW) {
		uint32_t to = evidence->n - from < WINDOW ? evidence->n : from + WINDOW;

		/* The last window reaches back, so that the end is not judged by a few. */
		if (to == evidence->n && evidence->n > WINDOW)
			n_false += judge_window(evidence, to - WINDOW, to, reference);
		else
			n_false += judge_window(evidence, from, to, reference);
	}
	return n_false;
}
