/* SPDX-License-Identifier: Apache-2.0 */
/* What a user must know of a clock is said, once for each time it is so, and nothing else is. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "clock_truth.h"

static const struct clock_scene steady = {
	.seed = 51,
	.n_ops = 3000,
	.hz = 557.1e6,
	.origin_ticks = 0x123456789,
	.origin_ns = 5000000000,
	.mean_period_ns = 10e6,
	.exec_ns = 1e5,
	.floor_submit_ns = 2000,
	.floor_complete_ns = 4000,
	.jitter_ns = 20000,
};

static const enum warning of_clocks[] = {
	WARNING_UNCALIBRATED, WARNING_INFEASIBLE, WARNING_OFF_NOMINAL, WARNING_RATE_STEP,
	WARNING_RATE_UNKNOWN, WARNING_RESETS,     WARNING_ONE_SIDED,   WARNING_LARGE_FLOOR,
};

static void lose_brackets(struct clock_truth *truth)
{
	for (uint32_t i = 0; i < truth->n_ops; i++)
		truth->ops[i].submit_ns = truth->ops[i].complete_ns = 0;
}

static void lose_completions(struct clock_truth *truth)
{
	for (uint32_t i = 0; i < truth->n_ops; i++)
		truth->ops[i].complete_ns = 0;
}

static void shorten_brackets(struct clock_truth *truth)
{
	for (uint32_t i = 100; i < 107; i++)
		truth->ops[i].complete_ns = truth->ops[i].submit_ns + 5999;
}

struct expected {
	enum warning warning;
	uint64_t n;
};

struct warning_case {
	const char *name;
	struct clock_scene scene; /* what differs from `steady` */
	void (*change)(struct clock_truth *truth);
	struct clock_settings settings;
	uint64_t nominal_hz;
	struct expected expected[3];
};

static const struct warning_case cases[] = {
	{.name = "steady"},
	{.name = "near its nominal rate", .nominal_hz = 557300000},
	{.name = "off its nominal rate",
         .nominal_hz = 560000000,
         .expected = {{WARNING_OFF_NOMINAL, 1}}},
	{.name = "off what the user says",
         .settings = {.nominal_mhz = 1000},
         .nominal_hz = 557100000,
         .expected = {{WARNING_OFF_NOMINAL, 1}}},
	{.name = "submissions only",
         .change = lose_completions,
         .expected = {{WARNING_UNCALIBRATED, 1}}},
	{.name = "no bracket", .change = lose_brackets, .expected = {{WARNING_UNCALIBRATED, 1}}},
	{.name = "host times since 1970", .scene = {.origin_ns = INT64_C(1735689600000000000)}},
	{.name = "host times up to 2^62 ns",
         .scene = {.origin_ns = (INT64_C(1) << 62) - 60000000000}},
	{.name = "one step", .scene = {.step_ppm = 300}, .expected = {{WARNING_RATE_STEP, 1}}},
	{.name = "two resets", .scene = {.n_resets = 2}, .expected = {{WARNING_RESETS, 2}}},
	{.name = "one operation", .scene = {.n_ops = 1}, .expected = {{WARNING_RATE_UNKNOWN, 1}}},
	{.name = "floors of both sides",
         .change = shorten_brackets,
         .settings = {.has_floors = true, .submit_floor_ns = 2000, .complete_floor_ns = 4000},
         .expected = {{WARNING_LARGE_FLOOR, 7}}},
	{.name = "floor of the round trip",
         .change = shorten_brackets,
         .settings = {.round_trip_floor_ns = 6000},
         .expected = {{WARNING_LARGE_FLOOR, 7}}},
};

static void run_case(const struct warning_case *of, uint64_t *ret_warnings)
{
	struct calibrate_options options = {.all = of->settings};
	struct clock_scene scene = steady;
	struct clock_truth truth;
	struct clock_run run;

#define TAKE(member)          \
	if (of->scene.member) \
	scene.member = of->scene.member
	TAKE(n_ops);
	TAKE(step_ppm);
	TAKE(origin_ns);
	TAKE(n_resets);
#undef TAKE
	options.all.rho_ppm = DEFAULT_RHO_PPM;
	clock_truth_init(&truth, &scene);
	if (of->change)
		of->change(&truth);
	clock_run_init(&run);
	clock_run_counter(&run)->nominal_hz = of->nominal_hz;
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, &options);
	memcpy(ret_warnings, run.ledger.warnings, sizeof(run.ledger.warnings));
	clock_run_release(&run);
	clock_truth_release(&truth);
}

static uint64_t expected_of(const struct warning_case *of, enum warning warning)
{
	for (size_t i = 0; i < sizeof(of->expected) / sizeof(of->expected[0]); i++) {
		if (of->expected[i].n && of->expected[i].warning == warning)
			return of->expected[i].n;
	}
	return 0;
}

static void test_clock_warnings__say_what_is_so_and_nothing_else(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t warnings[WARNING_COUNT];

		run_case(&cases[i], warnings);
		for (size_t k = 0; k < sizeof(of_clocks) / sizeof(of_clocks[0]); k++) {
			if (warnings[of_clocks[k]] != expected_of(&cases[i], of_clocks[k]))
				fail_msg("%s: %" PRIu64 " of %s", cases[i].name,
				         warnings[of_clocks[k]], ledger_warning_id(of_clocks[k]));
		}
	}
}

/* Evidence by hand, of one counter. */
static uint64_t warnings_of(const struct bracket *brackets, uint32_t n, enum warning warning)
{
	struct clock_run run;
	uint64_t n_warnings;

	clock_run_init(&run);
	clock_run_counter(&run);
	for (uint32_t i = 0; i < n; i++)
		*(struct bracket *)table_append(&run.out.brackets, sizeof(*brackets)) = brackets[i];
	clock_run_finish(&run, NULL);
	n_warnings = run.ledger.warnings[warning];
	clock_run_release(&run);
	return n_warnings;
}

static void test_clock_warnings__say_when_a_side_is_open(void **state)
{
	const struct bracket both[] = {{1000, 1000, 1000, 1200, .source = BRACKET_SYNC},
	                               {9000, 9000, 9000, 9200, .source = BRACKET_SYNC}};
	const struct bracket above[] = {{1000, 1000, 1000, INT64_MAX, .source = BRACKET_SYNC},
	                                {9000, 9000, 9000, INT64_MAX, .source = BRACKET_SYNC}};
	const struct bracket below[] = {{1000, 1000, INT64_MIN, 1200, .source = BRACKET_SYNC},
	                                {9000, 9000, INT64_MIN, 9200, .source = BRACKET_SYNC}};

	(void)state;
	assert_int_equal(warnings_of(both, 2, WARNING_ONE_SIDED), 0);
	assert_int_equal(warnings_of(above, 2, WARNING_ONE_SIDED), 1);
	assert_int_equal(warnings_of(below, 2, WARNING_ONE_SIDED), 1);
}

static void test_clock_warnings__say_what_stands_in_front_of_its_process(void **state)
{
	const uint32_t n_early = 5;
	struct clock_truth truth;
	struct clock_run run;
	uint32_t n_outliers = 0;
	const struct tick_op *op;
	struct table_cursor cursor;

	(void)state;
	clock_truth_init(&truth, &steady);
	clock_run_init(&run);
	clock_run_counter(&run);
	run.identity.processes[0].start_ns =
		(uint64_t)(truth.scene.origin_ns + (int64_t)truth.ops[n_early].time_ns[0] - 100000);
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, NULL);
	table_read(&cursor, &run.out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op))))
		n_outliers += op->status == TIME_OUTLIER;
	assert_int_equal(n_outliers, n_early);
	assert_int_equal(run.ledger.warnings[WARNING_OUTSIDE_LIFE], n_early);
	clock_run_release(&run);
	clock_truth_release(&truth);
}

/* Host times of another clock: they lie behind the record that has them. The record is the later
 * bound then, and nothing is certified, as nothing bounds the work from below. */
static void run_ahead(uint64_t ahead_ns)
{
	struct clock_truth truth;
	struct clock_run run;
	const struct tick_op *op;
	struct table_cursor cursor;

	clock_truth_init(&truth, &steady);
	clock_run_init(&run);
	clock_run_counter(&run);
	for (uint32_t i = 0; i < truth.n_ops; i++) {
		struct record_device_op record = {
			.head.kind = FLEXTRACE_DEVICE_KERNEL, .job = i, .peer = -1};

		memcpy(record.ticks32, truth.ops[i].ticks32, sizeof(record.ticks32));
		record.submit_ns = (uint64_t)truth.ops[i].submit_ns + ahead_ns;
		record.complete_ns = (uint64_t)truth.ops[i].complete_ns + ahead_ns;
		clock_run_push(&run, &record.head, RECORD_DEVICE_OP,
		               (uint64_t)truth.ops[i].complete_ns, sizeof(record));
	}
	clock_run_finish(&run, NULL);
	table_read(&cursor, &run.out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op))))
		assert_int_not_equal(op->status, TIME_CERTIFIED);
	assert_int_equal(run.ledger.warnings[WARNING_OUTSIDE_LIFE], truth.n_ops);
	clock_run_release(&run);
	clock_truth_release(&truth);
}

static void test_clock_warnings__say_what_is_of_another_clock(void **state)
{
	(void)state;
	run_ahead(UINT64_C(3600000000000));
	run_ahead(1000000);
	run_ahead(
		50000); /* less than most brackets are long: submissions are in front of records */
}

static void test_clock_warnings__say_what_to_do(void **state)
{
	static const struct {
		enum warning warning;
		const char *id, *remedy;
	} texts[] = {
		{WARNING_UNCALIBRATED, "uncalibrated_device", "FLEXTRACE_CLOCK_SYNC"},
		{WARNING_INFEASIBLE, "rate_wanders", "--rho-ppm"},
		{WARNING_OFF_NOMINAL, "rate_off_nominal", "--nominal-mhz"},
		{WARNING_RATE_STEP, "rate_step", "fix its frequency"},
		{WARNING_RATE_UNPROVEN, "rate_unproven", "--nominal-mhz"},
		{WARNING_COUNTER_RESTARTS, "counter_restarts", "run through"},
		{WARNING_COUNTER_GATED, "counter_gated", "run through"},
		{WARNING_RATE_UNKNOWN, "rate_unknown", "--nominal-mhz"},
		{WARNING_RESETS, "counter_resets", "was reset"},
		{WARNING_ONE_SIDED, "one_sided_bounds", "both submit and complete"},
		{WARNING_LARGE_FLOOR, "latency_floor_too_large", "--latency-floor-ns"},
		{WARNING_UNALIGNED, "unaligned_hosts", "system clocks"},
		{WARNING_OTHER_CLOCK, "not_the_recorders_clock", "time namespace"},
		{WARNING_HOST_WANDERS, "host_clock_wanders", "host clock"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_string_equal(ledger_warning_id(texts[i].warning), texts[i].id);
		assert_non_null(strstr(ledger_warning_remedy(texts[i].warning), texts[i].remedy));
	}
}

/* -- where it stepped ------------------------------------------------------------------------ */

/* Where an operation's first stamp stands on the host's clock. */
static double placed_ns(struct clock_run *run, uint32_t at)
{
	struct table_cursor cursor;
	const struct tick_op *op;

	table_read(&cursor, &run->out.ops, false);
	for (uint32_t i = 0; i <= at; i++)
		op = table_next(&cursor, sizeof(*op));
	return (double)(clocks_place(run->clocks, op->counter, op->segment, op->ticks[0]).host_ns -
	                steady.origin_ns);
}

/* How far the mean rate of the map between two moments is from the counter's. */
static double rate_error_ppm(struct clock_run *run, const struct clock_truth *truth, double from_ns,
                             double to_ns)
{
	uint32_t first = 0, last;
	double true_ns;

	while (truth->ops[first].time_ns[0] < from_ns)
		first++;
	for (last = first; truth->ops[last + 1].time_ns[0] <= to_ns; last++)
		;
	true_ns = truth->ops[last].time_ns[0] - truth->ops[first].time_ns[0];
	return fabs((placed_ns(run, last) - placed_ns(run, first)) / true_ns - 1) * 1e6;
}

/* A second before and behind a step, each second of the map runs at the rate of its side. */
static void test_clock_warnings__find_a_step_within_a_second(void **state)
{
	(void)state;
	for (uint64_t seed = 63; seed < 71; seed++) {
		struct clock_scene scene = steady;
		double step_ns = scene.n_ops * scene.mean_period_ns / 2;
		struct clock_truth truth;
		struct clock_run run;

		scene.seed = seed;
		scene.step_ppm = seed % 2 ? 300 : -300;
		clock_truth_init(&truth, &scene);
		clock_run_init(&run);
		clock_run_push_truth(&run, &truth, false);
		clock_run_finish(&run, NULL);
		assert_int_equal(run.ledger.warnings[WARNING_RATE_STEP], 1);
		for (double at_ns = 1e9; at_ns < 5e9; at_ns += 1e9) {
			double before = rate_error_ppm(&run, &truth, step_ns - at_ns - 1e9,
			                               step_ns - at_ns);
			double behind = rate_error_ppm(&run, &truth, step_ns + at_ns,
			                               step_ns + at_ns + 1e9);

			assert_true(before < 10);
			assert_true(behind < 10);
		}
		clock_run_release(&run);
		clock_truth_release(&truth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_warnings__say_what_is_so_and_nothing_else),
		cmocka_unit_test(test_clock_warnings__say_when_a_side_is_open),
		cmocka_unit_test(test_clock_warnings__say_what_stands_in_front_of_its_process),
		cmocka_unit_test(test_clock_warnings__say_what_is_of_another_clock),
		cmocka_unit_test(test_clock_warnings__say_what_to_do),
		cmocka_unit_test(test_clock_warnings__find_a_step_within_a_second),
	};

	return cmocka_run_group_tests_name("clock_warnings", tests, NULL, NULL);
}
