/* SPDX-License-Identifier: Apache-2.0 */
/* Which iteration a control block belongs to. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "findings/iterations.h"
#include "analysis_fixture.h"

struct rows_test {
	struct analysis_test analysis;
	struct iterations iterations;
	uint32_t *of_op;
};

static int start(void **state)
{
	struct rows_test *test = calloc(1, sizeof(*test));

	*state = test;
	analysis_test_init(&test->analysis);
	for (uint32_t i = 0; i < 2; i++) {
		struct timeline_fixture *fixture = &test->analysis.fixture;
		uint32_t process = fixture_process(fixture, (int32_t)i, 10 + i, "p");
		uint32_t device = fixture_device(fixture, process, 0, "");

		fixture_track(fixture, (struct track){.kind = TRACK_QUEUE, .owner = device});
	}
	return 0;
}

static int stop(void **state)
{
	struct rows_test *test = *state;

	iterations_release(&test->iterations);
	analysis_test_release(&test->analysis);
	free(test->of_op);
	free(test);
	return 0;
}

static void add(struct rows_test *test, uint32_t device, uint8_t kind, const char *name,
                int64_t start_ns)
{
	analysis_test_row(&test->analysis, device, kind, name, start_ns, start_ns + 10);
}

/* Device i has track i. */
static void mark(struct rows_test *test)
{
	struct timeline *timeline = &test->analysis.fixture.timeline;
	struct table_cursor cursor;
	struct device_row *row;
	struct owners owners;

	table_read(&cursor, &timeline->device_rows, false);
	while ((row = table_next(&cursor, sizeof(*row))))
		row->track = timeline->ops[row->source].device;
	assert_int_equal(owners_init(&owners, timeline->identity), 0);
	assert_int_equal(iterations_find(&test->iterations, timeline, &owners), 0);
	owners_release(&owners);
	assert_int_equal(iterations_mark(&test->iterations, &test->of_op), 0);
}

/* Rank 0 turns (a b) every 100 ns, rank 1 (c) every 50; copies stand between and behind. */
static void test_iterations_rows__start_in_an_iteration_of_their_rank(void **state)
{
	static const uint32_t expected[] = {1, 1, 1, 2, 0, 1, 3, 2, 4, 2, 5, 2, 6};
	struct rows_test *test = *state;

	add(test, 0, ROW_EXEC, "a", 0);
	add(test, 1, ROW_EXEC, "c", 1);
	add(test, 0, ROW_MEMCPY_HTOD, "copy", 30);
	add(test, 1, ROW_EXEC, "c", 51);
	add(test, 1, ROW_MEMCPY_HTOD, "copy", 62); /* behind its last kernel */
	add(test, 0, ROW_EXEC, "b", 70);
	add(test, 1, ROW_EXEC, "c", 101);
	add(test, 0, ROW_EXEC, "a", 110);
	add(test, 1, ROW_EXEC, "c", 151);
	add(test, 0, ROW_MEMCPY_DTOH, "copy", 160);
	add(test, 1, ROW_EXEC, "c", 201);
	add(test, 0, ROW_EXEC, "b", 210);
	add(test, 1, ROW_EXEC, "c", 251);
	mark(test);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(test->of_op[i], expected[i]);
}

static void test_iterations_rows__are_none_where_nothing_repeats(void **state)
{
	struct rows_test *test = *state;

	mark(test);
	assert_null(test->of_op);
	add(test, 0, ROW_EXEC, "a", 0);
	add(test, 0, ROW_EXEC, "b", 100);
	iterations_release(&test->iterations);
	mark(test);
	assert_null(test->of_op);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_iterations_rows__##name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(start_in_an_iteration_of_their_rank),
		TEST(are_none_where_nothing_repeats),
	};

	return cmocka_run_group_tests_name("iterations_rows", tests, NULL, NULL);
}
