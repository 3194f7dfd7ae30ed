/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bars: what align promises of whole traces whose truth is known. Fixed seeds must meet all of
 * them, a fresh one (fresh_seed.h) what must hold for every seed.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "align_outcome.h"
#include "align_scenes.h"
#include "fresh_seed.h"

#define FIRST_SEED 100
#define N_SEEDS    2

struct scenario {
	struct align_scene scene;
	double p50_us, p99_us; /* at most; 0 = not asserted */
	bool is_one_sided;     /* whether most clocks are, one way or the other */
	bool is_uncertain;     /* nothing is certified */
	uint32_t n_unaligned;
	uint32_t n_wandering;
};

/* clang-format off */
static const struct scenario scenarios[] = {
	{{SCENE_M1}, 8, 30, .n_unaligned = 0},
	{{SCENE_M2}, 8, 30, .is_one_sided = true},
	{{SCENE_M3}, 8, 30, .n_unaligned = 0},
	{{SCENE_M4}, 8, 30, .n_unaligned = 0},
	{{SCENE_M5}, 8, 30, .n_unaligned = 0},
	{{SCENE_M6}, 8, 30, .n_unaligned = 0},
	{{SCENE_M7}, 8, 30, .n_unaligned = 0},
	{{SCENE_M8}, 8, 30, .is_one_sided = true},
	{{SCENE_M9}, 8, 30, .n_unaligned = 0},
	{{"sub_communicators", .n_ranks = 8, .n_rounds = 2500, .period_ns = 10e6,
	  .shape = TRUTH_PAIRS, .straggle_ns = 2e6, .drop_share = 0.05, .false_share = 0.01, HOSTS},
	 8, 30, .n_unaligned = 0},
	{{"pipeline", .n_ranks = 6, .n_rounds = 1500, .period_ns = 10e6, .shape = TRUTH_PIPELINE,
	  HOSTS}, 8, 30, .n_unaligned = 0},
	{{"pipeline_mismatched", .n_ranks = 6, .n_rounds = 1500, .period_ns = 10e6,
	  .shape = TRUTH_PIPELINE, .drop_share = 0.05, .false_share = 0.01, HOSTS}, 8, 30,
	 .n_unaligned = 0},
	{{"pipeline_one_way", .n_ranks = 4, .n_rounds = 1000, .period_ns = 10e6,
	  .shape = TRUTH_DOWN, HOSTS}, .is_one_sided = true, .is_uncertain = true},
	{{"once_a_second", .n_ranks = 8, .n_rounds = 600, .period_ns = 1e9, .straggle_ns = 2e6,
	  HOSTS}, 8, 30, .n_unaligned = 0},
	{{"unconnected_halves_and_empty_ranks", .n_ranks = 8, .n_rounds = 600, .period_ns = 10e6,
	  .shape = TRUTH_HALVES, .straggle_ns = 2e6, .n_empty = 2, HOSTS}, .n_unaligned = 3},
	{{"one_collective", .n_ranks = 4, .n_rounds = 1, .period_ns = 10e6, .straggle_ns = 2e4,
	  HOSTS}, .n_unaligned = 0},
	{{"a_hundred_collectives", .n_ranks = 4, .n_rounds = 100, .period_ns = 10e6,
	  .straggle_ns = 1e6, HOSTS}, 8, 30, .n_unaligned = 0},
	{{"far_from_zero", .n_ranks = 4, .n_rounds = 500, .period_ns = 10e6, .straggle_ns = 1e6,
	  .offset_ns = 5e6, .drift_ppm = 20, .origin_ns = INT64_MAX - INT64_C(60000000000)}, 8, 30,
	 .n_unaligned = 0},
	{{"a_host_that_was_suspended", .n_ranks = 4, .n_rounds = 1500, .period_ns = 10e6,
	  .straggle_ns = 1e6, .jump_ns = 7e6, HOSTS}, 8, .n_wandering = 1},
};
/* clang-format on */

static void test_meets_the_bars(void **state)
{
	const struct scenario *scenario = *state;

	for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + N_SEEDS; seed++) {
		struct align_scene scene = scenario->scene;
		struct align_outcome outcome;
		const struct align_verdict *verdict = &outcome.verdict;

		scene.seed = seed;
		outcome = align_outcome_of(&scene);
		assert_int_equal(verdict->n_backwards, 0);
		assert_true(verdict->n_outside * 1000 <= verdict->n_certified);
		if (scene.false_share == 0)
			assert_int_equal(verdict->n_outside, 0);
		if (scenario->n_wandering == 0)
			assert_int_equal(verdict->n_violations, 0);
		if (scenario->p50_us > 0)
			assert_true(verdict->p50_ns <= scenario->p50_us * 1e3);
		if (scenario->p99_us > 0)
			assert_true(verdict->p99_ns <= scenario->p99_us * 1e3);
		assert_int_equal(2 * outcome.n_one_sided > outcome.n_lines, scenario->is_one_sided);
		assert_int_equal(outcome.n_unaligned, scenario->n_unaligned);
		assert_int_equal(outcome.n_wandering, scenario->n_wandering);
		assert_int_equal(verdict->n_certified == 0, scenario->is_uncertain);
		if (scenario->n_unaligned + scenario->n_wandering == 0 && !scenario->is_uncertain)
			assert_int_equal(verdict->n_certified, verdict->n);
		if (scene.false_share == 0 && scenario->n_wandering == 0) /* at most 0.2 % */
			assert_true(outcome.n_dropped * 500 <= outcome.n_points);
	}
}

/* What must hold for every seed, of whatever size. */
static void test_holds_for_a_fresh_seed(void **state)
{
	uint64_t seed = fresh_seed();

	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct align_scene scene = scenarios[i].scene;
		struct align_outcome outcome;

		scene.seed = seed;
		scene.n_rounds = scene.n_rounds / 3 + 1;
		outcome = align_outcome_of(&scene);
		assert_int_equal(outcome.verdict.n_backwards, 0);
		/* A slew that is too small or short to be seen breaks what the bound rests on. */
		if (scene.false_share == 0 && scene.slew_ppm == 0)
			assert_int_equal(outcome.verdict.n_outside, 0);
		assert_int_equal(outcome.n_unaligned, scenarios[i].n_unaligned);
	}
}

static void test_same_trace_gives_same_result(void **state)
{
	struct align_scene scene = scenarios[4].scene;
	struct align_outcome one, two;

	(void)state;
	scene.seed = 7;
	scene.n_rounds = 500;
	one = align_outcome_of(&scene);
	two = align_outcome_of(&scene);
	assert_memory_equal(&one, &two, sizeof(one));
}

int main(void)
{
	enum { N = sizeof(scenarios) / sizeof(scenarios[0]) };
	struct CMUnitTest tests[N + 2] = {
		{.name = "test_align__holds_for_a_fresh_seed",
	         .test_func = test_holds_for_a_fresh_seed},
		{.name = "test_align__same_trace_gives_same_result",
	         .test_func = test_same_trace_gives_same_result},
	};

	for (int i = 0; i < N; i++)
		tests[i + 2] = (struct CMUnitTest){
			.name = scenarios[i].scene.name,
			.test_func = test_meets_the_bars,
			.initial_state = (void *)(uintptr_t)&scenarios[i],
		};
	return cmocka_run_group_tests_name("align_scenarios", tests, NULL, NULL);
}
