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

#define HEAD "rank,host,pid,iteration,name,start_ns,end_ns,dur_ns,period_ns,kernels\n"
#define LOOPS                                                                                    \
	"rank,host,pid,source,iterations,turn_kernels,kernels,covered_kernels,coverage_percent," \
	"mean_ns,median_ns,min_ns,max_ns,stddev_ns\n"
#define RANK_0 "0,\"node,1\",100,"
#define RANK_1 "1,\"node,1\",200,"

/* Two ranks with a device each, of the same index. */
static void open_test(struct analysis_test *test)
{
	analysis_test_init(test);
	fixture_device(&test->fixture, fixture_process(&test->fixture, 0, 100, "app"), 0, "");
	fixture_device(&test->fixture, fixture_process(&test->fixture, 1, 200, "app"), 0, "");
}

/* Runs kernels named by letters, one every 100 ns for 80 ns; a space is a pause of 1000 ns. */
static void run_letters(struct analysis_test *test, uint32_t device, const char *letters)
{
	int64_t time_ns = 0;

	for (; *letters; letters++) {
		char name[2] = {*letters};

		if (*letters == ' ') {
			time_ns += 1000;
			continue;
		}
		analysis_test_row(test, device, ROW_EXEC, name, time_ns, time_ns + 80);
		time_ns += 100;
	}
}

struct loop_case {
	const char *letters;
	const char *loop;       /* behind rank, host and pid, without the end of line */
	const char *iterations; /* "START+DUR " of each */
};

static const struct loop_case cases[] = {
	{"", NULL, ""},
	{"a", "none,0,,1,0,0.00,,,,,", ""},
	{"abcdefg", "none,0,,7,0,0.00,,,,,", ""},
	/* twice the same, once: no loop */
	{"abcdeefghij", "none,0,,11,0,0.00,,,,,", ""},
	/* a loop of one kernel, not of two or five */
	{"aaaaaa", "kernels,6,1,6,6,100.00,100,100,100,100,0",
         "0+80 100+80 200+80 300+80 400+80 500+80 "},
	{"abababab", "kernels,4,2,8,8,100.00,200,200,200,200,0", "0+180 200+180 400+180 600+180 "},
	/* the inner repetition is no loop */
	{"aabaabaab", "kernels,3,3,9,9,100.00,300,300,300,300,0", "0+280 300+280 600+280 "},
	/* a last turn that was cut short */
	{"abcabcabcab", "kernels,3,3,11,9,81.82,300,300,300,300,0", "0+280 300+280 600+280 "},
	/* a warm-up, whatever it was; teardown, too */
	{"xyzabcabcabc", "kernels,3,3,12,9,75.00,300,300,300,300,0", "300+280 600+280 900+280 "},
	{"xyxabcabcabcuvw", "kernels,3,3,15,9,60.00,300,300,300,300,0", "300+280 600+280 900+280 "},
	/* a warm-up that ends like a turn: the pauses tell where turns begin */
	{"xc abc abc abc", "kernels,3,3,11,9,81.82,1300,1300,1300,1300,0",
         "1200+280 2500+280 3800+280 "},
	/* but no pause takes a whole turn away */
	{"ab cab cab c", "kernels,3,3,9,9,100.00,1300,1300,1300,1300,0",
         "0+1280 1300+1280 2600+1280 "},
	/* no pause tells: as many turns as there are, from the first on */
	{"xcabcabcabc", "kernels,3,3,11,9,81.82,300,300,300,300,0", "100+280 400+280 700+280 "},
	/* something in between: its turn does not count in the spread */
	{"abababababxabab", "kernels,7,2,15,14,93.33,200,200,200,200,0",
         "0+180 200+180 400+180 600+180 800+180 1100+180 1300+180 "},
	/* the pauses of a turn are its period */
	{"ab ab  ab ab", "kernels,4,2,8,8,100.00,1533,1200,1200,2200,577",
         "0+180 1200+180 3400+180 4600+180 "},
};

/* What the lines of rank 0 say; owned by the caller. */
static char *starts_of(const char *csv)
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	for (const char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		long long start, end, duration;
		unsigned number;

		assert_int_equal(
			sscanf(line, RANK_0 "%u,,%lld,%lld,%lld", &number, &start, &end, &duration),
			4);
		assert_int_equal(duration, end - start);
		fprintf(out, "%lld+%lld ", start, duration);
	}
	fclose(out);
	return text;
}

static void test_iterations__are_the_turns_of_the_loop(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_test test;
		char expected[512] = LOOPS, *csv, *starts;

		open_test(&test);
		run_letters(&test, 0, cases[i].letters);
		if (cases[i].loop)
			snprintf(expected, sizeof(expected), LOOPS RANK_0 "%s\n", cases[i].loop);
		analysis_test_expect(&test, "loops", expected);
		csv = analysis_test_write(&test, "iterations");
		starts = starts_of(csv);
		assert_string_equal(starts, cases[i].iterations);
		free(starts);
		free(csv);
		analysis_test_release(&test);
	}
}

/* What the analyzer reports as 800 us. */
static void test_iterations__of_two_kernels_in_400_us_last_400_us(void **state)
{
	struct analysis_test test;

	(void)state;
	open_test(&test);
	for (int64_t i = 0; i < 20; i++) {
		analysis_test_row(&test, 0, ROW_EXEC, "conv", i * 400000, i * 400000 + 150000);
		analysis_test_row(&test, 0, ROW_EXEC, "add", i * 400000 + 160000,
		                  i * 400000 + 350000);
	}
	analysis_test_expect(&test, "loops",
	                     LOOPS RANK_0
	                     "kernels,20,2,40,40,100.00,400000,400000,400000,400000,0\n");
	analysis_test_release(&test);
}

static void test_iterations__of_each_rank_are_its_own(void **state)
{
	struct analysis_test test;

	(void)state;
	open_test(&test);
	for (int64_t i = 0; i < 6; i++) {
		analysis_test_row(&test, 0, ROW_EXEC, i % 2 ? "b" : "a", i * 100, i * 100 + 50);
		analysis_test_row(&test, 1, ROW_EXEC, "c", i * 100, i * 100 + 50);
		analysis_test_row(&test, 1, ROW_PREP, "c", i * 100 + 1, i * 100 + 50);
	}
	test.fixture.alignment.epoch_offset_ns = 7000;
	analysis_test_expect(&test, "iterations",
	                     HEAD RANK_0
	                     "0,,7000,7150,150,200,2\n" RANK_1 "0,,7000,7050,50,100,1\n" RANK_1
	                     "1,,7100,7150,50,100,1\n" RANK_0 "1,,7200,7350,150,200,2\n" RANK_1
	                     "2,,7200,7250,50,100,1\n" RANK_1 "3,,7300,7350,50,100,1\n" RANK_0
	                     "2,,7400,7550,150,,2\n" RANK_1 "4,,7400,7450,50,100,1\n" RANK_1
	                     "5,,7500,7550,50,,1\n");
	analysis_test_expect(&test, "loops",
	                     LOOPS RANK_0 "kernels,3,2,6,6,100.00,200,200,200,200,0\n" RANK_1
	                                  "kernels,6,1,6,6,100.00,100,100,100,100,0\n");
	analysis_test_release(&test);
}

static void add_step(struct analysis_test *test, const char *name, int64_t start, int64_t end)
{
	struct host_row row = fixture_scope(&test->fixture, 0, name, start, end);

	row.kind = HOST_STEP;
	row.class = RECORD_STEP;
	test->fixture.timeline.has.steps = true;
	fixture_host(&test->fixture, row);
}

static void test_iterations__are_steps_where_the_program_told_them(void **state)
{
	struct analysis_test test;

	(void)state;
	open_test(&test);
	fixture_track(&test.fixture,
	              (struct track){.kind = TRACK_ASYNC,
	                             .owner = fixture_thread(&test.fixture, 0, 100, "main")});
	run_letters(&test, 0, "xababab"); /* 0, 100, ... 600 */
	run_letters(&test, 1, "cc");
	add_step(&test, "ProfilerStep#5", 50, 300);
	add_step(&test, "ProfilerStep#6", 300, 550);
	add_step(&test, "ProfilerStep#7", 560, 590);
	analysis_test_expect(&test, "iterations",
	                     HEAD RANK_1 "0,,0,80,80,100,1\n" RANK_0
	                                 "0,ProfilerStep#5,50,300,250,250,2\n" RANK_1
	                                 "1,,100,180,80,,1\n" RANK_0
	                                 "1,ProfilerStep#6,300,550,250,260,3\n" RANK_0
	                                 "2,ProfilerStep#7,560,590,30,,0\n");
	analysis_test_expect(&test, "loops",
	                     LOOPS RANK_0 "steps,3,,7,5,71.43,255,255,250,260,7\n" RANK_1
	                                  "kernels,2,1,2,2,100.00,100,100,100,100,0\n");
	analysis_test_release(&test);
}

static void test_iterations__bear_any_time(void **state)
{
	struct analysis_test test;

	(void)state;
	open_test(&test);
	analysis_test_row(&test, 0, ROW_EXEC, "a", INT64_MIN, INT64_MAX);
	analysis_test_row(&test, 0, ROW_EXEC, "a", -1, -1);
	analysis_test_row(&test, 0, ROW_EXEC, "a", INT64_MAX - 1, INT64_MAX);
	analysis_test_expect(&test, "loops",
	                     LOOPS RANK_0 "kernels,3,1,3,3,100.00,9223372036854775807,"
	                                  "9223372036854775807,9223372036854775807,"
	                                  "9223372036854775807,0\n");
	analysis_test_expect(&test, "iterations",
	                     HEAD RANK_0 "0,,-9223372036854775808,9223372036854775807,"
	                                 "18446744073709551615,9223372036854775807,1\n" RANK_0
	                                 "1,,-1,-1,0,9223372036854775807,1\n" RANK_0
	                                 "2,,9223372036854775806,9223372036854775807,1,,1\n");
	analysis_test_release(&test);
}

static void test_iterations__bear_kernels_of_one_time(void **state)
{
	struct analysis_test test;

	(void)state;
	open_test(&test);
	for (int i = 0; i < 6; i++)
		analysis_test_row(&test, 0, ROW_EXEC, i % 2 ? "b" : "a", 500, 500);
	analysis_test_expect(&test, "loops", LOOPS RANK_0 "kernels,3,2,6,6,100.00,0,0,0,0,0\n");
	analysis_test_release(&test);
}

static void test_iterations__of_nothing_are_no_file(void **state)
{
	struct analysis_test test;

	(void)state;
	analysis_test_init(&test);
	analysis_test_expect(&test, "iterations", HEAD);
	analysis_test_expect(&test, "loops", LOOPS);
	analysis_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iterations__are_the_turns_of_the_loop),
		cmocka_unit_test(test_iterations__of_two_kernels_in_400_us_last_400_us),
		cmocka_unit_test(test_iterations__of_each_rank_are_its_own),
		cmocka_unit_test(test_iterations__are_steps_where_the_program_told_them),
		cmocka_unit_test(test_iterations__bear_any_time),
		cmocka_unit_test(test_iterations__bear_kernels_of_one_time),
		cmocka_unit_test(test_iterations__of_nothing_are_no_file),
	};

	return cmocka_run_group_tests_name("analysis_iterations", tests, NULL, NULL);
}
