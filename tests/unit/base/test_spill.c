/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/blocks.h"
#include "base/spill.h"
#include "base/table.h"

#define LIMIT_BYTES ((size_t)16 << 20)
#define N           ((uint64_t)24 << 20) /* numbers: 192 MiB */

struct row {
	uint64_t number, unused[3];
};

/* What this process has in memory, of files and of its own. */
static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long n_mapped, n_resident;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &n_mapped, &n_resident), 2);
	fclose(file);
	return n_resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void expect_within_limit(size_t before_bytes)
{
	assert_true(resident_bytes() < before_bytes + LIMIT_BYTES);
}

static void test_spill__says_where_a_file_cannot_be_made(void **state)
{
	struct flextrace_error error = {0};

	(void)state;
	assert_int_equal(setenv("TMPDIR", "/no/such/directory", 1), 0);
	assert_int_equal(spill_begin(LIMIT_BYTES, &error), FLEXTRACE_E_OUTPUT);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(error.message, "Cannot make a temporary file: "
	                                   "directory=/no/such/directory, reason=No such file or "
	                                   "directory; name another directory in TMPDIR");
	assert_false(spill_is_on());
	assert_int_equal(spill_explain(FLEXTRACE_E_MEMORY, &error), FLEXTRACE_E_MEMORY);
}

static void test_spill__does_not_exceed_the_size_that_files_may_have(void **state)
{
	struct flextrace_error error = {0};
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(spill_begin(LIMIT_BYTES, &error), FLEXTRACE_E_OUTPUT);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(error.message, "File too large"));
	assert_false(spill_is_on());
}

/* On from here on. */
static void test_spill__arrays_larger_than_the_limit_keep_what_is_written(void **state)
{
	size_t before_bytes = resident_bytes();
	struct flextrace_error error = {0};
	uint64_t *numbers;

	(void)state;
	assert_int_equal(spill_begin(LIMIT_BYTES, &error), 0);
	assert_true(spill_is_on());
	numbers = blocks_reserve(N, sizeof(*numbers));
	assert_non_null(numbers);
	assert_true(spill_owns(numbers));
	assert_false(spill_owns(&before_bytes));
	for (uint64_t i = 0; i < N; i++) {
		assert_int_equal(blocks_fill_next(numbers, i, sizeof(*numbers)), 0);
		numbers[i] = i * 3;
		if (i % (1 << 20) == 0)
			expect_within_limit(before_bytes);
	}
	for (uint64_t i = 0; i < N; i++) {
		if (numbers[i] != i * 3)
			fail_msg("Number %llu is lost", (unsigned long long)i);
		if (i % (1 << 16) == 0)
			spill_touch((1 << 16) * sizeof(*numbers));
		if (i % (1 << 20) == 0)
			expect_within_limit(before_bytes);
	}
	blocks_free(numbers);
}

static void test_spill__tables_are_read_and_consumed_in_the_limit(void **state)
{
	size_t before_bytes = resident_bytes();
	struct table table = TABLE_INIT, copy = TABLE_INIT;
	struct table_cursor cursor;
	const struct row *row;
	uint64_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < N / 8; i++) {
		struct row *added = table_append(&table, sizeof(*added));

		assert_non_null(added);
		*added = (struct row){.number = i};
		if (i % (1 << 18) == 0)
			expect_within_limit(before_bytes);
	}
	for (int pass = 0; pass < 2; pass++) {
		table_read(&cursor, &table, pass == 1);
		for (n = 0; (row = table_next(&cursor, sizeof(*row))); n++) {
			struct row *copied = pass ? table_append(&copy, sizeof(*copied)) : NULL;

			assert_int_equal(row->number, n);
			if (copied)
				*copied = *row;
			if (n % (1 << 18) == 0)
				expect_within_limit(before_bytes);
		}
		assert_int_equal(n, N / 8);
	}
	table_read(&cursor, &copy, false);
	for (n = 0; (row = table_next(&cursor, sizeof(*row))); n++)
		assert_int_equal(row->number, n);
	assert_int_equal(n, N / 8);
	table_release(&copy);
}

static void test_spill__a_block_is_what_it_was_when_it_comes_back(void **state)
{
	char *block = block_take();

	(void)state;
	assert_non_null(block);
	assert_true(spill_owns(block));
	memset(block, 7, BLOCK_BYTES);
	spill_touch(LIMIT_BYTES);
	for (size_t i = 0; i < BLOCK_BYTES; i++)
		assert_int_equal(block[i], 7);
	block_give(block);
	blocks_trim();
}

/* Pages from before the limit. */
static void *early;

static void test_spill__what_was_there_before_takes_no_room_in_the_file(void **state)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *first = spill_reserve(page_bytes, page_bytes);

	(void)state;
	assert_non_null(first);
	pages_give(early, BLOCK_BYTES);
	assert_ptr_equal(spill_reserve(page_bytes, page_bytes), first + page_bytes);
}

static void test_spill__tells_when_there_is_no_room_left(void **state)
{
	struct flextrace_error error = {0};
	void *array;

	(void)state;
	assert_null(blocks_reserve(UINT64_C(1) << 60, 1));
	assert_int_equal(spill_explain(FLEXTRACE_E_INPUT, &error), FLEXTRACE_E_INPUT);
	assert_int_equal(spill_explain(FLEXTRACE_E_MEMORY, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "There is no room in the temporary file"));
	array = blocks_allocate(1 << 20, 8);
	assert_non_null(array);
	blocks_free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spill__says_where_a_file_cannot_be_made),
		cmocka_unit_test(test_spill__does_not_exceed_the_size_that_files_may_have),
		cmocka_unit_test(test_spill__arrays_larger_than_the_limit_keep_what_is_written),
		cmocka_unit_test(test_spill__tables_are_read_and_consumed_in_the_limit),
		cmocka_unit_test(test_spill__a_block_is_what_it_was_when_it_comes_back),
		cmocka_unit_test(test_spill__what_was_there_before_takes_no_room_in_the_file),
		cmocka_unit_test(test_spill__tells_when_there_is_no_room_left),
	};

	early = pages_take(BLOCK_BYTES);
	if (!early)
		return 1;
	memset(early, 1, BLOCK_BYTES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
