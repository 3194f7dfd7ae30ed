/* SPDX-License-Identifier: Apache-2.0 */
#include "select_kth.h"

#include <math.h>

#define LARGE 150 /* a sample of so many values is worth it */

/* Defines NAME(TYPE *values, int64_t lo, int64_t hi, int64_t k): puts the k-th smallest of [lo, hi]
 * at place k, nothing larger before it and nothing smaller behind. The pivot is a value near it:
 * that of a sample, which stands around place k (Floyd and Rivest). It lies a little beyond, so
 * that what is left to search becomes small. */
#define SELECT_DEFINE(NAME, TYPE)                                                             \
	static TYPE NAME(TYPE *values, int64_t lo, int64_t hi, int64_t k)                     \
	{                                                                                     \
		while (lo < hi) {                                                             \
			struct sample sample = sample_of(lo, hi, k);                          \
			TYPE pivot = hi - lo < LARGE ? values[lo + (hi - lo) / 2]             \
			                             : NAME(values, sample.lo, sample.hi, k); \
			int64_t i = lo, j = hi;                                               \
                                                                                              \
			while (i <= j) {                                                      \
				while (values[i] < pivot)                                     \
					i++;                                                  \
				while (values[j] > pivot)                                     \
					j--;                                                  \
				if (i <= j) {                                                 \
					TYPE held = values[i];                                \
                                                                                              \
					values[i++] = values[j];                              \
					values[j--] = held;                                   \
				}                                                             \
			}                                                                     \
			if (k <= j)                                                           \
				hi = j;                                                       \
			else if (k >= i)                                                      \
				lo = i;                                                       \
			else                                                                  \
				break;                                                        \
		}                                                                             \
		return values[k];                                                             \
	}                                                                                     \
	_Static_assert(sizeof(TYPE) > 0, "a semicolon ends it")

struct sample {
	int64_t lo, hi;
};

static struct sample sample_of(int64_t lo, int64_t hi, int64_t k)
{
	double n = (double)(hi - lo + 1), share = (double)(k - lo + 1) / n, size, shift;

	if (hi - lo < LARGE)
		return (struct sample){lo, hi};
	size = cbrt(n * n) / 2;
	shift = sqrt(log(n) * size) / 2 * (share < 0.5 ? -1 : 1);
	return (struct sample){
		(int64_t)fmax((double)lo, (double)k - share * size + shift),
		(int64_t)fmin((double)hi, (double)k + (1 - share) * size + shift),
	};
}

SELECT_DEFINE(select_in, double);
SELECT_DEFINE(select_signed, int64_t);
SELECT_DEFINE(select_unsigned, uint64_t);

double select_kth(double *values, uint32_t n, uint32_t k)
{
	return select_in(values, 0, (int64_t)n - 1, k);
}

int64_t select_kth_i64(int64_t *values, uint32_t n, uint32_t k)
{
	return select_signed(values, 0, (int64_t)n - 1, k);
}

uint64_t select_kth_u64(uint64_t *values, uint64_t n, uint64_t k)
{
	return select_unsigned(values, 0, (int64_t)n - 1, (int64_t)k);
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
