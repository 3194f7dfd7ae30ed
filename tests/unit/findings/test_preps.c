/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis_fixture.h"
#include "counters_only.h"

#define N_RANDOM 400u

struct prep {
	int64_t from, to;
	uint32_t device;
};

struct prep_case {
	const char *title;
	struct prep preps[8]; /* ended by 0 */
	const char *expected; /* "TIME=VALUE" of each row */
};

static const struct prep_case cases[] = {
	{"none", {{0, 0, 0}}, ""},
	{"one", {{10, 20, 0}}, "10=1 20=0 "},
	{"apart", {{10, 20, 0}, {30, 40, 0}}, "10=1 20=0 30=1 40=0 "},
	{"touching", {{10, 20, 0}, {20, 40, 0}}, "10=1 40=0 "},
	{"crossing", {{10, 30, 0}, {20, 40, 0}}, "10=1 20=2 30=1 40=0 "},
	{"nested", {{10, 60, 0}, {20, 30, 0}}, "10=1 20=2 30=1 60=0 "},
	{"nested with equal starts", {{10, 60, 0}, {10, 30, 0}}, "10=2 30=1 60=0 "},
	{"nested with equal ends", {{10, 60, 0}, {20, 60, 0}}, "10=1 20=2 60=0 "},
	{"equal", {{10, 20, 0}, {10, 20, 0}, {10, 20, 0}}, "10=3 20=0 "},
	{"a handover between others",
         {{10, 90, 0}, {20, 40, 0}, {40, 50, 0}, {40, 60, 0}},
         "10=1 20=2 40=3 50=2 60=1 90=0 "},
	{"one ends where two begin and end",
         {{10, 20, 0}, {20, 30, 0}, {20, 30, 0}},
         "10=1 20=2 30=0 "},
	{"out of order", {{40, 60, 0}, {10, 50, 0}, {20, 30, 0}}, "10=1 20=2 30=1 40=2 50=1 60=0 "},
	/* the case that the analyzer gets wrong: 0 instead of 1 behind the inner one */
	{"of the 4-rank sample",
         {{1868, 2548, 0}, {2337, 2352, 0}},
         "1868=1 2337=2 2352=1 2548=0 "},
};

static int compare_preps(const void *left, const void *right)
{
	const struct prep *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to < b->to) - (a->to > b->to);
}

/* A timeline with these, of one or two devices. */
static void start(struct analysis_test *test, const struct prep *preps, uint32_t n)
{
	struct prep *sorted = test_calloc(n + 1, sizeof(*sorted));

	memcpy(sorted, preps, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_preps);
	analysis_test_init(test);
	fixture_process(&test->fixture, 0, 7, "a");
	fixture_device(&test->fixture, 0, 0, "");
	fixture_device(&test->fixture, 0, 1, "");
	for (uint32_t i = 0; i < n; i++)
		analysis_test_row(test, sorted[i].device, ROW_PREP, "k", sorted[i].from,
		                  sorted[i].to);
	test_free(sorted);
}

static struct table find(struct analysis_test *test)
{
	const struct counters_input input = {.timeline = &test->fixture.timeline,
	                                     .strings = &test->fixture.cache};
	struct table counters = TABLE_INIT;

	assert_int_equal(counters_find_only(input, COUNTER_CONCURRENT_PREPS, &counters), 0);
	return counters;
}

static void expect_counters(struct analysis_test *test, const char *expected)
{
	struct table counters = find(test);
	const struct counter_row *row;
	struct table_cursor cursor;
	char text[512] = "";
	size_t n = 0;

	table_read(&cursor, &counters, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		assert_string_equal(string_get(test->fixture.strings, row->name),
		                    "ConcurrentPreps");
		assert_true(row->is_device && row->core == FLEXTRACE_NONE);
		assert_int_equal(row->class, RECORD_DEVICE_OP);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%lld=%g ",
		                      row->owner ? "second " : "", (long long)row->time_ns,
		                      row->value);
	}
	assert_string_equal(text, expected);
	table_release(&counters);
}

static uint32_t count(const struct prep *preps)
{
	uint32_t n = 0;

	while (preps[n].to)
		n++;
	return n;
}

static void test_preps__are_counted_while_they_are_open(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_test test;

		start(&test, cases[i].preps, count(cases[i].preps));
		expect_counters(&test, cases[i].expected);
		analysis_test_release(&test);
	}
}

static void test_preps__of_no_length_do_not_count(void **state)
{
	/* alone: nothing is ever open; at a start, inside, and at an end */
	static const struct prep preps[] = {
		{2, 2, 0}, {10, 20, 0}, {10, 10, 0}, {15, 15, 0}, {20, 20, 0}};
	struct analysis_test test;

	(void)state;
	start(&test, preps, 5);
	expect_counters(&test, "10=1 20=0 ");
	analysis_test_release(&test);
}

static void test_preps__are_counted_by_device(void **state)
{
	static const struct prep preps[] = {{10, 30, 0}, {20, 40, 1}, {25, 35, 0}};
	struct analysis_test test;

	(void)state;
	start(&test, preps, 3);
	expect_counters(&test, "10=1 second 20=1 25=2 30=1 35=0 second 40=0 ");
	analysis_test_release(&test);
}

/* How many of the intervals are open behind a time. */
static uint32_t count_open(const struct prep *preps, int64_t time)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_RANDOM; i++)
		n += preps[i].from <= time && time < preps[i].to;
	return n;
}

static void test_preps__agree_with_a_count_at_every_time(void **state)
{
	struct prep preps[N_RANDOM];
	struct analysis_test test;
	const struct counter_row *row;
	struct table_cursor cursor;
	struct table counters;
	uint64_t random = 1;
	int64_t time = 0;
	double value = 0;

	(void)state;
	for (uint32_t i = 0; i < N_RANDOM; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		preps[i].from = 1 + (int64_t)(random >> 33) % 1000;
		preps[i].to = preps[i].from + 1 + (int64_t)(random >> 50) % 40;
		preps[i].device = 0;
	}
	start(&test, preps, N_RANDOM);
	counters = find(&test);
	table_read(&cursor, &counters, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		for (; time < row->time_ns; time++)
			assert_int_equal((uint32_t)value, count_open(preps, time));
		assert_true(row->value != value);
		value = row->value;
	}
	assert_int_equal((uint32_t)value, 0);
	assert_int_equal(count_open(preps, time), 0);
	table_release(&counters);
	analysis_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preps__are_counted_while_they_are_open),
		cmocka_unit_test(test_preps__of_no_length_do_not_count),
		cmocka_unit_test(test_preps__are_counted_by_device),
		cmocka_unit_test(test_preps__agree_with_a_count_at_every_time),
	};

	return cmocka_run_group_tests_name("preps", tests, NULL, NULL);
}
