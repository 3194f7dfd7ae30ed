/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that begin anew again and again. The suite tries few; `ctest -C soak -L soak` tries
 * N_SOAK_WORLDS from a fresh seed on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "clock_model.h"
#include "clock_truth.h"
#include "fresh_seed.h"

#define N_SOAK_WORLDS 96

static const struct clock_scene busy = {
	.seed = 31,
	.n_ops = 20000,
	.hz = 557.1e6,
	.origin_ticks = 0x123456789,
	.origin_ns = 500000000000,
	.mean_period_ns = 1e6,
	.exec_ns = 4e5,
	.floor_submit_ns = 2000,
	.floor_complete_ns = 4000,
	.jitter_ns = 3e5,
};

static int compare_starts(const void *left, const void *right)
{
	const struct truth_op *a = *(struct truth_op *const *)left;
	const struct truth_op *b = *(struct truth_op *const *)right;

	return (a->time_ns[0] > b->time_ns[0]) - (a->time_ns[0] < b->time_ns[0]);
}

/* A counter jumps ahead by 0.2 s to a wrap, again and again, each time behind so many operations of
 * the device, at least and at most. */
struct resets {
	uint32_t least, most;
};

static uint32_t draw(struct resets resets, uint64_t *state)
{
	if (resets.least == resets.most)
		return resets.least;
	return resets.least + (uint32_t)(model_random(state) % (resets.most - resets.least + 1));
}

static void reset_often(struct clock_truth *truth, struct resets resets, uint64_t seed)
{
	struct truth_op **by_start = calloc(truth->n_ops, sizeof(struct truth_op *));
	uint64_t ahead = 0, state = seed;
	uint32_t next = draw(resets, &state), life = 0;

	assert_non_null(by_start);
	for (uint32_t i = 0; i < truth->n_ops; i++)
		by_start[i] = &truth->ops[i];
	qsort(by_start, truth->n_ops, sizeof(struct truth_op *), compare_starts);
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct truth_op *op = by_start[i];

		if (i == next) {
			ahead += 100000000 + model_random(&state) % 4000000000;
			next += draw(resets, &state);
			life++;
		}
		op->life = life;
		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++) {
			op->ticks[k] += ahead;
			op->ticks32[k] = (uint32_t)op->ticks[k] ? (uint32_t)op->ticks[k] : 1;
		}
	}
	free(by_start);
}

static void judge(const struct clock_scene *scene, struct resets resets, double nominal_hz,
                  uint64_t seed, struct clock_verdict *ret_verdict)
{
	struct clock_truth truth;
	struct clock_run run;

	clock_truth_init(&truth, scene);
	reset_often(&truth, resets, seed);
	clock_run_init(&run);
	clock_run_counter(&run)->nominal_hz = (uint64_t)nominal_hz;
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, &truth, ret_verdict);
	print_message("every %u to %u operations, %s, seed %llu: %u of %u certified, %u outside by "
	              "%.0f ns\n",
	              resets.least, resets.most, nominal_hz > 0 ? "stated" : "not stated",
	              (unsigned long long)seed, ret_verdict->certified, truth.n_ops,
	              ret_verdict->outside, ret_verdict->worst_excess_ns);
	clock_run_release(&run);
	clock_truth_release(&truth);
}

/* Distances over many operations say nothing of the rate then. Where it is not known, a jump passes
 * for a faster counter, and slopes of segments that have work of others bend those beside them. */
static void test_clock_resets__may_come_all_the_time(void **state)
{
	static const struct {
		uint32_t every;
		double nominal_hz, least_sure;
	} cases[] = {{100, 0, 0.95}, {40, 557.1e6, 0.9}, {20, 557.1e6, 0.8},
	             {20, 0, 0.8},   {3, 557.1e6, 0.2},  {3, 0, 0.2}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resets resets = {cases[i].every, cases[i].every};
		struct clock_verdict verdict;

		judge(&busy, resets, cases[i].nominal_hz, 1, &verdict);
		assert_int_equal(verdict.outside, 0);
		assert_true(verdict.certified >= cases[i].least_sure * busy.n_ops);
	}
}

/* Work that overlaps other work of its segment has knots of that between its stamps, whose bounds
 * are those of the other bracket. */
static void test_clock_resets__bound_all_stamps_of_work_that_overlaps(void **state)
{
	const struct resets resets = {3, 3};
	struct clock_scene scene = busy;
	struct clock_verdict verdict;

	(void)state;
	scene.seed = 880009004;
	scene.n_ops = 6000;
	judge(&scene, resets, busy.hz, scene.seed, &verdict);
	assert_int_equal(verdict.outside, 0);
}

/* Most segments are too short to tell their rate, and some restarts fit into a wide bracket. */
static void test_clock_resets__certify_no_wrong_time_with_fresh_seeds(void **state)
{
	static const struct resets resets[] = {{3, 3}, {5, 5}, {3, 100}, {20, 60}};
	uint32_t n_outside = 0;
	uint64_t first;

	(void)state;
	if (!getenv("FLEXTRACE_TEST_SEED"))
		skip();
	first = fresh_seed();
	for (uint32_t i = 0; i < N_SOAK_WORLDS; i++) {
		struct clock_scene scene = busy;
		struct clock_verdict verdict;

		scene.seed = first + i;
		scene.n_ops = 6000;
		judge(&scene, resets[i % 4], i / 4 % 2 ? busy.hz : 0, scene.seed, &verdict);
		n_outside += verdict.outside;
	}
	assert_int_equal(n_outside, 0);
}

/* A segment whose operations are all in doubt gives no bracket, and has no map if it is the last
 * one. */
static void test_clock_resets__may_have_no_evidence_behind_them(void **state)
{
	const struct bracket one = {500, 500, 1000, 1200, 0, 0, BRACKET_SYNC, 0};
	struct clock_run run;
	uint32_t n;

	(void)state;
	clock_run_init(&run);
	clock_run_counter(&run);
	*(struct bracket *)table_append(&run.out.brackets, sizeof(one)) = one;
	for (uint16_t segment = 0; segment < 4; segment++) {
		struct tick_op *op = table_append(&run.out.ops, sizeof(*op));

		*op = (struct tick_op){.segment = segment,
		                       .class = RECORD_DEVICE_OP,
		                       .status = segment ? TIME_ASSUMED : TIME_CERTIFIED};
	}
	clock_run_calibrate(&run, NULL);
	assert_int_equal(clocks_report(run.clocks, &n)->events, 1);
	assert_int_equal(n, 1);
	clock_run_release(&run);
}

/* A counter of 1 GHz begins anew when 100 s are over, and shows 10 s then. */
static void test_clock_resets__within_an_operation_leave_it_without_a_time(void **state)
{
	static const struct {
		int64_t first_s, last_s; /* as the segment behind shows it */
		bool is_refused;
	} cases[] = {{101, 110, false}, {95, 110, true}, {95, 99, false}};
	struct clock_run run;

	(void)state;
	clock_run_init(&run);
	clock_run_counter(&run);
	for (int64_t s = 10; s < 200; s += 10) {
		int64_t ns = s * 1000000000;
		struct bracket *read = table_append(&run.out.brackets, sizeof(*read));

		*read = (struct bracket){.before_host_ns = ns - 100,
		                         .after_host_ns = ns + 100,
		                         .segment = s > 100,
		                         .source = BRACKET_SYNC};
		read->first_ticks = (uint64_t)ns - 90000000000 * (s > 100);
		read->last_ticks = read->first_ticks;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tick_op *op = table_append(&run.out.ops, sizeof(*op));

		*op = (struct tick_op){.segment = 1, .class = RECORD_DEVICE_OP};
		op->ticks[0] = (uint64_t)(cases[i].first_s - 90) * 1000000000;
		op->ticks[4] = (uint64_t)(cases[i].last_s - 90) * 1000000000;
		op->status = TIME_CERTIFIED;
	}
	clock_run_calibrate(&run, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(clocks_refuse(run.clocks, i), cases[i].is_refused);
	clock_run_release(&run);
}

/* Of a counter of 1 MHz. */
static void push(struct clock_run *run, int64_t start_us, int64_t complete_us)
{
	struct record_device_op op = {
		.head.kind = FLEXTRACE_DEVICE_KERNEL,
		.submit_ns = (uint64_t)(start_us - 10) * 1000,
		.complete_ns = (uint64_t)complete_us * 1000,
		.peer = -1,
	};

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op.ticks32[i] = (uint32_t)(start_us + i);
	clock_run_push(run, &op.head, RECORD_DEVICE_OP, op.complete_ns, sizeof(op));
}

/* Work in front of a pause is seen complete behind it: what is complete last did not run last. */
static void test_clock_resets__are_no_pauses_with_late_completions(void **state)
{
	struct clock_run run;
	uint32_t n;

	(void)state;
	clock_run_init(&run);
	for (int64_t us = 1000000; us < 10000000; us += 100000)
		push(&run, us, us + 20);
	push(&run, 11500000, 11500020);
	for (int64_t i = 0; i < 15; i++)
		push(&run, 9050000 + i * 1000, 11500100 + i);
	for (int64_t us = 11600000; us < 30000000; us += 100000)
		push(&run, us, us + 20);
	clock_run_finish(&run, NULL);
	assert_int_equal(clocks_report(run.clocks, &n)->resets, 0);
	assert_int_equal(n, 1);
	clock_run_release(&run);
}

/* Work that is submitted faster than it runs: submissions are earlier by up to 4 s. */
static const struct clock_scene queued = {
	.seed = 5,
	.n_ops = 2000,
	.hz = 557.1e6,
	.origin_ticks = UINT64_C(0x1023456789),
	.origin_ns = 500000000000,
	.mean_period_ns = 8e6,
	.exec_ns = 1e7,
	.floor_submit_ns = 2000,
	.floor_complete_ns = 4000,
	.jitter_ns = 500,
};

static void run_queued(struct clock_truth *truth, struct clock_verdict *ret_verdict,
                       uint64_t *ret_n_resets)
{
	struct clock_run run;

	clock_run_init(&run);
	clock_run_counter(&run)->nominal_hz = (uint64_t)queued.hz;
	clock_run_push_truth(&run, truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, truth, ret_verdict);
	*ret_n_resets = run.ledger.warnings[WARNING_RESETS];
	clock_run_release(&run);
}

/* The brackets deny no tick that the counter shows then. */
static void test_clock_resets__show_in_what_completes_where_submissions_are_loose(void **state)
{
	static const double backs_s[] = {0.1, 0.5, 2};

	(void)state;
	for (size_t i = 0; i < sizeof(backs_s) / sizeof(backs_s[0]); i++) {
		struct clock_truth truth;
		struct clock_verdict verdict;
		uint64_t n_resets;

		clock_truth_init(&truth, &queued);
		for (uint32_t j = 1200; j < truth.n_ops; j++) {
			struct truth_op *op = &truth.ops[j];

			op->life = 1;
			for (int k = 0; k < FLEXTRACE_N_STAMPS; k++) {
				op->ticks[k] -= (uint64_t)(backs_s[i] * queued.hz);
				op->ticks32[k] = (uint32_t)op->ticks[k];
			}
		}
		run_queued(&truth, &verdict, &n_resets);
		print_message("back by %g s: %u certified, %u outside by %.0f ns\n", backs_s[i],
		              verdict.certified, verdict.outside, verdict.worst_excess_ns);
		assert_int_equal(verdict.outside, 0);
		assert_true(verdict.certified > 1900);
		assert_int_equal(n_resets, 1);
		clock_truth_release(&truth);
	}
}

/* Completions that are seen late, four at a time, some of them by 0.2 s. */
static void test_clock_resets__are_not_completions_out_of_order(void **state)
{
	struct clock_truth truth;
	struct clock_verdict verdict;
	uint64_t n_resets;

	(void)state;
	clock_truth_init(&truth, &queued);
	for (uint32_t i = 0; i < truth.n_ops; i++) {
		uint32_t last = (i | 3) < truth.n_ops ? i | 3 : truth.n_ops - 1;

		truth.ops[i].complete_ns = truth.ops[last].complete_ns +
		                           200000000 * (int64_t)(i / 4 * 7 % 3);
	}
	run_queued(&truth, &verdict, &n_resets);
	assert_int_equal(verdict.outside, 0);
	assert_int_equal(n_resets, 0);
	clock_truth_release(&truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_resets__may_come_all_the_time),
		cmocka_unit_test(test_clock_resets__bound_all_stamps_of_work_that_overlaps),
		cmocka_unit_test(test_clock_resets__may_have_no_evidence_behind_them),
		cmocka_unit_test(test_clock_resets__within_an_operation_leave_it_without_a_time),
		cmocka_unit_test(test_clock_resets__are_no_pauses_with_late_completions),
		cmocka_unit_test(
			test_clock_resets__show_in_what_completes_where_submissions_are_loose),
		cmocka_unit_test(test_clock_resets__are_not_completions_out_of_order),
		cmocka_unit_test(test_clock_resets__certify_no_wrong_time_with_fresh_seeds),
	};

	return cmocka_run_group_tests_name("clock_resets", tests, NULL, NULL);
}
