/* SPDX-License-Identifier: Apache-2.0 */
/* The most memory that a device had allocated, and what was never freed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "calls_fixture.h"

#define PEAKS \
	"rank,host,pid,device,peak_bytes,peak_ns,end_bytes,allocations,frees,left,left_bytes\n"
#define LEFT "rank,host,pid,device,address,bytes,time_ns,tid,thread,call\n"

static void add(struct calls_test *test, struct memory_row row)
{
	fixture_memory(&test->test.fixture, row);
}

static void test_memory_peaks__tell_what_was_never_freed(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	calls_test_call(&test, 0, (struct host_row){.start_time_ns = 5, .end_time_ns = 50}, "load");
	add(&test, (struct memory_row){.time_ns = 1, .address = 1, .bytes = 64, .total_bytes = 64});
	add(&test, (struct memory_row){.time_ns = 9, .address = 2, .bytes = 8, .total_bytes = 72});
	add(&test, (struct memory_row){.time_ns = 10, .address = 3, .bytes = 8, .total_bytes = 80});
	add(&test, (struct memory_row){.time_ns = 11,
	                               .address = 3,
	                               .bytes = 8,
	                               .total_bytes = 72,
	                               .op = FLEXTRACE_MEMORY_FREE});
	add(&test, (struct memory_row){.time_ns = 12,
	                               .address = 2,
	                               .bytes = 16,
	                               .total_bytes = 80,
	                               .op = FLEXTRACE_MEMORY_RESIZE});
	add(&test, (struct memory_row){.time_ns = 13,
	                               .address = 9,
	                               .bytes = 1,
	                               .total_bytes = 80,
	                               .op = FLEXTRACE_MEMORY_FREE});
	add(&test, (struct memory_row){.time_ns = 60,
	                               .address = 2,
	                               .bytes = 5,
	                               .total_bytes = 5,
	                               .device = 1,
	                               .thread = 2});
	analysis_test_expect(&test.test, "memory_peaks",
	                     PEAKS "0,\"node,1\",70,0,80,10,80,3,2,2,80\n"
	                           "1,\"node,1\",71,0,5,60,5,1,0,1,5\n");
	analysis_test_expect(&test.test, "memory_left",
	                     LEFT "0,\"node,1\",70,0,1,64,1,1,,\n"
	                          "0,\"node,1\",70,0,2,16,12,1,,load\n"
	                          "1,\"node,1\",71,0,2,5,60,1,,\n");
	calls_test_release(&test);
}

static void test_memory_peaks__of_nothing_are_a_header(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	analysis_test_expect(&test.test, "memory_peaks", PEAKS);
	analysis_test_expect(&test.test, "memory_left", LEFT);
	calls_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_peaks__tell_what_was_never_freed),
		cmocka_unit_test(test_memory_peaks__of_nothing_are_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
