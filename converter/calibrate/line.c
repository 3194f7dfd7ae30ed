/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line h = a + bx meets a bracket when a + b first >= before and a + b last <= after. Lower points
 * (first, before) matter only on their upper hull, upper points (last, after) only on their lower hull.
 * margin(b) = min over upper points (after - b x) - max over lower points (before - b x) is concave in b; where
 * it is largest, the line is as far from all brackets as a line can be. A negative margin says how much
 * the brackets must be relaxed before any line meets them: drift, or a lie.
 *
 * The hulls are exact. The slope is only a reference for the band, so doubles do from there on, on values
 * relative to the first evidence.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"
#include "marzullo.h"

#define PAIRS_PER_STRIDE 256u
#define GUESS_BITS       36
#define MAX_SLOPE        1e5   /* ns per tick: 10 kHz */
#define MIN_SLOPE        0.125 /* 8 GHz */
#define N_ENDS           8     /* brackets at each end that bound the mean rate */
#define STEPS            200

struct point {
	int64_t x, t;
};

struct hull {
	struct point *points; /* owned */
	uint32_t n;
};

/* The host time between two stamps lies between the next of their bounds and the farthest. */
static bool bound_slope(const struct bracket *from, const struct bracket *to, double *ret_lo,
                        double *ret_hi)
{
	uint64_t origin = to->first_ticks > from->last_ticks ? from->last_ticks : from->first_ticks;
	double ticks;

	if (to->first_ticks <= origin)
		return false;
	ticks = (double)(to->first_ticks - origin);
	*ret_lo = MIN_SLOPE;
	*ret_hi = MAX_SLOPE;
	if (to->before_host_ns != INT64_MIN && from->after_host_ns != INT64_MAX)
		*ret_lo = fmax(*ret_lo, (double)(to->before_host_ns - from->after_host_ns - 1) /
		                                (ticks + 1));
	if (to->after_host_ns != INT64_MAX && from->before_host_ns != INT64_MIN)
		*ret_hi = fmin(*ret_hi, (double)(to->after_host_ns - from->before_host_ns + 1) /
		                                fmax(ticks - 1, 0.5));
	return *ret_lo <= *ret_hi;
}

int line_guess(const struct evidence *evidence, double *slope, double *ret_slack)
{
	uint32_t n = 0, n_strides = 0, depth;
	struct interval *intervals, hull;
	int64_t *spare;

	for (uint32_t stride = 1; stride < evidence->n; stride *= 2)
		n_strides++;
	intervals = calloc((size_t)n_strides * PAIRS_PER_STRIDE + 1, sizeof(*intervals));
	spare = calloc(2 * ((size_t)n_strides * PAIRS_PER_STRIDE + 1), sizeof(*spare));
	if (!intervals || !spare) {
		free(intervals);
		free(spare);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t stride = 1; stride < evidence->n; stride *= 2) {
		uint32_t n_pairs = evidence->n - stride;
		uint32_t step = (n_pairs - 1) / PAIRS_PER_STRIDE + 1;

		for (uint32_t i = 0; i < n_pairs; i += step) {
			double lo, hi;

			if (!bound_slope(evidence->brackets[i], evidence->brackets[i + stride], &lo,
			                 &hi))
				continue;
			intervals[n].lo = (int64_t)ldexp(lo, GUESS_BITS);
			intervals[n++].hi = (int64_t)ldexp(hi, GUESS_BITS);
		}
	}
	depth = marzullo_hull(intervals, n, 1.0, spare, &hull);
	if (depth > n / 2) {
		*slope = ldexp((double)hull.lo / 2 + (double)hull.hi / 2, -GUESS_BITS);
		*ret_slack = (double)(hull.hi - hull.lo) / 2 / ldexp(*slope, GUESS_BITS);
	}
	free(intervals);
	free(spare);
	return FLEXTRACE_OK;
}

/* -- hulls ---------------------------------------------------------------------------------------- */

static int compare_points(const void *left, const void *right)
{
	const struct point *a = left, *b = right;

	if (a->x != b->x)
		return (a->x > b->x) - (a->x < b->x);
	return (a->t > b->t) - (a->t < b->t);
}

/* Drops the points that are not on the lower hull. Upper hulls come negated. */
static void make_hull(struct hull *hull)
{
	struct point *points = hull->points;
	uint32_t n = 0;

	for (uint32_t i = 1; i < hull->n; i++) {
		if (compare_points(&points[i - 1], &points[i]) > 0) {
			qsort(points, hull->n, sizeof(*points), compare_points);
			break;
		}
	}
	for (uint32_t i = 0; i < hull->n; i++) {
		while (n >= 2) {
			const struct point *a = &points[n - 2], *b = &points[n - 1],
					   *c = &points[i];

			if ((wide_int)(b->x - a->x) * (c->t - a->t) >
			    (wide_int)(b->t - a->t) * (c->x - a->x))
				break;
			n--;
		}
		points[n++] = points[i];
	}
	hull->n = n;
}

static int make_hulls(const struct evidence *evidence, struct hull *lower, struct hull *upper)
{
	lower->points = malloc((evidence->n + 1ull) * sizeof(*lower->points));
	upper->points = malloc((evidence->n + 1ull) * sizeof(*upper->points));
	if (!lower->points || !upper->points)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < evidence->n; i++) {
		const struct bracket *bracket = evidence->brackets[i];

		if (evidence->is_false[i])
			continue;
		if (bracket->before_host_ns != INT64_MIN)
			lower->points[lower->n++] =
				(struct point){(int64_t)(bracket->first_ticks - evidence->ticks0),
			                       evidence->host0 - bracket->before_host_ns};
		if (bracket->after_host_ns != INT64_MAX)
			upper->points[upper->n++] =
				(struct point){(int64_t)(bracket->last_ticks - evidence->ticks0),
			                       bracket->after_host_ns - evidence->host0};
	}
	make_hull(lower);
	make_hull(upper);
	return FLEXTRACE_OK;
}

/* The least t + b x over a hull; stores its x. */
static double least(const struct hull *hull, double slope, double *ret_x)
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

/* margin(b) and its derivative; the lower hull stands negated, so its line is -before + b x. */
static double margin(const struct hull *lower, const struct hull *upper, double slope,
                     double *ret_derivative)
{
	double x_lower = 0, x_upper = 0, value;

	value = least(upper, -slope, &x_upper) + least(lower, slope, &x_lower);
	*ret_derivative = x_lower - x_upper;
	return value;
}

/* The mean rate lies between the bounds that brackets of both ends give, whatever the rate did between. */
static void bound_mean(const struct evidence *evidence, struct line *line)
{
	uint32_t n = evidence->n < N_ENDS ? evidence->n : N_ENDS;

	line->slope_lo = MIN_SLOPE;
	line->slope_hi = MAX_SLOPE;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			uint32_t from = i, to = evidence->n - 1 - j;
			double lo, hi;

			if (from > to || evidence->is_false[from] || evidence->is_false[to])
				continue;
			if (from == to) {
				const struct bracket *one = evidence->brackets[from];

				if (one->last_ticks > one->first_ticks + 1 &&
				    one->before_host_ns != INT64_MIN &&
				    one->after_host_ns != INT64_MAX)
					line->slope_hi =
						fmin(line->slope_hi,
					             (double)(one->after_host_ns -
					                      one->before_host_ns + 1) /
					                     (double)(one->last_ticks -
					                              one->first_ticks - 1));
			} else if (bound_slope(evidence->brackets[from], evidence->brackets[to],
			                       &lo, &hi)) {
				line->slope_lo = fmax(line->slope_lo, lo);
				line->slope_hi = fmin(line->slope_hi, hi);
			}
		}
	}
	if (line->slope_hi < MIN_SLOPE)
		line->slope_hi = MIN_SLOPE;
	if (line->slope_lo > line->slope_hi) {
		line->slope_lo = MIN_SLOPE;
		line->slope_hi = MAX_SLOPE;
	}
}

int line_fit(const struct evidence *evidence, double hint, struct line *ret_line)
{
	struct hull lower = {0}, upper = {0};
	double derivative, x;
	int code = make_hulls(evidence, &lower, &upper);

	if (code >= 0) {
		double lo, hi;

		bound_mean(evidence, ret_line);
		lo = ret_line->slope_lo;
		hi = ret_line->slope_hi;
		ret_line->slope = fmin(fmax(hint, lo), hi);
		if (lower.n > 1 && upper.n > 1) {
			for (uint32_t i = 0; i < STEPS && hi - lo > 1e-16 * hi; i++) {
				margin(&lower, &upper, (lo + hi) / 2, &derivative);
				if (derivative > 0)
					lo = (lo + hi) / 2;
				else
					hi = (lo + hi) / 2;
			}
			ret_line->slope = (lo + hi) / 2;
		}
		ret_line->margin_ns = margin(&lower, &upper, ret_line->slope, &derivative) / 2;
		ret_line->offset_ns = lower.n ? -least(&lower, ret_line->slope, &x) : 0;
		if (lower.n && isfinite(ret_line->margin_ns))
			ret_line->offset_ns += ret_line->margin_ns;
	}
	free(lower.points);
	free(upper.points);
	return code;
}
