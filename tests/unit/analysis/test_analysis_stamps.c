/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis_fixture.h"

#define HEAD                                                                            \
	"rank,host,pid,device,name,difference,calls,missing,mean_cycles,median_cycles," \
	"min_cycles,max_cycles,stddev_cycles,mean_ns,median_ns,min_ns,max_ns,stddev_ns\n"
#define RANK_0 "0,\"node,1\",100,"

/* A device of rank 0 whose counter runs at 500 MHz in segment 0, 250 MHz in segment 2. */
static void open_test(struct analysis_test *test)
{
	analysis_test_init(test);
	fixture_device(&test->fixture, fixture_process(&test->fixture, 0, 100, "app"), 6, "");
	test->fixture.identity.n_counters = 2;
	test->fixture.clocks.reports[0] = (struct clock_report){.counter = 0, .freq_mhz = 500};
	test->fixture.clocks.reports[1] =
		(struct clock_report){.counter = 0, .segment = 2, .freq_mhz = 250};
	test->fixture.clocks.reports[2] = (struct clock_report){.counter = 1, .freq_mhz = NAN};
	test->fixture.clocks.n = 3;
}

static struct tick_op *add_call(struct analysis_test *test, const char *name,
                                const uint64_t ticks[FLEXTRACE_N_STAMPS])
{
	struct tick_op *op = analysis_test_row(test, 0, ROW_EXEC, name, 10, 20);

	memcpy(op->ticks, ticks, sizeof(op->ticks));
	return op;
}

static void test_stamps__tell_each_difference_in_cycles_and_ns(void **state)
{
	struct analysis_test test;

	(void)state;
	open_test(&test);
	add_call(&test, "k", (const uint64_t[]){1000, 1010, 1030, 1130, 1131});
	analysis_test_part(&test, ROW_DMA_IN, 20, 30); /* its other rows are no calls */
	analysis_test_part(&test, ROW_PREP, 20, 30);
	add_call(&test, "k", (const uint64_t[]){2000, 2020, 2040, 2240, 2241});
	add_call(&test, "k", (const uint64_t[]){3000, 3030, 3050, 3350, 3350});
	add_call(&test, "a,b",
	         (const uint64_t[]){1ull << 40, (1ull << 40) + 5, 1ull << 41, 1ull << 42,
	                            1ull << 42});
	analysis_test_row(&test, 0, ROW_MEMSET, "set", 40, 50); /* no kernel */
	analysis_test_expect(&test, "stamps",
	                     HEAD RANK_0
	                     "6,\"a,b\",TS2-TS1,1,0,5,5,5,5,0,10,10,10,10,0\n" RANK_0
	                     "6,\"a,b\",TS3-TS2,1,0,1099511627771,1099511627771,1099511627771,"
	                     "1099511627771,0,2199023255542,2199023255542,2199023255542,"
	                     "2199023255542,0\n" RANK_0
	                     "6,\"a,b\",TS4-TS3,1,0,2199023255552,2199023255552,2199023255552,"
	                     "2199023255552,0,4398046511104,4398046511104,4398046511104,"
	                     "4398046511104,0\n" RANK_0
	                     "6,\"a,b\",TS5-TS4,1,0,0,0,0,0,0,0,0,0,0,0\n" RANK_0
	                     "6,k,TS2-TS1,3,0,20,20,10,30,10,40,40,20,60,20\n" RANK_0
	                     "6,k,TS3-TS2,3,0,20,20,20,20,0,40,40,40,40,0\n" RANK_0
	                     "6,k,TS4-TS3,3,0,200,200,100,300,100,400,400,200,600,200\n" RANK_0
	                     "6,k,TS5-TS4,3,0,1,1,0,1,1,1,2,0,2,1\n");
	analysis_test_release(&test);
}

struct missing_case {
	const char *title;
	uint64_t ticks[FLEXTRACE_N_STAMPS];
	uint8_t status;
	const char *expected; /* of the four lines, calls and missing */
};

static const struct missing_case missing_cases[] = {
	{"all there", {1, 2, 3, 4, 5}, TIME_CERTIFIED, "1,0 1,0 1,0 1,0 "},
	{"placed by another tool", {1, 2, 3, 4, 5}, TIME_GIVEN, "1,0 1,0 1,0 1,0 "},
	{"no TS1", {0, 2, 3, 4, 5}, TIME_CERTIFIED, "0,1 1,0 1,0 1,0 "},
	{"no TS3", {1, 2, 0, 4, 5}, TIME_CERTIFIED, "1,0 0,1 0,1 1,0 "},
	{"no TS5", {1, 2, 3, 4, 0}, TIME_CERTIFIED, "1,0 1,0 1,0 0,1 "},
	{"none at all", {0, 0, 0, 0, 0}, TIME_UNMATCHED, "0,1 0,1 0,1 0,1 "},
	{"backwards", {1, 2, 3, 2, 5}, TIME_CERTIFIED, "1,0 1,0 0,1 1,0 "},
	{"an outlier", {1, 2, 3, 4, 5}, TIME_OUTLIER, "0,1 0,1 0,1 0,1 "},
	{"all there is", {1, 1, 1, 1, UINT64_MAX}, TIME_CERTIFIED, "1,0 1,0 1,0 1,0 "},
};

static void test_stamps__count_what_is_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(missing_cases) / sizeof(missing_cases[0]); i++) {
		const struct missing_case *at = &missing_cases[i];
		struct analysis_test test;
		char *csv, *line, counts[64] = "";

		open_test(&test);
		add_call(&test, "k", at->ticks)->status = at->status;
		csv = analysis_test_write(&test, "stamps");
		for (line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
			unsigned calls, missing;

			assert_int_equal(
				sscanf(line, RANK_0 "6,k,TS%*c-TS%*c,%u,%u", &calls, &missing), 2);
			if (!calls)
				assert_true(
					!strncmp(strstr(line, ",0,1,"), ",0,1,,,,,,,,,,\n", 15));
			snprintf(counts + strlen(counts), sizeof(counts) - strlen(counts), "%u,%u ",
			         calls, missing);
		}
		assert_string_equal(counts, at->expected);
		free(csv);
		analysis_test_release(&test);
	}
}

static void test_stamps__take_the_rate_of_their_segment(void **state)
{
	const uint64_t ticks[] = {100, 200, 200, 200, 200};
	struct analysis_test test;
	char *csv;

	(void)state;
	open_test(&test);
	add_call(&test, "both", ticks);
	add_call(&test, "both", ticks)->segment = 2;
	add_call(&test, "unknown", ticks)->counter = 1;
	add_call(&test, "partly", ticks);
	add_call(&test, "partly", ticks)->counter = 1;
	add_call(&test, "no line", ticks)->segment = 1;
	csv = analysis_test_write(&test, "stamps");
	assert_non_null(strstr(csv, "6,both,TS2-TS1,2,0,100,100,100,100,0,300,300,200,400,141\n"));
	assert_non_null(strstr(csv, "6,unknown,TS2-TS1,1,0,100,100,100,100,0,,,,,\n"));
	assert_non_null(strstr(csv, "6,partly,TS2-TS1,2,0,100,100,100,100,0,,,,,\n"));
	assert_non_null(strstr(csv, "6,no line,TS2-TS1,1,0,100,100,100,100,0,,,,,\n"));
	free(csv);
	analysis_test_release(&test);
}

static void test_stamps__of_nothing_are_no_file(void **state)
{
	struct analysis_test test;

	(void)state;
	analysis_test_init(&test);
	analysis_test_expect(&test, "stamps", HEAD);
	analysis_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamps__tell_each_difference_in_cycles_and_ns),
		cmocka_unit_test(test_stamps__count_what_is_missing),
		cmocka_unit_test(test_stamps__take_the_rate_of_their_segment),
		cmocka_unit_test(test_stamps__of_nothing_are_no_file),
	};

	return cmocka_run_group_tests_name("analysis_stamps", tests, NULL, NULL);
}
