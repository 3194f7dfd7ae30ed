/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/origins.h"

#define N (20 * ORIGINS_BLOCK + 7)

static struct origin neighbours(uint32_t i)
{
	return origin_make(0, i);
}

static struct origin all_the_same(uint32_t i)
{
	(void)i;
	return origin_make(7, 3);
}

static struct origin backwards(uint32_t i)
{
	return origin_make(i % 3, N - i);
}

/* A fixed shuffle of all there can be. */
static struct origin far_apart(uint32_t i)
{
	uint64_t bits = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	struct origin origin = {(uint32_t)(bits >> 33), (uint32_t)bits, bits >> 32 & 1};

	return origin;
}

static struct origin some_have_parts(uint32_t i)
{
	struct origin origin = origin_make(0, i / 5);

	origin.has_parts = i % 5 == 0;
	return origin;
}

static struct origin at_the_limits(uint32_t i)
{
	static const struct origin limits[] = {
		{0, 0, false},
		{INT32_MAX, ORIGIN_NO_RECORD, true},
		{0, ORIGIN_NO_RECORD, false},
	};

	return limits[i % 3];
}

static void expect_equal(struct origin a, struct origin b)
{
	assert_int_equal(a.file, b.file);
	assert_int_equal(a.record, b.record);
	assert_int_equal(a.has_parts, b.has_parts);
}

static void test_origins__are_found_at_any_place(void **state)
{
	static struct origin (*const cases[])(uint32_t i) = {
		neighbours, all_the_same, backwards, far_apart, some_have_parts, at_the_limits,
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct origins *origins = origins_new();

		assert_non_null(origins);
		for (uint32_t i = 0; i < N; i++) {
			struct origin origin = cases[c](i);

			assert_int_equal(origins_add(origins, &origin), 0);
			expect_equal(origins_get(origins, i), origin); /* also while it is filled */
			expect_equal(origins_get(origins, i / 2), cases[c](i / 2));
		}
		assert_int_equal(origins->n, N);
		for (uint32_t i = 0; i < N; i++)
			expect_equal(origins_get(origins, i), cases[c](i));
		origins_free(origins);
	}
	origins_free(NULL);
}

/* What follows each other in a file takes a byte or two. */
static void test_origins__of_neighbours_are_small(void **state)
{
	struct origins *origins = origins_new();

	(void)state;
	assert_non_null(origins);
	for (uint32_t i = 0; i < 100000; i++) {
		struct origin origin = origin_make(3, 1000000000u + i);

		assert_int_equal(origins_add(origins, &origin), 0);
	}
	for (uint32_t i = 0; i < origins->n_blocks; i++)
		assert_int_equal(origins->blocks[i].width, 1);
	origins_free(origins);
}

static void test_origins__of_more_records_than_fit_are_the_last(void **state)
{
	(void)state;
	assert_int_equal(origin_make(0, UINT64_MAX).record, ORIGIN_NO_RECORD - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origins__are_found_at_any_place),
		cmocka_unit_test(test_origins__of_neighbours_are_small),
		cmocka_unit_test(test_origins__of_more_records_than_fit_are_the_last),
	};

	return cmocka_run_group_tests_name("origins", tests, NULL, NULL);
}
