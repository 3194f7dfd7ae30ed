/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and places in order, against qsort(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/order.h"
#include "base/radix_sort.h"
#include "base/select_kth.h"

#define MAX_NUMBERS 4000u

enum shape { RANDOM, FEW_VALUES, ASCENDING, DESCENDING, EQUAL, MOUNTAIN, TWO_RUNS, SHAPE_COUNT };

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 20;
}

static int64_t number_of(enum shape shape, int64_t i, int64_t n, uint64_t *random)
{
	switch (shape) {
	case RANDOM:
		return (int64_t)(next_random(random) << 20);
	case FEW_VALUES:
		return (int64_t)(next_random(random) % 5) - 2;
	case ASCENDING:
		return i - n / 2;
	case DESCENDING:
		return n / 2 - i;
	case EQUAL:
		return INT64_MIN;
	case MOUNTAIN:
		return i < n / 2 ? i : n - i;
	default:
		return (i + n / 3) % n;
	}
}

static void make(int64_t *numbers, uint32_t n, enum shape shape)
{
	uint64_t random = n + 1;

	for (uint32_t i = 0; i < n; i++)
		numbers[i] = number_of(shape, i, n, &random);
}

static int compare(const void *left, const void *right)
{
	return ORDER(*(const int64_t *)left, *(const int64_t *)right);
}

static const uint32_t sizes[] = {0, 1, 2, 3, 23, 24, 25, 26, 100, 149, 151, 1000, MAX_NUMBERS};

#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void test_order__puts_numbers_of_any_shape_in_order(void **state)
{
	static int64_t numbers[MAX_NUMBERS], sorted[MAX_NUMBERS];

	(void)state;
	for (int shape = 0; shape < SHAPE_COUNT; shape++) {
		for (size_t i = 0; i < N_SIZES; i++) {
			make(numbers, sizes[i], shape);
			memcpy(sorted, numbers, sizeof(sorted));
			qsort(sorted, sizes[i], sizeof(*sorted), compare);
			order_numbers(numbers, sizes[i]);
			assert_memory_equal(numbers, sorted, sizes[i] * sizeof(*sorted));
		}
	}
}

static void test_order__selects_what_sorting_would_put_there(void **state)
{
	static int64_t numbers[MAX_NUMBERS], sorted[MAX_NUMBERS];
	static uint64_t bits[MAX_NUMBERS];

	(void)state;
	for (int shape = 0; shape < SHAPE_COUNT; shape++) {
		for (size_t i = 1; i < N_SIZES; i++) {
			uint32_t n = sizes[i], k = (uint32_t)(7 * i) % n;

			make(numbers, n, shape);
			memcpy(sorted, numbers, sizeof(sorted));
			qsort(sorted, n, sizeof(*sorted), compare);
			for (uint32_t j = 0; j < n; j++)
				bits[j] = (uint64_t)numbers[j] ^ UINT64_C(1) << 63;
			assert_int_equal(select_kth_i64(numbers, n, k), sorted[k]);
			assert_true(select_kth_u64(bits, n, k) ==
			            ((uint64_t)sorted[k] ^ UINT64_C(1) << 63));
		}
	}
}

/* Digits or merges, as the keys are; places of one key stay as they were. */
static void test_order__sorts_places_and_leaves_equal_ones(void **state)
{
	static struct keyed_place places[MAX_NUMBERS], spare[MAX_NUMBERS], *sorted;
	static int64_t numbers[MAX_NUMBERS];

	(void)state;
	for (int shape = 0; shape < SHAPE_COUNT; shape++) {
		for (size_t i = 0; i < N_SIZES; i++) {
			make(numbers, sizes[i], shape);
			for (uint32_t j = 0; j < sizes[i]; j++)
				places[j] = (struct keyed_place){(uint64_t)numbers[j] >> 1, j};
			sorted = radix_sort(places, spare, sizes[i]);
			for (uint32_t j = 1; j < sizes[i]; j++)
				assert_true(sorted[j - 1].key < sorted[j].key ||
				            (sorted[j - 1].key == sorted[j].key &&
				             sorted[j - 1].place < sorted[j].place));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order__puts_numbers_of_any_shape_in_order),
		cmocka_unit_test(test_order__selects_what_sorting_would_put_there),
		cmocka_unit_test(test_order__sorts_places_and_leaves_equal_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
