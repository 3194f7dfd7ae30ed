/* SPDX-License-Identifier: Apache-2.0 */
/* Job numbers that come again, and stamps that are recorded late. */
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

#define FIRST_SEED 100

struct outcome {
	struct clock_verdict verdict;
	uint32_t n_ops;
};

static struct outcome run_reuse(const char *scenario, double duration_s,
                                const struct clock_reuse *reuse, uint64_t seed)
{
	struct clock_scenario shorter = *clock_scenario_find(scenario);
	struct clock_reuse seeded = *reuse;
	struct clock_truth truth;
	struct outcome outcome;
	struct clock_run run;

	shorter.duration_s = duration_s;
	seeded.seed = seed;
	clock_scenario_make(&shorter, seed, &truth);
	clock_run_init(&run);
	clock_reuse_push(&run, &truth, &seeded);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, &truth, &outcome.verdict);
	outcome.n_ops = truth.n_ops;
	clock_run_release(&run);
	clock_truth_release(&truth);
	return outcome;
}

static bool is_sound(const struct outcome *outcome)
{
	const struct clock_verdict *verdict = &outcome->verdict;

	return verdict->wrong_epochs == 0 && verdict->violations == 0 && verdict->inversions == 0 &&
	       verdict->outside == 0;
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
	struct clock_reuse reuse;
	double certified_share; /* at least */
};

/* clang-format off */
static const struct use uses[] = {
	{"at once, ring of 4", {.n_jobs = 4, .drain_ns = {1e3, 2e4}, .is_in_turn = true}, 1},
	{"at once, ring of 16", {.n_jobs = 16, .drain_ns = {1e3, 2e4}}, 1},
	{"at once, lost ones", {.n_jobs = 16, .drain_ns = {1e3, 2e4}, .lost_share = 0.01}, 0.97},
	{"late, ring of 4", {.n_jobs = 4, .drain_ns = {50e6, 1e9}}, 0},
	{"late, ring of 16", {.n_jobs = 16, .drain_ns = {50e6, 1e9}}, 0},
	{"late, ring of 64", {.n_jobs = 64, .drain_ns = {50e6, 1e9}}, 0.99},
	{"late, in turn", {.n_jobs = 64, .drain_ns = {50e6, 1e9}, .is_in_turn = true}, 0},
	{"late, lost ones", {.n_jobs = 64, .drain_ns = {50e6, 1e9}, .lost_share = 0.01}, 0.9},
	{"late, shuffled",
	 {.n_jobs = 32, .drain_ns = {50e6, 1e9}, .lost_share = 0.01, .shuffle_ns = 1e6}, 0.9},
	{"late, with correlations",
	 {.n_jobs = 4, .drain_ns = {50e6, 1e9}, .lost_share = 0.01, .has_correlation = true}, 0.97},
};
/* clang-format on */

static void test_clock_reuse__certifies_no_other_instance(void **state)
{
	uint32_t n_missed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + 2; seed++) {
			struct outcome outcome = run_reuse("S0 clean", 60, &uses[i].reuse, seed);

			if (is_sound(&outcome) &&
			    outcome.verdict.certified >= uses[i].certified_share * outcome.n_ops)
				continue;
			explain(uses[i].name, seed, &outcome);
			n_missed++;
		}
	}
	assert_int_equal(n_missed, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_clock_reuse__##name)
	const struct CMUnitTest tests[] = {
		TEST(certifies_no_other_instance),
	};

	return cmocka_run_group_tests_name("clock_reuse", tests, NULL, NULL);
}
