/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean.h: mean and its standard error, as numbers come: B. P. Welford, "Note on a Method for
 * Calculating Corrected Sums of Squares and Products" (Technometrics 4, 1962).
 */
#ifndef FLEXTRACE_MEAN_H
#define FLEXTRACE_MEAN_H

#include <math.h>

struct mean { /* all zero: of none */
	double n, value, squares;
};

/* Adds a number, but for one that is not finite. */
static inline void mean_add(struct mean *mean, double number)
{
	double off = number - mean->value;

	if (!isfinite(number))
		return;
	mean->n++;
	mean->value += off / mean->n;
	mean->squares += off * (number - mean->value);
}

/* NAN: of none. */
static inline double mean_of(const struct mean *mean)
{
	return mean->n ? mean->value : (double)NAN;
}

/* Deviation of the sample by the root of its number; NAN: of fewer than two. */
static inline double mean_error(const struct mean *mean)
{
	return mean->n > 1 ? sqrt(mean->squares / (mean->n - 1) / mean->n) : (double)NAN;
}

#endif
