/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "derive_fixture.h"

#define N_RANDOM 400u

struct prep {
	uint64_t from, to;
};

struct prep_case {
	const char *title;
	struct prep preps[8]; /* ended by 0, 0 */
	const char *expected; /* "TIME=VALUE" of each row */
};

static const struct prep_case cases[] = {
	{"none", {{0, 0}}, ""},
	{"one", {{10, 20}}, "10=1 20=0 "},
	{"apart", {{10, 20}, {30, 40}}, "10=1 20=0 30=1 40=0 "},
	{"touching", {{10, 20}, {20, 40}}, "10=1 40=0 "},
	{"crossing", {{10, 30}, {20, 40}}, "10=1 20=2 30=1 40=0 "},
	{"nested", {{10, 60}, {20, 30}}, "10=1 20=2 30=1 60=0 "},
	{"nested with equal starts", {{10, 60}, {10, 30}}, "10=2 30=1 60=0 "},
	{"nested with equal ends", {{10, 60}, {20, 60}}, "10=1 20=2 60=0 "},
	{"equal", {{10, 20}, {10, 20}, {10, 20}}, "10=3 20=0 "},
	{"a handover between others",
         {{10, 90}, {20, 40}, {40, 50}, {40, 60}},
         "10=1 20=2 40=3 50=2 60=1 90=0 "},
	{"one ends where two begin and end", {{10, 20}, {20, 30}, {20, 30}}, "10=1 20=2 30=0 "},
	{"out of order", {{40, 60}, {10, 50}, {20, 30}}, "10=1 20=2 30=1 40=2 50=1 60=0 "},
	/* the case that the analyzer gets wrong: 0 instead of 1 behind the inner one */
	{"of the 4-rank sample", {{1868, 2548}, {2337, 2352}}, "1868=1 2337=2 2352=1 2548=0 "},
};

static void add_prep(struct derive_fixture *fixture, struct prep prep)
{
	fixture_op(fixture, "k", FLEXTRACE_DEVICE_KERNEL,
	           (const uint64_t[]){prep.from, prep.from, prep.to, prep.to, prep.to});
}

/* Owned by the caller. */
static char *counter_text(const struct derive_fixture *fixture)
{
	struct table rows = fixture->timeline.counters;
	const struct counter_row *row;
	struct table_cursor cursor;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	table_read(&cursor, &rows, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		assert_string_equal(string_get(fixture->source.strings, row->name),
		                    "ConcurrentPreps");
		assert_true(row->is_device && row->core == FLEXTRACE_NONE);
		assert_int_equal(row->class, RECORD_DEVICE_OP);
		fprintf(out, "%s%lld=%g ", row->owner ? "second " : "", (long long)row->time_ns,
		        row->value);
	}
	fclose(out);
	return text;
}

static void expect_counters(const struct derive_fixture *fixture, const char *expected)
{
	char *text = counter_text(fixture);

	assert_string_equal(text, expected);
	free(text);
}

static void test_preps__are_counted_while_they_are_open(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct derive_fixture fixture;

		fixture_open(&fixture, "1 1 7 process start_ns=1\n");
		for (const struct prep *prep = cases[i].preps; prep->to; prep++)
			add_prep(&fixture, *prep);
		fixture_run(&fixture);
		expect_counters(&fixture, cases[i].expected);
		fixture_close(&fixture);
	}
}

static void test_preps__of_no_length_do_not_count(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "1 1 7 process start_ns=1\n");
	fake_clocks.shift = 2;
	add_prep(&fixture, (struct prep){8, 11}); /* alone: nothing is ever open */
	add_prep(&fixture, (struct prep){40, 80});
	add_prep(&fixture, (struct prep){40, 41}); /* at a start, inside, and at an end */
	add_prep(&fixture, (struct prep){60, 62});
	add_prep(&fixture, (struct prep){80, 82});
	fixture_run(&fixture);
	expect_counters(&fixture, "10=1 20=0 ");
	fixture_close(&fixture);
}

static void test_preps__are_counted_by_device(void **state)
{
	struct derive_fixture fixture;
	uint32_t second;

	(void)state;
	fixture_open(&fixture, "1 1 7 process start_ns=1\n");
	add_prep(&fixture, (struct prep){10, 30});
	assert_int_equal(identity_device(&fixture.identity, 0, 1, &second), 0);
	fixture_op(&fixture, "k", FLEXTRACE_DEVICE_KERNEL, (const uint64_t[]){20, 20, 40, 40, 40})
		->device = second;
	/* another queue of the first */
	fixture_op(&fixture, "k", FLEXTRACE_DEVICE_KERNEL, (const uint64_t[]){25, 25, 35, 35, 35})
		->queue = 3;
	fixture_run(&fixture);
	expect_counters(&fixture, "10=1 second 20=1 25=2 30=1 35=0 second 40=0 ");
	fixture_close(&fixture);
}

/* How many of the intervals are open behind a time. */
static uint32_t count_open(const struct prep *preps, uint64_t time)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_RANDOM; i++)
		n += preps[i].from <= time && time < preps[i].to;
	return n;
}

static void test_preps__agree_with_a_count_at_every_time(void **state)
{
	struct prep preps[N_RANDOM];
	struct derive_fixture fixture;
	const struct counter_row *row;
	struct table_cursor cursor;
	uint64_t random = 1, time = 0;
	double value = 0;

	(void)state;
	fixture_open(&fixture, "1 1 7 process start_ns=1\n");
	for (uint32_t i = 0; i < N_RANDOM; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		preps[i].from = 1 + (random >> 33) % 1000;
		preps[i].to = preps[i].from + 1 + (random >> 50) % 40;
		add_prep(&fixture, preps[i]);
	}
	fixture_run(&fixture);
	table_read(&cursor, &fixture.timeline.counters, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		for (; time < (uint64_t)row->time_ns; time++)
			assert_int_equal((uint32_t)value, count_open(preps, time));
		assert_true(row->value != value);
		value = row->value;
	}
	assert_int_equal((uint32_t)value, 0);
	assert_int_equal(count_open(preps, time), 0);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preps__are_counted_while_they_are_open),
		cmocka_unit_test(test_preps__of_no_length_do_not_count),
		cmocka_unit_test(test_preps__are_counted_by_device),
		cmocka_unit_test(test_preps__agree_with_a_count_at_every_time),
	};

	return cmocka_run_group_tests_name("derive_preps", tests, NULL, NULL);
}
