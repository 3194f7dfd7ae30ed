/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/align/align_impl.h"

#define N 500u

static void make(struct grid *grid, const uint64_t *keys, uint32_t n, uint32_t n_cells)
{
	assert_int_equal(grid_init(grid, keys[n - 1], n_cells), 0);
	for (uint32_t i = 0; i < n; i++)
		grid_count(grid, keys[i]);
	grid_sum(grid);
}

/* The last place whose key is not larger is among those that the grid names. */
static void check(const struct grid *grid, const uint64_t *keys, uint32_t n, uint64_t key)
{
	uint32_t last = 0, from, to;

	for (uint32_t i = 0; i < n; i++)
		last = keys[i] <= key ? i : last;
	grid_find(grid, key, &from, &to);
	assert_true(from <= last && last < to && to <= n);
	assert_true(keys[from] <= key);
}

static void check_all(const uint64_t *keys, uint32_t n, uint32_t n_cells)
{
	struct grid grid;

	make(&grid, keys, n, n_cells);
	assert_true(grid.n_cells <= n_cells + 1);
	for (uint32_t i = 0; i < n; i++) {
		check(&grid, keys, n, keys[i]);
		check(&grid, keys, n, keys[i] + 1);
		check(&grid, keys, n, keys[i] > 0 ? keys[i] - 1 : 0);
	}
	check(&grid, keys, n, UINT64_MAX);
	grid_release(&grid);
}

static void test_grid__finds_keys_however_they_are_spread(void **state)
{
	uint64_t even[N], equal[N] = {0}, far[N] = {0}, growing[N], jumps[N];

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		even[i] = 1000 * i;
		growing[i] = i * i * i;
		jumps[i] = i / 100 * UINT64_C(1000000000) + i % 100 / 10;
	}
	far[N - 1] = UINT64_MAX;
	for (uint32_t n_cells = 1; n_cells <= N; n_cells += 71) {
		check_all(even, N, n_cells);
		check_all(equal, N, n_cells);
		check_all(far, N, n_cells);
		check_all(growing, N, n_cells);
		check_all(jumps, N, n_cells);
		check_all(even, 1, n_cells);
		check_all(even, 2, n_cells);
	}
}

static void test_grid__takes_no_longer_where_keys_are_even(void **state)
{
	struct grid grid;
	uint64_t keys[N];

	(void)state;
	for (uint64_t i = 0; i < N; i++)
		keys[i] = 12345 * i;
	make(&grid, keys, N, N);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t from, to;

		grid_find(&grid, keys[i], &from, &to);
		assert_in_range(to - from, 1, 4);
	}
	grid_release(&grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grid__finds_keys_however_they_are_spread),
		cmocka_unit_test(test_grid__takes_no_longer_where_keys_are_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
