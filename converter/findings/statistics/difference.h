/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference.h: whether values that were repeated differ, or only scatter.
 *
 * Welch's t-test (Welch, "The generalization of Student's problem when several different population
 * variances are involved", Biometrika 34, 1947): neither equal variances nor equal numbers of
 * values are assumed. A single value tells nothing of how it scatters: no interval then.
 */
#ifndef FLEXTRACE_DIFFERENCE_H
#define FLEXTRACE_DIFFERENCE_H

#include <math.h>
#include <stdbool.h>

/* Values as they came. Zeroes: none. */
struct sample {
	double n, mean;
	double squares; /* sum of squared distances from the mean */
};

/* Counts a value. */
void sample_add(struct sample *sample, double value);

/* Counts all values of another sample. */
void sample_merge(struct sample *sample, const struct sample *other);

/* Of `n` values whose mean and standard deviation (n - 1) are known. */
struct sample sample_of(double n, double mean, double deviation);

/* NAN: it has no value. */
static inline double sample_mean(const struct sample *sample)
{
	return sample->n > 0 ? sample->mean : (double)NAN;
}

/* Of the mean: the deviation by the root of the number. NAN: it takes two values. */
double sample_standard_error(const struct sample *sample);

#define CONFIDENCE_PERCENT 95 /* of all intervals */

struct difference {
	double value; /* NAN: there is nothing to compare */
	double error; /* half of the confidence interval around it; NAN: not known */
};

/* The mean of `b` minus that of `a`. */
struct difference difference_of(const struct sample *a, const struct sample *b);

/* The mean of a sample, against 0: of values that are differences themselves. */
struct difference difference_from_zero(const struct sample *sample);

/* Whether a difference is more than its values scatter; not where that is not known. */
static inline bool difference_is_certain(const struct difference *difference)
{
	return fabs(difference->value) > difference->error;
}

/* Student's t, two-sided: |t| stays below with CONFIDENCE_PERCENT. `degrees` > 0 of freedom, whole
 * or not. */
double student_quantile(double degrees);

#endif
