/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is only likely of a rate must not bound anything: exits and enters of one rank that drift as
 * a clock would, and clocks that jump or are slewed. The same few seeds in the suite, many under
 * soak, where FLEXTRACE_TEST_SEED is set.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "align_truth.h"
#include "fresh_seed.h"

#define N_SEEDS      2
#define N_SOAK_SEEDS 24

/* An all-reduce every 50 ms for a minute. */
#define MINUTE .n_rounds = 1200, .period_ns = 50e6, .straggle_ns = 2e6, CLOCKS
#define CLOCKS .offset_ns = 5e9, .drift_ppm = 50

struct scenario {
	struct align_scene scene;
	double least_certified; /* share */
	uint32_t n_wandering;   /* clocks warned of, at least */
};

/* clang-format off */
static const struct scenario scenarios[] = {
	{{"steady", .n_ranks = 6, MINUTE}, 1, 0},
	{{"exits_grow_by_a_third_of_a_ms", .n_ranks = 6, .odd_rank = 3,
	  .late_ns = 3e5, MINUTE}, 1, 0},
	{{"exits_grow_by_a_ms", .n_ranks = 6, .odd_rank = 3, .late_ns = 1e6, MINUTE}, 1, 0},
	{{"exits_grow_by_three_ms", .n_ranks = 6, .odd_rank = 3, .late_ns = 3e6, .wander_ppm = 0.8,
	  MINUTE}, 1, 0},
	{{"exits_of_the_reference_grow", .n_ranks = 6, .late_ns = 1e6, MINUTE}, 1, 0},
	{{"exits_of_the_reference_grow_more", .n_ranks = 6, .late_ns = 3e6, MINUTE}, 1, 0},
	{{"exits_warm_up", .n_ranks = 6, .odd_rank = 2, .late_ns = 5e5,
	  .warm_ns = 20e9, MINUTE}, 1, 0},
	{{"exits_of_the_reference_warm_up", .n_ranks = 6, .late_ns = 5e5, .warm_ns = 20e9,
	  .wander_ppm = 0.8, MINUTE}, 1, 0},
	{{"enters_drift", .n_ranks = 6, .odd_rank = 2, .early_ns = 1e6, MINUTE}, 1, 0},
	{{"enters_and_exits_warm_up", .n_ranks = 6, .odd_rank = 1, .early_ns = 3e5, .late_ns = 5e5,
	  .warm_ns = 5e9, .wander_ppm = 0.8, MINUTE}, 1, 0},
	{{"two_ranks", .n_ranks = 2, .odd_rank = 1, .late_ns = 1e6, MINUTE}, 1, 0},
	{{"sixteen_ranks", .n_ranks = 16, .odd_rank = 9, .late_ns = 1e6, MINUTE}, 1, 0},
	{{"pairs", .n_ranks = 16, .shape = TRUTH_PAIRS, .odd_rank = 9, .late_ns = 1e6,
	  MINUTE}, 1, 0},
	{{"messages", .n_ranks = 6, .n_rounds = 1200, .period_ns = 50e6, .shape = TRUTH_PIPELINE,
	  .odd_rank = 2, .late_ns = 1e6, CLOCKS}, 1, 0},
	{{"two_collectives", .n_ranks = 6, .n_rounds = 2, .period_ns = 50e6, .straggle_ns = 2e6,
	  .odd_rank = 1, .late_ns = 5e5, CLOCKS}, 1, 0},
	{{"five_collectives", .n_ranks = 6, .n_rounds = 5, .period_ns = 50e6, .straggle_ns = 2e6,
	  .odd_rank = 1, .late_ns = 5e5, CLOCKS}, 1, 0},
	{{"twenty_collectives", .n_ranks = 6, .n_rounds = 20, .period_ns = 50e6, .straggle_ns = 2e6,
	  .odd_rank = 1, .late_ns = 5e5, CLOCKS}, 1, 0},
	{{"jumps_by_a_fifth_of_a_ms", .n_ranks = 6, .odd_rank = 3, .n_jumps = 2, .leap_ns = 2e5,
	  .is_backwards = true, MINUTE}, 0.9, 1},
	{{"jumps_by_20_ms", .n_ranks = 6, .odd_rank = 3, .n_jumps = 2, .leap_ns = 2e7,
	  .is_backwards = true, MINUTE}, 0.9, 1},
	{{"jumps_by_a_second", .n_ranks = 6, .odd_rank = 3, .n_jumps = 2, .leap_ns = 1e9, MINUTE},
	 0.9, 1},
	{{"reference_jumps", .n_ranks = 6, .n_jumps = 2, .leap_ns = 5e6, MINUTE}, 0.8, 5},
	{{"jumps_and_messages", .n_ranks = 6, .n_rounds = 1200, .period_ns = 50e6,
	  .shape = TRUTH_PIPELINE, .odd_rank = 2, .n_jumps = 1, .leap_ns = 5e6, CLOCKS}, 0.95, 1},
	{{"slewed_by_500_ppm", .n_ranks = 6, .odd_rank = 3, .n_slews = 1, .swift_ppm = 500,
	  .swift_ns = 4e9, MINUTE}, 0.95, 0},
	{{"slewed_by_500_ppm_for_an_instant", .n_ranks = 6, .odd_rank = 3, .n_slews = 3,
	  .swift_ppm = 500, .swift_ns = 4e8, MINUTE}, 0.9, 0},
};
/* clang-format on */

struct outcome {
	struct align_verdict verdict;
	uint64_t n_wandering;
};

static struct outcome run(const struct align_scene *scene)
{
	struct align_options options = ALIGN_OPTIONS_INIT;
	struct alignment *alignment = NULL;
	struct table points = TABLE_INIT;
	struct flextrace_error error;
	struct align_truth truth;
	struct outcome outcome;
	struct ledger ledger;

	align_truth_init(&truth, scene);
	align_truth_points(&truth, &points);
	ledger_init(&ledger);
	assert_int_equal(align_run(&options, &truth.identity, &points, &ledger, &alignment, &error),
	                 0);
	align_truth_judge(&truth, alignment, &outcome.verdict);
	outcome.n_wandering = ledger.warnings[WARNING_HOST_WANDERS];
	alignment_free(alignment);
	ledger_release(&ledger);
	table_release(&points);
	align_truth_release(&truth);
	return outcome;
}

static void check(const struct scenario *scenario, uint64_t seed)
{
	struct align_scene scene = scenario->scene;
	const struct align_verdict *v;
	struct outcome outcome;

	scene.seed = seed;
	outcome = run(&scene);
	v = &outcome.verdict;
	print_message("%s, seed %" PRIu64 ": %" PRIu64 " of %" PRIu64 " certified, %" PRIu64
	              " outside by up to %.1f us, +- %.1f us; %" PRIu64 " inversions\n",
	              scene.name, seed, v->n_certified, v->n, v->n_outside, v->worst_ns / 1e3,
	              v->width_ns / 1e3, v->n_inversions);
	assert_int_equal(v->n_outside, 0);
	assert_int_equal(v->n_inversions, 0);
	assert_int_equal(v->n_backwards, 0);
	assert_true((double)v->n_certified >= scenario->least_certified * (double)v->n);
	assert_true(outcome.n_wandering >= scenario->n_wandering);
}

static void test_holds(void **state)
{
	uint64_t first = 100, n = N_SEEDS;

	if (getenv("FLEXTRACE_TEST_SEED")) {
		first = fresh_seed();
		n = N_SOAK_SEEDS;
	}
	for (uint64_t seed = first; seed < first + n; seed++)
		check(*state, seed);
}

int main(void)
{
	enum { N = sizeof(scenarios) / sizeof(scenarios[0]) };
	struct CMUnitTest tests[N];

	for (int i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){
			.name = scenarios[i].scene.name,
			.test_func = test_holds,
			.initial_state = (void *)(uintptr_t)&scenarios[i],
		};
	return cmocka_run_group_tests_name("align_rates", tests, NULL, NULL);
}
