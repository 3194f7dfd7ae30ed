/* SPDX-License-Identifier: Apache-2.0 */
/* Calibrate where all that is known are host times that some other tool estimated. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "clock_truth.h"

static void calibrate_brackets(struct clock_run *run, const struct bracket *brackets, uint32_t n)
{
	uint32_t process, device, counter;
	struct record record = {.vpid = 1, .vtid = 1};

	clock_run_init(run);
	assert_int_equal(identity_process(&run->identity, &run->stream, &record, &process), 0);
	assert_int_equal(identity_device(&run->identity, process, 0, &device), 0);
	assert_int_equal(identity_counter(&run->identity, device, 0, &counter), 0);
	for (uint32_t i = 0; i < n; i++)
		*(struct bracket *)table_append(&run->out.brackets,
		                                sizeof(*brackets)) = brackets[i];
	clock_run_finish(run, NULL);
}

static void test_estimates__assumes_what_only_estimates_say(void **state)
{
	const struct bracket all[] = {
		{1000, 2000, 5000, 6000, 0, 0, BRACKET_ESTIMATE, 0},
		{3000, 4000, 7000, 8000, 0, 0, BRACKET_ESTIMATE, 0},
	};
	struct clock_run run;
	struct placed placed;

	(void)state;
	calibrate_brackets(&run, all, 2);
	placed = clocks_place(run.clocks, 0, 0, 2500);
	assert_int_equal(placed.status, TIME_ASSUMED);
	assert_int_equal(placed.err_ns, UINT32_MAX);
	assert_in_range(placed.host_ns, 6300, 6700);
	clock_run_release(&run);
}

/* Scattered by 40 ns, with one that stands a ms apart, wherever it stands. */
static void test_estimates__takes_estimates_as_far_as_they_agree(void **state)
{
	struct bracket all[101];
	struct clock_run run;

	(void)state;
	for (uint32_t apart = 0; apart < 101; apart += 10) {
		for (uint32_t i = 0; i < 101; i++) {
			uint64_t ticks = 1000000 + UINT64_C(1000000) * i;
			int64_t host_ns = (int64_t)(2 * ticks) + (int64_t)(i * 29 % 41) - 20;

			host_ns += i == apart ? 1000000 : 0;
			all[i] = (struct bracket){ticks, ticks, host_ns,          host_ns,
			                          0,     0,     BRACKET_ESTIMATE, 0};
		}
		calibrate_brackets(&run, all, 101);
		for (uint64_t ticks = 1000000; ticks < 100000000; ticks += 7654321) {
			struct placed placed = clocks_place(run.clocks, 0, 0, ticks);

			assert_int_equal(placed.status, TIME_ASSUMED);
			assert_in_range(placed.host_ns, 2 * ticks - 25, 2 * ticks + 25);
		}
		clock_run_release(&run);
	}
}

#define N_BURSTS 20
#define N_TIMES  12

/* 2 ns a tick; the rate goes up and down by 3 ppm in two minutes. */
static int64_t host_at(uint64_t ticks)
{
	return (int64_t)(2 * ticks) + (int64_t)(sin((double)ticks * (2 * acos(-1) / 60e9)) * 57e3);
}

/* Bursts of work with seconds between some: a line through these is off by more than the times
 * scatter, but not by as much as one time in eight is. */
static void test_estimates__finds_false_times_by_those_beside_them(void **state)
{
	struct bracket all[N_BURSTS * N_TIMES];
	struct clock_run run;

	(void)state;
	for (uint32_t i = 0; i < N_BURSTS * N_TIMES; i++) {
		uint32_t burst = i / N_TIMES;
		uint64_t ticks = 1000000 + burst * UINT64_C(200000000) +
		                 burst / 5 * UINT64_C(13000000000) + i % N_TIMES * 30000;
		int64_t host_ns = host_at(ticks) + (i % 8 == 3 ? 400000 : 0);

		all[i] = (struct bracket){ticks, ticks, host_ns,          host_ns,
		                          0,     0,     BRACKET_ESTIMATE, 0};
	}
	calibrate_brackets(&run, all, N_BURSTS * N_TIMES);
	for (uint32_t i = 0; i < N_BURSTS * N_TIMES; i++) {
		uint64_t ticks = all[i].first_ticks;
		struct placed placed = clocks_place(run.clocks, 0, 0, ticks);

		assert_in_range(placed.host_ns, host_at(ticks) - 10000, host_at(ticks) + 10000);
	}
	clock_run_release(&run);
}

/* Stamps come in order of time, and a counter that began anew has another map. */
static void test_estimates__places_near_a_knot_of_another_segment(void **state)
{
	struct bracket all[80];
	struct clock_run run;
	struct clock_near near = {0};

	(void)state;
	for (uint32_t i = 0; i < 80; i++) {
		uint64_t ticks = 1000000 * (1 + i % 40) + (i % 3) * 200;
		int64_t host_ns = (int64_t)(1000000 * (1 + i)) * 2;

		all[i] = (struct bracket){ticks, ticks, host_ns - 100, host_ns + 100,
		                          0,     0,     BRACKET_OP,    0};
		all[i].segment = i >= 70 ? 1 : 0;
	}
	calibrate_brackets(&run, all, 80);
	for (uint32_t i = 0; i < 80; i++) {
		uint16_t segment = (uint16_t)(i % 2);
		uint64_t ticks = 1000000 * (1 + i % 40);

		near.at = i % 2 ? 1000000 : near.at;
		assert_int_equal(clocks_place_near(run.clocks, 0, segment, ticks, &near).host_ns,
		                 clocks_place(run.clocks, 0, segment, ticks).host_ns);
		assert_int_equal(clocks_place_near(run.clocks, 5, segment, ticks, &near).status,
		                 TIME_UNMATCHED);
	}
	clock_run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_estimates__assumes_what_only_estimates_say),
		cmocka_unit_test(test_estimates__takes_estimates_as_far_as_they_agree),
		cmocka_unit_test(test_estimates__finds_false_times_by_those_beside_them),
		cmocka_unit_test(test_estimates__places_near_a_knot_of_another_segment),
	};

	return cmocka_run_group_tests_name("estimates", tests, NULL, NULL);
}
