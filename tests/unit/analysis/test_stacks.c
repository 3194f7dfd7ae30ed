/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of calls with their own time, and with the time of work that they launched. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "calls_fixture.h"

#define HEADER "kind,stack,host_self_ns,device_ns,rank,host,pid\n"

/* Equal stacks are one, steps are in none, and what took no time of its own is in no line. */
static void test_stacks__are_told_once(void **state)
{
	struct calls_test test;
	uint32_t call;

	(void)state;
	calls_test_init(&test);
	calls_test_call(&test, 0, row_of(0, 0, 0, 100), "main");
	calls_test_call(&test, 0, row_of(HOST_STEP, 1, 0, 100), "ProfilerStep#1");
	call = calls_test_call(&test, 0, row_of(0, 2, 0, 60), "a;b%\n");
	calls_test_call(&test, 0, row_of(0, 3, 0, 60), "c");
	calls_test_call(&test, 0, row_of(0, 2, 60, 90), "a;b%\n");
	calls_test_call(&test, 1, row_of(0, 0, 70, 75), "main");
	calls_test_kernel(&test, 0, "k", (const int64_t[]){10, 30}, call);
	calls_test_kernel(&test, 0, "k", (const int64_t[]){20, 40}, call + 2);
	calls_test_kernel(&test, 0, "k", (const int64_t[]){50, 51}, FLEXTRACE_NONE);
	analysis_test_expect(&test.test, "stacks",
	                     HEADER "host,main;a%3Bb%25%0A;c,60," OF_0
	                            "host,main;a%3Bb%25%0A,30," OF_0 "host,main,15," OF_0
	                            "device,main;a%3Bb%25%0A;k,,40" OF_0 "device,k,,1" OF_0);
	calls_test_release(&test);
}

/* A scope that begins in the frames that open it, and ends in those that close it. */
static void test_stacks__have_no_time_twice_where_rows_cross(void **state)
{
	struct calls_test test;
	uint32_t call, lane;

	(void)state;
	calls_test_init(&test);
	lane = fixture_track(&test.test.fixture, (struct track){.kind = TRACK_THREAD, .lane = 1});
	calls_test_call(&test, 0, row_of(0, 0, 0, 100), "main");
	calls_test_call(&test, 0, row_of(0, 1, 10, 20), "enter");
	calls_test_call(&test, 0, row_of(0, 2, 11, 18), "new");
	calls_test_call(&test, lane, row_of(0, 0, 14, 84), "forward");
	call = calls_test_call(&test, 0, row_of(0, 1, 30, 60), "mm");
	calls_test_call(&test, 0, row_of(0, 1, 80, 90), "exit");
	calls_test_kernel(&test, 0, "k", (const int64_t[]){40, 50}, call);
	analysis_test_expect(&test.test, "stacks",
	                     HEADER "host,main;forward,36," OF_0 "host,main;forward;mm,30," OF_0
	                            "host,main,20," OF_0 "host,main;exit,10," OF_0
	                            "host,main;enter;new,3," OF_0 "host,main;enter,1," OF_0
	                            "device,main;forward;mm;k,,10" OF_0);
	calls_test_release(&test);
}

#define N_RANDOM               60
#define SUM(text, column, ...) csv_sum(text, column, (const char *const[]){__VA_ARGS__, NULL})

static void test_stacks__add_up(void **state)
{
	static const char *const ranks[] = {"0", "1"};

	(void)state;
	for (uint64_t seed = 1; seed <= N_RANDOM; seed++) {
		struct call_oracle oracle;
		struct calls_test test;
		char *text;

		calls_test_init(&test);
		calls_test_random(&test, seed, &oracle);
		text = analysis_test_write(&test.test, "stacks");
		for (int i = 0; i < 2; i++) {
			assert_int_equal(SUM(text, "host_self_ns", "rank", ranks[i]),
			                 oracle.root_ns[i]);
			assert_int_equal(SUM(text, "device_ns", "rank", ranks[i]),
			                 oracle.device_ns[i]);
		}
		free(text);
		calls_test_release(&test);
	}
}

static void test_stacks__of_nothing_are_a_header(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	analysis_test_expect(&test.test, "stacks", HEADER);
	calls_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks__are_told_once),
		cmocka_unit_test(test_stacks__have_no_time_twice_where_rows_cross),
		cmocka_unit_test(test_stacks__add_up),
		cmocka_unit_test(test_stacks__of_nothing_are_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
