/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that begin anew where stamps of 32 bits do not show it, but reads of 48 bits do; and
 * reads that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "clock_truth.h"

#define WRAP   (UINT64_C(1) << 32)
#define SECOND UINT64_C(1000000000)
#define PERIOD (3 * SECOND / 10)
#define GAP    (30 * SECOND)

/* A counter at 1 GHz that has an operation every 0.3 s, and at times a read before it. */
struct story {
	const char *name;
	uint32_t n_ops;
	uint32_t reset_at;    /* first operation of the new life; 0 = none */
	uint64_t gap_ns;      /* before it */
	uint64_t hidden;      /* how far the new life is from an epoch of the old */
	uint32_t first_read;  /* operation after which reads of the new life begin */
	uint32_t last_read;   /* and end */
	uint32_t read_period; /* operations between reads */
	uint32_t n_assumed;
};

static uint64_t op_ns(const struct story *story, uint32_t i)
{
	return SECOND + PERIOD * i + (story->reset_at && i >= story->reset_at ? story->gap_ns : 0);
}

/* Before the reset, and after. */
static uint64_t old_ticks(uint64_t ns)
{
	return 5 * WRAP + 77 + ns;
}

static uint64_t ticks_at(const struct story *story, uint32_t i, uint64_t ns)
{
	uint64_t begin = op_ns(story, story->reset_at) - 100000;

	if (!story->reset_at || i < story->reset_at)
		return old_ticks(ns);
	return (old_ticks(begin) + story->hidden) % WRAP + ns - begin;
}

static void push_op(struct clock_run *run, uint64_t ns, uint64_t ticks, uint32_t job)
{
	struct record_device_op op = {
		.head.kind = FLEXTRACE_DEVICE_KERNEL,
		.job = job,
		.submit_ns = ns,
		.complete_ns = ns + 9000,
		.peer = -1,
	};

	for (uint32_t i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op.ticks32[i] = (uint32_t)(ticks + 3000 + 1000 * i);
	clock_run_push(run, &op.head, RECORD_DEVICE_OP, ns + 9000, sizeof(op));
}

static void push_read(struct clock_run *run, uint64_t ns, uint64_t ticks)
{
	struct record_clock_sync sync = {
		.host_before_ns = ns,
		.ticks = ticks & ((UINT64_C(1) << 48) - 1),
		.host_after_ns = ns + 1000,
	};

	clock_run_push(run, &sync.head, RECORD_CLOCK_SYNC, ns + 1000, sizeof(sync));
}

/* Whether there is a read 20 us before an operation. */
static bool has_read(const struct story *story, uint32_t i)
{
	if (i % story->read_period != 0)
		return false;
	return !story->reset_at || i < story->reset_at ||
	       (i >= story->first_read && i <= story->last_read);
}

static uint32_t push_story(struct clock_run *run, const struct story *story)
{
	uint32_t n_reads = 0;

	clock_run_init(run);
	clock_run_counter(run)->counter_bits = 48;
	for (uint32_t i = 0; i < story->n_ops; i++) {
		uint64_t ns = op_ns(story, i), read_ns = ns - 20000;

		if (has_read(story, i)) {
			push_read(run, read_ns, ticks_at(story, i, read_ns + 500));
			n_reads++;
		}
		push_op(run, ns, ticks_at(story, i, ns), i);
	}
	return n_reads;
}

static uint32_t count_reads(struct clock_run *run)
{
	struct table_cursor cursor;
	const struct bracket *bracket;
	uint32_t n = 0;

	table_read(&cursor, &run->out.brackets, false);
	while ((bracket = table_next(&cursor, sizeof(*bracket))))
		n += bracket->source == BRACKET_SYNC;
	return n;
}

/* -- resets ---------------------------------------------------------------------------------- */

/* Every operation has the segment of its life, and stands where its reads put it; but for those
 * that nothing tells apart. */
static void check_story(struct clock_run *run, const struct story *story)
{
	struct table_cursor cursor;
	const struct tick_op *op;
	uint32_t i = 0, n_assumed = 0;

	table_read(&cursor, &run->out.ops, false);
	for (; (op = table_next(&cursor, sizeof(*op))); i++) {
		uint64_t ticks = ticks_at(story, i, op_ns(story, i)) + 3000;

		n_assumed += op->status == TIME_ASSUMED;
		assert_true(op->status <= TIME_ASSUMED);
		if (op->status == TIME_ASSUMED && !story->gap_ns)
			continue;
		assert_int_equal(op->segment, i >= story->reset_at);
		assert_int_equal(op->ticks[0] % (UINT64_C(1) << 48), ticks);
	}
	assert_int_equal(i, story->n_ops);
	assert_int_equal(n_assumed, story->n_assumed);
	assert_int_equal(run->ledger.warnings[WARNING_RESETS], 1);
}

static void test_unwrap_wide__tells_a_reset_that_stamps_hide(void **state)
{
	static const struct story stories[] = {
		{"a read with each operation", 60, 30, GAP, 117000000, 30, 60, 1, 0},
		{"behind the gap, few", 38, 30, GAP, 117000000, 30, 38, 1, 0},
		{"behind the gap, two", 32, 30, GAP, 117000000, 30, 32, 1, 0},
		{"one read, then operations", 38, 30, GAP, 117000000, 30, 30, 1, 0},
		{"three operations, then reads", 38, 30, GAP, 117000000, 33, 38, 1, 0},
		{"backwards", 38, 30, GAP, WRAP - 117000000, 32, 38, 1, 0},
		{"nearly where it was", 38, 30, GAP, 20000000, 30, 38, 1, 0},
		{"where it was", 38, 30, GAP, 0, 30, 38, 1, 1},
		{"no gap, a read now and then", 60, 34, 0, 20000000, 36, 60, 6, 0},
		{"no gap, where it was", 60, 34, 0, 0, 36, 60, 6, 6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		struct clock_run run;
		uint32_t n_reads;

		print_message("%s\n", stories[i].name);
		n_reads = push_story(&run, &stories[i]);
		clock_run_unwrap(&run, NULL);
		assert_int_equal(count_reads(&run), n_reads);
		clock_run_calibrate(&run, NULL);
		check_story(&run, &stories[i]);
		clock_run_release(&run);
	}
}

/* -- lies ------------------------------------------------------------------------------------ */

/* Two reads beside the operations 18 and 22 of 40. */
struct lies {
	const char *name;
	uint64_t ticks[2]; /* what they show; 0 = there is none */
	uint32_t last_read;
	uint32_t first_read;
};

/* Returns how many reads are true. */
static uint32_t push_lies(struct clock_run *run, const struct story *story, const struct lies *lies)
{
	uint32_t n_true = 0;

	clock_run_init(run);
	clock_run_counter(run)->counter_bits = 48;
	for (uint32_t at = 0; at < story->n_ops; at++) {
		uint64_t ns = op_ns(story, at);
		uint64_t lie = at == 18 ? lies->ticks[0] : at == 22 ? lies->ticks[1] : 0;

		if (lie)
			push_read(run, ns - 40000, lie);
		if (at >= lies->first_read && at <= lies->last_read && (at < 18 || at > 22)) {
			push_read(run, ns - 20000, old_ticks(ns - 20000 + 500));
			n_true++;
		}
		push_op(run, ns, old_ticks(ns), at);
	}
	return n_true;
}

static void test_unwrap_wide__keeps_the_axis_when_reads_lie(void **state)
{
	const uint64_t wrong = UINT64_C(0x123456789abc), apart = 4 * PERIOD;
	static const struct story story = {.n_ops = 40};
	const uint64_t high[] = {old_ticks(op_ns(&story, 18) - 40000 + 500) + 99 * WRAP,
	                         old_ticks(op_ns(&story, 22) - 40000 + 500) + 99 * WRAP};
	const struct lies cases[] = {
		{"one", {wrong, 0}, 40, 0},
		{"one, the last", {wrong, 0}, 17, 0},
		{"two that disagree, the last", {wrong, wrong + 2 * apart}, 17, 0},
		{"two that are stuck, the last", {wrong, wrong}, 17, 0},
		{"two that agree, but not with the operations", {wrong, wrong + apart}, 17, 0},
		{"two that agree, near the operations",
	         {high[0] + 20000000, high[1] + 20000000},
	         17,
	         0},
		{"one whose high bits are wrong", {high[0], 0}, 17, 0},
		{"one whose high bits are wrong, the first", {high[0], 0}, 40, 23},
		{"two whose high bits are wrong, then true ones", {high[0], high[1]}, 40, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table_cursor cursor;
		const struct tick_op *op;
		struct clock_run run;
		uint32_t n_true, n_certified = 0;

		print_message("%s\n", cases[i].name);
		n_true = push_lies(&run, &story, &cases[i]);
		clock_run_unwrap(&run, NULL);
		assert_int_equal(count_reads(&run), n_true);
		clock_run_calibrate(&run, NULL);
		table_read(&cursor, &run.out.ops, false);
		while ((op = table_next(&cursor, sizeof(*op)))) {
			n_certified += op->status == TIME_CERTIFIED;
			assert_int_equal(op->segment, 0);
		}
		assert_int_equal(n_certified, story.n_ops);
		assert_int_equal(run.ledger.warnings[WARNING_RESETS], 0);
		clock_run_release(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwrap_wide__tells_a_reset_that_stamps_hide),
		cmocka_unit_test(test_unwrap_wide__keeps_the_axis_when_reads_lie),
	};

	return cmocka_run_group_tests_name("unwrap_wide", tests, NULL, NULL);
}
