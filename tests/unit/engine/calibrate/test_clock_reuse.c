/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job numbers that come again, and stamps that are recorded late. A few seeds in the suite; with
 * FLEXTRACE_TEST_SEED given, as under `ctest -C soak -L soak`, many from a fresh one on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "clock_reuse.h"
#include "clock_scenarios.h"
#include "fresh_seed.h"

#define FIRST_SEED   100
#define N_SEEDS      2
#define N_SOAK_SEEDS 20

struct outcome {
	struct clock_verdict verdict;
	uint32_t n_ops;
};

static struct outcome run_reuse(const struct clock_scenario *scenario,
                                const struct clock_reuse *reuse, uint64_t seed)
{
	struct clock_reuse seeded = *reuse;
	struct clock_truth truth;
	struct outcome outcome;
	struct clock_run run;

	seeded.seed = seed;
	clock_scenario_make(scenario, seed, &truth);
	clock_run_init(&run);
	clock_reuse_push(&run, &truth, &seeded);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, &truth, &outcome.verdict);
	outcome.n_ops = truth.n_ops;
	clock_run_release(&run);
	clock_truth_release(&truth);
	return outcome;
}

/* Where nobody can tell its instance, an operation is certain to be within its bound, but may be
 * shown outside the bracket that it really has. */
static bool is_sound(const struct outcome *outcome, const struct clock_reuse *reuse)
{
	const struct clock_verdict *verdict = &outcome->verdict;

	return verdict->wrong_epochs == 0 && verdict->inversions == 0 && verdict->outside == 0 &&
	       (verdict->violations == 0 || !reuse->has_correlation);
}

static void explain(const char *name, uint64_t seed, const struct outcome *outcome)
{
	const struct clock_verdict *v = &outcome->verdict;

	print_message("%s, seed %llu: n=%u certified=%u assumed=%u outliers=%u wrong=%u+%u "
	              "violations=%u inversions=%u outside=%u by %.0f ns p99=%.0f max=%.0f ns\n",
	              name, (unsigned long long)seed, outcome->n_ops, v->certified, v->assumed,
	              v->outliers, v->wrong_epochs, v->wrong_assumed, v->violations, v->inversions,
	              v->outside, v->worst_excess_ns, v->p99_error_ns, v->worst_error_ns);
}

struct use {
	const char *name;
	struct clock_scenario scenario;
	struct clock_reuse reuse;
	double certified_share; /* at least */
};

#define CALM                                     \
	{                                        \
		.name = "calm", .duration_s = 60 \
	}
#define BUSY                                                                     \
	{                                                                        \
		.name = "busy", .duration_s = 10, .ops_hz = 600, .exec_us = 1400 \
	}
#define SPARSE                                                                    \
	{                                                                         \
		.name = "sparse", .duration_s = 40, .ops_hz = 40, .exec_us = 1000 \
	}
#define QUICK                                                                    \
	{                                                                        \
		.name = "quick", .duration_s = 15, .ops_hz = 140, .exec_us = 100 \
	}
#define STUCK                                                                        \
	{                                                                            \
		.name = "stuck", .duration_s = 200, .ops_hz = 20, .long_share = 0.01 \
	}
/* A wrap takes as long as 22 operations. */
#define WRAPS                                                                                 \
	{                                                                                     \
		.name = "wraps", .duration_s = 38, .ops_hz = 40, .exec_us = 800, .hz = 7.9e9, \
		.floors_us = {88e3, 3e3}, .jitter_us = 4e4                                    \
	}

/* clang-format off */
static const struct use uses[] = {
	{"at once, ring of 4", CALM, {.n_jobs = 4, .drain_ns = {1e3, 2e4}, .is_in_turn = true}, 1},
	{"at once, ring of 16", CALM, {.n_jobs = 16, .drain_ns = {1e3, 2e4}}, 1},
	{"at once, lost ones", CALM,
	 {.n_jobs = 16, .drain_ns = {1e3, 2e4}, .lost_share = 0.01}, 0.985},
	{"late, ring of 4", CALM, {.n_jobs = 4, .drain_ns = {50e6, 1e9}}, 0},
	{"late, ring of 16", CALM, {.n_jobs = 16, .drain_ns = {50e6, 1e9}}, 0},
	{"late, ring of 64", CALM, {.n_jobs = 64, .drain_ns = {50e6, 1e9}}, 0.99},
	{"late, in turn", CALM, {.n_jobs = 64, .drain_ns = {50e6, 1e9}, .is_in_turn = true}, 0},
	{"late, lost ones", CALM,
	 {.n_jobs = 64, .drain_ns = {50e6, 1e9}, .lost_share = 0.01}, 0.985},
	{"at once, many lost ones", CALM,
	 {.n_jobs = 16, .drain_ns = {1e3, 2e4}, .lost_share = 0.1}, 0.94},
	{"late, shuffled", CALM,
	 {.n_jobs = 32, .drain_ns = {50e6, 1e9}, .lost_share = 0.01, .shuffle_ns = 1e6}, 0.995},
	{"late, with correlations", CALM,
	 {.n_jobs = 4, .drain_ns = {50e6, 1e9}, .lost_share = 0.01, .has_correlation = true}, 0.97},
	/* All records of a while are lost, and what ran then is drained later. */
	{"late, bursts of lost ones", CALM,
	 {.n_jobs = 64, .drain_ns = {50e6, 1e9}, .burst_s = {10, 2}}, 0.85},
	{"late, ring of 16, bursts of lost ones", CALM,
	 {.n_jobs = 16, .drain_ns = {50e6, 1e9}, .burst_s = {10, 2}}, 0},
	{"late, bursts, with correlations", CALM,
	 {.n_jobs = 64, .drain_ns = {50e6, 1e9}, .burst_s = {10, 2}, .has_correlation = true}, 0.9},
	{"at once, bursts of lost ones", CALM,
	 {.n_jobs = 16, .drain_ns = {1e3, 2e4}, .burst_s = {10, 2}}, 0.99},
	/* Numbers that are used again before their work is complete. */
	{"busy, correlations", BUSY, {.n_jobs = 4, .is_in_use = true, .drain_ns = {1e3, 2e4},
	 .has_correlation = true}, 1},
	{"busy, one number", BUSY, {.n_jobs = 1, .is_in_use = true, .drain_ns = {1e3, 2e4}}, 0},
	{"busy, ring of 4", BUSY, {.n_jobs = 4, .is_in_use = true, .drain_ns = {1e3, 2e4}}, 0},
	{"busy, ring of 6", BUSY, {.n_jobs = 6, .is_in_use = true, .drain_ns = {1e3, 2e4}}, 0},
	{"busy, lost ones", BUSY,
	 {.n_jobs = 4, .is_in_use = true, .drain_ns = {1e3, 2e4}, .lost_share = 0.01}, 0},
	{"busy and late", BUSY, {.n_jobs = 4, .is_in_use = true, .drain_ns = {10e6, 200e6}}, 0},
	/* Of what ran while records were lost, some is drained later: none of the others is it. */
	{"one number, bursts of lost ones", SPARSE, {.n_jobs = 1, .is_in_use = true,
	 .drain_ns = {1e6, 80e6}, .is_in_turn = true, .burst_s = {1.5, 0.75}}, 0},
	{"four numbers, bursts of lost ones", SPARSE, {.n_jobs = 4, .is_in_use = true,
	 .drain_ns = {1e6, 80e6}, .is_in_turn = true, .burst_s = {1.5, 0.75}}, 0},
	{"one number, late, bursts", SPARSE, {.n_jobs = 1, .is_in_use = true,
	 .drain_ns = {10e6, 400e6}, .burst_s = {3, 0.5}}, 0},
	{"one number, the first ones lost", QUICK,
	 {.n_jobs = 1, .drain_ns = {8e6, 28e6}, .is_in_turn = true, .cut_s = 1.5}, 0},
	{"four numbers, the first ones lost", QUICK,
	 {.n_jobs = 4, .drain_ns = {20e6, 60e6}, .is_in_turn = true, .cut_s = 1.5}, 0},
	{"stuck, correlations", STUCK, {.n_jobs = 4, .is_in_use = true, .drain_ns = {1e3, 2e4},
	 .has_correlation = true}, 0},
	{"stuck, ring of 4", STUCK, {.n_jobs = 4, .is_in_use = true, .drain_ns = {1e3, 2e4}}, 0},
	{"stuck, lost ones", STUCK,
	 {.n_jobs = 4, .is_in_use = true, .drain_ns = {1e3, 2e4}, .lost_share = 0.01}, 0},
	/* Work longer than a wrap whose submission is lost. */
	{"stuck, free numbers, lost ones", STUCK,
	 {.n_jobs = 16, .drain_ns = {1e3, 2e4}, .lost_share = 0.05}, 0},
	{"stuck and late", STUCK, {.n_jobs = 4, .is_in_use = true, .drain_ns = {50e6, 1e9}}, 0},
	/* Some completions are seen when their number has been used again. */
	{"seen late", WRAPS, {.n_jobs = 24, .is_in_use = true, .drain_ns = {1e5, 2e6},
	 .late_share = 0.3, .late_ns = 600e6}, 0.6},
	{"seen late, ring of 64", WRAPS, {.n_jobs = 64, .is_in_use = true, .drain_ns = {1e5, 2e6},
	 .late_share = 0.3, .late_ns = 600e6}, 0.7},
	{"seen late, lost ones", WRAPS, {.n_jobs = 32, .is_in_use = true, .drain_ns = {1e5, 2e6},
	 .late_share = 0.3, .late_ns = 600e6, .lost_share = 0.05}, 0},
};
/* clang-format on */

static void try_seeds(uint64_t first, uint64_t n)
{
	uint32_t n_missed = 0;

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		for (uint64_t seed = first; seed < first + n; seed++) {
			struct outcome outcome = run_reuse(&uses[i].scenario, &uses[i].reuse, seed);

			if (is_sound(&outcome, &uses[i].reuse) &&
			    outcome.verdict.certified >= uses[i].certified_share * outcome.n_ops)
				continue;
			explain(uses[i].name, seed, &outcome);
			n_missed++;
		}
	}
	assert_int_equal(n_missed, 0);
}

static void test_clock_reuse__certifies_no_other_instance(void **state)
{
	(void)state;
	try_seeds(FIRST_SEED, N_SEEDS);
}

/* The bounds of its first knot contradict each other. */
static void test_clock_reuse__survives_a_band_that_begins_with_a_contradiction(void **state)
{
	static const struct clock_scenario calm = CALM;
	static const struct clock_reuse reuse = {
		.n_jobs = 16, .drain_ns = {50e6, 1e9}, .burst_s = {10, 2}};
	struct outcome outcome = run_reuse(&calm, &reuse, 9018);

	(void)state;
	assert_true(is_sound(&outcome, &reuse));
}

/* A few operations were counted, some wrong, and leave any rate: they agree all the same. */
static void test_clock_reuse__takes_no_bracket_that_nothing_confirms(void **state)
{
	static const struct clock_scenario calm = CALM;
	static const struct clock_reuse reuse = {
		.n_jobs = 16, .drain_ns = {50e6, 1e9}, .burst_s = {10, 2}};
	struct outcome outcome = run_reuse(&calm, &reuse, 5117);

	(void)state;
	assert_true(is_sound(&outcome, &reuse));
	assert_int_equal(outcome.verdict.assumed, outcome.n_ops - outcome.verdict.outliers);
}

/* Of one number, all records of every second 0.75 s are lost. What ran last then has stamps that
 * are drained later: they fit the first instances behind as well as none. A few are counted, and
 * wrong together. In the last world as many completions are lost as submissions. */
static void test_clock_reuse__gives_no_instance_to_what_has_no_record(void **state)
{
	static const struct clock_scenario sparse = SPARSE;
	static const struct clock_reuse turns = {.n_jobs = 1,
	                                         .is_in_use = true,
	                                         .drain_ns = {1e6, 80e6},
	                                         .is_in_turn = true,
	                                         .burst_s = {1.5, 0.75}};
	static const struct clock_reuse late = {
		.n_jobs = 1, .is_in_use = true, .drain_ns = {10e6, 400e6}, .burst_s = {3, 0.5}};
	struct outcome first = run_reuse(&sparse, &turns, 3027);
	struct outcome second = run_reuse(&sparse, &turns, 500011);
	struct outcome third = run_reuse(&sparse, &late, 500067);
	struct outcome fourth = run_reuse(&sparse, &turns, 880002001);

	(void)state;
	assert_true(is_sound(&first, &turns));
	assert_true(is_sound(&second, &turns));
	assert_true(is_sound(&third, &late));
	assert_true(is_sound(&fourth, &turns));
}

/* What was in flight when the first records were kept takes the uses behind it, one by one, until
 * an operation finds none. All in between were counted wrong, or were given a wrong choice. */
static void test_clock_reuse__doubts_what_the_first_ones_may_have_taken(void **state)
{
	static const struct clock_scenario quick = QUICK;
	static const struct clock_reuse reuse = {
		.n_jobs = 4, .drain_ns = {20e6, 60e6}, .is_in_turn = true, .cut_s = 1.5};
	struct outcome outcome = run_reuse(&quick, &reuse, 341);

	(void)state;
	assert_true(is_sound(&outcome, &reuse));
	assert_true(outcome.verdict.certified > 0);
}

/* Where nothing is lost, what has no bracket of its own is of none but what is recorded. */
static void test_clock_reuse__doubts_no_instance_where_nothing_is_lost(void **state)
{
	static const struct clock_scenario calm = CALM;
	static const struct clock_reuse reuse = {
		.n_jobs = 64, .drain_ns = {50e6, 1e9}, .is_in_turn = true};
	struct outcome outcome = run_reuse(&calm, &reuse, 108);

	(void)state;
	assert_true(is_sound(&outcome, &reuse));
	assert_int_equal(outcome.verdict.certified, outcome.n_ops);
}

static void test_clock_reuse__certifies_no_other_instance_with_fresh_seeds(void **state)
{
	(void)state;
	if (!getenv("FLEXTRACE_TEST_SEED"))
		skip();
	try_seeds(fresh_seed(), N_SOAK_SEEDS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_clock_reuse__##name)
	const struct CMUnitTest tests[] = {
		TEST(certifies_no_other_instance),
		TEST(survives_a_band_that_begins_with_a_contradiction),
		TEST(takes_no_bracket_that_nothing_confirms),
		TEST(gives_no_instance_to_what_has_no_record),
		TEST(doubts_what_the_first_ones_may_have_taken),
		TEST(doubts_no_instance_where_nothing_is_lost),
		TEST(certifies_no_other_instance_with_fresh_seeds),
	};

	return cmocka_run_group_tests_name("clock_reuse", tests, NULL, NULL);
}
