/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "clock_truth.h"
#include "unwrap_fixture.h"

/* Ten operations, 100 us apart. */
static void add_ops(char *text, size_t bytes, uint64_t host_ns, uint64_t ticks)
{
	for (uint32_t i = 0; i < 10; i++)
		add_op(text, bytes, host_ns + 100000 * i, ticks + 100000 * i, i);
}

/* -- epochs ---------------------------------------------------------------------------------- */

static void test_unwrap__survives_a_gap_of_many_wraps(void **state)
{
	const uint64_t gap = 1000 * WRAP + 12345;
	char text[8192] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000000, 77);
	for (uint32_t i = 1; i <= 10; i++) /* so that the rate is known well enough */
		add_op(text, sizeof(text), 1000000 + 300000000 * i, 77 + 300000000 * i, 10 + i);
	add_ops(text, sizeof(text), 1000000 + gap, 77 + gap);
	fixture = unwrap_text(state, text);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(op_at(fixture, i)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 20)->ticks[0] - op_at(fixture, 0)->ticks[0], gap);
	assert_int_equal(op_at(fixture, 20)->segment, 0);
	assert_int_equal(fixture->out.brackets.n_rows, 30);
}

/* 500 ppm over 600 s are 0.3 s: more than any bracket, less than what a rate is trusted for. */
static void test_unwrap__doubts_the_rate_over_a_gap(void **state)
{
	const uint64_t gap = UINT64_C(600000000000), ticks = UINT64_C(600300000000);
	char text[16384] = "";
	struct fixture *fixture;

	for (uint32_t i = 0; i < 20; i++)
		add_op(text, sizeof(text), 1000000 + 300000000 * (uint64_t)i,
		       77 + 300000000 * (uint64_t)i, i);
	for (uint32_t i = 0; i < 20; i++)
		add_op(text, sizeof(text), 1000000 + gap + 300000000 * (uint64_t)(20 + i),
		       77 + ticks + 300000000 * (uint64_t)(20 + i), 20 + i);
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 20)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 20)->segment, 0);
	assert_int_equal(op_at(fixture, 20)->ticks[0] - op_at(fixture, 19)->ticks[0],
	                 ticks + 300000000);
}

static void test_unwrap__splits_where_a_gap_is_too_long(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;

	add_op(text, sizeof(text), 1000000, 77, 1);
	add_op(text, sizeof(text), UINT64_C(3600000000000), 99, 2);
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 0)->segment, 0);
	assert_int_equal(op_at(fixture, 1)->segment, 1);
	assert_int_equal(op_at(fixture, 1)->status, TIME_CERTIFIED);
}

static void test_unwrap__sees_a_wrap_inside_an_operation(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;
	const struct tick_op *op;

	add_ops(text, sizeof(text), 1000000, WRAP - 500000 - 5500);
	fixture = unwrap_text(state, text);
	op = op_at(fixture, 5);
	assert_int_equal(op->ticks[2], WRAP - 500);
	assert_int_equal(op->ticks[3], WRAP + 500);
	assert_int_equal(op_at(fixture, 6)->ticks[0], WRAP + 100000 - 5500 + 3000);
	assert_int_equal(op_at(fixture, 9)->status, TIME_CERTIFIED);
}

static void test_unwrap__turns_garbage_away(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000000, 77);
	add_op(text, sizeof(text), 2000000, 3000000000u, 10);
	for (uint32_t i = 0; i < 10; i++)
		add_op(text, sizeof(text), 3000000 + 100000 * i, 77 + 2000000 + 100000 * i, 11 + i);
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 10)->status, TIME_OUTLIER);
	assert_int_equal(op_at(fixture, 20)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 20)->segment, 0);
	assert_int_equal(fixture->out.brackets.n_rows, 20);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_OUTLIER), 1);
}

static void test_unwrap__turns_garbage_at_the_start_away(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;

	add_op(text, sizeof(text), 900000, 1000, 1);
	add_op(text, sizeof(text), 950000, 3000000000u, 2);
	add_ops(text, sizeof(text), 1000000, 101000);
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 1)->status, TIME_OUTLIER);
	assert_int_equal(op_at(fixture, 2)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 0)->segment, op_at(fixture, 2)->segment);
}

static void test_unwrap__begins_a_segment_at_a_reset(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000000, 2000000000);
	add_ops(text, sizeof(text), 9000000, 50);
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 9)->segment, 0);
	assert_int_equal(op_at(fixture, 10)->segment, 1);
	assert_int_equal(op_at(fixture, 19)->segment, 1);
	assert_int_equal(op_at(fixture, 10)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 10)->ticks[0], 3050);
}

/* Marks of no run are taken as written just before their batch: here, behind a reset. */
static void test_unwrap__puts_marks_of_no_run_into_the_segment_of_their_batch(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000000, 2000000000);
	add_ops(text, sizeof(text), 9000000, 50);
	strcat(text, "9950000 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=0 "
	             "dropped=0 words=mark:3:900000,run:7:910000,mark:3:920000\n");
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->out.mark_runs.n_rows, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(run_of_mark_at(fixture, i)->segment, 1);
		assert_int_equal(run_of_mark_at(fixture, i)->run, 7 * i);
		assert_int_equal(mark_at(fixture, i)->ticks, 900000 + 20000 * i);
	}
}

static void test_unwrap__puts_a_32_bit_stamp_on_the_whole_counter(void **state)
{
	const uint64_t base = 5 * WRAP + 1000;
	char text[8192] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000000, base);
	strcat(text,
	       "2500000 1 1 clock_sync device=0 domain=0 host_before_ns=2499000 "
	       "ticks=21476336480 host_after_ns=2500000\n"); /* 5 wraps + 1000 + 1500000 - 1500 */
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 0)->ticks[0], base + 3000);
	assert_int_equal(op_at(fixture, 9)->ticks[4], base + 907000);
	assert_int_equal(bracket_at(fixture, 10)->source, BRACKET_SYNC);
	assert_int_equal(bracket_at(fixture, 10)->first_ticks, UINT64_C(21476336480));
	assert_int_equal(fixture->ledger->evidence[RECORD_CLOCK_SYNC], 1);
}

static void test_unwrap__assumes_what_is_longer_than_a_wrap(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;
	const struct tick_op *op;

	add_ops(text, sizeof(text), 1000000, 77);
	for (uint32_t i = 1; i <= 10; i++)
		add_op(text, sizeof(text), 1000000 + 300000000 * i, 77 + 300000000 * i, 10 + i);
	/* submit at 4 s, done 10 s later: two wraps and more in TS3..TS4 */
	strcat(text,
	       "14000001000 1 1 device_op device=0 domain=0 queue=0 job=50 correlation=0 kind=1 "
	       "name=long submit_ns=4000000000 complete_ns=14000000000 "
	       "ts=3999004077,3999005077,3999006077,1115063485,1115064485\n");
	for (uint32_t i = 0; i < 10; i++)
		add_op(text, sizeof(text), UINT64_C(14001000000) + 100000 * i,
		       UINT64_C(14000000077) + 100000 * i, 60 + i);
	fixture = unwrap_text(state, text);
	op = op_at(fixture, 20);
	assert_int_equal(op->status, TIME_ASSUMED);
	assert_int_equal(op->ticks[0], 3999004077u);
	assert_int_equal(op->ticks[2] - op->ticks[0], 2000);
	assert_int_equal(op->ticks[3], 1115063485u + 3 * WRAP);
	assert_int_equal(op->ticks[4] - op->ticks[3], 1000);
	assert_int_equal(op_at(fixture, 30)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 30)->segment, 0);
	assert_int_equal(fixture->out.brackets.n_rows, 30); /* not the long one */
}

static void test_unwrap__places_one_operation(void **state)
{
	char text[1024] = "";
	struct fixture *fixture;

	add_op(text, sizeof(text), 1000000, 77, 1);
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 0)->ticks[4], 7077);
	assert_int_equal(fixture->out.brackets.n_rows, 1);
}

static void test_unwrap__keeps_stamps_that_were_not_taken_at_zero(void **state)
{
	struct fixture *fixture = unwrap_text(
		state,
		"2000 1 1 device_op device=0 domain=0 queue=0 job=1 correlation=0 kind=1 name=k "
		"submit_ns=1000 complete_ns=1900 ts=0,100,0,300,0\n"
		"4000 1 1 device_op device=0 domain=0 queue=0 job=2 correlation=0 kind=1 name=k "
		"submit_ns=3000 complete_ns=3900 ts=0,0,0,0,0\n");

	assert_int_equal(op_at(fixture, 0)->ticks[0], 0);
	assert_int_equal(op_at(fixture, 0)->ticks[1], 100);
	assert_int_equal(op_at(fixture, 0)->ticks[2], 0);
	assert_int_equal(op_at(fixture, 0)->ticks[3], 300);
	assert_int_equal(op_at(fixture, 1)->status, TIME_UNMATCHED);
	assert_int_equal(op_at(fixture, 1)->ticks[0], 0);
	assert_int_equal(op_at(fixture, 1)->complete_host_ns, 3900);
}

/* Either one may be the false one, or both. What slipped by a few ticks is the later one. */
static void test_unwrap__keeps_neither_of_stamps_that_changed_places(void **state)
{
	struct fixture *fixture = unwrap_text(
		state,
		"2000000 1 1 device_op device=0 domain=0 queue=0 job=1 correlation=0 kind=1 name=k "
		"submit_ns=1000000 complete_ns=1900000 ts=100000,300000,200000,400000,500000\n"
		"4000000 1 1 device_op device=0 domain=0 queue=0 job=2 correlation=0 kind=1 name=k "
		"submit_ns=3000000 complete_ns=3900000 "
		"ts=2100000,2200000,2199996,2400000,2500000\n");
	const uint64_t *far = op_at(fixture, 0)->ticks, *near = op_at(fixture, 1)->ticks;

	assert_true(far[0] && !far[1] && !far[2] && far[3] && far[4]);
	assert_true(near[0] && near[1] && !near[2] && near[3] && near[4]);
	assert_int_equal(far[4] - far[0], 400000);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_STAMP_ORDER), 3);
}

static void test_unwrap__assumes_what_has_no_bracket(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000000, WRAP - 400000);
	strcat(text,
	       "2500000 1 1 device_op device=0 domain=0 queue=0 job=70 correlation=0 kind=1 "
	       "name=k submit_ns=0 complete_ns=0 ts=1000000,1000001,1000002,1000003,1000004\n");
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 10)->status, TIME_ASSUMED);
	assert_int_equal(op_at(fixture, 10)->ticks[0], WRAP + 1000000);
	assert_int_equal(op_at(fixture, 10)->complete_host_ns, 0);
	assert_int_equal(fixture->out.brackets.n_rows, 10);
}

/* -- hostile --------------------------------------------------------------------------------- */

static void test_unwrap__makes_nothing_of_nothing(void **state)
{
	struct fixture *fixture = unwrap_text(state, "");

	assert_int_equal(fixture->out.ops.n_rows + fixture->out.marks.n_rows +
	                         fixture->out.brackets.n_rows + fixture->out.sync_points.n_rows,
	                 0);
}

static uint64_t mixed(uint64_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	return z ^ (z >> 27);
}

/* Values that a broken runtime could write, all mixed: nothing may overflow, hang or be lost. */
static void test_unwrap__survives_extremes(void **state)
{
	static const uint64_t odd[] = {0,         1,          UINT32_MAX, WRAP,
	                               INT64_MAX, UINT64_MAX, 1000,       (uint64_t)1 << 57};
	struct clock_run run;
	struct table_cursor cursor;
	const struct tick_op *op;

	(void)state;
	clock_run_init(&run);
	for (uint64_t i = 0; i < 2000; i++) {
		struct record_device_op record = {
			.job = odd[mixed(8 * i) % 8],
			.submit_ns = odd[mixed(8 * i + 1) % 8],
			.complete_ns = odd[mixed(8 * i + 2) % 8],
			.ticks32 = {(uint32_t)mixed(8 * i + 3), 0, (uint32_t)odd[i % 8],
		                    (uint32_t)mixed(8 * i + 4), UINT32_MAX},
		};
		struct record_clock_sync sync = {
			.host_before_ns = odd[mixed(8 * i + 5) % 8],
			.ticks = odd[mixed(8 * i + 6) % 8],
			.host_after_ns = odd[mixed(8 * i + 7) % 8],
		};

		clock_run_push(&run, &record.head, RECORD_DEVICE_OP, odd[i % 8], sizeof(record));
		clock_run_push(&run, &sync.head, RECORD_CLOCK_SYNC, odd[i % 8], sizeof(sync));
	}
	clock_run_finish(&run, NULL);
	assert_int_equal(run.out.ops.n_rows, 2000);
	table_read(&cursor, &run.out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op))))
		clocks_place(run.clocks, op->counter, op->segment, op->ticks[4]);
	clock_run_release(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_unwrap__##name, fixture_start, fixture_stop)
	const struct CMUnitTest tests[] = {
		TEST(survives_a_gap_of_many_wraps),
		TEST(doubts_the_rate_over_a_gap),
		TEST(splits_where_a_gap_is_too_long),
		TEST(sees_a_wrap_inside_an_operation),
		TEST(turns_garbage_away),
		TEST(turns_garbage_at_the_start_away),
		TEST(begins_a_segment_at_a_reset),
		TEST(puts_marks_of_no_run_into_the_segment_of_their_batch),
		TEST(puts_a_32_bit_stamp_on_the_whole_counter),
		TEST(assumes_what_is_longer_than_a_wrap),
		TEST(places_one_operation),
		TEST(keeps_stamps_that_were_not_taken_at_zero),
		TEST(keeps_neither_of_stamps_that_changed_places),
		TEST(assumes_what_has_no_bracket),
		TEST(makes_nothing_of_nothing),
		TEST(survives_extremes),
	};

	return cmocka_run_group_tests_name("unwrap", tests, NULL, NULL);
}
