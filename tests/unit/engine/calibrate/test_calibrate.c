/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenes with a known clock go through unwrap and calibrate. Seeds are fixed, so what is asserted
 * of shares and percentiles can be; what must hold for any seed is asserted of all.
 */
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

#define SECOND 1e9

static const struct clock_scene plain = {
	.seed = 100,
	.n_ops = 6000,
	.hz = 557.1e6,
	.origin_ticks = 0x123456789,
	.origin_ns = 5000000000,
	.mean_period_ns = 10e6,
	.exec_ns = 1e5,
	.floor_submit_ns = 2000,
	.floor_complete_ns = 4000,
	.jitter_ns = 20000,
};

static void run_scene(struct clock_run *run, const struct clock_scene *scene, bool split,
                      struct clock_truth *truth, struct clock_verdict *verdict)
{
	clock_truth_init(truth, scene);
	clock_run_init(run);
	clock_run_push_truth(run, truth, split);
	clock_run_finish(run, NULL);
	clock_run_judge(run, truth, verdict);
}

static void release(struct clock_run *run, struct clock_truth *truth)
{
	clock_run_release(run);
	clock_truth_release(truth);
}

/* What must hold whatever the seed. */
static void expect_sound(const struct clock_verdict *verdict)
{
	assert_int_equal(verdict->wrong_epochs, 0);
	assert_int_equal(verdict->violations, 0);
	assert_int_equal(verdict->inversions, 0);
	assert_int_equal(verdict->believed_garbage, 0);
}

/* -- scenes ---------------------------------------------------------------------------------- */

#define GAPS(every, ns) .gap_every = every, .gap_ns = ns
#define READS(bits)     .sync_every = 50, .counter_bits = bits
#define DENSE           .mean_period_ns = 1e6, .exec_ns = 6e4, .jitter_ns = 500

struct scene_case {
	const char *name;
	struct clock_scene scene; /* what is 0 is as in `plain` */
	uint32_t segments;
	double p99_ns, max_ns, least_certified;
};

static const struct scene_case steady[] = {
	{"clean", {.seed = 1}, 1, 5000, 10000, 1},
	{"idle gaps", {.seed = 2, GAPS(300, 20 * SECOND)}, 1, 5000, 10000, 1},
	{"gaps of an hour", {.seed = 3, GAPS(2000, 3600 * SECOND)}, 1, 5000, 10000, 1},
	{"heavy tails", {.seed = 4, .jitter_ns = 2e5}, 1, 5000, 10000, 1},
	{"two resets", {.seed = 5, .n_resets = 2}, 3, 5000, 10000, 0.999},
	{"an hour", {.seed = 6, .mean_period_ns = 600e6}, 1, 15000, 40000, 1},
	{"one a second", {.seed = 7, .n_ops = 600, .mean_period_ns = SECOND}, 1, 30000, 40000, 1},
	{"one a minute", {.seed = 8, .n_ops = 300, .mean_period_ns = 60 * SECOND}, 1, 3e5, 1e6, 1},
	{"1.1 GHz", {.seed = 9, .hz = 1.1e9, GAPS(300, 20 * SECOND)}, 1, 5000, 10000, 1},
	{"3.9 GHz", {.seed = 10, .hz = 3.9e9, GAPS(300, 20 * SECOND)}, 1, 5000, 10000, 1},
	{"10 MHz", {.seed = 11, .hz = 10e6}, 1, 5000, 10000, 1},
	{"unequal floors", {.seed = 12, .floor_complete_ns = 50000}, 1, 30000, 35000, 1},
	{"many queues", {.seed = 13, .n_queues = 8, .exec_ns = 2e6}, 1, 5000, 10000, 1},
	{"whole reads", {.seed = 14, READS(64)}, 1, 5000, 10000, 1},
	{"44 bits", {.seed = 15, READS(44), .mean_period_ns = 3 * SECOND}, 1, 1e5, 2e5, 1},
};

/* The rate changes for good in the middle. */
static const struct scene_case small_steps[] = {
	{"30 ppm in 2 s", {.seed = 450, .n_ops = 2000, .step_ppm = 30, DENSE}, 1, 5000, 10000, 1},
	{"50 ppm in 0.6 s", {.seed = 450, .n_ops = 600, .step_ppm = -50, DENSE}, 1, 5000, 10000, 1},
};

static struct clock_scene filled(const struct clock_scene *scene)
{
	struct clock_scene full = plain;

#define TAKE(member)       \
	if (scene->member) \
	full.member = scene->member
	TAKE(seed);
	TAKE(n_ops);
	TAKE(hz);
	TAKE(mean_period_ns);
	TAKE(exec_ns);
	TAKE(gap_every);
	TAKE(gap_ns);
	TAKE(floor_complete_ns);
	TAKE(jitter_ns);
	TAKE(n_resets);
	TAKE(n_queues);
	TAKE(sync_every);
	TAKE(counter_bits);
	TAKE(step_ppm);
#undef TAKE
	return full;
}

static void expect_truth(const struct scene_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct scene_case *scene_case = &cases[i];
		struct clock_scene scene = filled(&scene_case->scene);
		struct clock_verdict verdict;
		struct clock_truth truth;
		struct clock_run run;

		run_scene(&run, &scene, i % 2, &truth, &verdict);
		if (verdict.outside || verdict.segments != scene_case->segments ||
		    verdict.certified < scene_case->least_certified * scene.n_ops ||
		    verdict.p99_error_ns > scene_case->p99_ns ||
		    verdict.worst_error_ns > scene_case->max_ns)
			fail_msg("%s: outside=%u segments=%u certified=%u p99=%.0f max=%.0f",
			         scene_case->name, verdict.outside, verdict.segments,
			         verdict.certified, verdict.p99_error_ns, verdict.worst_error_ns);
		expect_sound(&verdict);
		release(&run, &truth);
	}
}

static void test_calibrate__holds_the_truth_of_steady_clocks(void **state)
{
	(void)state;
	expect_truth(steady, sizeof(steady) / sizeof(steady[0]));
}

/* So many say nothing of the rate together: each stands for itself, as wide as it has to. */
static void test_calibrate__is_right_about_a_clock_that_is_reset_all_the_time(void **state)
{
	struct clock_scene scene = plain;
	struct clock_verdict verdict;
	struct clock_truth truth;
	struct clock_run run;

	(void)state;
	scene.n_ops = 30000;
	scene.n_resets = 5000;
	run_scene(&run, &scene, false, &truth, &verdict);
	print_message("segments: %u, outside: %u\n", verdict.segments, verdict.outside);
	assert_true(verdict.segments > 4096);
	assert_int_equal(verdict.outside, 0);
	release(&run, &truth);
}

static void test_calibrate__finds_the_rate(void **state)
{
	struct clock_scene scene = plain;
	const struct clock_report *report;
	struct clock_verdict verdict;
	struct clock_truth truth;
	struct clock_run run;
	uint32_t n;
	double ppm;

	(void)state;
	run_scene(&run, &scene, false, &truth, &verdict);
	report = clocks_report(run.clocks, &n);
	assert_int_equal(n, 1);
	ppm = (report->freq_mhz / 557.1 - 1) * 1e6;
	assert_true(fabs(ppm) <= 0.05);
	assert_true(fabs(ppm) <= report->ci_ppm);
	assert_int_equal(report->events, scene.n_ops);
	assert_int_equal(report->violations_after, 0);
	assert_int_equal(report->inversions_after, 0);
	assert_true(isnan(report->ppm_vs_nominal));
	assert_string_equal(report->rho_source, "default");
	assert_true(report->half_width_ns_p50 <= report->half_width_ns_p99 &&
	            report->half_width_ns_p99 <= report->half_width_ns_max);
	release(&run, &truth);
}

static void test_calibrate__turns_false_brackets_away(void **state)
{
	struct clock_scene scene = plain;

	(void)state;
	scene.false_share = 0.01;
	scene.garbage_share = 0.005;
	scene.n_queues = 3;
	for (scene.seed = 200; scene.seed < 206; scene.seed++) {
		struct clock_verdict verdict;
		struct clock_truth truth;
		struct clock_run run;

		run_scene(&run, &scene, false, &truth, &verdict);
		expect_sound(&verdict);
		assert_int_equal(verdict.segments, 1);
		assert_true(verdict.outliers > 0.01 * scene.n_ops);
		assert_true(verdict.honest_outliers <= 0.002 * scene.n_ops);
		assert_true(verdict.outside <= 0.01 * 5 * scene.n_ops);
		assert_true(verdict.worst_excess_ns <= 3000);
		assert_int_equal(ledger_total(&run.ledger, LOSS_OUTLIER), verdict.outliers);
		release(&run, &truth);
	}
}

static void test_calibrate__follows_a_drift(void **state)
{
	struct clock_scene scene = plain;

	(void)state;
	scene.drift_ppm = 10;
	scene.drift_period_ns = 40 * SECOND;
	for (scene.seed = 300; scene.seed < 304; scene.seed++) {
		struct clock_verdict verdict;
		struct clock_truth truth;
		struct clock_run run;

		run_scene(&run, &scene, false, &truth, &verdict);
		expect_sound(&verdict);
		assert_int_equal(verdict.outliers, 0);
		assert_int_equal(verdict.outside, 0);
		assert_true(verdict.p99_error_ns <= 5000);
		release(&run, &truth);
	}
}

static void test_calibrate__follows_a_step_of_the_rate(void **state)
{
	struct clock_scene scene = plain;

	(void)state;
	scene.step_ppm = 300;
	for (scene.seed = 400; scene.seed < 404; scene.seed++) {
		struct clock_verdict verdict;
		struct clock_truth truth;
		struct clock_run run;

		run_scene(&run, &scene, false, &truth, &verdict);
		expect_sound(&verdict);
		assert_int_equal(verdict.certified, scene.n_ops);
		assert_int_equal(verdict.outside, 0);
		assert_true(verdict.p99_error_ns <= 5000);
		assert_int_equal(run.ledger.warnings[WARNING_INFEASIBLE], 0);
		release(&run, &truth);
	}
}

static void test_calibrate__covers_a_small_step_that_one_clock_explains(void **state)
{
	(void)state;
	expect_truth(small_steps, sizeof(small_steps) / sizeof(small_steps[0]));
}

static void test_calibrate__stands_all_at_once(void **state)
{
	struct clock_scene scene = plain;

	(void)state;
	scene.n_ops = 10000;
	scene.n_resets = 2;
	scene.false_share = 0.01;
	scene.garbage_share = 0.01;
	scene.gap_every = 300;
	scene.gap_ns = 20 * SECOND;
	scene.drift_ppm = 10;
	scene.drift_period_ns = 300 * SECOND;
	scene.n_queues = 4;
	for (scene.seed = 500; scene.seed < 504; scene.seed++) {
		struct clock_verdict verdict;
		struct clock_truth truth;
		struct clock_run run;

		run_scene(&run, &scene, false, &truth, &verdict);
		expect_sound(&verdict);
		assert_int_equal(verdict.segments, 3);
		assert_true(verdict.outside <= 0.01 * 5 * scene.n_ops);
		assert_true(verdict.honest_outliers <= 0.002 * scene.n_ops);
		release(&run, &truth);
	}
}

static void test_calibrate__says_when_work_is_longer_than_a_wrap(void **state)
{
	struct clock_scene scene = plain;
	struct clock_verdict verdict;
	struct clock_truth truth;
	struct clock_run run;

	(void)state;
	scene.long_every = 500;
	scene.long_ns = 20 * SECOND;
	scene.mean_period_ns = 100e6;
	scene.n_queues = 4;
	run_scene(&run, &scene, false, &truth, &verdict);
	expect_sound(&verdict);
	assert_int_equal(verdict.outside, 0);
	assert_true(verdict.assumed > 0);
	assert_int_equal(verdict.honest_outliers, 0);
	release(&run, &truth);
}

/* -- little evidence ------------------------------------------------------------------------- */

static void test_calibrate__is_honest_about_few_operations(void **state)
{
	(void)state;
	for (uint32_t n = 0; n <= 6; n++) {
		for (uint64_t seed = 0; seed < 50; seed++) {
			struct clock_scene scene = plain;
			struct clock_verdict verdict;
			struct clock_truth truth;
			struct clock_run run;

			scene.n_ops = n;
			scene.seed = seed;
			run_scene(&run, &scene, false, &truth, &verdict);
			expect_sound(&verdict);
			assert_int_equal(verdict.certified, n);
			assert_int_equal(verdict.outside, 0);
			release(&run, &truth);
		}
	}
}

static void test_calibrate__is_honest_about_lone_operations_far_apart(void **state)
{
	struct clock_scene scene = plain;
	struct clock_verdict verdict;
	struct clock_truth truth;
	struct clock_run run;

	(void)state;
	scene.n_ops = 20;
	scene.gap_every = 1;
	scene.gap_ns = 7200 * SECOND;
	run_scene(&run, &scene, false, &truth, &verdict);
	expect_sound(&verdict);
	assert_int_equal(verdict.certified, 20);
	assert_int_equal(verdict.outside, 0);
	release(&run, &truth);
}

/* The evidence leaves the rate open, so that of the definition gives the length. */
static void test_calibrate__draws_one_operation_at_its_nominal_rate(void **state)
{
	struct record_device_op record = {
		.submit_ns = 1000000,
		.complete_ns = 2000000,
		.ticks32 = {1000, 2000, 3000, 100000, 101000},
	};
	struct clock_run run;
	struct placed first, last;
	uint32_t counter;

	(void)state;
	clock_run_init(&run);
	clock_run_push(&run, &record.head, RECORD_DEVICE_OP, 2000000, sizeof(record));
	assert_int_equal(identity_counter(&run.identity, 0, 0, &counter), 0);
	run.identity.counters[counter].nominal_hz = 500000000;
	clock_run_finish(&run, NULL);
	first = clocks_place(run.clocks, counter, 0, 1000);
	last = clocks_place(run.clocks, counter, 0, 101000);
	assert_in_range(last.host_ns - first.host_ns, 199000, 201000);
	assert_int_equal(first.status, TIME_CERTIFIED);
	assert_true(first.host_ns - first.err_ns <= 1000000); /* it may have run at once, */
	assert_true(last.host_ns + last.err_ns >= 2000000);   /* or in the end */
	clock_run_release(&run);
}

static void test_calibrate__is_the_same_for_both_shapes_of_a_bracket(void **state)
{
	struct clock_scene scene = plain;
	struct table_cursor whole_cursor, split_cursor;
	struct clock_verdict verdict;
	struct clock_truth truth, again;
	struct clock_run whole, split;
	const struct tick_op *op;

	(void)state;
	scene.n_ops = 1000;
	scene.garbage_share = 0.01;
	run_scene(&whole, &scene, false, &truth, &verdict);
	run_scene(&split, &scene, true, &again, &verdict);
	assert_int_equal(whole.out.ops.n_rows, split.out.ops.n_rows);
	table_read(&whole_cursor, &whole.out.ops, false);
	table_read(&split_cursor, &split.out.ops, false);
	while ((op = table_next(&whole_cursor, sizeof(*op)))) {
		const struct tick_op *other = table_next(&split_cursor, sizeof(*other));

		assert_memory_equal(op->ticks, other->ticks, sizeof(op->ticks));
		assert_int_equal(op->status, other->status);
		assert_int_equal(clocks_place(whole.clocks, 0, 0, op->ticks[2]).host_ns,
		                 clocks_place(split.clocks, 0, 0, op->ticks[2]).host_ns);
	}
	release(&whole, &truth);
	release(&split, &again);
}

/* Calibrates literal brackets of one counter. */
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

static void test_calibrate__places_between_the_sides_of_one_bracket(void **state)
{
	const struct bracket one = {500, 500, 1000, 1200, 0, 0, BRACKET_SYNC, 0};
	struct clock_run run;
	struct placed placed;

	(void)state;
	calibrate_brackets(&run, &one, 1);
	placed = clocks_place(run.clocks, 0, 0, 500);
	assert_int_equal(placed.status, TIME_CERTIFIED);
	assert_int_equal(placed.host_ns, 1100);
	assert_in_range(placed.err_ns, 100, 120);
	assert_int_equal(clocks_place(run.clocks, 0, 0, 0).status, TIME_UNMATCHED);
	assert_int_equal(clocks_place(run.clocks, 0, 1, 500).status, TIME_UNMATCHED);
	assert_int_equal(clocks_place(run.clocks, 5, 0, 500).status, TIME_UNMATCHED);
	clock_run_release(&run);
}

static void test_calibrate__agrees_on_one_instant(void **state)
{
	const struct bracket all[] = {
		{500, 500, 1000, 1200, 0, 0, BRACKET_SYNC, 0},
		{500, 500, 1050, 1300, 0, 0, BRACKET_SYNC, 0},
		{500, 500, 900, 1090, 0, 0, BRACKET_SYNC, 0},
	};
	struct clock_run run;
	struct placed placed;

	(void)state;
	calibrate_brackets(&run, all, 3);
	placed = clocks_place(run.clocks, 0, 0, 500);
	assert_int_equal(placed.host_ns, 1070);
	assert_in_range(placed.err_ns, 20, 40);
	clock_run_release(&run);
}

static void test_calibrate__bounds_grow_away_from_the_evidence(void **state)
{
	struct bracket all[100];
	struct clock_run run;
	uint32_t at_end;

	(void)state;
	for (int i = 0; i < 100; i++)
		all[i] = (struct bracket){1000000u * (i + 1u),
		                          1000000u * (i + 1u),
		                          1000000 * i + 5000,
		                          1000000 * i + 6000,
		                          0,
		                          0,
		                          BRACKET_SYNC,
		                          0};
	calibrate_brackets(&run, all, 100);
	at_end = clocks_place(run.clocks, 0, 0, 100000000).err_ns;
	assert_in_range(at_end, 400, 600);
	/* 10 s further on, with a mean 10 ppm beside the line's slope, and a rate 10 ppm beside the
	 * mean: 200 us, and what the slope itself leaves open. */
	assert_in_range(clocks_place(run.clocks, 0, 0, UINT64_C(10100000000)).err_ns,
	                at_end + 200000, at_end + 350000);
	assert_int_equal(clocks_place(run.clocks, 0, 0, UINT64_C(10100000000)).status,
	                 TIME_CERTIFIED);
	assert_int_equal(clocks_place(run.clocks, 0, 0, UINT64_MAX).err_ns, UINT32_MAX);
	clock_run_release(&run);
}

static void test_calibrate__says_when_a_counter_has_no_evidence(void **state)
{
	struct record_device_op record = {.ticks32 = {1, 2, 3, 4, 5}};
	struct clock_run run;
	uint32_t n;

	(void)state;
	clock_run_init(&run);
	clock_run_push(&run, &record.head, RECORD_DEVICE_OP, 1000, sizeof(record));
	clock_run_finish(&run, NULL);
	assert_int_equal(clocks_place(run.clocks, 0, 0, 5).status, TIME_UNMATCHED);
	assert_int_equal(run.ledger.warnings[WARNING_UNCALIBRATED], 1);
	assert_true(isnan(clocks_report(run.clocks, &n)->freq_mhz));
	assert_int_equal(n, 1);
	clock_run_release(&run);
}

static void test_calibrate__says_when_the_rate_wanders_more_than_rho(void **state)
{
	struct bracket all[200];
	struct clock_run run;
	uint32_t n;

	/* The rate swings by +-400 ppm every 5 ms, far too fast for a straight reference. */
	(void)state;
	for (int i = 0; i < 200; i++) {
		int64_t ns = 1000000 * (int64_t)i;
		uint64_t ticks = (uint64_t)(ns + 2000 * (i / 5 % 2 ? 5 - i % 5 : i % 5) / 5) + 1000;

		all[i] = (struct bracket){ticks, ticks, ns - 300 + 1000000, ns + 300 + 1000000,
		                          0,     0,     BRACKET_SYNC,       0};
	}
	calibrate_brackets(&run, all, 200);
	assert_int_equal(run.ledger.warnings[WARNING_INFEASIBLE], 1);
	assert_string_equal(clocks_report(run.clocks, &n)->rho_source, "raised");
	assert_int_equal(clocks_place(run.clocks, 0, 0, all[77].first_ticks).status, TIME_ASSUMED);
	clock_run_release(&run);
}

/* -- hostile --------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	return z ^ (z >> 27);
}

static void test_calibrate__survives_extremes(void **state)
{
	static const uint64_t ticks[] = {1, 2, UINT64_MAX, INT64_MAX, 1000, UINT64_C(1) << 62};
	static const int64_t ns[] = {INT64_MIN,     INT64_MAX,    0, -1, 1000,
	                             INT64_MIN + 1, INT64_MAX - 1};

	(void)state;
	for (uint64_t round = 0; round < 50; round++) {
		struct bracket all[60];
		struct clock_run run;

		for (uint64_t i = 0; i < 60; i++) {
			uint64_t z = mixed(round * 60 + i);

			all[i] = (struct bracket){ticks[z % 6],
			                          ticks[z / 6 % 6],
			                          ns[z / 36 % 7],
			                          ns[z / 252 % 7],
			                          0,
			                          0,
			                          z / 1764 % 3,
			                          0};
		}
		calibrate_brackets(&run, all, 60);
		for (uint64_t i = 0; i < 6; i++)
			clocks_place(run.clocks, 0, 0, ticks[i]);
		clock_run_release(&run);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_calibrate__##name)
	const struct CMUnitTest tests[] = {
		TEST(holds_the_truth_of_steady_clocks),
		TEST(is_right_about_a_clock_that_is_reset_all_the_time),
		TEST(finds_the_rate),
		TEST(turns_false_brackets_away),
		TEST(follows_a_drift),
		TEST(follows_a_step_of_the_rate),
		TEST(covers_a_small_step_that_one_clock_explains),
		TEST(stands_all_at_once),
		TEST(says_when_work_is_longer_than_a_wrap),
		TEST(is_honest_about_few_operations),
		TEST(is_honest_about_lone_operations_far_apart),
		TEST(draws_one_operation_at_its_nominal_rate),
		TEST(is_the_same_for_both_shapes_of_a_bracket),
		TEST(places_between_the_sides_of_one_bracket),
		TEST(agrees_on_one_instant),
		TEST(bounds_grow_away_from_the_evidence),
		TEST(says_when_a_counter_has_no_evidence),
		TEST(says_when_the_rate_wanders_more_than_rho),
		TEST(survives_extremes),
	};

	return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
