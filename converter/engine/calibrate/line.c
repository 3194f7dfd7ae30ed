/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line h = a + bx meets a bracket when a + b first >= before and a + b last <= after. Lower
 * points (first, before) matter only on their upper hull, upper points (last, after) only on
 * their lower hull. margin(b) = min over upper points (after - b x) - max over lower points
 * (before - b x) is concave in b; where it is largest, the line is as far from all brackets as a
 * line can be. A negative margin says how much the brackets must be relaxed before any line meets
 * them: drift, or a lie.
 *
 * The hull of a union is the hull of the hulls. So each block of evidence is reduced to its hulls
 * once, each few of these to those of all of them, and so on. Any range of blocks is fitted from
 * the few points that the largest of these in it have.
 *
 * The hulls are exact. The slope is only a reference for the band, so doubles do from there on,
 * on values relative to the first evidence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/order.h"
#include "calibrate_impl.h"

#define STEPS      100
#define SPAN       8u /* so many of one level are one of the next */
#define MAX_LEVELS 6u /* of MAX_BLOCKS */

/* Lower points stand negated, so that both hulls are lower ones. */
struct points {
	struct hull_point *points; /* owned */
	uint32_t n;
};

ORDER_BY(compare_points, struct hull_point, x, t);

/* Whether a lower hull turns at b on the way from a to c. */
static inline bool turns(const struct hull_point *a, const struct hull_point *b,
                         const struct hull_point *c)
{
	return (wide_int)(b->x - a->x) * (c->t - a->t) > (wide_int)(b->t - a->t) * (c->x - a->x);
}

/* Leaves only the points on the lower hull; returns how many. */
static uint32_t make_hull(struct hull_point *points, uint32_t n_points)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_points; i++) {
		if (n > 0 && compare_points(&points[n - 1], &points[i]) > 0) {
			/* What is left out already is on no hull of more points. */
			memmove(points + n, points + i, (n_points - i) * sizeof(*points));
			n_points -= i - n;
			ORDER_ARRAY(points, n_points, compare_points);
			i = n = 0;
		}
		while (n >= 2 && !turns(&points[n - 2], &points[n - 1], &points[i]))
			n--;
		points[n++] = points[i];
	}
	return n;
}

/* -- blocks ---------------------------------------------------------------------------------- */

static int make_room(struct hulls *hulls, uint32_t n_more)
{
	FLEXTRACE_TRY(blocks_fill(hulls->lower,
	                          ((size_t)hulls->n_lower + n_more) * sizeof(*hulls->lower)));
	return blocks_fill(hulls->upper, ((size_t)hulls->n_upper + n_more) * sizeof(*hulls->upper));
}

static int add_block(struct hulls *hulls, const struct evidence *evidence, uint32_t from,
                     uint32_t to)
{
	struct hull_block *block = &hulls->blocks[hulls->n_blocks++];
	struct hull_point *lower = hulls->lower + hulls->n_lower;
	struct hull_point *upper = hulls->upper + hulls->n_upper;
	uint32_t n_lower = 0, n_upper = 0;

	FLEXTRACE_TRY(make_room(hulls, to - from));
	for (uint32_t i = from; i < to; i++) {
		const struct claim *claim = &evidence->claims[i];

		if (evidence->is_false[i])
			continue;
		if (claim->before != INT64_MIN)
			lower[n_lower++] = (struct hull_point){(int64_t)claim->first,
			                                       -claim->before};
		if (claim->after != INT64_MAX)
			upper[n_upper++] = (struct hull_point){(int64_t)claim->last, claim->after};
	}
	*block = (struct hull_block){
		.x = (int64_t)evidence->claims[from].last,
		.lower = hulls->n_lower,
		.upper = hulls->n_upper,
	};
	hulls->n_lower += make_hull(lower, n_lower);
	hulls->n_upper += make_hull(upper, n_upper);
	return FLEXTRACE_OK;
}

/* A span of a level, of which `first` is the first one. Level 0 are the blocks. */
static struct hull_span span_at(const struct hulls *hulls, uint32_t level, uint32_t first,
                                uint32_t at)
{
	const struct hull_block *block = &hulls->blocks[at];

	if (level > 0)
		return hulls->spans[first + at];
	return (struct hull_span){block->lower, block->upper, block[1].lower - block->lower,
	                          block[1].upper - block->upper};
}

/* Adds the span of all that spans of a level, from `at` on, have. */
static int add_span(struct hulls *hulls, uint32_t level, uint32_t first, uint32_t at)
{
	struct hull_span sum = {.lower = hulls->n_lower, .upper = hulls->n_upper};

	for (uint32_t i = at; i < at + SPAN; i++) {
		struct hull_span span = span_at(hulls, level, first, i);
		uint32_t n_most = span.n_lower > span.n_upper ? span.n_lower : span.n_upper;

		FLEXTRACE_TRY(make_room(hulls, n_most));
		memcpy(hulls->lower + hulls->n_lower, hulls->lower + span.lower,
		       span.n_lower * sizeof(*hulls->lower));
		memcpy(hulls->upper + hulls->n_upper, hulls->upper + span.upper,
		       span.n_upper * sizeof(*hulls->upper));
		hulls->n_lower += span.n_lower;
		hulls->n_upper += span.n_upper;
	}
	sum.n_lower = make_hull(hulls->lower + sum.lower, hulls->n_lower - sum.lower);
	sum.n_upper = make_hull(hulls->upper + sum.upper, hulls->n_upper - sum.upper);
	hulls->n_lower = sum.lower + sum.n_lower;
	hulls->n_upper = sum.upper + sum.n_upper;
	hulls->spans[hulls->n_spans++] = sum;
	return FLEXTRACE_OK;
}

static int add_levels(struct hulls *hulls)
{
	uint32_t first = 0, n = hulls->n_blocks;

	for (uint32_t level = 0; n >= SPAN; level++) {
		uint32_t first_next = hulls->n_spans;

		for (uint32_t i = 0; i + SPAN <= n; i += SPAN)
			FLEXTRACE_TRY(add_span(hulls, level, first, i));
		first = first_next;
		n /= SPAN;
	}
	return FLEXTRACE_OK;
}

int hulls_init(struct hulls *hulls, const struct evidence *evidence)
{
	uint32_t size = evidence->n / MAX_BLOCKS + 1;
	uint64_t n_most = (uint64_t)evidence->n * (1 + MAX_LEVELS) + 1;

	if (size < MIN_BLOCK)
		size = MIN_BLOCK;
	*hulls = (struct hulls){
		.lower = blocks_reserve(n_most, sizeof(*hulls->lower)),
		.upper = blocks_reserve(n_most, sizeof(*hulls->upper)),
		.blocks = calloc(evidence->n / size + 2ull, sizeof(*hulls->blocks)),
		.spans = calloc(evidence->n / size + 1ull, sizeof(*hulls->spans)),
	};
	if (!hulls->lower || !hulls->upper || !hulls->blocks || !hulls->spans)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t from = 0; from < evidence->n; from += size)
		FLEXTRACE_TRY(add_block(hulls, evidence, from,
		                        evidence->n - from < size ? evidence->n : from + size));
	hulls->blocks[hulls->n_blocks].lower = hulls->n_lower;
	hulls->blocks[hulls->n_blocks].upper = hulls->n_upper;
	return add_levels(hulls);
}

void hulls_release(struct hulls *hulls)
{
	blocks_free(hulls->lower);
	blocks_free(hulls->upper);
	free(hulls->blocks);
	free(hulls->spans);
	*hulls = (struct hulls){.lower = NULL};
}

/* -- fitting --------------------------------------------------------------------------------- */

/* The least t + b x over a hull; stores its x. */
static double least(const struct points *hull, double slope, double *ret_x)
{
	double min = INFINITY;

	for (uint32_t i = 0; i < hull->n; i++) {
		double value = (double)hull->points[i].t + slope * (double)hull->points[i].x;

		if (value < min) {
			min = value;
			*ret_x = (double)hull->points[i].x;
		}
	}
	return min;
}

/* margin(b) and the sign of its derivative. */
static double margin_at(const struct points *lower, const struct points *upper, double slope,
                        double *ret_derivative)
{
	double x_lower = 0, x_upper = 0, value;

	value = least(upper, -slope, &x_upper) + least(lower, slope, &x_lower);
	*ret_derivative = x_lower - x_upper;
	return value;
}

/* Where margin(b) falls below 0 between `inside`, where it is not, and `outside`. */
static double edge_of(const struct points *lower, const struct points *upper, double inside,
                      double outside)
{
	double derivative;

	for (uint32_t i = 0; i < STEPS && fabs(outside - inside) > 1e-13 * inside; i++) {
		double middle = (inside + outside) / 2;

		if (margin_at(lower, upper, middle, &derivative) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

static void fit_hulls(const struct points *lower, const struct points *upper, struct line *line)
{
	double lo = line->slope_lo, hi = line->slope_hi, derivative, x;

	line->slope = fmin(fmax(line->slope, lo), hi);
	if (lower->n > 1 && upper->n > 1) {
		for (uint32_t i = 0; i < STEPS && hi - lo > 1e-16 * hi; i++) {
			margin_at(lower, upper, (lo + hi) / 2, &derivative);
			if (derivative > 0)
				lo = (lo + hi) / 2;
			else
				hi = (lo + hi) / 2;
		}
		line->slope = (lo + hi) / 2;
	}
	line->margin_ns = margin_at(lower, upper, line->slope, &derivative) / 2;
	line->offset_ns = lower->n ? -least(lower, line->slope, &x) : 0;
	if (!isfinite(line->margin_ns) || line->margin_ns < 0)
		return;
	line->offset_ns += line->margin_ns;
	line->slope_lo = edge_of(lower, upper, line->slope, line->slope_lo);
	line->slope_hi = edge_of(lower, upper, line->slope, line->slope_hi);
}

struct hull_span hulls_span(const struct hulls *hulls, uint32_t from, uint32_t to, uint32_t *ret_n)
{
	uint32_t level = 0, first = 0, n = 1;

	while (from % (SPAN * n) == 0 && SPAN * n <= to - from) {
		first += level > 0 ? hulls->n_blocks / n : 0;
		level++;
		n *= SPAN;
	}
	*ret_n = n;
	return span_at(hulls, level, first, from / n);
}

static void append(struct points *points, const struct hull_point *from, uint32_t n)
{
	if (points->points)
		memcpy(points->points + points->n, from, n * sizeof(*from));
	points->n += n;
}

/* Puts the points of the spans of blocks [from, to) there, or, without memory, only counts them. */
static void gather(const struct hulls *hulls, uint32_t from, uint32_t to, struct points *lower,
                   struct points *upper)
{
	uint32_t n;

	lower->n = upper->n = 0;
	for (; from < to; from += n) {
		struct hull_span span = hulls_span(hulls, from, to, &n);

		append(lower, hulls->lower + span.lower, span.n_lower);
		append(upper, hulls->upper + span.upper, span.n_upper);
	}
}

int line_fit(const struct hulls *hulls, uint32_t from, uint32_t to, struct line *line)
{
	struct points lower = {0}, upper = {0};
	int code = FLEXTRACE_E_MEMORY;

	gather(hulls, from, to, &lower, &upper);
	lower.points = malloc((lower.n + 1ull) * sizeof(*lower.points));
	upper.points = malloc((upper.n + 1ull) * sizeof(*upper.points));
	if (lower.points && upper.points) {
		gather(hulls, from, to, &lower, &upper);
		lower.n = make_hull(lower.points, lower.n);
		upper.n = make_hull(upper.points, upper.n);
		fit_hulls(&lower, &upper, line);
		code = FLEXTRACE_OK;
	}
	free(lower.points);
	free(upper.points);
	return code;
}
