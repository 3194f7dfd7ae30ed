/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/lanes.h"
#include "base/radix_sort.h"
#include "base/row_sorter.h"
#include "base/error.h"
#include "base/map.h"

struct row {
	int64_t start, end;
	uint64_t order;
};

#define FULL ROWS_PER_RUN(sizeof(struct row))

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* -- rows ----------------------------------------------------------------------------------- */

struct seen {
	struct row last;
	uint64_t n, fail_at;
};

static int check_order(void *context, void *visited)
{
	struct seen *seen = context;
	const struct row *row = visited, *last = &seen->last;

	if (seen->n)
		assert_true(last->start < row->start ||
		            (last->start == row->start && last->end > row->end) ||
		            (last->start == row->start && last->end == row->end &&
		             last->order < row->order));
	seen->last = *row;
	return ++seen->n == seen->fail_at ? FLEXTRACE_E_OUTPUT : 0;
}

/* Fills `n` rows of at most `n_times` different starts, nearly sorted if `wander` is small. */
static void fill(struct row_sorter *sorter, uint64_t n, uint64_t n_times, uint64_t wander)
{
	uint64_t random = 7;

	row_sorter_init(sorter, sizeof(struct row), true);
	for (uint64_t i = 0; i < n; i++) {
		struct row *row = row_sorter_append(sorter);

		assert_non_null(row);
		row->start = (int64_t)((i + next_random(&random) % (wander + 1)) % n_times);
		row->end = row->start + (int64_t)(next_random(&random) % 3);
		row->order = i;
	}
}

static void test_rows__come_out_in_order_however_they_went_in(void **state)
{
	const uint64_t sizes[] = {0, 1, 2, 17, 1000, FULL, FULL + 1, 3 * FULL + 5};
	const uint64_t wanders[] = {0, 5, 300, 1000000}; /* 300: too far, but not at once */

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (size_t k = 0; k < sizeof(wanders) / sizeof(*wanders); k++) {
			const uint64_t times[] = {1, 9, 100000, UINT32_MAX};

			for (size_t m = 0; m < 4; m++) {
				struct row_sorter sorter;
				struct seen seen = {{0}, 0, UINT64_MAX};

				fill(&sorter, sizes[i], times[m], wanders[k]);
				assert_int_equal(row_sorter_merge(&sorter, check_order, &seen), 0);
				assert_int_equal(seen.n, sizes[i]);
				row_sorter_release(&sorter);
			}
		}
	}
}

static void test_rows__keep_times_below_zero_in_order(void **state)
{
	const int64_t starts[] = {5, -5, INT64_MAX, INT64_MIN, 0};
	struct seen seen = {{0}, 0, UINT64_MAX};
	struct row_sorter sorter;

	(void)state;
	row_sorter_init(&sorter, sizeof(struct row), true);
	for (size_t i = 0; i < 5; i++)
		*(struct row *)row_sorter_append(&sorter) = (struct row){starts[i], starts[i], i};
	assert_int_equal(row_sorter_merge(&sorter, check_order, &seen), 0);
	assert_int_equal(seen.n, 5);
}

/* -- elements ------------------------------------------------------------------------------- */

struct element {
	uint32_t order, minor;
	int64_t key;
};

static int compare_minors(const void *left, const void *right)
{
	const struct element *a = left, *b = right;

	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int compare_elements(const void *left, const void *right)
{
	const struct element *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return compare_minors(left, right);
}

static void test_elements__are_sorted_as_by_comparing_all(void **state)
{
	const struct radix_order order = {sizeof(struct element), offsetof(struct element, key),
	                                  true, compare_minors};
	const uint32_t sizes[] = {0, 1, 2, 3, 100, 5000};
	const uint64_t n_keys[] = {1, 2, 50, 3000, UINT64_MAX};
	static struct element elements[5000], expected[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (size_t k = 0; k < sizeof(n_keys) / sizeof(*n_keys); k++) {
			uint64_t random = i;

			for (uint32_t e = 0; e < sizes[i]; e++) {
				uint64_t wide = next_random(&random) << 33 ^ next_random(&random);

				elements[e] = (struct element){
					e, next_random(&random) % 3,
					(int64_t)(wide % n_keys[k] - n_keys[k] / 2)};
			}
			memcpy(expected, elements, sizeof(elements));
			qsort(expected, sizes[i], sizeof(*expected), compare_elements);
			assert_int_equal(radix_sort_elements(elements, sizes[i], &order), 0);
			assert_memory_equal(elements, expected, sizes[i] * sizeof(*elements));
		}
	}
}

static void test_rows__stop_when_the_visitor_fails(void **state)
{
	struct seen seen = {{0}, 0, FULL + 3};
	struct row_sorter sorter;

	(void)state;
	fill(&sorter, 2 * FULL, UINT32_MAX, 3);
	assert_int_equal(row_sorter_merge(&sorter, check_order, &seen), FLEXTRACE_E_OUTPUT);
	assert_int_equal(seen.n, seen.fail_at);
}

/* -- lanes ---------------------------------------------------------------------------------- */

struct lane_case {
	bool nests;
	struct {
		int64_t start, end;
		uint32_t lane, depth;
	} rows[8]; /* ended by start -1 */
};

static void test_lanes__take_the_lowest_that_fits(void **state)
{
	static const struct lane_case cases[] = {
		/* nested, equal starts, back to back */
		{true,
	         {{0, 100, 0, 0},
	          {0, 50, 0, 1},
	          {10, 50, 0, 2},
	          {50, 60, 0, 1},
	          {100, 110, 0, 0},
	          {-1, 0, 0, 0}}},
		/* a crossing row overflows and does not disturb what follows */
		{true,
	         {{0, 10, 0, 0},
	          {5, 15, 1, 0},
	          {6, 8, 0, 1},
	          {11, 14, 0, 0},
	          {12, 20, 2, 0},
	          {15, 30, 0, 0},
	          {-1, 0, 0, 0}}},
		/* rows without length */
		{true,
	         {{5, 9, 0, 0},
	          {5, 5, 0, 1},
	          {5, 5, 0, 1},
	          {9, 9, 0, 0},
	          {9, 12, 0, 0},
	          {-1, 0, 0, 0}}},
		/* flat: overlap takes the next lane, and the lowest free one is used again */
		{false,
	         {{0, 10, 0, 0},
	          {0, 5, 1, 0},
	          {1, 3, 2, 0},
	          {4, 9, 2, 0},
	          {5, 6, 1, 0},
	          {10, 11, 0, 0},
	          {-1, 0, 0, 0}}},
		{false, {{5, 5, 0, 0}, {5, 5, 0, 0}, {-1, 0, 0, 0}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lanes lanes;

		lanes_init(&lanes, cases[i].nests);
		for (size_t k = 0; cases[i].rows[k].start >= 0; k++) {
			uint32_t lane, depth;

			assert_int_equal(lanes_place(&lanes, cases[i].rows[k].start,
			                             cases[i].rows[k].end, &lane, &depth),
			                 0);
			assert_int_equal(lane, cases[i].rows[k].lane);
			assert_int_equal(depth, cases[i].rows[k].depth);
		}
		lanes_release(&lanes);
	}
}

static void test_lanes__have_no_limit(void **state)
{
	struct lanes lanes;
	uint32_t lane, depth;

	(void)state;
	lanes_init(&lanes, false);
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(lanes_place(&lanes, i, 1000000 - i, &lane, &depth), 0);
		assert_int_equal(lane, i);
	}
	/* the last ones end first */
	assert_int_equal(lanes_place(&lanes, 900002, 900010, &lane, &depth), 0);
	assert_int_equal(lane, 99998);
	lanes_release(&lanes);
}

/* -- map ------------------------------------------------------------------------------------ */

static void test_map__finds_the_others_after_a_removal(void **state)
{
	uint32_t truth[512];
	struct map map = {0};
	uint64_t random = 3;

	(void)state;
	memset(truth, 0xff, sizeof(truth));
	for (uint32_t i = 0; i < 50000; i++) {
		uint32_t key = (uint32_t)(next_random(&random) % 512);

		if (next_random(&random) % 2) {
			assert_int_equal(map_put(&map, key * 4096ull, key % 3, i), 0);
			truth[key] = i;
		} else {
			map_remove(&map, key * 4096ull, key % 3);
			truth[key] = MAP_NONE;
		}
		key = (uint32_t)(next_random(&random) % 512);
		assert_int_equal(map_find(&map, key * 4096ull, key % 3), truth[key]);
	}
	for (uint32_t key = 0; key < 512; key++)
		assert_int_equal(map_find(&map, key * 4096ull, key % 3), truth[key]);
	map_release(&map);
}

/* Keys that meet in one place of any table that hashes them by what everybody knows. */
static void test_map__has_no_keys_that_always_meet(void **state)
{
	uint64_t n_taken = 0, n_most = 0;
	struct map map = {0};

	(void)state;
	for (uint32_t i = 0; i < 1 << 15; i++)
		assert_int_equal(map_put(&map, 1, (uint64_t)i << 49, i), 0);
	for (uint64_t i = 0; i < map.n_slots; i++) {
		n_taken = map.slots[i].value == MAP_NONE ? 0 : n_taken + 1;
		n_most = n_taken > n_most ? n_taken : n_most;
	}
	assert_in_range(n_most, 1, 1000); /* in a row */
	map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows__come_out_in_order_however_they_went_in),
		cmocka_unit_test(test_rows__keep_times_below_zero_in_order),
		cmocka_unit_test(test_rows__stop_when_the_visitor_fails),
		cmocka_unit_test(test_elements__are_sorted_as_by_comparing_all),
		cmocka_unit_test(test_lanes__take_the_lowest_that_fits),
		cmocka_unit_test(test_lanes__have_no_limit),
		cmocka_unit_test(test_map__finds_the_others_after_a_removal),
		cmocka_unit_test(test_map__has_no_keys_that_always_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
