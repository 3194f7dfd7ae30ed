/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pairs of brackets say about the slope, before anything is fitted: the host time between
 * two stamps lies between the distance of their inner bounds and that of their outer ones.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"
#include "base/marzullo.h"

#define PAIRS_PER_STRIDE 256u
#define GUESS_BITS       36
#define N_ENDS           8  /* brackets at each end that bound the mean slope */
#define MAX_PASSES       64 /* some five are usual */

/* The host time between two stamps lies between the next of their bounds and the farthest. */
static bool bound_slope(const struct claim *from, const struct claim *to, double *ret_lo,
                        double *ret_hi)
{
	uint64_t origin = to->first > from->last ? from->last : from->first;
	double ticks;

	if (to->first <= origin)
		return false;
	ticks = (double)(to->first - origin);
	*ret_lo = MIN_SLOPE;
	*ret_hi = MAX_SLOPE;
	if (to->before != INT64_MIN && from->after != INT64_MAX)
		*ret_lo = fmax(*ret_lo, (double)(to->before - from->after - 1) / (ticks + 1));
	if (to->after != INT64_MAX && from->before != INT64_MIN)
		*ret_hi = fmin(*ret_hi,
		               (double)(to->after - from->before + 1) / fmax(ticks - 1, 0.5));
	return *ret_lo <= *ret_hi;
}

int slope_guess(const struct evidence *evidence, double rho, double *slope, double *ret_slack)
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

			if (!bound_slope(&evidence->claims[i], &evidence->claims[i + stride], &lo,
			                 &hi))
				continue;
			intervals[n].lo = (int64_t)ldexp(lo * (1 - rho), GUESS_BITS);
			intervals[n++].hi = (int64_t)ldexp(hi * (1 + rho), GUESS_BITS);
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

/* The mean rate is between the bounds that brackets of both ends give, whatever the rate did in
 * between. Each pair bounds the mean over the time between its two brackets. */
void slope_bound(const struct evidence *evidence, double rho, double *ret_lo, double *ret_hi)
{
	uint32_t n = evidence->n < N_ENDS ? evidence->n : N_ENDS;

	*ret_lo = MIN_SLOPE;
	*ret_hi = MAX_SLOPE;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			uint32_t from = i, to = evidence->n - 1 - j;
			double lo, hi;

			if (from > to || evidence->is_false[from] || evidence->is_false[to])
				continue;
			if (from == to) {
				const struct claim *one = &evidence->claims[from];

				if (one->last > one->first + 1 && one->before != INT64_MIN &&
				    one->after != INT64_MAX)
					*ret_hi =
						fmin(*ret_hi,
					             (double)(one->after - one->before + 1) /
					                     (double)(one->last - one->first - 1));
			} else if (bound_slope(&evidence->claims[from], &evidence->claims[to], &lo,
			                       &hi)) {
				*ret_lo = fmax(*ret_lo, lo);
				*ret_hi = fmin(*ret_hi, hi);
			}
		}
	}
	*ret_lo /= 1 + rho;
	*ret_hi /= 1 - rho;
	if (*ret_hi < MIN_SLOPE)
		*ret_hi = MIN_SLOPE;
	if (*ret_lo > *ret_hi) {
		*ret_lo = MIN_SLOPE;
		*ret_hi = MAX_SLOPE;
	}
}

/* A knot's bound from below, or from above with the sign turned. */
static inline double low_of(const struct knot *knot, int sign)
{
	return sign > 0 ? (double)knot->lo : -(double)knot->hi;
}

/* One pass with lines of `*slope` from each upper bound on: takes the slope to the lower bound that
 * is farthest above them. Returns whether there is one. */
static bool raise_slope(const struct knot *knots, uint32_t n, int sign, double *slope)
{
	const double unbounded = (double)PHI_UNBOUNDED;
	double from = unbounded, worst = 0, raised = *slope;
	uint64_t from_x = 0;
	bool is_raised;

	for (uint32_t i = 0; i < n; i++) {
		double low = low_of(&knots[i], sign), high = -low_of(&knots[i], -sign);
		double dx = (double)(knots[i].x - from_x), line = from + *slope * dx;

		if (from < unbounded && low > -unbounded && low - line > worst) {
			worst = low - line;
			raised = (low - from) / dx;
		}
		if (high < unbounded && (from == unbounded || high < line)) {
			from = high;
			from_x = knots[i].x;
		}
	}
	is_raised = raised > *slope; /* by more than rounding */
	*slope = raised;
	return is_raised;
}

/* The steepest slope from an upper bound to a lower one behind it, by Newton's method: the most
 * that a lower bound is above a line is a convex function of the line's slope. `slope` is that of
 * such a pair or less. INFINITY: it is not found, or at one place a lower bound is above an upper
 * one. */
static double steepest(const struct knot *knots, uint32_t n, int sign, double slope)
{
	for (uint32_t i = 0; i < MAX_PASSES; i++) {
		if (!raise_slope(knots, n, sign, &slope))
			return slope;
		if (!isfinite(slope))
			break;
	}
	return INFINITY;
}

void slope_means(const struct knot *knots, uint32_t n, double slope, double rho, double *lo,
                 double *hi)
{
	double unit = ldexp(1, PHI_BITS);
	double least = *lo * (1 + rho) - slope, most = *hi * (1 - rho) - slope;

	*lo = fmax(*lo, (slope + steepest(knots, n, 1, least * unit) / unit) / (1 + rho));
	if (*lo <= *hi)
		*hi = fmin(*hi, (slope - steepest(knots, n, -1, -most * unit) / unit) / (1 - rho));
}
