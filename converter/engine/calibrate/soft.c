/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host times that another tool estimated come without bounds, and rounded; if they were used as
 * exact, neighbours would contradict each other. How far they scatter around a line with the median
 * of their slopes shows how wide they must be taken. One line for every few of them follows a rate
 * that wanders. How these lines are joined is decided by the fit.
 *
 * If a few of them span seconds, a rate that wanders bends away from any line, and that is no
 * scatter. So each time is also compared with the straight line between its neighbours at any
 * distance. It is off that line only by its scatter and by what the rate may wander.
 */
#include <math.h>

#include "base/select_kth.h"
#include "calibrate_impl.h"

#define BLOCK    64u /* estimates that one line is drawn through */
#define FAR      16  /* times the median distance: not of the others */
#define NEAR_NS  1000
#define LEAST    8u    /* fewer say nothing of how far they scatter */
#define LONG_NS  1e9   /* that a rate may wander in */
#define SHORT_NS 1e7   /* that it may not */
#define WANDER   10e-6 /* of the rate, either way */
#define BESIDE   16u   /* points on either side that are looked at, if they are near */
#define FEW      5u    /* of fewer a median says nothing */

struct block {
	struct bracket *brackets[BLOCK];        /* weak */
	double ticks[2 * BLOCK], ns[2 * BLOCK]; /* first and last of each, from the first one on */
	double distance_ns[2 * BLOCK];          /* from the line, later than that: positive */
	double beside_ns[2 * BLOCK];            /* from the line through those beside it */
	uint32_t n;                             /* brackets */
	uint32_t map;
	double limit_ns;        /* what is farther off is not of the others */
	double beside_limit_ns; /* likewise */
	double width_ns;        /* of the block before, of the same map */
	bool is_long;
};

static double median(double *values, uint32_t n)
{
	return n ? select_kth(values, n, n / 2) : 0;
}

static void set_points(struct block *block)
{
	const struct bracket *origin = block->brackets[0];

	for (uint32_t i = 0; i < block->n; i++) {
		const struct bracket *bracket = block->brackets[i];

		block->ticks[2 * i] = (double)(int64_t)(bracket->first_ticks - origin->first_ticks);
		block->ticks[2 * i + 1] =
			(double)(int64_t)(bracket->last_ticks - origin->first_ticks);
		block->ns[2 * i] = (double)(bracket->before_host_ns - origin->before_host_ns);
		block->ns[2 * i + 1] = (double)(bracket->after_host_ns - origin->before_host_ns);
	}
}

/* The median slope of pairs half the block apart, or that of a clock nobody knows. */
static double median_slope(const struct block *block)
{
	double slopes[BLOCK];
	uint32_t n = 0;
	double slope;

	for (uint32_t i = 0; i < block->n; i++) {
		double ticks = block->ticks[i + block->n] - block->ticks[i];

		if (ticks != 0)
			slopes[n++] = (block->ns[i + block->n] - block->ns[i]) / ticks;
	}
	slope = median(slopes, n);
	return slope >= MIN_SLOPE && slope <= MAX_SLOPE ? slope : 1;
}

/* The median of some numbers without their sign. */
static double median_size(const double *values, uint32_t n)
{
	double sizes[2 * BLOCK];

	for (uint32_t i = 0; i < n; i++)
		sizes[i] = fabs(values[i]);
	return median(sizes, n);
}

/* Fills the distances from the line; returns the median. */
static double measure(struct block *block)
{
	double slope = median_slope(block), offset_ns, distances_ns[2 * BLOCK];

	for (uint32_t i = 0; i < 2 * block->n; i++)
		distances_ns[i] = block->distance_ns[i] = block->ns[i] - slope * block->ticks[i];
	offset_ns = median(distances_ns, 2 * block->n);
	for (uint32_t i = 0; i < 2 * block->n; i++)
		block->distance_ns[i] -= offset_ns;
	return median_size(block->distance_ns, 2 * block->n);
}

/* How far a time is from the middle one of those near it, if these are enough. */
static double distance_beside(const struct block *block, uint32_t i)
{
	uint32_t first = i > BESIDE ? i - BESIDE : 0, n = 0;
	double near_ns[2 * BESIDE + 1];

	for (uint32_t j = first; j < 2 * block->n && j <= i + BESIDE; j++) {
		if (fabs(block->ns[j] - block->ns[i]) <= SHORT_NS)
			near_ns[n++] = block->distance_ns[j];
	}
	return n < 2 * FEW ? 0 : block->distance_ns[i] - median(near_ns, n);
}

/* The same for what is beside each time: there the rate wanders by nothing, and a time is not of
 * the others that is off by much less than the rate wanders in all of the block. */
static double measure_beside(struct block *block)
{
	for (uint32_t i = 0; i < 2 * block->n; i++)
		block->beside_ns[i] = distance_beside(block, i);
	return median_size(block->beside_ns, 2 * block->n);
}

/* How far a time is beside the line between two others, more than the rate may wander. */
static double bend_ns(const struct block *block, uint32_t left, uint32_t middle, uint32_t right,
                      double *ret_reach_ns)
{
	double ticks = block->ticks[right] - block->ticks[left];
	double share = ticks > 0 ? (block->ticks[middle] - block->ticks[left]) / ticks : 0;
	double ns = block->ns[right] - block->ns[left];
	double off_ns = block->ns[middle] - block->ns[left] - share * ns;

	*ret_reach_ns = share > 0 && share < 1 ? fabs(ns) * share * (1 - share) : INFINITY;
	return fmax(fabs(off_ns) - 2 * WANDER * *ret_reach_ns, 0);
}

/* How far the clock may be off the line at a time: behind the middle of the block as the rate has
 * wandered since then, and as the line bends in between. */
static double bend_at_ns(const struct block *block, uint32_t i)
{
	double since_ns = fabs(block->ns[i] - block->ns[block->n]);
	double span_ns = fabs(block->ns[2 * block->n - 1] - block->ns[0]);

	return block->is_long ? WANDER * fmax(2 * since_ns, span_ns / 2) : 0;
}

/* Whether a time is not of the others. */
static bool is_far(const struct block *block, uint32_t i)
{
	return fabs(block->distance_ns[i]) > block->limit_ns + bend_at_ns(block, i) ||
	       (block->is_long && fabs(block->beside_ns[i]) > block->beside_limit_ns);
}

/* How far neighbouring times scatter, without those that stand apart from the others. INFINITY:
 * too few are near each other to tell. */
static double scatter(const struct block *block)
{
	uint32_t near[2 * BLOCK], n = 0, n_short = 0;
	double most_ns = 0;

	for (uint32_t i = 0; i < 2 * block->n; i++) {
		if (!is_far(block, i))
			near[n++] = i;
	}
	for (uint32_t stride = 1; 2 * stride < n; stride *= 2) {
		for (uint32_t i = stride; i + stride < n; i++) {
			double reach_ns, bend = bend_ns(block, near[i - stride], near[i],
			                                near[i + stride], &reach_ns);

			most_ns = fmax(most_ns, bend);
			n_short += reach_ns < SHORT_NS;
		}
	}
	return n_short < LEAST ? INFINITY : most_ns;
}

static void widen_block(struct block *block)
{
	double width_ns = block->n < LEAST ? block->width_ns : 0;

	if (!block->n)
		return;
	set_points(block);
	block->is_long = block->n >= LEAST &&
	                 fabs(block->ns[2 * block->n - 1] - block->ns[0]) > LONG_NS;
	block->limit_ns = FAR * measure(block) + NEAR_NS;
	if (block->is_long)
		block->beside_limit_ns = FAR * measure_beside(block) + NEAR_NS;
	for (uint32_t i = 0; i < 2 * block->n; i++) {
		if (!is_far(block, i))
			width_ns = fmax(width_ns, fabs(block->distance_ns[i]));
	}
	if (block->is_long)
		width_ns = fmin(width_ns, scatter(block));
	width_ns = ceil(width_ns) + 1;
	for (uint32_t i = 0; i < block->n; i++) {
		struct bracket *bracket = block->brackets[i];

		if (is_far(block, 2 * i) || is_far(block, 2 * i + 1)) {
			/* Nobody uses a bracket that contradicts itself. */
			bracket->before_host_ns = bracket->after_host_ns + 1;
			continue;
		}
		bracket->before_host_ns -= (int64_t)width_ns;
		bracket->after_host_ns += (int64_t)width_ns;
	}
	block->width_ns = width_ns;
	block->n = 0;
}

void soft_widen(const struct clocks *clocks, const uint8_t *has_ops, struct table *brackets)
{
	struct block block = {.map = FLEXTRACE_NONE};

	TABLE_CHANGE(struct bracket, bracket, brackets)
	{
		uint32_t map = clocks->first_map[bracket->counter] + bracket->segment;

		if (has_ops[map] || bracket->source != BRACKET_ESTIMATE ||
		    bracket->before_host_ns == INT64_MIN || bracket->after_host_ns == INT64_MAX)
			continue;
		if (map != block.map || block.n == BLOCK)
			widen_block(&block);
		if (map != block.map)
			block.width_ns = 0;
		block.map = map;
		block.brackets[block.n++] = bracket;
	}
	widen_block(&block);
}
