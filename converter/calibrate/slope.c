/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pairs of brackets say about the slope, before anything is fitted: the host time between
 * two stamps lies between the distance of their inner bounds and that of their outer ones.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"
#include "marzullo.h"

#define PAIRS_PER_STRIDE 256u
#define GUESS_BITS       36
#define N_ENDS           8 /* brackets at each end that bound the mean slope */

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

/* The mean rate lies between the bounds that brackets of both ends give, whatever the rate did
 * between. */
void slope_bound(const struct evidence *evidence, double *ret_lo, double *ret_hi)
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
	if (*ret_hi < MIN_SLOPE)
		*ret_hi = MIN_SLOPE;
	if (*ret_lo > *ret_hi) {
		*ret_lo = MIN_SLOPE;
		*ret_hi = MAX_SLOPE;
	}
}
