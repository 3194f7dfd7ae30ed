/* SPDX-License-Identifier: Apache-2.0 */
#include "spread.h"

#include <assert.h>
#include <math.h>

#include "base/select_kth.h"

#define N_CLASSES 7424 /* of leading bits */

/* The leading 8 bits of a value and where they stand: monotone. */
static uint32_t class_of(uint64_t value)
{
	uint32_t top = 63 - (uint32_t)__builtin_clzll(value | 1);

	return top < 7 ? (uint32_t)value : (top - 6) << 7 | (value >> (top - 7) & 127);
}

/* Moves those values to the front that can stand at places `*k` - 1 and `*k` once all are sorted,
 * and returns how many; `*k` becomes the place among them. Selecting from few is cheap. */
static uint64_t keep_middle(uint64_t *values, uint64_t n, uint64_t *k)
{
	uint32_t counts[N_CLASSES] = {0};
	uint64_t n_below = 0, n_kept = 0, n_passed;
	uint32_t first = 0, last;

	for (uint64_t i = 0; i < n; i++)
		counts[class_of(values[i])]++;
	while (n_below + counts[first] < *k)
		n_below += counts[first++];
	n_passed = n_below + counts[first];
	for (last = first; n_passed <= *k;)
		n_passed += counts[++last];
	for (uint64_t i = 0; i < n; i++) {
		uint32_t class = class_of(values[i]);

		if (class >= first && class <= last)
			values[n_kept++] = values[i];
	}
	*k -= n_below;
	return n_kept;
}

/* Reorders the values, and loses some. */
static uint64_t median_of(uint64_t *values, uint64_t n, bool *ret_is_rounded)
{
	bool is_odd = n % 2;
	uint64_t k = n / 2, upper, lower = 0;

	if (n >= N_CLASSES && n <= UINT32_MAX)
		n = keep_middle(values, n, &k);
	upper = select_kth_u64(values, n, k);
	if (is_odd)
		return upper;
	for (uint64_t i = 0; i < k; i++) {
		if (values[i] > lower)
			lower = values[i];
	}
	*ret_is_rounded = (upper - lower) % 2;
	return lower + (upper - lower) / 2 + (upper - lower) % 2;
}

static uint64_t deviation_of(const uint64_t *values, uint64_t n, double mean)
{
	double sum = 0.0;

	if (n < 2)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		sum += ((double)values[i] - mean) * ((double)values[i] - mean);
	return (uint64_t)(sqrt(sum / (double)(n - 1)) + 0.5);
}

void spread_of(uint64_t *values, uint64_t n, struct spread *ret)
{
	uint64_t total = 0;

	assert(n > 0);
	*ret = (struct spread){.min = UINT64_MAX};
	for (uint64_t i = 0; i < n; i++) {
		total = spread_add(total, values[i]);
		ret->min = values[i] < ret->min ? values[i] : ret->min;
		ret->max = values[i] > ret->max ? values[i] : ret->max;
	}
	ret->total = total;
	ret->mean = (uint64_t)spread_mean(total, n);
	ret->median = ret->min;
	if (ret->min == ret->max)
		return;
	ret->deviation = deviation_of(values, n, (double)total / (double)n);
	ret->median = median_of(values, n, &ret->is_rounded);
}
