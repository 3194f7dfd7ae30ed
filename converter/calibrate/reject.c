/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bracket that was matched to the wrong operation can bend the whole map, and large lies hide small ones
 * from everything that looks only at extremes. Its neighbours know better: in a window of brackets, all
 * bounds are carried to the window's middle along the slope, widened by what the rate may wander on the way.
 * Where more than half agree, whoever misses their place is false. A lie that only widens its bracket
 * does no harm and stays.
 */
#include <math.h>

#include "calibrate_impl.h"
#include "marzullo.h"

#define WINDOW         64u
#define MIN_VOTERS     4u
#define FRACTION       16   /* votes are in 1/16 ns */
#define SLACK_NS       1.0  /* of rounding */
#define MAX_CARRIED_NS 1e15 /* beyond that a bracket says nothing about its window's middle */

struct vote {
	uint32_t bracket;
	struct interval interval;
};

static int64_t clamp(double ns)
{
	return (int64_t)(fmin(fmax(ns, -MAX_CARRIED_NS), MAX_CARRIED_NS) * FRACTION);
}

/* What a bracket says about host time at `middle`, relative to `host_ns`. */
static struct interval carry(const struct bracket *bracket, uint64_t middle, int64_t host_ns,
                             double slope, double slack)
{
	double first = (double)(int64_t)(bracket->first_ticks - middle) * slope;
	double last = (double)(int64_t)(bracket->last_ticks - middle) * slope;
	double lo = -INFINITY, hi = INFINITY;

	if (bracket->before_host_ns != INT64_MIN)
		lo = (double)(bracket->before_host_ns - host_ns) - first - fabs(first) * slack;
	if (bracket->after_host_ns != INT64_MAX)
		hi = (double)(bracket->after_host_ns - host_ns) - last + fabs(last) * slack;
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

/* Judges the window that starts at `from`; stores where the next one starts. */
static uint32_t judge_window(struct evidence *evidence, uint32_t from, double slope, double slack,
                             uint32_t *ret_next)
{
	struct vote votes[WINDOW];
	uint32_t to = from + WINDOW < evidence->n ? from + WINDOW : evidence->n;
	const struct bracket *middle = evidence->brackets[from + (to - from) / 2];
	int64_t host_ns = middle->after_host_ns != INT64_MAX ? middle->after_host_ns
	                                                     : middle->before_host_ns;
	uint32_t n = 0;

	for (uint32_t i = from; i < to; i++) {
		if (evidence->is_false[i])
			continue;
		votes[n].bracket = i;
		votes[n++].interval = carry(evidence->brackets[i], middle->last_ticks, host_ns,
		                            slope, slack);
	}
	*ret_next = to;
	return judge(evidence, votes, n);
}

uint32_t reject_false(struct evidence *evidence, double slope, double slack)
{
	uint32_t n_false = 0, from = 0;

	/* The last window reaches back, so that the end of the data is not judged by a few. */
	while (from < evidence->n) {
		if (evidence->n - from < WINDOW && evidence->n > WINDOW)
			from = evidence->n - WINDOW;
		n_false += judge_window(evidence, from, slope, slack, &from);
	}
	return n_false;
}
