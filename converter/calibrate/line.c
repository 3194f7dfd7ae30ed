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
 * once, and any range of blocks is fitted from those few points.
 *
 * The hulls are exact. The slope is only a reference for the band, so doubles do from there on,
 * on values relative to the first evidence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "calibrate_impl.h"

#define STEPS 100

/* Lower points stand negated, so that both hulls are lower ones. */
struct points {
	struct hull_point *points; /* owned */
	uint32_t n;
};

static int compare_points(const void *left, const void *right)
{
	const struct hull_point *a = left, *b = right;

	if (a->x != b->x)
		return (a->x > b->x) - (a->x < b->x);
	return (a->t > b->t) - (a->t < b->t);
}

/* Leaves only the points on the lower hull; returns how many. */
static uint32_t make_hull(struct hull_point *points, uint32_t n_points)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < n_points; i++) {
		if (compare_points(&points[i - 1], &points[i]) > 0) {
			qsort(points, n_points, sizeof(*points), compare_points);
			break;
		}
	}
	for (uint32_t i = 0; i < n_points; i++) {
		while (n >= 2) {
			const struct hull_point *a = &points[n - 2], *b = &points[n - 1];
			const struct hull_point *c = &points[i];

			if ((wide_int)(b->x - a->x) * (c->t - a->t) >
			    (wide_int)(b->t - a->t) * (c->x - a->x))
				break;
			n--;
		}
		points[n++] = points[i];
	}
	return n;
}

/* -- blocks ---------------------------------------------------------------------------------- */

static int add_block(struct hulls *hulls, const struct evidence *evidence, uint32_t from,
                     uint32_t to)
{
	struct hull_block *block = &hulls->blocks[hulls->n_blocks++];
	struct hull_point *lower, *upper;
	uint32_t n_lower = 0, n_upper = 0;

	FLEXTRACE_TRY(ARRAY_RESERVE(hulls->lower, hulls->n_lower_allocated,
	                            (uint64_t)hulls->n_lower + to - from));
	FLEXTRACE_TRY(ARRAY_RESERVE(hulls->upper, hulls->n_upper_allocated,
	                            (uint64_t)hulls->n_upper + to - from));
	lower = hulls->lower + hulls->n_lower;
	upper = hulls->upper + hulls->n_upper;
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

int hulls_init(struct hulls *hulls, const struct evidence *evidence)
{
	uint32_t size = evidence->n / MAX_BLOCKS + 1;

	if (size < MIN_BLOCK)
		size = MIN_BLOCK;
	*hulls = (struct hulls){
		.blocks = calloc(evidence->n / size + 2ull, sizeof(*hulls->blocks)),
	};
	if (!hulls->blocks)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t from = 0; from < evidence->n; from += size)
		FLEXTRACE_TRY(add_block(hulls, evidence, from,
		                        evidence->n - from < size ? evidence->n : from + size));
	hulls->blocks[hulls->n_blocks].lower = hulls->n_lower;
	hulls->blocks[hulls->n_blocks].upper = hulls->n_upper;
	return FLEXTRACE_OK;
}

void hulls_release(struct hulls *hulls)
{
	free(hulls->lower);
	free(hulls->upper);
	free(hulls->blocks);
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

static bool join(struct points *join, const struct hull_point *points, uint32_t from, uint32_t to)
{
	join->points = malloc((to - from + 1ull) * sizeof(*points));
	if (!join->points)
		return false;
	memcpy(join->points, points + from, (to - from) * sizeof(*points));
	join->n = make_hull(join->points, to - from);
	return true;
}

int line_fit(const struct hulls *hulls, uint32_t from, uint32_t to, struct line *line)
{
	const struct hull_block *first = &hulls->blocks[from], *end = &hulls->blocks[to];
	struct points lower = {0}, upper = {0};
	int code = FLEXTRACE_E_MEMORY;

	if (join(&lower, hulls->lower, first->lower, end->lower) &&
	    join(&upper, hulls->upper, first->upper, end->upper)) {
		fit_hulls(&lower, &upper, line);
		code = FLEXTRACE_OK;
	}
	free(lower.points);
	free(upper.points);
	return code;
}
