/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of all widths that are read now and then, hosts that sleep or whose clock is set, and
 * counters that share an oscillator.
 */
#include <inttypes.h>
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

#define SECOND_NS INT64_C(1000000000)
#define HOUR_NS   (3600 * SECOND_NS)
#define DAY_NS    (24 * HOUR_NS)

/* -- widths ---------------------------------------------------------------------------------- */

/* A counter that is read at equal distances; each read takes 1 us. */
struct reads {
	const char *name;
	unsigned bits;
	double hz;
	uint64_t origin_ticks;
	int64_t period_ns;
	uint32_t n;
	uint32_t gap_at;   /* reads before a gap, 0 = none */
	int64_t gap_ns;    /* comes on top */
	uint32_t reset_at; /* reads before the counter starts again at 12345, 0 = it never does */
	uint32_t n_segments;
};

static int64_t read_ns(const struct reads *reads, uint32_t at)
{
	return 5 * SECOND_NS + at * reads->period_ns +
	       (reads->gap_at && at >= reads->gap_at ? reads->gap_ns : 0);
}

/* What the counter would show if it had no end. */
static uint64_t true_ticks(const struct reads *reads, uint32_t at)
{
	bool is_reset = reads->reset_at && at >= reads->reset_at;
	int64_t start_ns = read_ns(reads, is_reset ? reads->reset_at : 0);
	long double ticks = (long double)(read_ns(reads, at) + 500 - start_ns) * reads->hz / 1e9L;

	return (is_reset ? 12345 : reads->origin_ticks) + (uint64_t)floorl(ticks);
}

static uint64_t shown(const struct reads *reads, uint64_t ticks)
{
	return reads->bits < 64 ? ticks & ((UINT64_C(1) << reads->bits) - 1) : ticks;
}

/* Every read comes with an operation of 1 us, 2 us later, stamped with 32 bits. */
static void push_reads(struct clock_run *run, const struct reads *reads)
{
	clock_run_counter(run)->counter_bits = reads->bits;
	for (uint32_t i = 0; i < reads->n; i++) {
		uint64_t ns = (uint64_t)read_ns(reads, i), ticks = true_ticks(reads, i);
		struct record_clock_sync sync = {
			.host_before_ns = ns,
			.ticks = shown(reads, ticks),
			.host_after_ns = ns + 1000,
		};
		struct record_device_op op = {
			.head.kind = FLEXTRACE_DEVICE_KERNEL,
			.job = i,
			.submit_ns = ns + 1500,
			.complete_ns = ns + 4500,
			.peer = -1,
		};

		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
			op.ticks32[k] =
				(uint32_t)(ticks + (uint64_t)((2000 + 250 * k) * reads->hz / 1e9));
		clock_run_push(run, &sync.head, RECORD_CLOCK_SYNC, ns + 1000, sizeof(sync));
		clock_run_push(run, &op.head, RECORD_DEVICE_OP, ns + 4500, sizeof(op));
	}
}

/* All reads of a segment are as far from the truth. */
static void check_reads(struct clock_run *run, const struct reads *reads)
{
	uint64_t base[4] = {0};
	bool is_known[4] = {false};
	struct table_cursor cursor;
	const struct bracket *bracket;
	uint32_t n = 0, last_segment = 0;

	table_read(&cursor, &run->out.brackets, false);
	while ((bracket = table_next(&cursor, sizeof(*bracket)))) {
		uint64_t off;

		if (bracket->source != BRACKET_SYNC)
			continue;
		off = bracket->first_ticks - true_ticks(reads, n++);
		assert_true(bracket->segment < 4);
		if (!is_known[bracket->segment])
			base[bracket->segment] = off;
		is_known[bracket->segment] = true;
		assert_int_equal(off, base[bracket->segment]);
		last_segment = bracket->segment;
	}
	assert_int_equal(n, reads->n);
	assert_int_equal(last_segment + 1, reads->n_segments);
}

static void check_ops(struct clock_run *run, const struct reads *reads)
{
	struct table_cursor cursor;
	const struct tick_op *op;
	uint32_t i = 0;

	table_read(&cursor, &run->out.ops, false);
	for (; (op = table_next(&cursor, sizeof(*op))); i++) {
		struct placed placed = clocks_place(run->clocks, op->counter, op->segment,
		                                    op->ticks[0]);
		double error_ns = fabs((double)(placed.host_ns - read_ns(reads, i) - 2500));

		assert_int_equal(op->status, TIME_CERTIFIED);
		assert_int_equal(placed.status, TIME_CERTIFIED);
		assert_true(error_ns <= placed.err_ns);
		assert_true(error_ns <= 1000 + 1e9 / reads->hz);
	}
	assert_int_equal(i, reads->n);
}

static void test_clock_counters__have_any_width(void **state)
{
	static const struct reads cases[] = {
		{"44 bits, ten wraps", 44, 1e9, UINT64_C(1) << 43, HOUR_NS, 60, .n_segments = 1},
		{"44 bits, a gap of 40 wraps", 44, 1e9, 77, HOUR_NS, 40, 20, 200 * HOUR_NS,
	         .n_segments = 1},
		{"44 bits, a reset", 44, 1e9, 77, 30 * SECOND_NS, 40, .reset_at = 17,
	         .n_segments = 2},
		{"44 bits, a reset between hourly reads", 44, 1e9, 77, HOUR_NS, 40, .reset_at = 17,
	         .n_segments = 2},
		{"48 bits, four wraps", 48, 560e6, (UINT64_C(1) << 48) - 9, DAY_NS, 20,
	         .n_segments = 1},
		{"48 bits, a gap of six wraps", 48, 1e9, 77, 6 * HOUR_NS, 40, 20, 20 * DAY_NS,
	         .n_segments = 1},
		{"48 bits, a reset", 48, 1e9, 77, 30 * SECOND_NS, 20, .reset_at = 11,
	         .n_segments = 2},
		/* 117 ms from where an epoch of the old axis would be */
		{"48 bits, a reset that stamps hide", 48, 1e9, (UINT64_C(9) << 32) + 829494137,
	         30 * SECOND_NS, 20, .reset_at = 11, .n_segments = 2},
		{"56 bits, two wraps", 56, 4e9, (UINT64_C(1) << 56) - 9, 20 * DAY_NS, 20,
	         .n_segments = 1},
		{"56 bits, a reset", 56, 1e9, 77, 30 * SECOND_NS, 20, .reset_at = 11,
	         .n_segments = 2},
		{"64 bits, beyond the signed half", 64, 1e9, UINT64_C(0x7fffffff00000000), DAY_NS,
	         20, .n_segments = 1},
		{"64 bits, beyond their end", 64, 1e9, UINT64_C(0) - 500000000, SECOND_NS, 40,
	         .n_segments = 1},
		{"64 bits, beyond their end in days", 64, 1e9, UINT64_C(0) - 1000000000000000,
	         DAY_NS, 20, .n_segments = 1},
		{"64 bits, a reset", 64, 1e9, UINT64_C(1) << 60, 30 * SECOND_NS, 20, .reset_at = 7,
	         .n_segments = 2},
		{"64 bits, every second", 64, 38.4e6, 99, SECOND_NS, 100, .n_segments = 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct clock_run run;

		print_message("%s\n", cases[i].name);
		clock_run_init(&run);
		push_reads(&run, &cases[i]);
		clock_run_unwrap(&run, NULL);
		check_reads(&run, &cases[i]);
		clock_run_calibrate(&run, NULL);
		check_ops(&run, &cases[i]);
		assert_int_equal(run.ledger.warnings[WARNING_RESETS], cases[i].n_segments - 1);
		clock_run_release(&run);
	}
}

/* -- hosts ----------------------------------------------------------------------------------- */

static const struct clock_scene busy = {
	.seed = 31,
	.n_ops = 4000,
	.hz = 557.1e6,
	.origin_ticks = 0x123456789,
	.origin_ns = 500 * SECOND_NS,
	.mean_period_ns = 10e6,
	.exec_ns = 1e5,
	.floor_submit_ns = 2000,
	.floor_complete_ns = 4000,
	.jitter_ns = 20000,
};

/* From the middle on, the host's clock is ahead by `ns` of what it would have shown, or the counter
 * is. */
static void shift(struct clock_truth *truth, int64_t host_ns, int64_t counter_ns)
{
	uint64_t ticks = (uint64_t)((double)counter_ns * truth->scene.hz / 1e9);

	for (uint32_t i = truth->n_ops / 2; i < truth->n_ops; i++) {
		struct truth_op *op = &truth->ops[i];

		op->submit_ns += host_ns;
		op->complete_ns += host_ns;
		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++) {
			op->time_ns[k] += (double)host_ns;
			op->ticks[k] += ticks;
			op->ticks32[k] = (uint32_t)op->ticks[k] ? (uint32_t)op->ticks[k] : 1;
		}
		op->life = 1;
	}
}

/* Work beside the shift, of which nothing tells whether it was under way. */
#define N_BESIDE 2u

static void test_clock_counters__outlast_a_host_that_sleeps(void **state)
{
	static const struct {
		int64_t host_ns, counter_ns;
	} shifts[] = {
		{0, SECOND_NS}, {0, 30 * SECOND_NS}, {0, 5000 * SECOND_NS},
		{SECOND_NS, 0}, {60 * SECOND_NS, 0}, {600 * SECOND_NS, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		struct clock_verdict verdict;
		struct clock_truth truth;
		struct clock_run run;

		clock_truth_init(&truth, &busy);
		shift(&truth, shifts[i].host_ns, shifts[i].counter_ns);
		clock_run_init(&run);
		clock_run_push_truth(&run, &truth, false);
		clock_run_finish(&run, NULL);
		clock_run_judge(&run, &truth, &verdict);
		print_message("host %+" PRId64 " s, counter %+" PRId64
		              " s: %u segments, %u certified, %u outliers, worst %.0f ns\n",
		              shifts[i].host_ns / SECOND_NS, shifts[i].counter_ns / SECOND_NS,
		              verdict.segments, verdict.certified, verdict.outliers,
		              verdict.worst_error_ns);
		assert_int_equal(verdict.wrong_epochs, 0);
		assert_int_equal(verdict.outside, 0);
		assert_int_equal(verdict.violations, 0);
		assert_int_equal(verdict.segments, 2);
		assert_int_equal(verdict.outliers, 0);
		assert_in_range(verdict.certified, truth.n_ops - N_BESIDE, truth.n_ops);
		assert_true(verdict.worst_error_ns < 10000);
		clock_run_release(&run);
		clock_truth_release(&truth);
	}
}

/* -- groups ---------------------------------------------------------------------------------- */

#define N_DOMAINS 3

/* Counters of one oscillator: the second has one operation, the others are busy all the time. One
 * that is a stranger runs 300 ppm faster. */
static void run_group(bool is_group, uint32_t stranger, struct clock_verdict *verdicts,
                      double *half_widths)
{
	struct clock_truth truths[N_DOMAINS];
	const struct clock_report *reports;
	struct clock_run run;
	uint32_t n;

	clock_run_init(&run);
	for (run.domain = 0; run.domain < N_DOMAINS; run.domain++) {
		struct clock_scene scene = busy;

		scene.seed += run.domain;
		scene.origin_ticks += run.domain * UINT64_C(0x98765432);
		if (run.domain == 1) {
			scene.n_ops = 1;
			scene.origin_ns += 20 * SECOND_NS;
			scene.exec_ns = 1e9;
		}
		if (run.domain == stranger)
			scene.hz *= 1 + 300e-6;
		clock_truth_init(&truths[run.domain], &scene);
		if (is_group)
			clock_run_counter(&run)->rate_group = 9;
		clock_run_push_truth(&run, &truths[run.domain], false);
	}
	clock_run_finish(&run, NULL);
	reports = clocks_report(run.clocks, &n);
	assert_int_equal(n, N_DOMAINS);
	for (run.domain = 0; run.domain < N_DOMAINS; run.domain++) {
		clock_run_judge(&run, &truths[run.domain], &verdicts[run.domain]);
		half_widths[run.domain] = reports[run.domain].half_width_ns_max;
		assert_int_equal(verdicts[run.domain].wrong_epochs, 0);
		assert_int_equal(verdicts[run.domain].outside, 0);
		assert_int_equal(verdicts[run.domain].violations, 0);
		clock_truth_release(&truths[run.domain]);
	}
	clock_run_release(&run);
}

static void test_clock_counters__share_a_rate_in_a_group(void **state)
{
	struct clock_verdict alone[N_DOMAINS], together[N_DOMAINS];
	double wide[N_DOMAINS], narrow[N_DOMAINS];

	(void)state;
	run_group(false, N_DOMAINS, alone, wide);
	run_group(true, N_DOMAINS, together, narrow);
	print_message("one operation: +- %.0f ns alone, +- %.0f ns in a group\n", wide[1],
	              narrow[1]);
	assert_int_equal(alone[1].certified, 0);
	assert_int_equal(together[1].certified, 1);
	assert_true(isnan(wide[1]));
	assert_true(narrow[1] < 80000);
	assert_true(narrow[0] <= wide[0] && narrow[2] <= wide[2]);
}

static void test_clock_counters__bear_a_stranger_in_their_group(void **state)
{
	struct clock_verdict alone[N_DOMAINS], together[N_DOMAINS];
	double before[N_DOMAINS], after[N_DOMAINS];

	(void)state;
	for (uint32_t stranger = 0; stranger < N_DOMAINS; stranger++) {
		run_group(false, stranger, alone, before);
		run_group(true, stranger, together, after);
		assert_int_equal(together[0].certified, alone[0].certified);
		assert_int_equal(together[2].certified, alone[2].certified);
		assert_true(after[0] == before[0]);
		assert_true(after[2] == before[2]);
		/* Whose rate the lone one has nobody knows then. */
		assert_true(after[1] > 1e6);
	}
}

/* -- rates ----------------------------------------------------------------------------------- */

/* 200 operations in 40 s, of which floors are at least a tick. */
static void run_rate(double hz, bool is_stated, struct clock_verdict *verdict)
{
	const double floor_ns = fmax(3000, 1.2e9 / hz);
	const struct clock_scene scene = {
		.seed = 11,
		.n_ops = 200,
		.hz = hz,
		.origin_ticks = 0x123456789,
		.origin_ns = 5 * SECOND_NS,
		.mean_period_ns = 2e8,
		.exec_ns = 1e5,
		.floor_submit_ns = floor_ns,
		.floor_complete_ns = floor_ns,
		.jitter_ns = 5000,
	};
	struct clock_truth truth;
	struct clock_run run;

	clock_truth_init(&truth, &scene);
	clock_run_init(&run);
	clock_run_counter(&run)->nominal_hz = is_stated ? (uint64_t)hz : 0;
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, &truth, verdict);
	clock_run_release(&run);
	clock_truth_release(&truth);
}

static void test_clock_counters__run_at_any_rate(void **state)
{
	static const double rates_hz[] = {1e3, 4.1e3, 32768, 7.9e9, 8.1e9, 9.2e9, 1e10};
	struct clock_verdict verdict;

	(void)state;
	for (size_t i = 0; i < sizeof(rates_hz) / sizeof(*rates_hz); i++) {
		for (int is_stated = 0; is_stated < 2; is_stated++) {
			run_rate(rates_hz[i], is_stated, &verdict);
			print_message("%.0f Hz, %s: %" PRIu32 " certified, %" PRIu32 " outside\n",
			              rates_hz[i], is_stated ? "stated" : "not stated",
			              verdict.certified, verdict.outside);
			assert_int_equal(verdict.outside, 0);
			assert_int_equal(verdict.wrong_epochs, 0);
			assert_int_equal(verdict.inversions, 0);
			assert_int_equal(verdict.segments, 1);
			assert_int_equal(verdict.certified, 200);
		}
	}
}

/* A queue that is always eight deep: work of a quarter of a second, each submitted when the one
 * eight before it is seen complete. */
static void fill_queue(struct clock_truth *truth, uint64_t seed)
{
	const struct clock_scene *scene = &truth->scene;
	uint64_t random = seed;
	double now_ns = 1e9;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct truth_op *op = &truth->ops[i];
		double length_ns;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		length_ns = -0.26e9 * log(((double)(random >> 32) + 1) / 4294967297.0);
		op->submit_ns = i < 8 ? scene->origin_ns + (int64_t)i * 1000
		                      : truth->ops[i - 8].complete_ns + 1000;
		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++) {
			op->time_ns[k] = now_ns + length_ns * k / (FLEXTRACE_N_STAMPS - 1);
			op->ticks[k] = scene->origin_ticks +
			               (uint64_t)(op->time_ns[k] * scene->hz * 1e-9);
			op->ticks32[k] = (uint32_t)op->ticks[k];
		}
		now_ns += length_ns + 5000;
		op->complete_ns = scene->origin_ns + (int64_t)now_ns;
	}
}

static void run_full_queue(uint64_t seed, double nominal_hz, struct clock_verdict *verdict)
{
	const struct clock_scene scene = {
		.seed = 13,
		.n_ops = 72,
		.hz = 557.1e6,
		.origin_ticks = 0x123456789,
		.origin_ns = 5 * SECOND_NS,
		.mean_period_ns = 1e8,
		.exec_ns = 1e5,
	};
	struct clock_truth truth;
	struct clock_run run;

	clock_truth_init(&truth, &scene);
	fill_queue(&truth, seed);
	clock_run_init(&run);
	clock_run_counter(&run)->nominal_hz = (uint64_t)nominal_hz;
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, &truth, verdict);
	clock_run_release(&run);
	clock_truth_release(&truth);
}

static void test_clock_counters__are_not_what_a_wrong_hint_makes_of_them(void **state)
{
	struct clock_verdict right, wrong;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		run_full_queue(seed, 557.1e6, &right);
		run_full_queue(seed, 2.4 * 557.1e6, &wrong);
		print_message("seed %" PRIu64 ": %" PRIu32 " and %" PRIu32 " certified, %" PRIu32
		              " and %" PRIu32 " outside\n",
		              seed, right.certified, wrong.certified, right.outside, wrong.outside);
		assert_int_equal(right.certified, 72);
		assert_int_equal(right.outside, 0);
		assert_int_equal(wrong.outside, 0);
	}
}

/* 600 operations in 18 s at 20 MHz: 24 bits wrap some 20 times. */
static void run_narrow(unsigned bits, bool is_stated, struct clock_verdict *verdict)
{
	const struct clock_scene scene = {
		.seed = 12,
		.n_ops = 600,
		.hz = 20e6,
		.origin_ticks = 0x12345678,
		.origin_ns = 5 * SECOND_NS,
		.mean_period_ns = 3e7,
		.exec_ns = 1e5,
		.floor_submit_ns = 2000,
		.floor_complete_ns = 4000,
		.jitter_ns = 5000,
	};
	struct clock_truth truth;
	struct clock_run run;

	clock_truth_init(&truth, &scene);
	clock_run_init(&run);
	clock_run_counter(&run)->counter_bits = bits;
	clock_run_counter(&run)->nominal_hz = is_stated ? 20000000 : 0;
	for (uint32_t i = 0; i < truth.n_ops; i++) {
		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
			truth.ops[i].ticks32[k] &= (UINT32_C(1) << bits) - 1;
	}
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, &truth, verdict);
	clock_run_release(&run);
	clock_truth_release(&truth);
}

static void test_clock_counters__are_narrower_than_stamps(void **state)
{
	static const struct {
		unsigned bits;
		bool is_stated;
	} counters[] = {{20, true}, {24, true}, {24, false}, {28, false}, {31, false}};
	struct clock_verdict verdict;

	(void)state;
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		run_narrow(counters[i].bits, counters[i].is_stated, &verdict);
		print_message("%u bits: %" PRIu32 " certified, %" PRIu32 " segments, %" PRIu32
		              " outside\n",
		              counters[i].bits, verdict.certified, verdict.segments,
		              verdict.outside);
		assert_int_equal(verdict.outside, 0);
		assert_int_equal(verdict.inversions, 0);
		assert_int_equal(verdict.segments, 1);
		assert_true(verdict.certified >= 599); /* a stamp of 0 is none */
	}
}

/* -- work under way -------------------------------------------------------------------------- */

/* A counter of 1 GHz that stands still from 10 s to 11.7 s. */
static uint64_t still_ticks(int64_t ns)
{
	int64_t still_ns = ns < 10 * SECOND_NS ? 0 : ns - 10 * SECOND_NS;

	return (uint64_t)(ns - (still_ns < 1700000000 ? still_ns : 1700000000)) + 77;
}

static void push_still(struct clock_run *run, int64_t submit_ns, int64_t start_ns,
                       int64_t complete_ns)
{
	struct record_device_op op = {
		.head.kind = FLEXTRACE_DEVICE_KERNEL,
		.submit_ns = (uint64_t)submit_ns,
		.complete_ns = (uint64_t)complete_ns,
		.peer = -1,
	};

	for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
		op.ticks32[k] = (uint32_t)still_ticks(start_ns + 100 * k);
	clock_run_push(run, &op.head, RECORD_DEVICE_OP, (uint64_t)complete_ns, sizeof(op));
}

/* It ran in front of the stop and is seen complete long behind it: it fits both sides, whether its
 * bracket is shorter than a wrap or longer. */
static void test_clock_counters__doubt_work_that_fits_both_sides_of_a_stop(void **state)
{
	(void)state;
	for (int64_t wait_ns = 3 * SECOND_NS; wait_ns <= 8 * SECOND_NS; wait_ns += SECOND_NS) {
		struct table_cursor cursor;
		const struct tick_op *op;
		struct clock_run run;
		uint32_t n_certified = 0;
		int64_t at_ns = 1000000000, of_ns = 9550000000;

		clock_run_init(&run);
		clock_run_counter(&run)->nominal_hz = 1000000000;
		for (; at_ns < 25 * SECOND_NS; at_ns += SECOND_NS / 10) {
			if (at_ns >= 10 * SECOND_NS && at_ns < 11700000000)
				continue;
			if (at_ns > of_ns + wait_ns && of_ns)
				push_still(&run, of_ns, of_ns + 2000, of_ns + wait_ns);
			if (at_ns > of_ns + wait_ns)
				of_ns = 0;
			push_still(&run, at_ns, at_ns + 2000, at_ns + 5000);
		}
		clock_run_finish(&run, NULL);
		table_read(&cursor, &run.out.ops, false);
		while ((op = table_next(&cursor, sizeof(*op)))) {
			n_certified += op->status == TIME_CERTIFIED;
			if (op->complete_host_ns - op->submit_host_ns > SECOND_NS)
				assert_int_not_equal(op->status, TIME_CERTIFIED);
		}
		assert_true(n_certified > 200);
		clock_run_release(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_counters__have_any_width),
		cmocka_unit_test(test_clock_counters__are_narrower_than_stamps),
		cmocka_unit_test(test_clock_counters__run_at_any_rate),
		cmocka_unit_test(test_clock_counters__are_not_what_a_wrong_hint_makes_of_them),
		cmocka_unit_test(test_clock_counters__doubt_work_that_fits_both_sides_of_a_stop),
		cmocka_unit_test(test_clock_counters__outlast_a_host_that_sleeps),
		cmocka_unit_test(test_clock_counters__share_a_rate_in_a_group),
		cmocka_unit_test(test_clock_counters__bear_a_stranger_in_their_group),
	};

	return cmocka_run_group_tests_name("clock_counters", tests, NULL, NULL);
}
