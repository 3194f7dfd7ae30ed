/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks that change while they are watched: a rate that steps or drifts for some time, a counter
 * that stands still, a host's clock that jumps or is slewed. No seed may certify a wrong time, and
 * what can be certified is; but for breaks that no bracket shows: see clock_oracle.h. The suite
 * tries few seeds; `ctest -C soak -L soak` tries N_SOAK_SEEDS from a fresh one on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "clock_changes.h"
#include "clock_oracle.h"
#include "fresh_seed.h"

#define FIRST_SEED   100
#define N_SEEDS      2
#define N_SOAK_SEEDS 20
#define RHO          10e-6 /* the usual one */
#define AROUND       300   /* operations */
#define SELDOM       10    /* of so many seeds one may be at a limit that is known */
#define LESS         0.02  /* of its certificates that one seed may have less than the mean */

/* Whether the clock leaves its promise while all evidence is true. */
static bool breaks_promise(const struct clock_scenario *scenario)
{
	return scenario->n_excursions > 0 && scenario->off_run[1] == 0;
}

/* Whether one clock explains all operations around those with times outside. (Breaks that show are
 * farther away in all scenarios whose breaks can be hidden.) */
static bool is_hidden_near(const struct clock_truth *truth, const struct clock_verdict *verdict)
{
	uint32_t from = verdict->outside_from, to = verdict->outside_to;

	from = from > AROUND ? from - AROUND : 0;
	to = truth->n_ops - to > AROUND ? to + AROUND : truth->n_ops;
	return clock_oracle_fits(truth, from, to, RHO);
}

/* What docs/clocks.md names among the limits, as it is seldom: a stop beside a change of the rate,
 * and evidence of the next operation. */
static bool is_limit(const struct clock_scenario *scenario)
{
	return scenario->off_run[1] > 0 || (scenario->stop_us > 0 && scenario->excursion_ppm != 0);
}

static void run_change(const struct clock_change *change, uint64_t seed, uint32_t *ret_n_ops,
                       struct clock_verdict *ret_verdict, bool *ret_is_hidden)
{
	struct clock_truth truth;
	struct clock_run run;

	clock_scenario_make(&change->scenario, seed, &truth);
	clock_run_init(&run);
	clock_run_counter(&run)->nominal_hz = change->nominal_hz;
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, &truth, ret_verdict);
	*ret_n_ops = truth.n_ops;
	*ret_is_hidden = ret_verdict->outside > 0 && breaks_promise(&change->scenario) &&
	                 is_hidden_near(&truth, ret_verdict);
	clock_run_release(&run);
	clock_truth_release(&truth);
}

struct outcome {
	double sure; /* share of operations */
	bool is_outside;
};

/* Returns whether a seed holds; says what it did if not, and where a break is hidden: no method
 * knows that the clock broke its promise there. */
static bool holds(const struct clock_change *change, uint64_t seed, double least_sure,
                  struct outcome *ret_outcome)
{
	struct clock_verdict verdict;
	uint32_t n_ops;
	bool is_hidden, is_held = false;

	run_change(change, seed, &n_ops, &verdict, &is_hidden);
	ret_outcome->sure = (double)verdict.sure / n_ops;
	ret_outcome->is_outside = verdict.outside > 0 && !is_hidden;
	if (!ret_outcome->is_outside && verdict.inversions == 0 && verdict.violations == 0 &&
	    ret_outcome->sure >= least_sure)
		is_held = true;
	if (is_held && verdict.outside == 0)
		return true;
	print_message("%s, seed %llu: %u of %u certified, %u outside by %.0f ns, %u inversions, "
	              "%u violations, %u outliers, %u segments%s\n",
	              change->scenario.name, (unsigned long long)seed, verdict.sure, n_ops,
	              verdict.outside, verdict.worst_excess_ns, verdict.inversions,
	              verdict.violations, verdict.outliers, verdict.segments,
	              is_hidden ? ", hidden" : "");
	return is_held;
}

/* Tries a change; returns how much does not hold. */
static uint32_t try_change(const struct clock_change *change, uint64_t first, uint64_t n)
{
	uint32_t n_missed = 0, n_limits = 0;
	struct outcome outcome;
	double sum = 0;

	for (uint64_t seed = first; seed < first + n; seed++) {
		bool is_held = holds(change, seed, change->least_sure - LESS, &outcome);

		sum += outcome.sure;
		if (!is_held && outcome.is_outside && is_limit(&change->scenario))
			is_held = ++n_limits <= n / SELDOM;
		n_missed += !is_held;
	}
	if (sum / (double)n >= change->least_sure)
		return n_missed;
	print_message("%s: %.5f certified\n", change->scenario.name, sum / (double)n);
	return n_missed + 1;
}

static void try_seeds(uint64_t first, uint64_t n)
{
	uint32_t n_missed = 0;

	for (size_t i = 0; i < n_clock_changes; i++)
		n_missed += try_change(&clock_changes[i], first, n);
	assert_int_equal(n_missed, 0);
}

static void test_clock_changes__are_followed(void **state)
{
	(void)state;
	try_seeds(FIRST_SEED, N_SEEDS);
}

/* In the middle of a run of false pairs, busy queues make dozens that agree with each other. */
static void test_clock_changes__are_not_what_pairs_of_a_busy_queue_say(void **state)
{
	static const uint64_t seeds[] = {114, 204};
	struct outcome outcome;
	uint32_t n_held = 0;

	(void)state;
	for (size_t i = 0; i < n_clock_changes; i++) {
		const struct clock_change *change = &clock_changes[i];

		for (int k = 0; k < 2 && change->scenario.is_off_back; k++)
			n_held += holds(change, seeds[k], change->least_sure, &outcome);
	}
	assert_int_equal(n_held, 2);
}

/* The first stamp of all came late, so that no other one is the same. */
static void test_clock_changes__show_restarts_whichever_stamp_is_late(void **state)
{
	struct outcome outcome;

	(void)state;
	for (size_t i = 0; i < n_clock_changes; i++) {
		if (clock_changes[i].scenario.restarts && !clock_changes[i].nominal_hz)
			assert_true(holds(&clock_changes[i], 74012, 0, &outcome));
	}
}

/* A seed that failed. `least_sure`: what is certified at least, in place of the scenario's. */
struct hard {
	const char *name;
	uint64_t seed;
	double least_sure;
};

static void hold_seed(const struct clock_change *change, uint64_t seed, double least_sure)
{
	struct clock_verdict verdict;
	uint32_t n_ops;
	bool is_hidden;

	run_change(change, seed, &n_ops, &verdict, &is_hidden);
	assert_int_equal(verdict.outside, 0);
	assert_true(verdict.sure >= least_sure * n_ops);
}

static void hold_hard(const struct hard *hard, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct clock_change *change = clock_change_find(hard[i].name);

		assert_non_null(change);
		hold_seed(change, hard[i].seed, hard[i].least_sure);
	}
}

/*
 * Each of these had times outside: a jump where the evidence of the other era left so few blocks of
 * one that any rate fitted them; breaks in the last operations of a trace; a clock that met its old
 * track by chance; one that crept on by two ticks while it stood still; one that stood still on a
 * tick with which one operation ends and another one begins; an era that leaves less room than
 * usual where it goes on; an objection right in front of a step of the rate; a rate that came back
 * later than it seems to; a stop between two operations beside a step of the rate.
 */
static void test_clock_changes__hold_where_a_break_is_hard_to_see(void **state)
{
	static const struct hard hard[] = {
		{"stops of 100 us", 600000, 0.999},
		{"a little for half a second", 700006, 0.999},
		{"half a second in a minute", 3200017, 0.99},
		{"1000 ppm", 3100026, 0.999},
		{"1000 ppm", 3200093, 0.999},
		{"1000 ppm", 3200133, 0.999},
		{"2500 ppm", 3200099, 0.999},
		{"stops of 20 us and 200 ppm", 3200001, 0.996},
		{"stops of 30 ms, long tails", 3200174, 0.98},
		{"stops of 30 ms, long tails", 33000005, 0.98},
		{"stops of 4 ms and 500 ppm slower, long tails", 26, 0.98},
		{"stops of 4 ms and 500 ppm slower, long tails", 59, 0.98},
		{"stops of 4 ms and 500 ppm slower, long tails", 82000005, 0.98},
		{"stops of 4 ms and 500 ppm slower, long tails", 83500003, 0.98},
		{"stops of 4 ms and 500 ppm slower, long tails", 99100016, 0.98},
		{"stops of 30 ms, long tails", 99100017, 0.98},
		{"host jumps back by 3 ms, long work", 1, 0.97},
		{"host jumps back by 3 ms, long work", 6, 0.97},
		{"stops of 300 us", 4100044, 0.999},
		{"stops of 300 us", 7200016, 0.999},
		{"stops of 10 us and 100 ppm", 3100021, 0.999},
		{"1000 ppm for 50 ms", 84200007, 0.995},
		{"a little for half a second", 87000009, 0.999},
		{"stops of 10 us and 100 ppm", 86100013, 0.999},
		{"stops of 10 us and 100 ppm", 9300154, 0.999},
	};

	(void)state;
	hold_hard(hard, sizeof(hard) / sizeof(hard[0]));
}

/* Each of these lost up to all certificates: short eras of jumps that are taken for steps of the
 * rate, a rho that was raised for all because there are many jumps, a short era that reaches all
 * that another one explains, one chance of little room where the rate may be of either era, and
 * two eras of one rate that reach each other. */
static void test_clock_changes__cost_no_certificates_far_from_breaks(void **state)
{
	static const struct hard hard[] = {
		{"500 ppm for two seconds, 10 operations a second", 500007, 0.7},
		{"500 ppm for two seconds, 10 operations a second", 900001, 0.7},
		{"host jumps by 20 us", 600017, 0.999},
		{"stops of 20 us", 600006, 0.999},
		{"stops of 20 us", 3100005, 0.999},
		{"stops of 8 us", 501097, 0.997},
		{"stops of 20 us", 501005, 0.999},
		{"thermal ramps", 501005, 1},
		{"stops of 100 us", 810021, 0.999},
	};

	(void)state;
	hold_hard(hard, sizeof(hard) / sizeof(hard[0]));
}

/* Where work is rare, one bracket contradicts, and the next ones fit with the clock in front of the
 * jump and with the one behind it, as either may have run away meanwhile. */
static void test_clock_changes__are_seen_where_one_bracket_shows_them(void **state)
{
	static const struct clock_change tens = {{.name = "stops of 20 us, 10 operations a second",
	                                          .duration_s = 200,
	                                          .ops_hz = 10,
	                                          .hz = 560e6,
	                                          .n_excursions = 5,
	                                          .stop_us = 20,
	                                          .excursion_s = {10, 20}},
	                                         0.998,
	                                         0};
	static const struct clock_change ones = {{.name = "stops of 50 us, one operation a second",
	                                          .duration_s = 600,
	                                          .ops_hz = 1,
	                                          .hz = 560e6,
	                                          .n_excursions = 5,
	                                          .stop_us = 50,
	                                          .excursion_s = {20, 60}},
	                                         0.97,
	                                         0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		hold_seed(&tens, (const uint64_t[]){10, 13, 17}[i], tens.least_sure);
		hold_seed(&ones, (const uint64_t[]){2, 3, 9}[i], ones.least_sure);
	}
}

/* Submissions lie long before the starts. So one constraint in many bounds the clock on both sides,
 * and what comes behind it fits the clock in front of the stop and that behind it. */
static void test_clock_changes__are_seen_in_a_full_queue(void **state)
{
	static const struct clock_change change = {{.name = "a stop of 20 us, full queue",
	                                            .duration_s = 15,
	                                            .ops_hz = 65,
	                                            .exec_us = 12000,
	                                            .jitter_us = 0.7,
	                                            .slow_share = 1e-9,
	                                            .tail_share = 1e-9,
	                                            .hz = 560e6,
	                                            .n_excursions = 1,
	                                            .stop_us = 10},
	                                           0,
	                                           0};

	(void)state;
	hold_seed(&change, 9, 0.999);
}

/* Work that begins while the counter stands still shows the tick at which it stopped, as all does
 * that began then. The work is longer than half of the stop, so brackets are as long as it. */
static void test_clock_changes__show_one_tick_while_the_counter_stands_still(void **state)
{
	static const struct clock_change change = {
		{.name = "stops of 3 ms, one operation at a time",
	         .duration_s = 6,
	         .ops_hz = 300,
	         .exec_us = 1700,
	         .is_even = true,
	         .jitter_us = 0.3,
	         .slow_share = 1e-9,
	         .tail_share = 1e-9,
	         .hz = 1e9,
	         .n_excursions = 3,
	         .stop_us = 1500},
		0,
		0};

	(void)state;
	for (uint64_t seed = 4; seed < 12; seed++)
		hold_seed(&change, seed, 0.98);
}

/* A burst leaves the rate open, and what a stamp marks may be a whole tick behind it. */
static void test_clock_changes__certify_no_slow_counter_of_an_open_rate(void **state)
{
	static const struct clock_change change = {{.name = "a slow counter",
	                                            .duration_s = 0.1,
	                                            .ops_hz = 500,
	                                            .exec_us = 3000,
	                                            .hz = 1e3},
	                                           0,
	                                           0};

	(void)state;
	hold_seed(&change, 1, 0);
	hold_seed(&change, 5, 0);
}

static void test_clock_changes__are_followed_with_fresh_seeds(void **state)
{
	(void)state;
	if (!getenv("FLEXTRACE_TEST_SEED"))
		skip();
	try_seeds(fresh_seed(), N_SOAK_SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_changes__are_followed),
		cmocka_unit_test(test_clock_changes__are_not_what_pairs_of_a_busy_queue_say),
		cmocka_unit_test(test_clock_changes__show_restarts_whichever_stamp_is_late),
		cmocka_unit_test(test_clock_changes__hold_where_a_break_is_hard_to_see),
		cmocka_unit_test(test_clock_changes__cost_no_certificates_far_from_breaks),
		cmocka_unit_test(test_clock_changes__are_seen_where_one_bracket_shows_them),
		cmocka_unit_test(test_clock_changes__are_seen_in_a_full_queue),
		cmocka_unit_test(test_clock_changes__show_one_tick_while_the_counter_stands_still),
		cmocka_unit_test(test_clock_changes__certify_no_slow_counter_of_an_open_rate),
		cmocka_unit_test(test_clock_changes__are_followed_with_fresh_seeds),
	};

	return cmocka_run_group_tests_name("clock_changes", tests, NULL, NULL);
}
