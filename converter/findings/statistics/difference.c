/* SPDX-License-Identifier: Apache-2.0 */
#include "difference.h"

/* -- samples --------------------------------------------------------------------------------- */

/* Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
 * variances", 1979. */
void sample_merge(struct sample *sample, const struct sample *other)
{
	double n = sample->n + other->n, apart = other->mean - sample->mean;

	if (!(other->n > 0))
		return;
	sample->mean += apart * other->n / n;
	sample->squares += other->squares + apart * apart * sample->n * other->n / n;
	sample->n = n;
}

void sample_add(struct sample *sample, double value)
{
	sample_merge(sample, &(struct sample){.n = 1, .mean = value});
}

struct sample sample_of(double n, double mean, double deviation)
{
	return (struct sample){n, mean, n > 1 ? deviation * deviation * (n - 1) : 0};
}

/* Of the mean; NAN: it takes two values. */
static double variance_of_mean(const struct sample *sample)
{
	return sample->n >= 2 ? sample->squares / (sample->n - 1) / sample->n : (double)NAN;
}

double sample_standard_error(const struct sample *sample)
{
	return sqrt(variance_of_mean(sample));
}

/* -- Student's t ----------------------------------------------------------------------------- */

#define TAIL           ((100 - CONFIDENCE_PERCENT) / 100.0) /* both of them */
#define NORMAL         1.959963984540054                    /* that of the normal distribution */
#define MANY_DEGREES   1000
#define BISECTIONS     60
#define MAX_FRACTIONS  500
#define LEAST_FRACTION 1e-300

static double away_from_zero(double value)
{
	return fabs(value) < LEAST_FRACTION ? LEAST_FRACTION : value;
}

/* The continued fraction of the incomplete beta function (NIST, Digital Library of Mathematical
 * Functions, 8.17.22), by Lentz's method. For x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d, step = 0;

	for (int m = 1; m < MAX_FRACTIONS && fabs(step - 1) > 1e-15; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		fraction *= c * d;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		step = c * d;
		fraction *= step;
	}
	return fraction;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta(double x, double a, double b)
{
	double front =
		exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* P(|T| > t) = I_x(n/2, 1/2) with x = n / (n + t^2) (Abramowitz and Stegun, 26.5.27 and 26.7.1):
 * bisected. For many degrees the expansion 26.7.5 is exact to 1e-8. */
double student_quantile(double degrees)
{
	double low = 1e-300, high = 1, z = NORMAL, n = degrees;

	if (degrees > MANY_DEGREES)
		return z + (pow(z, 3) + z) / (4 * n) +
		       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
	for (int i = 0; i < BISECTIONS; i++) {
		double x = (low + high) / 2;

		if (beta(x, n / 2, 0.5) < TAIL)
			low = x;
		else
			high = x;
	}
	return sqrt(n * (1 - low) / low);
}

/* -- differences ----------------------------------------------------------------------------- */

struct difference difference_from_zero(const struct sample *sample)
{
	double variance = variance_of_mean(sample);

	return (struct difference){
		.value = sample_mean(sample),
		.error = isnan(variance) ? (double)NAN
	                                 : student_quantile(sample->n - 1) * sqrt(variance),
	};
}

struct difference difference_of(const struct sample *a, const struct sample *b)
{
	double of_a = variance_of_mean(a), of_b = variance_of_mean(b), both = of_a + of_b;
	struct difference difference = {
		.value = a->n > 0 && b->n > 0 ? b->mean - a->mean : (double)NAN,
		.error = both, /* NAN, or exact: all values of each are the same */
	};

	if (both > 0) { /* Welch and Satterthwaite */
		double parts = of_a / both * of_a / both / (a->n - 1) +
		               of_b / both * of_b / both / (b->n - 1);

		difference.error = student_quantile(1 / parts) * sqrt(both);
	}
	return difference;
}
