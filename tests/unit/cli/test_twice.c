/* SPDX-License-Identifier: Apache-2.0 */
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

#include "cli/report/twice.h"
#include "scratch.h"

#define HOST   "rank,kind,name,correlation,depth,start_ns,dur_ns\n"
#define EVENTS "rank,correlation,kind,start_ns,end_ns\n"
#define HEADER                                                                              \
	"rank,kind,name,number,runs,correlation,depth,start_ns,without_ns,with_ns,cost_ns," \
	"device_ns,exec_ns\n"

static char *dir, without[256];
static struct twice_result result;
static struct flextrace_error error;

static void write_file(const char *in, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tables", in);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s", in, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int start(void **state)
{
	(void)state;
	dir = scratch_dir();
	snprintf(without, sizeof(without), "%s/without", dir);
	return mkdir(without, 0700);
}

static int stop(void **state)
{
	(void)state;
	scratch_remove(dir);
	return 0;
}

static void expect(const char *host_without, const char *host_with, const char *events,
                   const char *expected)
{
	char *text;

	write_file(without, "tables/host.csv", host_without);
	write_file(dir, "tables/host.csv", host_with);
	write_file(dir, "tables/events.csv", events);
	if (twice_write(without, dir, &result, &error) < 0)
		fail_msg("%s", error.message);
	text = scratch_read(dir, "tables/twice.csv", NULL);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void test_twice__matches_by_name_and_order_per_rank(void **state)
{
	struct difference cost;

	(void)state;
	expect(HOST "0,User,\"a, b\",,0,10,5\n0,User,\"a, b\",,0,20,7\n1,User,\"a, b\",,0,10,9\n"
	            "0,Op,\"a, b\",,0,30,1\n",
	       HOST "0,Op,\"a, b\",,0,90,2\n0,User,\"a, b\",,0,100,6\n1,User,\"a, b\",,1,100,8\n"
	            "0,User,\"a, b\",,0,200,6\n",
	       EVENTS,
	       HEADER "0,Op,\"a, b\",1,both,,0,90,1,2,1,,\n"
	              "0,User,\"a, b\",1,both,,0,100,5,6,1,,\n"
	              "1,User,\"a, b\",1,both,,1,100,9,8,-1,,\n"
	              "0,User,\"a, b\",2,both,,0,200,7,6,-1,,\n");
	assert_int_equal(result.n_both, 4);
	assert_int_equal(result.without_ns, 1 + 5 + 7); /* outermost */
	assert_int_equal(result.with_ns, 2 + 6 + 6);
	/* costs 1, 1, -1: mean 1/3, stddev 2 / sqrt(3), 2 degrees */
	assert_true(result.cost_ns.n > 2.5 && result.cost_ns.n < 3.5);
	cost = difference_from_zero(&result.cost_ns);
	assert_true(fabs(cost.value - 1 / 3.0) < 1e-12);
	assert_true(fabs(cost.error - 4.302652730 * 2 / 3) < 1e-6);
	assert_false(difference_is_certain(&cost));
}

static void test_twice__counts_what_is_in_one_run_only(void **state)
{
	(void)state;
	expect(HOST "0,User,a,,0,10,5\n0,User,a,,0,20,7\n0,User,gone,,0,30,3\n",
	       HOST "0,User,new,,0,10,4\n0,User,a,,0,20,6\n", EVENTS,
	       HEADER "0,User,new,1,with,,0,10,,4,,,\n0,User,a,1,both,,0,20,5,6,1,,\n"
	              "0,User,a,2,without,,,,7,,,,\n0,User,gone,1,without,,,,3,,,,\n");
	assert_int_equal(result.n_both, 1);
	assert_int_equal(result.n_with, 1);
	assert_int_equal(result.n_without, 2);
	assert_int_equal(result.without_ns, 5);
}

static void test_twice__puts_device_work_beside_its_launch(void **state)
{
	(void)state;
	expect(HOST "0,L,launch,77,0,10,5\n1,L,launch,77,0,10,5\n",
	       HOST "0,L,launch,4,0,10,6\n1,L,launch,4,0,10,6\n",
	       EVENTS "0,4,DmaI,100,110\n0,4,Exec,110,150\n0,4,Exec,160,170\n0,,Exec,1,900\n"
	              "1,5,Exec,1,2\n",
	       HEADER "0,L,launch,1,both,4,0,10,5,6,1,70,50\n"
	              "1,L,launch,1,both,4,0,10,5,6,1,,\n");
}

/* They stand beside the calls of their thread. */
static void test_twice__steps_and_windows_are_no_calls(void **state)
{
	(void)state;
	expect(HOST "0,Step,s,,0,10,50\n0,Window,w,,0,10,50\n0,Async,x,,0,10,50\n",
	       HOST "0,Step,s,,0,10,50\n0,Window,w,,0,10,50\n0,Async,x,,0,10,50\n", EVENTS,
	       HEADER "0,Step,s,1,both,,0,10,50,50,0,,\n0,Window,w,1,both,,0,10,50,50,0,,\n"
	              "0,Async,x,1,both,,0,10,50,50,0,,\n");
	assert_int_equal(result.n_both, 3);
	assert_int_equal(result.without_ns, 0);
}

static void test_twice__tables_that_are_missing_or_damaged_are_told(void **state)
{
	(void)state;
	write_file(without, "tables/host.csv", HOST);
	write_file(dir, "tables/events.csv", EVENTS);
	assert_int_equal(twice_write(without, dir, &result, &error), FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "tables/host.csv"));
	write_file(dir, "tables/host.csv", "rank,name\n");
	assert_int_equal(twice_write(without, dir, &result, &error), FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "column=kind"));
	write_file(dir, "tables/host.csv", HOST "0,User,\"a\n");
	assert_int_equal(twice_write(without, dir, &result, &error), FLEXTRACE_E_INPUT);
	assert_false(scratch_has(dir, "tables/twice.csv"));
	assert_false(scratch_has(dir, "twice.csv.tmp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
		TEST(test_twice__matches_by_name_and_order_per_rank),
		TEST(test_twice__counts_what_is_in_one_run_only),
		TEST(test_twice__puts_device_work_beside_its_launch),
		TEST(test_twice__steps_and_windows_are_no_calls),
		TEST(test_twice__tables_that_are_missing_or_damaged_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
