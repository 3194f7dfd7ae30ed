/* SPDX-License-Identifier: Apache-2.0 */
#include "select_kth.h"

#include <math.h>

#define LARGE 150 /* a sample of so many values is worth it */

static void swap(double *a, double *b)
{
	double c = *a;

	*a = *b;
	*b = c;
}

static double select_in(double *values, int64_t lo, int64_t hi, int64_t k);

/* A value near the k-th smallest of [lo, hi]: that of a sample, which stands around place k (Floyd
 * and Rivest). It lies a little beyond, so that what is left to search becomes small. */
static double find_pivot(double *values, int64_t lo, int64_t hi, int64_t k)
{
	double n = (double)(hi - lo + 1), share = (double)(k - lo + 1) / n, size, shift;

	if (hi - lo < LARGE)
		return values[lo + (hi - lo) / 2];
	size = cbrt(n * n) / 2;
	shift = sqrt(log(n) * size) / 2 * (share < 0.5 ? -1 : 1);
	return select_in(values, (int64_t)fmax((double)lo, (double)k - share * size + shift),
	                 (int64_t)fmin((double)hi, (double)k + (1 - share) * size + shift), k);
}

/* Puts the k-th smallest of [lo, hi] at place k, nothing larger before it and nothing smaller
 * behind. */
static double select_in(double *values, int64_t lo, int64_t hi, int64_t k)
{
	while (lo < hi) {
		double pivot = find_pivot(values, lo, hi, k);
		int64_t i = lo, j = hi;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j)
				swap(&values[i++], &values[j--]);
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			break;
	}
	return values[k];
}

double select_kth(double *values, uint32_t n, uint32_t k)
{
	return select_in(values, 0, (int64_t)n - 1, k);
}

double select_median(double *values, uint32_t n)
{
	double above = select_kth(values, n, n / 2), below = above;

	if (n % 2 == 0)
		below = values[0];
	for (uint32_t i = 1; n % 2 == 0 && i < n / 2; i++)
		below = values[i] > below ? values[i] : below;
	return (below + above) / 2;
}

double select_quantile(double *values, uint32_t n, double share)
{
	uint32_t at = (uint32_t)ceil(share * n);

	return select_kth(values, n, at > 0 ? at - 1 : 0);
}
