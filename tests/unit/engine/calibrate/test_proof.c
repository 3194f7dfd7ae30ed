/* SPDX-License-Identifier: Apache-2.0 */
/* Rates that need a proof: evidence written by hand, and maps of a counter's segments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/calibrate/restarts.h"
#include "clock_truth.h"

#define MAX_CLAIMS 1000u
#define PERIOD     10000000 /* ticks, and ns at the nominal rate of 1 ns per tick */
#define WORK       1000000  /* ticks */
#define LATENCY_NS 2000

struct trace {
	uint32_t n;
	double slope;         /* true, ns per tick */
	int64_t waits_ns;     /* in a queue: submissions are as much earlier */
	uint32_t n_jumps;     /* of the counter, evenly spread, ... */
	int64_t jump_ns;      /* by so much each, which the slope has to explain */
	uint32_t false_every; /* claims that were turned away */
	struct slopes slopes; /* that all evidence leaves */
	struct claim claims[MAX_CLAIMS];
	uint8_t is_false[MAX_CLAIMS];
};

static enum proof prove(struct trace *trace)
{
	struct evidence evidence = {trace->claims, trace->is_false, trace->n, 0, 0};

	for (uint32_t i = 0; i < trace->n; i++) {
		struct claim *claim = &trace->claims[i];
		int64_t ahead_ns = trace->jump_ns * ((trace->n_jumps + 1) * i / trace->n);

		claim->first = (uint64_t)i * PERIOD;
		claim->last = claim->first + WORK;
		claim->before = (int64_t)((double)claim->first * trace->slope) + ahead_ns -
		                LATENCY_NS - trace->waits_ns;
		claim->after = (int64_t)((double)claim->last * trace->slope) + ahead_ns +
		               LATENCY_NS;
		if (trace->false_every && i % trace->false_every == 0) {
			trace->is_false[i] = 1;
			claim->before += 1000000000;
			claim->after += 1000000000;
		}
	}
	return proof_of(&evidence, 1.0, &trace->slopes);
}

static void test_proof__believes_a_rate_that_is_off_all_the_time(void **state)
{
	/* 560 MHz are stated, 557.1 are true. */
	struct trace tight = {200, 1.0052, .slopes = {1.00519, 1.00521}};
	struct trace queued = {200, 1.0052, 1000000, .slopes = {1.0047, 1.0057}};
	struct trace near = {200, 1.0002, 1000000000, .slopes = {0.9, 1.1}};

	(void)state;
	assert_int_equal(prove(&tight), PROOF_NOT_NEEDED);
	assert_int_equal(prove(&queued), PROOF_NOT_NEEDED);
	assert_int_equal(prove(&near), PROOF_NOT_NEEDED);
}

static void test_proof__doubts_a_rate_that_a_few_jumps_explain(void **state)
{
	static const struct {
		uint32_t n_jumps;
		enum proof proof;
	} cases[] = {{1, PROOF_IS_MISSING},
	             {3, PROOF_IS_MISSING},
	             {4, PROOF_IS_MISSING},
	             {5, PROOF_NOT_NEEDED}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* Submissions are loose by nearly as much as a jump. */
		struct trace trace = {
			200, 1.0, 19000000, cases[i].n_jumps, 20000000, .slopes = {1.009, 1.011}};

		assert_int_equal(prove(&trace), cases[i].proof);
	}
}

static void test_proof__asks_little_evidence_for_less(void **state)
{
	struct trace alone = {3, 1.0, 0, 1, 20000000, .slopes = {1.009, 1.011}};
	struct trace few = {8, 1.0, 0, 1, 20000000, .slopes = {1.009, 1.011}};
	struct trace off = {8, 1.01, .slopes = {1.0099, 1.0101}};

	(void)state;
	assert_int_equal(prove(&alone), PROOF_NOT_NEEDED);
	assert_int_equal(prove(&few), PROOF_IS_MISSING);
	assert_int_equal(prove(&off), PROOF_NOT_NEEDED);
}

static void test_proof__does_not_ask_evidence_that_was_turned_away(void **state)
{
	struct trace trace = {200, 1.0, 0, 1, 20000000, .false_every = 7, .slopes = {1.009, 1.011}};

	(void)state;
	assert_int_equal(prove(&trace), PROOF_IS_MISSING);
}

/* -- segments -------------------------------------------------------------------------------- */

#define N_SEGMENTS 8

struct segments {
	struct map_knot knot;
	struct clock_map maps[N_SEGMENTS];
};

/* `n_agreeing` of a rate, and the others of any. */
static void segments_init(struct segments *segments, uint32_t n_agreeing, double slope)
{
	for (uint32_t i = 0; i < N_SEGMENTS; i++) {
		double own = i < n_agreeing ? slope : 1.5 + 0.1 * i;

		segments->maps[i] = (struct clock_map){.knots = &segments->knot,
		                                       .n_knots = 1,
		                                       .slope_lo = own * 0.999,
		                                       .slope_hi = own * 1.001};
	}
}

static void test_restarts__take_the_stated_rate_where_segments_agree_on_it(void **state)
{
	struct segments segments;
	struct slopes slopes;
	bool is_agreed;

	(void)state;
	segments_init(&segments, 6, 1.019); /* as near as a stated rate is asked to be */
	assert_int_equal(restarts_find(segments.maps, N_SEGMENTS, 1.0, &slopes, &is_agreed), 0);
	assert_true(is_agreed);
	assert_true(slopes.lo < 1.019 && slopes.hi > 1.019);
	assert_true(slopes.lo > 1.01 && slopes.hi < 1.03); /* and of nothing but the segments */
	assert_true(restarts_hold(&segments.maps[0], &slopes));
}

static void test_restarts__do_not_rest_on_a_rate_that_is_only_stated(void **state)
{
	static const struct {
		uint32_t n_agreeing;
		double slope, nominal;
		bool is_agreed;
	} cases[] = {
		{0, 1, 1.0, false},    /* no two segments agree */
		{6, 1.05, 1.0, false}, /* they do on another rate */
		{6, 1.05, 0, true},    /* than nobody stated */
		{2, 1, 1.0, false},    /* two are too few */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct segments segments;
		struct slopes slopes;
		bool is_agreed;

		segments_init(&segments, cases[i].n_agreeing, cases[i].slope);
		assert_int_equal(restarts_find(segments.maps, N_SEGMENTS, cases[i].nominal, &slopes,
		                               &is_agreed),
		                 0);
		assert_int_equal(is_agreed, cases[i].is_agreed);
	}
}

/* -- wraps ----------------------------------------------------------------------------------- */

/* Of 500 operations. */
static uint64_t count_certified(const struct counted_rate *rate, double period_ns)
{
	const struct clock_scene scene = {
		.seed = 4,
		.n_ops = 500,
		.hz = 557.1e6,
		.origin_ns = 1000000000,
		.mean_period_ns = period_ns,
		.exec_ns = 1e5,
		.floor_submit_ns = 2000,
		.floor_complete_ns = 4000,
		.jitter_ns = 500,
	};
	struct clock_truth truth;
	struct clock_run run;
	const struct clock_report *report;
	uint64_t n_certified = 0;
	uint32_t n;

	clock_truth_init(&truth, &scene);
	clock_run_init(&run);
	clock_run_push_truth(&run, &truth, false);
	clock_run_unwrap(&run, NULL);
	if (rate) {
		table_release(&run.out.rates);
		assert_int_equal(table_put(&run.out.rates, rate, sizeof(*rate)), 0);
	}
	clock_run_calibrate(&run, NULL);
	report = clocks_report(run.clocks, &n);
	assert_int_equal(n, 1);
	for (uint32_t i = 0; i < truth.n_ops; i++)
		n_certified += clocks_place(run.clocks, 0, 0, truth.ops[i].ticks[0]).status ==
		               TIME_CERTIFIED;
	assert_int_equal(report[0].events, truth.n_ops);
	assert_int_equal(run.ledger.warnings[WARNING_RATE_UNPROVEN] +
	                         run.ledger.warnings[WARNING_COUNTER_RESTARTS] +
	                         run.ledger.warnings[WARNING_COUNTER_GATED],
	                 n_certified == 0);
	clock_run_release(&run);
	clock_truth_release(&truth);
	return n_certified;
}

static void test_calibrate__assumes_wraps_that_were_counted_with_another_rate(void **state)
{
	const struct counted_rate same = {.lo = 0.55, .hi = 0.56}, other = {.lo = 0.5, .hi = 0.51};

	(void)state;
	assert_int_equal(count_certified(NULL, 200e6), 500);
	assert_int_equal(count_certified(&same, 200e6), 500);
	assert_int_equal(count_certified(&other, 200e6), 0);  /* 13 wraps */
	assert_int_equal(count_certified(&other, 10e6), 500); /* less than one */
}

static void test_calibrate__assumes_what_does_not_run_between_operations(void **state)
{
	const struct counted_rate restarts = {0.55, 0.56, COUNTER_RESTARTS};
	const struct counted_rate is_gated = {0.55, 0.56, COUNTER_IS_GATED};

	(void)state;
	assert_int_equal(count_certified(&restarts, 10e6), 0);
	assert_int_equal(count_certified(&is_gated, 10e6), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proof__believes_a_rate_that_is_off_all_the_time),
		cmocka_unit_test(test_proof__doubts_a_rate_that_a_few_jumps_explain),
		cmocka_unit_test(test_proof__asks_little_evidence_for_less),
		cmocka_unit_test(test_proof__does_not_ask_evidence_that_was_turned_away),
		cmocka_unit_test(test_restarts__take_the_stated_rate_where_segments_agree_on_it),
		cmocka_unit_test(test_restarts__do_not_rest_on_a_rate_that_is_only_stated),
		cmocka_unit_test(test_calibrate__assumes_wraps_that_were_counted_with_another_rate),
		cmocka_unit_test(test_calibrate__assumes_what_does_not_run_between_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
