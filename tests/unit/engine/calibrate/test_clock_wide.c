/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps of 64 bits, of the traces whose truth is known: each scenario once with them and once with
 * their low 32 bits.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "clock_scenarios.h"

#define SEED 100

static const char *const scenarios[] = {
	"S1 typical", "S2 heavy delays", "S3 drift",   "S4 rate steps",   "S5 resets",
	"S6 lies",    "S7 long work",    "S8 sparse",  "S9 an hour",      "S10 all",
	"burst loss", "duplicates",      "suspend",    "host slews",      "host steps",
	"two hours",  "gaps of hours",   "long slips", "host steps back",
};

static struct clock_verdict run_truth(const struct clock_truth *truth, bool is_wide)
{
	struct clock_verdict verdict;
	struct clock_run run;

	clock_run_init(&run);
	run.is_wide = is_wide;
	clock_run_push_truth(&run, truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, truth, &verdict);
	clock_run_release(&run);
	return verdict;
}

static bool has_lies(const struct clock_truth *truth)
{
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		if (truth->ops[i].lie != TRUTH_HONEST)
			return true;
	}
	return false;
}

static void print(const char *name, const struct clock_verdict *v)
{
	print_message("%s: certified=%u assumed=%u outliers=%u wrong=%u+%u violations=%u "
	              "inversions=%u outside=%u by %.0f ns p50=%.0f p99=%.0f ns segments=%u\n",
	              name, v->certified, v->assumed, v->outliers, v->wrong_epochs,
	              v->wrong_assumed, v->violations, v->inversions, v->outside,
	              v->worst_excess_ns, v->p50_error_ns, v->p99_error_ns, v->segments);
}

/* What is certified is true, and it is as much as with 32 bits. Where a host clock jumps a few more
 * are assumed, as other work is asked where it did. */
static void test_clock_wide__is_true_where_narrow_stamps_are(void **state)
{
	uint32_t n_missed = 0, n_assumed = 0, n_assumed_narrow = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct clock_scenario *scenario = clock_scenario_find(scenarios[i]);
		struct clock_verdict wide, narrow;
		struct clock_truth truth;
		bool is_outside;

		assert_non_null(scenario);
		clock_scenario_make(scenario, SEED, &truth);
		wide = run_truth(&truth, true);
		narrow = run_truth(&truth, false);
		is_outside = !has_lies(&truth) && wide.outside > 0;
		clock_truth_release(&truth);
		n_assumed += wide.assumed;
		n_assumed_narrow += narrow.assumed;
		if (!wide.wrong_epochs && !wide.wrong_assumed && !wide.violations &&
		    !wide.inversions && !is_outside && wide.certified >= 0.998 * narrow.certified &&
		    wide.segments == narrow.segments &&
		    wide.p99_error_ns <= 1.05 * narrow.p99_error_ns)
			continue;
		print(scenarios[i], &wide);
		print("with 32 bits", &narrow);
		n_missed++;
	}
	assert_int_equal(n_missed, 0);
	assert_true(n_assumed < n_assumed_narrow);
}

/* The counter passes 2^64, or 2^62, of which a stamp shows nothing any more. */
static void test_clock_wide__places_stamps_that_wrap(void **state)
{
	static const uint64_t ends[] = {0, UINT64_C(1) << 62, UINT64_C(1) << 63};

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const struct clock_scene scene = {
			.name = "wide wrap",
			.seed = 7,
			.n_ops = 5000,
			.hz = 1e9,
			.origin_ticks = ends[i] - UINT64_C(5000000000),
			.origin_ns = 1000000000,
			.mean_period_ns = 2e6,
			.exec_ns = 5e5,
			.floor_submit_ns = 3000,
			.floor_complete_ns = 4000,
			.jitter_ns = 2000,
			.counter_bits = 64,
		};
		struct clock_verdict verdict;
		struct clock_truth truth;

		clock_truth_init(&truth, &scene);
		verdict = run_truth(&truth, true);
		clock_truth_release(&truth);
		assert_int_equal(verdict.certified, scene.n_ops);
		assert_int_equal(verdict.wrong_epochs, 0);
		assert_int_equal(verdict.outside, 0);
		assert_int_equal(verdict.segments, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_wide__is_true_where_narrow_stamps_are),
		cmocka_unit_test(test_clock_wide__places_stamps_that_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
