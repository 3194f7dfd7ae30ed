/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "findings/statistics/order.h"
#include "base/blocks.h"

static int compare(uint32_t left, uint32_t right, const void *context)
{
	const uint32_t *values = context;

	return (values[left] > values[right]) - (values[left] < values[right]);
}

/* By value, and of equal ones the first first. */
static void expect_order(const uint32_t *values, uint32_t n)
{
	uint32_t *order = order_of(n, compare, values);
	uint8_t *is_seen = calloc(n + 1u, 1);

	assert_non_null(order);
	assert_non_null(is_seen);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(order[i] < n);
		assert_false(is_seen[order[i]]);
		is_seen[order[i]] = 1;
		if (i && values[order[i - 1]] == values[order[i]])
			assert_true(order[i - 1] < order[i]);
		if (i)
			assert_true(values[order[i - 1]] <= values[order[i]]);
	}
	free(is_seen);
	blocks_free(order);
}

static void test_order__of_any_number_in_any_order(void **state)
{
	const uint32_t n_most = 100;
	uint32_t values[100], random = 1;

	(void)state;
	for (uint32_t n = 0; n <= n_most; n++) {
		for (uint32_t i = 0; i < n; i++)
			values[i] = i;
		expect_order(values, n);
		for (uint32_t i = 0; i < n; i++)
			values[i] = n - i;
		expect_order(values, n);
		for (uint32_t i = 0; i < n; i++)
			values[i] = 7;
		expect_order(values, n);
		for (uint32_t i = 0; i < n; i++) {
			random = random * 1664525u + 1013904223u;
			values[i] = (random >> 16) % (n / 2 + 1);
		}
		expect_order(values, n);
	}
}

/* So many that places stand in blocks. */
static void test_order__of_many(void **state)
{
	const uint32_t n = 1200000;
	uint32_t *values = malloc(n * sizeof(*values)), random = 2;

	(void)state;
	assert_non_null(values);
	for (uint32_t i = 0; i < n; i++) {
		random = random * 1664525u + 1013904223u;
		values[i] = random >> 12;
	}
	expect_order(values, n);
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order__of_any_number_in_any_order),
		cmocka_unit_test(test_order__of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
