/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/table.h"

struct row {
	uint64_t number;
	uint64_t size_bytes;
};

/* Rows of many sizes, the largest ones larger than a chunk. */
static size_t size_of(uint64_t number)
{
	return number % 97 == 96 ? 2u << 20 : sizeof(struct row) + 8 * (number % 50);
}

static void fill(struct table *table, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		struct row *row = table_append(table, size_of(i));

		assert_non_null(row);
		memset(row, 0xaa, size_of(i));
		*row = (struct row){i, size_of(i)};
	}
}

static void expect_rows(struct table *table, uint64_t first, uint64_t n, bool consumes)
{
	struct table_cursor cursor;

	table_read(&cursor, table, consumes);
	for (uint64_t i = first; i < first + n; i++) {
		const struct row *peeked = table_peek(&cursor);
		const struct row *row;

		assert_non_null(peeked);
		row = table_next(&cursor, peeked->size_bytes);
		assert_ptr_equal(row, peeked);
		assert_int_equal(row->number, i);
	}
	assert_null(table_peek(&cursor));
	assert_null(table_next(&cursor, sizeof(struct row)));
	assert_null(table_next(&cursor, sizeof(struct row)));
}

static void test_table__gives_back_what_was_appended_in_order(void **state)
{
	struct table table = TABLE_INIT;

	(void)state;
	fill(&table, 0, 3000);
	assert_int_equal(table.n_rows, 3000);
	expect_rows(&table, 0, 3000, false);
	expect_rows(&table, 0, 3000, false);
	table_release(&table);
	assert_int_equal(table.n_rows, 0);
}

static void test_table__is_empty_after_a_consuming_cursor(void **state)
{
	struct table table = TABLE_INIT;

	(void)state;
	fill(&table, 0, 3000);
	expect_rows(&table, 0, 3000, true);
	assert_int_equal(table.n_rows, 0);
	assert_null(table.first);
	fill(&table, 5, 10);
	expect_rows(&table, 5, 10, true);
}

static void test_table__frees_the_rest_behind_a_cursor_that_stopped(void **state)
{
	struct table table = TABLE_INIT;
	struct table_cursor cursor;

	(void)state;
	fill(&table, 0, 3000);
	table_read(&cursor, &table, true);
	for (uint64_t i = 0; i < 1500; i++)
		table_next(&cursor, ((struct row *)table_peek(&cursor))->size_bytes);
	table_release(&table); /* the leak checker looks */
}

/* The row a cursor gave out last is still there when the next one is peeked at. */
static void test_table__keeps_the_row_given_out_while_peeking(void **state)
{
	struct table table = TABLE_INIT;
	struct table_cursor cursor;
	const struct row *row = NULL, *next;

	(void)state;
	fill(&table, 0, 3000);
	table_read(&cursor, &table, true);
	while ((next = table_peek(&cursor))) {
		if (row)
			assert_int_equal(row->number + 1, next->number);
		row = table_next(&cursor, next->size_bytes);
	}
	assert_int_equal(row->number, 2999);
	table_release(&table);
}

static void test_table__takes_the_rows_of_another(void **state)
{
	struct table to = TABLE_INIT, from = TABLE_INIT;

	(void)state;
	table_take(&to, &from);
	assert_int_equal(to.n_rows, 0);
	fill(&from, 0, 100);
	table_take(&to, &from);
	fill(&from, 100, 100);
	table_take(&to, &from);
	table_take(&to, &from);
	assert_int_equal(to.n_rows, 200);
	assert_int_equal(from.n_rows, 0);
	fill(&to, 200, 100);
	expect_rows(&to, 0, 300, true);
	assert_null(from.first);
}

static void test_table__reads_nothing_from_an_empty_table(void **state)
{
	struct table table = TABLE_INIT;

	(void)state;
	expect_rows(&table, 0, 0, false);
	expect_rows(&table, 0, 0, true);
	table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table__gives_back_what_was_appended_in_order),
		cmocka_unit_test(test_table__is_empty_after_a_consuming_cursor),
		cmocka_unit_test(test_table__frees_the_rest_behind_a_cursor_that_stopped),
		cmocka_unit_test(test_table__keeps_the_row_given_out_while_peeking),
		cmocka_unit_test(test_table__takes_the_rows_of_another),
		cmocka_unit_test(test_table__reads_nothing_from_an_empty_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
