/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "costs_fixture.h"
#include "counters_only.h"
#include "model/timeline/timeline_read.h"

static void run(struct costs_fixture *fixture)
{
	costs_run(fixture, 1e9);
}

static struct table find(const struct costs_fixture *fixture)
{
	const struct counters_input input = {.timeline = &fixture->timeline,
	                                     .costs = &fixture->costs,
	                                     .strings = (struct string_cache *)&fixture->cache};
	struct table counters = TABLE_INIT;

	assert_int_equal(counters_find_only(input, COUNTER_PT_ACTIVE, &counters), 0);
	return counters;
}

/* All counters: "time device=value name;" */
static void expect_counters(const struct costs_fixture *fixture, const char *expected)
{
	struct table counters = find(fixture);
	char text[4096] = "";
	struct table_cursor cursor;
	const struct counter_row *row;
	size_t n = 0;

	cursor = table_begin(&counters);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		assert_true(row->is_device);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%lld %u=%g %s; ",
		                      (long long)row->time_ns, row->owner, row->value,
		                      string_get(fixture->strings, row->name));
	}
	assert_string_equal(text, expected);
	table_release(&counters);
}

/* A kernel from `start_ns` on. */
static void add_kernel(struct costs_fixture *fixture, uint32_t device, const char *name,
                       int64_t start_ns, int64_t duration_ns)
{
	fixture->now_ns = start_ns - 10;
	costs_kernel(fixture, device, name, duration_ns, 0);
}

static void test_pt_active__is_up_while_a_kernel_runs(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t first = costs_device(fixture, 0), second = costs_device(fixture, 1);

	add_kernel(fixture, first, "a", 1000, 100);
	add_kernel(fixture, second, "a", 1010, 50);
	add_kernel(fixture, first, "b", 1200, 100);
	costs_source(fixture, "a-opCatA 25 b-opCatB 120");
	run(fixture);
	expect_counters(fixture, "1000 0=25 PT Active; 1010 1=50 PT Active; 1060 1=0 PT Active; "
	                         "1100 0=0 PT Active; 1200 0=120 PT Active; "
	                         "1300 0=0 PT Active; ");
}

static void test_pt_active__goes_by_times_of_another_run_for_the_autopilot(void **state)
{
	struct costs_fixture *fixture = *state;

	add_kernel(fixture, costs_device(fixture, 0), "a", 1000, 100);
	costs_times(fixture, "0,Exec,a,1,50\n");
	costs_source(fixture, "AUTOPILOT a-opCatA 25");
	run(fixture);
	expect_counters(fixture, "1000 0=50 PT Active; 1100 0=0 PT Active; ");
}

static void test_pt_active__does_not_fall_between_kernels_that_touch(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	add_kernel(fixture, device, "a", 1000, 100);
	add_kernel(fixture, device, "b", 1100, 100);
	costs_source(fixture, "a-opCatA 25 b-opCatB 50");
	run(fixture);
	expect_counters(fixture, "1000 0=25 PT Active; 1100 0=50 PT Active; 1200 0=0 PT Active; ");
}

static void test_pt_active__adds_up_what_runs_at_a_time(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	add_kernel(fixture, device, "a", 1000, 100);
	add_kernel(fixture, device, "b", 1000, 20); /* inside */
	add_kernel(fixture, device, "c", 1050, 100);
	costs_source(fixture, "a-opCatA 25 b-opCatB 10 c-opCatC 1");
	run(fixture);
	expect_counters(fixture, "1000 0=75 PT Active; 1020 0=25 PT Active; 1050 0=26 PT Active; "
	                         "1100 0=1 PT Active; 1150 0=0 PT Active; ");
}

static void test_pt_active__leaves_out_what_has_no_cycles_or_no_length(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	add_kernel(fixture, device, "zero", 1000, 100);
	add_kernel(fixture, device, "point", 1100, 0);
	add_kernel(fixture, device, "unknown", 1200, 100);
	costs_source(fixture, "zero-opCatA 0 point-opCatB 10");
	run(fixture);
	expect_counters(fixture, "");
}

static void test_pt_active__stands_among_the_other_counters(void **state)
{
	static const int64_t times_ns[] = {900, 1000, 1050, 1200};
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	add_kernel(fixture, device, "a", 1000, 100);
	for (size_t i = 0; i < 4; i++) {
		struct counter_row *row = table_append(&fixture->timeline.counters, sizeof(*row));

		assert_non_null(row);
		*row = (struct counter_row){
			.time_ns = times_ns[i], .value = 7, .is_device = 1, .owner = device};
	}
	costs_source(fixture, "a-opCatA 25");
	run(fixture);
	expect_counters(fixture, "900 0=7 ; 1000 0=25 PT Active; 1000 0=7 ; 1050 0=7 ; "
	                         "1100 0=0 PT Active; 1200 0=7 ; ");
}

/* More rows than one run of the sorter. */
static void test_pt_active__follows_many_kernels(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);
	struct table counters;
	const int n = 100000;

	for (int i = 0; i < n; i++)
		add_kernel(fixture, device, "a", 1000 + i, n);
	costs_source(fixture, "a-opCatA 100");
	run(fixture);
	counters = find(fixture);
	assert_int_equal(counters.n_rows, 2 * n);
	table_release(&counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COSTS_TEST(test_pt_active__is_up_while_a_kernel_runs),
		COSTS_TEST(test_pt_active__goes_by_times_of_another_run_for_the_autopilot),
		COSTS_TEST(test_pt_active__does_not_fall_between_kernels_that_touch),
		COSTS_TEST(test_pt_active__adds_up_what_runs_at_a_time),
		COSTS_TEST(test_pt_active__leaves_out_what_has_no_cycles_or_no_length),
		COSTS_TEST(test_pt_active__stands_among_the_other_counters),
		COSTS_TEST(test_pt_active__follows_many_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
