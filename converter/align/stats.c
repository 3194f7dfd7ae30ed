/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Medians by selection, since most of what align does over and over is take one.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"

static void swap(double *a, double *b)
{
	double c = *a;

	*a = *b;
	*b = c;
}

/* Puts the k-th smallest at place k, nothing larger before it and nothing smaller behind. */
static double select_kth(double *values, uint32_t n, uint32_t k)
{
	int64_t lo = 0, hi = (int64_t)n - 1;

	while (lo < hi) {
		double pivot = values[lo + (hi - lo) / 2];
		int64_t i = lo, j = hi;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j)
				swap(&values[i++], &values[j--]);
		}
		if ((int64_t)k <= j)
			hi = j;
		else if ((int64_t)k >= i)
			lo = i;
		else
			break;
	}
	return values[k];
}

double stats_median(double *values, uint32_t n)
{
	double above = select_kth(values, n, n / 2), below = above;

	for (uint32_t i = 0; n % 2 == 0 && i < n / 2; i++)
		below = i == 0 ? values[0] : fmax(below, values[i]);
	return (below + above) / 2;
}

double stats_quantile(double *values, uint32_t n, double share)
{
	uint32_t at = (uint32_t)ceil(share * n);

	return select_kth(values, n, at > 0 ? at - 1 : 0);
}
