/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "cli/report/diff.h"
#include "scratch.h"

#define KERNELS                                                                                  \
	"kind,name,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,stddev_ns,share_percent,rank," \
	"host,pid\n"
#define RUNTIME                                                                            \
	"kind,name,calls,total_ns,self_ns,mean_ns,median_ns,min_ns,max_ns,stddev_ns,rank," \
	"host,pid\n"

#define EPOCH_NS INT64_C(1795266934875789675) /* a double has not the last digits */

static char *root;
static const char *iterations; /* of the next run */
static struct diff diff;
static struct flextrace_error error;

static int start(void **state)
{
	(void)state;
	root = scratch_dir();
	iterations = NULL;
	diff = (struct diff){.min_change_percent = 1};
	return diff_init(&diff, &error);
}

static int stop(void **state)
{
	(void)state;
	diff_release(&diff);
	scratch_remove(root);
	return 0;
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tables", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Adds a run of so many ns; NULL: that table was not written. */
static int add(enum diff_side side, int length_ns, const char *kernels, const char *runtime)
{
	char dir[256], run[192];

	snprintf(dir, sizeof(dir), "%s/%c%u", root, "ab"[side], diff.n_runs[side]);
	assert_int_equal(mkdir(dir, 0700), 0);
	snprintf(run, sizeof(run),
	         "{\"totals\": {\"first_ns\": %" PRId64 ", \"last_ns\": %" PRId64
	         ", \"length_ns\": %d}}",
	         EPOCH_NS, EPOCH_NS + length_ns, length_ns);
	write_file(dir, "run.json", run);
	if (iterations)
		write_file(dir, "tables/iterations.csv", iterations);
	if (kernels)
		write_file(dir, "tables/kernels.csv", kernels);
	if (runtime)
		write_file(dir, "tables/runtime.csv", runtime);
	return diff_add(&diff, side, "a\"b", dir, &error);
}

static void finish(void)
{
	assert_int_equal(diff_finish(&diff, &error), 0);
}

static const struct diff_row *row_of(const char *name)
{
	for (uint32_t i = 0; i < diff.n_rows; i++)
		if (strcmp(diff.rows[i].name, name) == 0)
			return &diff.rows[i];
	fail_msg("no row of %s", name);
	return NULL;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-6 * fabs(expected)))
		fail_msg("%.12g instead of %.12g", value, expected);
}

static void test_diff__judges_calls_of_one_run(void **state)
{
	const struct diff_row *row;

	(void)state;
	add(DIFF_A, 9000,
	    KERNELS "Exec,slow,10,1000,,,,,2,,0,h,1\nExec,fast,10,1000,,,,,2,,0,h,1\n"
	            "Exec,noise,10,1000,,,,,40,,0,h,1\nExec,little,100,10000,,,,,1,,0,h,1\n"
	            "Exec,once,1,100,,,,,0,,0,h,1\nExec,gone,3,30,,,,,1,,0,h,1\n",
	    NULL);
	add(DIFF_B, 9000,
	    KERNELS "Exec,slow,10,1100,,,,,2,,0,h,1\nExec,fast,10,900,,,,,2,,0,h,1\n"
	            "Exec,noise,10,1100,,,,,40,,0,h,1\nExec,little,100,10060,,,,,1,,0,h,1\n"
	            "Exec,once,1,200,,,,,0,,0,h,1\nExec,new,2,50,,,,,1,,0,h,1\n",
	    NULL);
	finish();
	row = row_of("slow");
	assert_string_equal(row->verdict, "slower");
	assert_near(row->a_mean_ns, 100);
	assert_near(row->change_ns, 10);
	assert_near(row->error_ns, 2.100922040 * sqrt(0.8)); /* 18 degrees */
	assert_near(row->change_percent, 10);
	assert_near(row->difference_ns, 100);
	assert_string_equal(row_of("fast")->verdict, "faster");
	assert_string_equal(row_of("noise")->verdict, "unchanged");
	assert_string_equal(row_of("little")->verdict, "unchanged"); /* certain, and 0.6 % */
	assert_string_equal(row_of("once")->verdict, "unknown");
	assert_true(isnan(row_of("once")->error_ns));
	assert_string_equal(row_of("gone")->verdict, "removed");
	assert_near(row_of("gone")->difference_ns, -30);
	assert_string_equal(row_of("new")->verdict, "added");
	assert_string_equal(row_of("whole run")->verdict, "unknown");
	assert_int_equal(diff.n_verdicts[DIFF_UNCHANGED], 2);
}

/* The calls of a run are alike, its runs are not: calls alone would be certain. */
static void test_diff__judges_runs_where_there_are_several(void **state)
{
	const struct diff_row *row;

	(void)state;
	add(DIFF_A, 1000, KERNELS "Exec,k,10,1000,,,,,1,,0,h,1\n", NULL);
	add(DIFF_A, 1010, KERNELS "Exec,k,10,1200,,,,,1,,0,h,1\n", NULL);
	add(DIFF_A, 1020, KERNELS "Exec,k,10,1100,,,,,1,,0,h,1\n", NULL);
	add(DIFF_B, 2000, KERNELS "Exec,k,10,1300,,,,,1,,0,h,1\nExec,new,4,40,,,,,1,,0,h,1\n",
	    NULL);
	add(DIFF_B, 2010, KERNELS "Exec,k,20,2200,,,,,1,,0,h,1\n", NULL);
	finish();
	assert_true(diff_is_of_runs(&diff));
	row = row_of("k");
	assert_string_equal(row->verdict, "unchanged");
	assert_near(row->a_mean_ns, 110);
	assert_near(row->b_mean_ns, 120);
	assert_near(row->a_repeats, 3);
	assert_near(row->b_calls, 15);
	assert_near(row->b_total_ns, 1750);
	/* variances of the means 100 / 3 and 100, 1.47 degrees */
	assert_near(row->error_ns,
	            student_quantile(pow(400 / 3.0, 2) / (pow(100 / 3.0, 2) / 2 + 1e4)) *
	                    sqrt(400 / 3.0));
	assert_near(row_of("new")->b_calls, 2);
	row = row_of("whole run");
	assert_string_equal(row->verdict, "slower");
	assert_near(row->change_ns, 995);
}

static void test_diff__ranks_are_taken_together(void **state)
{
	static const char runtime[] = RUNTIME
		"Op,mm,2,10,10,,,,,3,0,h,1\nOp,mm,2,30,30,,,,,1,1,h,2\n";
	const struct diff_row *row;

	(void)state;
	add(DIFF_A, 9, KERNELS, runtime);
	add(DIFF_B, 9, KERNELS, runtime);
	finish();
	row = row_of("mm");
	assert_string_equal(row->of, "host");
	assert_near(row->a_calls, 4);
	assert_near(row->a_mean_ns, 10);
	/* squares 9 + 1 within, 4 * 25 between */
	assert_near(row->error_ns, 2.446911851 * sqrt(2 * 110 / 3.0 / 4)); /* 6 degrees */
}

#define ITERATIONS "rank,iteration,dur_ns,period_ns\n"

/* The last one of a rank has none behind it. */
static void test_diff__compares_periods_of_iterations(void **state)
{
	const struct diff_row *row;

	(void)state;
	iterations = ITERATIONS "0,0,1,100\n0,1,1,110\n0,2,1,\n1,0,1,120\n1,1,1,\n";
	add(DIFF_A, 9, KERNELS, NULL);
	iterations = ITERATIONS "0,0,1,200\n0,1,1,210\n0,2,1,\n1,0,1,220\n1,1,1,\n";
	add(DIFF_B, 9, KERNELS, NULL);
	finish();
	row = row_of("iteration");
	assert_string_equal(row->of, "run");
	assert_near(row->a_calls, 3);
	assert_near(row->a_mean_ns, 110);
	assert_near(row->change_ns, 100);
	assert_near(row->error_ns, 2.776445105 * sqrt(2 * 100 / 3.0)); /* stddev 10, 4 degrees */
	assert_string_equal(row->verdict, "slower");
	assert_near(row->share_percent, 100);
}

static void test_diff__of_one_rank(void **state)
{
	static const char kernels[] = KERNELS "Exec,k,2,20,,,,,1,,0,h,1\nExec,k,2,90,,,,,1,,1,h,2\n"
					      "Exec,k,2,50,,,,,1,,,h,3\n";

	(void)state;
	diff.rank = "1";
	add(DIFF_A, 9, kernels, NULL);
	add(DIFF_B, 9, kernels, NULL);
	finish();
	assert_near(row_of("k")->a_total_ns, 90);
}

static void test_diff__the_largest_difference_of_totals_comes_first(void **state)
{
	static const char *const expected[] = {"whole run", "c", "a", "b", "h"};

	(void)state;
	add(DIFF_A, 100,
	    KERNELS "Exec,a,1,10,,,,,0,,0,h,1\nExec,b,1,10,,,,,0,,0,h,1\n"
	            "Exec,c,1,90,,,,,0,,0,h,1\n",
	    RUNTIME "Op,h,1,1,1,,,,,0,0,h,1\n");
	add(DIFF_B, 100,
	    KERNELS "Exec,b,1,11,,,,,0,,0,h,1\nExec,a,1,9,,,,,0,,0,h,1\n"
	            "Exec,c,1,80,,,,,0,,0,h,1\n",
	    RUNTIME "Op,h,1,900,1,,,,,0,0,h,1\n");
	finish();
	assert_int_equal(diff.n_rows, 5);
	for (uint32_t i = 0; i < diff.n_rows; i++)
		assert_string_equal(diff.rows[i].name, expected[i]);
	assert_near(row_of("c")->share_percent, 100 * 90 / 110.0);
}

static void test_diff__says_what_is_missing_or_damaged(void **state)
{
	char dir[256];

	(void)state;
	assert_int_equal(diff_add(&diff, DIFF_A, root, root, &error), FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "Nothing was converted"));
	assert_int_equal(add(DIFF_A, 9, NULL, NULL), FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "neither kernels.csv nor runtime.csv"));
	snprintf(dir, sizeof(dir), "%s/a0", root);
	write_file(dir, "tables/kernels.csv", "kind,name\n");
	assert_int_equal(diff_add(&diff, DIFF_A, dir, dir, &error), FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "column=calls"));
	write_file(dir, "tables/kernels.csv", KERNELS "Exec,\"k,1\n");
	assert_int_equal(diff_add(&diff, DIFF_A, dir, dir, &error), FLEXTRACE_E_INPUT);
}

/* Cells that no conversion of ours leaves empty. */
static void test_diff__survives_rows_that_say_nothing(void **state)
{
	(void)state;
	add(DIFF_A, -5, KERNELS "Exec,k,,,,,,,,,,,\nExec,k,2,9,,,,,,,,,\n,,,,,,,,,,,,\n", NULL);
	add(DIFF_B, 9, KERNELS "Exec,k,2,9,,,,,1,,,,\n,,1,0,,,,,0,,,,\n,,1,0,,,,,0,,,,\n", NULL);
	finish();
	assert_string_equal(row_of("k")->verdict, "unknown");
	assert_string_equal(row_of("")->verdict, "added");
}

static char *print_with(int (*print)(const struct diff *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	assert_int_equal(print(&diff, to), 0);
	fclose(to);
	return text;
}

static int print_text(const struct diff *of, FILE *to)
{
	diff_print(of, 1, to);
	return 0;
}

static void test_diff__prints_text_csv_and_json(void **state)
{
	char *text;

	(void)state;
	add(DIFF_A, 100, KERNELS "Exec,\"k,1\",2,20,,,,,1,,0,h,1\nExec,l,1,3,,,,,0,,0,h,1\n", NULL);
	add(DIFF_B, 100, KERNELS "Exec,\"k,1\",2,40,,,,,1,,0,h,1\n", NULL);
	finish();
	text = print_with(diff_print_csv);
	assert_non_null(strstr(text, "\ndevice,Exec,\"k,1\",slower,2,2,20,40,20,10.000,20.000,"
	                             "10.000,4.303,100.00,43.03,100.00,2,2\n"));
	assert_non_null(strstr(text, "\ndevice,Exec,l,removed,1,0,3,0,-3,3.000,,,,,,13.04,1,0\n"));
	free(text);
	text = print_with(diff_print_json);
	assert_non_null(strstr(text, "\"a\": [\"a\\\"b\"]"));
	assert_non_null(strstr(text, "\"repeats\": \"calls\""));
	assert_non_null(strstr(text, "\"name\":\"k,1\",\"verdict\":\"slower\""));
	assert_non_null(strstr(text, "\"change_ns\":null"));
	free(text);
	text = print_with(print_text);
	assert_non_null(strstr(text, "+100.0 % +- 43.0 +     20 ns  Exec: k,1\n"));
	assert_non_null(strstr(text, "and 1 more with a smaller difference"));
	assert_non_null(
		strstr(text, "1 slower, 1 not known, for they are not repeated, 1 removed"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
		TEST(test_diff__judges_calls_of_one_run),
		TEST(test_diff__judges_runs_where_there_are_several),
		TEST(test_diff__ranks_are_taken_together),
		TEST(test_diff__compares_periods_of_iterations),
		TEST(test_diff__of_one_rank),
		TEST(test_diff__the_largest_difference_of_totals_comes_first),
		TEST(test_diff__says_what_is_missing_or_damaged),
		TEST(test_diff__survives_rows_that_say_nothing),
		TEST(test_diff__prints_text_csv_and_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
