/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/blocks.h"

#define N_BLOCKS      20u
#define NUMBERS       (BLOCK_BYTES / sizeof(uint64_t))
#define N             (N_BLOCKS * NUMBERS)
#define NOT_IN_BLOCKS UINT64_MAX

static void fill(uint64_t *numbers, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		numbers[i] = i;
}

static void expect(const uint64_t *numbers, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		if (numbers[i] != i)
			fail_msg("Number %llu is %llu", (unsigned long long)i,
			         (unsigned long long)numbers[i]);
	}
}

/* How many of the blocks of fresh numbers had been another's. */
static uint64_t count_used(const uint64_t *numbers, uint64_t n)
{
	uint64_t n_used = 0;

	for (uint64_t i = NUMBERS / 2; i < n; i += NUMBERS)
		n_used += numbers[i] != 0;
	return n_used;
}

static void empty_stock(void)
{
	void *blocks[64];
	size_t n = 0;

	blocks_trim();
	while (n < sizeof(blocks) / sizeof(*blocks)) {
		blocks[n] = block_take();
		assert_non_null(blocks[n]);
		assert_int_equal((uintptr_t)blocks[n] % BLOCK_BYTES, 0);
		memset(blocks[n++], 0, BLOCK_BYTES);
	}
	while (n > 0)
		block_give(blocks[--n]);
}

static void test_blocks__arrays_of_any_length_keep_what_is_written(void **state)
{
	static const uint64_t lengths[] = {
		0, 1, 7, NUMBERS - 9, NUMBERS - 8, NUMBERS - 7, NUMBERS, 3 * NUMBERS - 8, N};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint64_t *numbers = blocks_allocate(lengths[i], sizeof(*numbers));
		uint64_t *others = blocks_allocate(lengths[i], sizeof(*others));

		assert_non_null(numbers);
		assert_non_null(others);
		assert_int_equal((uintptr_t)numbers % 16, 0);
		fill(numbers, 0, lengths[i]);
		if (lengths[i])
			memset(others, 0xff, lengths[i] * sizeof(*others));
		expect(numbers, 0, lengths[i]);
		blocks_free(numbers);
		blocks_free(others);
	}
	blocks_free(NULL);
	blocks_trim();
}

static void test_blocks__what_one_array_had_the_next_gets(void **state)
{
	uint64_t *numbers;

	(void)state;
	empty_stock();
	numbers = blocks_allocate(N, sizeof(*numbers));
	fill(numbers, 0, N);
	blocks_free(numbers);
	numbers = blocks_allocate(N, sizeof(*numbers));
	/* The block that only holds the end was hardly written to. */
	assert_in_range(count_used(numbers, N), N_BLOCKS - 1, N_BLOCKS);
	fill(numbers, 0, N);
	expect(numbers, 0, N);
	blocks_free(numbers);
}

static void test_blocks__an_array_grows_in_what_another_drops(void **state)
{
	uint64_t *from, *to;

	(void)state;
	empty_stock();
	from = blocks_allocate(N, sizeof(*from));
	to = blocks_reserve(N, sizeof(*to));
	assert_non_null(from);
	assert_non_null(to);
	fill(from, 0, N);
	for (uint64_t i = 0; i < N; i++) {
		if (i % 1000 == 0) {
			blocks_drop(from, i * sizeof(*from));
			assert_int_equal(blocks_fill(to, (i + 1000) * sizeof(*to)), 0);
		}
		to[i] = from[i];
	}
	expect(to, 0, N);
	expect(from, N - 1000, N);
	blocks_free(from);
	blocks_free(to);
	/* Both together had no more than the first, the few of the stock and those at the ends. */
	from = blocks_allocate(4ull * N, sizeof(*from));
	assert_in_range(count_used(from, 4ull * N), N_BLOCKS, N_BLOCKS + 3);
	blocks_free(from);
}

static void test_blocks__small_arrays_can_be_filled_and_dropped_too(void **state)
{
	uint64_t *numbers = blocks_reserve(100, sizeof(*numbers));

	(void)state;
	assert_non_null(numbers);
	assert_int_equal(blocks_fill(numbers, 100 * sizeof(*numbers)), 0);
	fill(numbers, 0, 100);
	blocks_drop(numbers, 50 * sizeof(*numbers));
	expect(numbers, 50, 100);
	blocks_free(numbers);
}

static void test_blocks__trimming_keeps_a_few(void **state)
{
	uint64_t *numbers;
	uint64_t n_used;

	(void)state;
	numbers = blocks_allocate(N, sizeof(*numbers));
	fill(numbers, 0, N);
	blocks_free(numbers);
	blocks_trim();
	numbers = blocks_allocate(N, sizeof(*numbers));
	n_used = count_used(numbers, N);
	blocks_free(numbers);
	assert_in_range(n_used, 1, N_BLOCKS / 2);
}

static void test_blocks__what_cannot_be_is_no_memory(void **state)
{
	(void)state;
	assert_null(blocks_allocate(UINT64_MAX / 2, sizeof(uint64_t)));
	assert_null(blocks_reserve(NOT_IN_BLOCKS, 1));
	assert_null(blocks_allocate(UINT64_C(1) << 50, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks__arrays_of_any_length_keep_what_is_written),
		cmocka_unit_test(test_blocks__what_one_array_had_the_next_gets),
		cmocka_unit_test(test_blocks__an_array_grows_in_what_another_drops),
		cmocka_unit_test(test_blocks__small_arrays_can_be_filled_and_dropped_too),
		cmocka_unit_test(test_blocks__trimming_keeps_a_few),
		cmocka_unit_test(test_blocks__what_cannot_be_is_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
