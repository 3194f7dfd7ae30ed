// SPDX-License-Identifier: Apache-2.0
#include "order.h"

#include <string.h>

#include "base/blocks.h"

struct sorting {
	order_compare *compare; /* weak, all */
	const void *context;
	uint32_t *spare; /* room for half of all places */
};

/* Merges the first `half` of `n` places with the others; each of them is in order. */
static void merge(const struct sorting *sorting, uint32_t *places, uint32_t half, uint32_t n)
{
	uint32_t *left = sorting->spare, *left_end = sorting->spare + half;
	uint32_t *right = places + half, *right_end = places + n;

	memcpy(left, places, half * sizeof(*left));
	while (left < left_end && right < right_end)
		*places++ = sorting->compare(*right, *left, sorting->context) < 0 ? *right++
		                                                                  : *left++;
	memcpy(places, left, (size_t)(left_end - left) * sizeof(*left));
}

static void sort(const struct sorting *sorting, uint32_t *places, uint32_t n)
{
	uint32_t half = n / 2;

	if (n < 2)
		return;
	sort(sorting, places, half);
	sort(sorting, places + half, n - half);
	if (sorting->compare(places[half - 1], places[half], sorting->context) > 0)
		merge(sorting, places, half, n);
}

uint32_t *order_of(uint32_t n, order_compare *compare, const void *context)
{
	uint32_t *places = blocks_allocate(n, sizeof(*places));
	struct sorting sorting = {compare, context, blocks_allocate(n / 2, sizeof(*sorting.spare))};

	if (places && sorting.spare) {
		for (uint32_t i = 0; i < n; i++)
			places[i] = i;
		sort(&sorting, places, n);
	} else {
		blocks_free(places);
		places = NULL;
	}
	blocks_free(sorting.spare);
	return places;
}
