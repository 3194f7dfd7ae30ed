/* SPDX-License-Identifier: Apache-2.0 */
/* One mean rate that explains all evidence of a segment. */
#include <math.h>

#include "engine/calibrate/calibrate_impl.h"

/* Closes the band of all means from `lo` to `hi`. 1: all evidence meets in it, 0: not. */
static int try_means(const struct evidence *evidence, double lo, double hi,
                     struct attempt *ret_band)
{
	double rho = ret_band->rho;

	FLEXTRACE_TRY(reference_init_straight(&ret_band->reference, (lo + hi) / 2,
	                                      (hi - lo) / (hi + lo) + rho / (1 - rho)));
	FLEXTRACE_TRY(band_constrain(evidence, &ret_band->reference, true, &ret_band->knots,
	                             &ret_band->n_knots));
	ret_band->width = band_close(ret_band->knots, ret_band->n_knots, &ret_band->reference);
	ret_band->is_closed = ret_band->width >= 0;
	return ret_band->is_closed;
}

/* Narrows the means from `*lo` to `*hi` to those around which all evidence meets. 1: there are
 * some, 0: none. */
static int find_means(const struct evidence *evidence, double rho, double *lo, double *hi)
{
	struct attempt band = {.rho = rho};
	double slope;
	int code = reference_init_straight(&band.reference, (*lo + *hi) / 2, 0);

	if (code >= 0)
		code = band_constrain(evidence, &band.reference, true, &band.knots, &band.n_knots);
	if (code >= 0) {
		slope = ldexp((double)band.reference.pieces[0].slope, -SLOPE_BITS);
		slope_means(band.knots, band.n_knots, slope, rho, lo, hi);
	}
	fit_release(&band);
	return code < 0 ? code : *lo <= *hi;
}

int mean_try(const struct evidence *evidence, struct attempt *attempt)
{
	struct attempt band = {.rho = attempt->rho};
	double lo, hi;
	int is_met;

	slope_bound(evidence, attempt->rho, &lo, &hi);
	if (hi - lo > SLOPE_OPEN * lo)
		return 0;                            /* it is not known */
	is_met = try_means(evidence, lo, hi, &band); /* a real step seldom gets farther */
	fit_release(&band);
	if (is_met > 0)
		is_met = find_means(evidence, attempt->rho, &lo, &hi);
	band = (struct attempt){.rho = attempt->rho};
	if (is_met > 0)
		is_met = try_means(evidence, lo, hi, &band);
	if (is_met <= 0) {
		fit_release(&band);
		return is_met;
	}
	fit_release(attempt);
	*attempt = band;
	return 1;
}
