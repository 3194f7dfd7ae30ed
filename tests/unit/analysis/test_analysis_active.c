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

#define HEAD                                                                                  \
	"rank,host,pid,device,kernels,active_ns,sum_ns,overlap_ns,elapsed_ns,active_percent," \
	"first_ns,last_ns\n"
#define KERNELS                                                                             \
	"kind,name,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,stddev_ns,share_percent," \
	"rank,host,pid\n"

struct interval {
	int64_t start, end;
};

struct active_case {
	const char *title;
	struct interval kernels[6]; /* in output order, ended by 0, 0 */
	const char *expected;       /* behind the device */
};

static const struct active_case cases[] = {
	{"one", {{100, 150}}, "1,50,50,0,50,100.00,100,150"},
	{"apart", {{100, 150}, {250, 300}}, "2,100,100,0,200,50.00,100,300"},
	{"touching", {{100, 150}, {150, 200}}, "2,100,100,0,100,100.00,100,200"},
	{"crossing", {{100, 200}, {150, 250}}, "2,150,200,50,150,100.00,100,250"},
	{"nested", {{100, 200}, {120, 130}, {190, 240}}, "3,140,160,20,140,100.00,100,240"},
	{"equal", {{100, 200}, {100, 200}, {100, 200}}, "3,100,300,200,100,100.00,100,200"},
	{"three deep",
         {{100, 400}, {150, 350}, {200, 300}, {500, 600}},
         "4,400,700,300,500,80.00,100,600"},
	{"no time at all", {{100, 100}, {100, 100}}, "2,0,0,0,0,,100,100"},
	{"points", {{100, 100}, {200, 200}}, "2,0,0,0,100,0.00,100,200"},
	{"before the clock began", {{-300, -200}, {-100, 100}}, "2,300,300,0,400,75.00,-300,100"},
	{"all there is of time",
         {{INT64_MIN, INT64_MAX}, {INT64_MIN, INT64_MAX}, {0, INT64_MAX}},
         "3,18446744073709551615,18446744073709551615,0,18446744073709551615,100.00,"
         "-9223372036854775808,9223372036854775807"},
};

static void test_active__counts_what_overlaps_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_test test;
		char expected[512];

		analysis_test_init(&test);
		fixture_device(&test.fixture, fixture_process(&test.fixture, 5, 77, "app"), 2, "");
		for (const struct interval *at = cases[i].kernels; at->start || at->end; at++)
			analysis_test_row(&test, 0, ROW_EXEC, cases[i].title, at->start, at->end);
		snprintf(expected, sizeof(expected), HEAD "5,\"node,1\",77,2,%s\n",
		         cases[i].expected);
		analysis_test_expect(&test, "active", expected);
		analysis_test_release(&test);
	}
}

/* Rank 1 comes first among the processes, and rank 0 has two devices, the second one first. */
static void add_ranks(struct analysis_test *test)
{
	uint32_t rank_1 = fixture_process(&test->fixture, 1, 200, "app");
	uint32_t unknown = fixture_process(&test->fixture, -1, 300, "app");
	uint32_t rank_0 = fixture_process(&test->fixture, 0, 100, "app");

	fixture_device(&test->fixture, rank_1, 0, "");
	fixture_device(&test->fixture, rank_0, 1, "");
	fixture_device(&test->fixture, rank_0, 0, "");
	fixture_device(&test->fixture, unknown, 0, "");
	fixture_device(&test->fixture, rank_1, 9, ""); /* which does nothing */
	test->fixture.alignment.epoch_offset_ns = 1000;
}

static void test_active__tells_each_device_by_rank(void **state)
{
	struct analysis_test test;

	(void)state;
	analysis_test_init(&test);
	add_ranks(&test);
	analysis_test_row(&test, 0, ROW_EXEC, "a", 10, 20);
	analysis_test_row(&test, 1, ROW_EXEC, "a", 15, 25);
	analysis_test_row(&test, 2, ROW_EXEC, "a", 15, 25);
	analysis_test_row(&test, 3, ROW_EXEC, "a", 16, 25);
	analysis_test_row(&test, 0, ROW_MEMCPY_HTOD, "a", 20, 30); /* no kernels, these two */
	analysis_test_row(&test, 0, ROW_PREP, "a", 20, 30);
	analysis_test_row(&test, 0, ROW_EXEC, "a", 30, 40);
	analysis_test_expect(&test, "active",
	                     HEAD "0,\"node,1\",100,0,1,10,10,0,10,100.00,1015,1025\n"
	                          "0,\"node,1\",100,1,1,10,10,0,10,100.00,1015,1025\n"
	                          "1,\"node,1\",200,0,2,20,20,0,30,66.67,1010,1040\n"
	                          ",\"node,1\",300,0,1,9,9,0,9,100.00,1016,1025\n");
	analysis_test_release(&test);
}

static void test_active__of_nothing_is_no_file(void **state)
{
	struct analysis_test test;

	(void)state;
	analysis_test_init(&test);
	analysis_test_expect(&test, "active", HEAD);
	add_ranks(&test);
	analysis_test_expect(&test, "active", HEAD);
	analysis_test_release(&test);
}

static void test_kernels__share_the_time_of_their_rank(void **state)
{
	struct analysis_test test;

	(void)state;
	analysis_test_init(&test);
	add_ranks(&test);
	analysis_test_row(&test, 0, ROW_EXEC, "a", 0, 100);
	analysis_test_row(&test, 1, ROW_EXEC, "b", 0, 10);
	analysis_test_row(&test, 2, ROW_EXEC, "a", 0, 10);
	analysis_test_row(&test, 2, ROW_EXEC, "b", 10, 40); /* of both devices */
	analysis_test_row(&test, 0, ROW_EXEC, "b", 100, 400);
	analysis_test_row(&test, 3, ROW_EXEC, "c", 400, 400);
	analysis_test_expect(&test, "kernels",
	                     KERNELS "Exec,b,2,40,20,20,10,30,14,80.00,0,\"node,1\",100\n"
	                             "Exec,a,1,10,10,10,10,10,0,20.00,0,\"node,1\",100\n"
	                             "Exec,b,1,300,300,300,300,300,0,75.00,1,\"node,1\",200\n"
	                             "Exec,a,1,100,100,100,100,100,0,25.00,1,\"node,1\",200\n"
	                             "Exec,c,1,0,0,0,0,0,0,,,\"node,1\",300\n");
	analysis_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_active__counts_what_overlaps_once),
		cmocka_unit_test(test_active__tells_each_device_by_rank),
		cmocka_unit_test(test_active__of_nothing_is_no_file),
		cmocka_unit_test(test_kernels__share_the_time_of_their_rank),
	};

	return cmocka_run_group_tests_name("analysis_active", tests, NULL, NULL);
}
