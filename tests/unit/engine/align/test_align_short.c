/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short runs, told late on one side: exits say little of the clocks there, bounds say more. All of
 * it holds at once, so nothing may be dropped, and what a tenth of a second cannot tell of a rate
 * must not be shown.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "align_truth.h"

#define FIRST_SEED 200
#define N_SEEDS    40

/* Clocks 5000 s apart, as in a time namespace of its own. */
#define SHORT                                                                                   \
	.n_ranks = 2, .n_rounds = 40, .period_ns = 2.8e6, .straggle_ns = 1e6, .skew_ns = 130e3, \
	.boot_ns = INT64_C(-5000000000000), .origin_ns = 11907336866709

struct short_run {
	struct align_truth truth;
	struct table points;
	struct ledger ledger;
	struct alignment *alignment;
	struct alignment_report line; /* of the second rank */
	struct align_verdict verdict;
	uint64_t n_dropped;
};

static void run_init(struct short_run *run, const struct align_scene *scene)
{
	struct align_options options = ALIGN_OPTIONS_INIT;
	const struct alignment_report *lines;
	struct flextrace_error error;
	uint32_t n;

	*run = (struct short_run){.n_dropped = 0};
	align_truth_init(&run->truth, scene);
	align_truth_points(&run->truth, &run->points);
	ledger_init(&run->ledger);
	assert_int_equal(align_run(&options, &run->truth.identity, &run->points, &run->ledger,
	                           &run->alignment, &error),
	                 0);
	align_truth_judge(&run->truth, run->alignment, &run->verdict);
	lines = alignment_report(run->alignment, &n);
	assert_int_equal(n, scene->n_ranks);
	run->line = lines[1];
	for (uint32_t i = 0; i < n; i++)
		run->n_dropped += lines[i].sync_points_dropped;
}

static void run_release(struct short_run *run)
{
	alignment_free(run->alignment);
	ledger_release(&run->ledger);
	table_release(&run->points);
	align_truth_release(&run->truth);
}

/* By how much the bounds of a constant offset of two ranks are apart. */
static double width_of(const struct align_truth *truth)
{
	double lo = -INFINITY, hi = INFINITY;

	for (uint32_t i = 0; i + 1 < truth->n_points; i++) {
		const struct truth_point *a = &truth->points[i], *b = &truth->points[i + 1];

		if (a->round != b->round)
			continue;
		lo = fmax(lo, a->enter_ns - b->exit_ns);
		hi = fmin(hi, a->exit_ns - b->enter_ns);
	}
	assert_true(lo <= 0 && hi >= 0);
	return hi - lo;
}

static void test_align__drops_nothing_that_can_be_true(void **state)
{
	(void)state;
	for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + N_SEEDS; seed++) {
		struct align_scene scene = {.seed = seed, SHORT};
		struct short_run run;
		double error_ns, width_ns;

		run_init(&run, &scene);
		error_ns = run.line.offset_ns - (double)scene.boot_ns * -1;
		width_ns = width_of(&run.truth);
		print_message("seed %" PRIu64 ": off by %.1f of %.1f us, errors p50 %.1f max %.1f "
		              "us, +- %.1f us\n",
		              seed, error_ns / 1e3, width_ns / 1e3, run.verdict.p50_ns / 1e3,
		              run.verdict.max_ns / 1e3, run.line.half_width_ns_p50 / 1e3);
		assert_int_equal(run.n_dropped, 0);
		assert_int_equal(run.verdict.n_outside, 0);
		assert_int_equal(run.verdict.n_violations, 0);
		assert_true(fabs(error_ns) <= width_ns);
		assert_true(isnan(run.line.drift_ppm));
		assert_int_equal(run.ledger.warnings[WARNING_HOST_WANDERS], 0);
		run_release(&run);
	}
}

/* What two clocks do for once, in a short run or a longer one: bounds hold, whatever the rate. */
static void test_align__holds_for_clocks_that_run_apart(void **state)
{
	static const struct {
		double drift_ppm;
		uint32_t n_rounds;
		bool is_rate_known;
	} cases[] = {{90, 40, false}, {90, 200, true}, {90, 400, true}, {400, 400, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + N_SEEDS; seed++) {
			struct align_scene scene = {.seed = seed, SHORT};
			struct short_run run;

			scene.drift_ppm = cases[i].drift_ppm;
			scene.n_rounds = cases[i].n_rounds;
			scene.skew_ns = 30e3;
			run_init(&run, &scene);
			assert_int_equal(run.n_dropped, 0);
			assert_int_equal(run.verdict.n_outside, 0);
			assert_int_equal(run.verdict.n_violations, 0);
			assert_int_equal(run.verdict.n_certified, run.verdict.n);
			assert_int_equal(!isnan(run.line.drift_ppm), cases[i].is_rate_known);
			if (cases[i].is_rate_known)
				assert_true(fabs(run.line.drift_ppm -
				                 1e6 * (run.truth.hosts[0].drift -
				                        run.truth.hosts[1].drift)) < 60);
			run_release(&run);
		}
	}
}

/* Faster apart than any two clocks should be: the warning says so, evidence is kept. */
static void test_align__says_that_clocks_run_apart_too_fast(void **state)
{
	struct align_scene scene = {.seed = 5, SHORT};
	struct short_run run;

	(void)state;
	scene.slew_ppm = 800; /* of the second host, for a third of the time */
	scene.skew_ns = 0;
	scene.straggle_ns = 100e3;
	run_init(&run, &scene);
	assert_int_equal(run.ledger.warnings[WARNING_HOST_WANDERS], 1);
	assert_int_equal(run.n_dropped, 0);
	assert_int_equal(run.verdict.n_outside, 0);
	run_release(&run);
}

/* False matches among them go, and take few that are true with them. */
static void test_align__drops_little_but_lies(void **state)
{
	uint64_t n_points = 0, n_lies = 0, n_dropped = 0;

	(void)state;
	for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + N_SEEDS; seed++) {
		struct align_scene scene = {.seed = seed, SHORT};
		struct short_run run;

		scene.false_share = 0.05;
		run_init(&run, &scene);
		n_points += run.truth.n_points;
		n_dropped += run.n_dropped;
		for (uint32_t i = 0; i < run.truth.n_points; i++)
			n_lies += run.truth.points[i].is_lie;
		print_message("seed %" PRIu64 ": %" PRIu64 " dropped, errors p50 %.1f max %.1f us, "
		              "%" PRIu64 " outside\n",
		              seed, run.n_dropped, run.verdict.p50_ns / 1e3,
		              run.verdict.max_ns / 1e3, run.verdict.n_outside);
		run_release(&run);
	}
	print_message("%" PRIu64 " points, %" PRIu64 " lies, %" PRIu64 " dropped\n", n_points,
	              n_lies, n_dropped);
	assert_true(n_dropped <= 2 * n_lies + n_points / 100);
}

/* The mean rate over a whole run need not be that between the operations in common. */
static void test_align__allows_another_mean_beyond_the_evidence(void **state)
{
	struct align_scene scene = {
		.seed = 3, .n_ranks = 2, .n_rounds = 1000, .period_ns = 50e6, .straggle_ns = 2e6};
	int64_t far_ns = INT64_C(100000000000);
	struct aligned before, behind;
	struct short_run run;

	(void)state;
	run_init(&run, &scene);
	before = alignment_place(run.alignment, 1, -far_ns);
	behind = alignment_place(run.alignment, 1, (int64_t)run.truth.end_ns + far_ns);
	assert_int_equal(before.status, TIME_CERTIFIED);
	assert_int_equal(behind.status, TIME_CERTIFIED);
	assert_in_range(before.err_ns, 400000, 500000); /* 4 ppm, and what evidence leaves */
	assert_in_range(behind.err_ns, 400000, 500000);
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_align__drops_nothing_that_can_be_true),
		cmocka_unit_test(test_align__holds_for_clocks_that_run_apart),
		cmocka_unit_test(test_align__says_that_clocks_run_apart_too_fast),
		cmocka_unit_test(test_align__drops_little_but_lies),
		cmocka_unit_test(test_align__allows_another_mean_beyond_the_evidence),
	};

	return cmocka_run_group_tests_name("align_short", tests, NULL, NULL);
}
