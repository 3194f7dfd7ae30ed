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
#include "text_source.h"

#define WRAP (UINT64_C(1) << 32)

/* -- from text to what unwrap makes of it ----------------------------------------------------------------- */

struct fixture {
	struct text_source source;
	struct identity identity;
	struct ledger *ledger; /* weak: the decoder's */
	struct unwrap_output out;
};

static const char definitions[] =
	"10 1 1 process rank=0 world_size=1 pid=1 start_ns=5 time_ns=10 boot_id=b host=h program=p "
	"runtime=r version=1 session=mine\n"
	"11 2 2 process rank=1 world_size=1 pid=2 start_ns=5 time_ns=10 boot_id=b host=h program=p "
	"runtime=r version=1 session=theirs\n"
	"12 1 1 clock_domain device=0 domain=0 counter_bits=32 nominal_hz=0 rate_group=0\n"
	"12 1 1 clock_domain device=0 domain=7 counter_bits=64 nominal_hz=0 rate_group=0\n";

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	fixture->ledger = &fixture->source.decoder.ledger;
	return text_source_init(&fixture->source);
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	table_release(&fixture->out.ops);
	table_release(&fixture->out.marks);
	table_release(&fixture->out.brackets);
	table_release(&fixture->out.sync_points);
	identity_release(&fixture->identity);
	text_source_release(&fixture->source);
	free(fixture);
	return 0;
}

static void read_all(struct fixture *fixture, enum record_table table, struct unwrap *unwrap)
{
	struct gather gather;
	const struct record *record;
	uint32_t stream;

	assert_int_equal(gather_init(&gather, &fixture->source.set, table, true), 0);
	while (gather_next(&gather, &record, &stream)) {
		const struct stream *of = fixture->source.set.streams[stream];

		if (table == TABLE_DEFINITIONS)
			assert_int_equal(
				identity_push(&fixture->identity, of, record, fixture->ledger), 0);
		else
			assert_int_equal(unwrap_push(unwrap, of, stream, record), 0);
	}
	gather_release(&gather);
}

static struct fixture *unwrap_text(void **state, const char *text)
{
	struct fixture *fixture = *state;
	struct flextrace_error error = {0};
	struct unwrap *unwrap;

	if (text_source_read(&fixture->source, definitions, &error) < 0 ||
	    text_source_read(&fixture->source, text, &error) < 0)
		fail_msg("%s", error.message);
	stream_set_sort(&fixture->source.set);
	assert_int_equal(identity_init(&fixture->identity, fixture->source.strings, "mine"), 0);
	read_all(fixture, TABLE_DEFINITIONS, NULL);
	assert_int_equal(identity_finish(&fixture->identity, &fixture->source.set, fixture->ledger),
	                 0);
	unwrap = unwrap_new(&fixture->identity, fixture->ledger);
	assert_non_null(unwrap);
	read_all(fixture, TABLE_EVIDENCE, unwrap);
	assert_int_equal(unwrap_finish(unwrap, &fixture->out, &error), 0);
	unwrap_free(unwrap);
	return fixture;
}

static const struct tick_op *op_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.ops, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct tick_op)));
	return table_next(&cursor, sizeof(struct tick_op));
}

static const struct tick_mark *mark_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.marks, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct tick_mark)));
	return table_next(&cursor, sizeof(struct tick_mark));
}

static const struct bracket *bracket_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.brackets, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct bracket)));
	return table_next(&cursor, sizeof(struct bracket));
}

static const struct sync_point *point_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.sync_points, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct sync_point)));
	return table_next(&cursor, sizeof(struct sync_point));
}

/* A device_op at 1 GHz whose first stamp is `ticks`, 1000 ticks between stamps, in a bracket of 10 us. */
static void add_op(char *text, size_t bytes, uint64_t host_ns, uint64_t ticks, uint32_t job)
{
	size_t used = strlen(text);

	snprintf(text + used, bytes - used,
	         "%llu 1 1 device_op device=0 domain=0 queue=0 job=%u correlation=0 kind=1 name=k "
	         "submit_ns=%llu complete_ns=%llu ts=%u,%u,%u,%u,%u\n",
	         (unsigned long long)host_ns + 10000, job, (unsigned long long)host_ns,
	         (unsigned long long)host_ns + 9000, (uint32_t)(ticks + 3000),
	         (uint32_t)(ticks + 4000), (uint32_t)(ticks + 5000), (uint32_t)(ticks + 6000),
	         (uint32_t)(ticks + 7000));
}

/* Ten operations, 100 us apart. */
static void add_ops(char *text, size_t bytes, uint64_t host_ns, uint64_t ticks)
{
	for (uint32_t i = 0; i < 10; i++)
		add_op(text, bytes, host_ns + 100000 * i, ticks + 100000 * i, i);
}

/* -- epochs --------------------------------------------------------------------------------------- */

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
	assert_int_equal(fixture->ledger->warnings[WARNING_OUTLIERS], 1);
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

/* -- submit, complete, host_estimate ---------------------------------------------------------------------- */

#define BARE_OP(clock, job, first)                                  \
#clock " 1 1 device_op device=0 domain=0 queue=0 job=" #job \
	       " correlation=0 kind=1 name=k submit_ns=0 complete_ns=0 ts=" #first ",0,0,0,0\n"

static void test_unwrap__gives_an_operation_its_bracket(void **state)
{
	struct fixture *fixture = unwrap_text(
		state, "1000 1 1 submit device=0 queue=0 job=1 correlation=5 name=k host_ns=1000\n"
		       "2000 1 1 complete device=0 queue=0 job=1 correlation=5 name=k "
		       "host_ns=1990\n" BARE_OP(2100, 1, 500));

	assert_int_equal(fixture->out.ops.n_rows, 1);
	assert_int_equal(op_at(fixture, 0)->submit_host_ns, 1000);
	assert_int_equal(op_at(fixture, 0)->complete_host_ns, 1990);
	assert_int_equal(op_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(bracket_at(fixture, 0)->before_host_ns, 1000);
	assert_int_equal(bracket_at(fixture, 0)->after_host_ns, 1990);
	assert_int_equal(fixture->ledger->evidence[RECORD_SUBMIT], 1);
	assert_int_equal(fixture->ledger->evidence[RECORD_COMPLETE], 1);
}

static void test_unwrap__matches_a_job_that_comes_again_in_order(void **state)
{
	struct fixture *fixture = unwrap_text(
		state, "1000 1 1 submit device=0 queue=0 job=1 correlation=5 name=k host_ns=1000\n"
		       "2000 1 1 complete device=0 queue=0 job=1 correlation=5 name=k "
		       "host_ns=2000\n" BARE_OP(2100, 1, 500) /* the next submit was lost */
		"4000 1 1 complete device=0 queue=0 job=1 correlation=5 name=k "
		"host_ns=4000\n" BARE_OP(
			4100, 1,
			2500) "5000 1 1 submit device=0 queue=0 job=1 correlation=5 name=k "
			      "host_ns=5000\n" BARE_OP(6100, 1, 4500) "6200 1 1 complete device=0 "
								      "queue=0 job=1 correlation=5 "
								      "name=k host_ns=6150\n");

	assert_int_equal(fixture->out.ops.n_rows, 3);
	assert_int_equal(op_at(fixture, 1)->submit_host_ns, 0);
	assert_int_equal(op_at(fixture, 1)->complete_host_ns, 4000);
	assert_int_equal(op_at(fixture, 2)->submit_host_ns, 5000);
	assert_int_equal(op_at(fixture, 2)->complete_host_ns, 6150);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_UNMATCHED_SUBMIT), 0);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_BRACKET_DISAGREES), 0);
}

static void test_unwrap__counts_brackets_that_disagree(void **state)
{
	char text[2048] = "1000000 1 1 submit device=0 queue=0 job=1 correlation=5 name=k "
			  "host_ns=999000\n"
			  "1009000 1 1 complete device=0 queue=0 job=1 correlation=5 name=k "
			  "host_ns=1009000\n";
	struct fixture *fixture;

	add_op(text, sizeof(text), 1000000, 77, 1);
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 0)->submit_host_ns, 1000000);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_BRACKET_DISAGREES), 1);
	assert_int_equal(fixture->ledger->evidence[RECORD_SUBMIT], 1);
}

static void test_unwrap__counts_edges_that_nothing_owns(void **state)
{
	struct fixture *fixture = unwrap_text(
		state,
		"1000 1 1 submit device=0 queue=0 job=1 correlation=1 name=k host_ns=1000\n"
		"1100 1 1 complete device=0 queue=0 job=2 correlation=2 name=k host_ns=1100\n"
		"1200 1 1 submit device=0 queue=1 job=3 correlation=3 name=pair host_ns=1200\n"
		"1900 1 1 complete device=0 queue=1 job=3 correlation=3 name=pair host_ns=1900\n");
	const struct tick_op *pair = op_at(fixture, 0);

	assert_int_equal(fixture->ledger->discarded[RECORD_SUBMIT][LOSS_UNMATCHED_SUBMIT], 1);
	assert_int_equal(fixture->ledger->discarded[RECORD_COMPLETE][LOSS_UNMATCHED_COMPLETE], 1);
	assert_int_equal(fixture->out.ops.n_rows, 1);
	assert_int_equal(pair->class, RECORD_SUBMIT);
	assert_int_equal(pair->status, TIME_UNMATCHED);
	assert_int_equal(pair->submit_host_ns, 1200);
	assert_int_equal(pair->complete_host_ns, 1900);
	assert_int_equal(pair->queue, 1);
	assert_int_equal(fixture->ledger->evidence[RECORD_COMPLETE], 1);
	assert_int_equal(fixture->ledger->evidence[RECORD_SUBMIT], 0); /* derive books it */
	assert_int_equal(fixture->out.brackets.n_rows, 0);
}

static void test_unwrap__takes_an_estimate_where_there_is_no_bracket(void **state)
{
	struct fixture *fixture = unwrap_text(
		state,
		BARE_OP(1000, 1, 500) BARE_OP(
			3000, 2,
			2500) "3100 1 1 host_estimate device=0 queue=0 job=1 kind=1 begin_ns=500 "
			      "end_ns=900 "
			      "source=flex\n"
			      "3200 1 1 host_estimate device=0 queue=0 job=2 kind=1 begin_ns=2500 "
			      "end_ns=2900 source=flex\n");

	assert_int_equal(op_at(fixture, 1)->status, TIME_ASSUMED);
	assert_int_equal(fixture->out.brackets.n_rows, 2);
	assert_int_equal(bracket_at(fixture, 1)->source, BRACKET_ESTIMATE);
	assert_int_equal(bracket_at(fixture, 1)->after_host_ns, 2900);
	assert_int_equal(fixture->ledger->evidence[RECORD_HOST_ESTIMATE], 2);
}

static void test_unwrap__leaves_other_recordings_out(void **state)
{
	struct fixture *fixture = unwrap_text(
		state,
		"1000 2 2 submit device=0 queue=0 job=1 correlation=1 name=k host_ns=1000\n"
		"1100 2 2 clock_sync device=0 domain=0 host_before_ns=1 ticks=5 host_after_ns=2\n"
		"1200 2 2 device_op device=0 domain=0 queue=0 job=1 correlation=0 kind=1 name=k "
		"submit_ns=1 complete_ns=2 ts=1,2,3,4,5\n"
		"1300 2 2 marker_batch device=0 core=0 processor=0 domain=0 first_index=0 "
		"dropped=0 "
		"words=mark:1:5\n"
		"1400 2 2 collective group=g seq=1 op=all_reduce bytes=1 peers=\"\" phase=0\n"
		"1500 2 2 host_estimate device=0 queue=0 job=1 kind=1 begin_ns=1 end_ns=2 "
		"source=x\n");

	assert_int_equal(ledger_total(fixture->ledger, LOSS_FOREIGN_PROCESS),
	                 6 + 1); /* + process */
	assert_int_equal(fixture->out.ops.n_rows + fixture->out.marks.n_rows +
	                         fixture->out.brackets.n_rows + fixture->out.sync_points.n_rows,
	                 0);
}

/* -- collectives ---------------------------------------------------------------------------------- */

static void test_unwrap__pairs_the_halves_of_a_collective(void **state)
{
	struct fixture *fixture = unwrap_text(
		state,
		"1000 1 1 collective group=g seq=1 op=all_reduce bytes=64 peers=\"\" phase=0\n"
		"1100 1 3 collective group=h seq=1 op=barrier bytes=0 peers=\"\" phase=0\n"
		"1200 1 1 collective group=g seq=1 op=all_reduce bytes=64 peers=\"\" phase=1\n"
		"1300 1 1 collective group=g seq=2 op=all_reduce bytes=64 peers=\"\" phase=1\n");

	assert_int_equal(fixture->out.sync_points.n_rows, 3);
	assert_int_equal(point_at(fixture, 0)->enter_host_ns, 1000);
	assert_int_equal(point_at(fixture, 0)->exit_host_ns, 1200);
	assert_int_equal(point_at(fixture, 0)->bytes, 64);
	assert_int_equal(point_at(fixture, 1)->exit_host_ns, INT64_MAX);
	assert_int_equal(point_at(fixture, 2)->enter_host_ns, INT64_MIN);
	assert_int_equal(point_at(fixture, 2)->exit_host_ns, 1300);
	assert_int_equal(fixture->ledger->rows[RECORD_COLLECTIVE], 2);
	assert_int_equal(fixture->ledger->evidence[RECORD_COLLECTIVE], 2);
}

/* -- markers -------------------------------------------------------------------------------------- */

/* Run 1 of job 9, whose counter stands at 5 wraps + 1000 at FW start, with its operation. */
static const char one_run[] =
	"2000 1 1 device_op device=0 domain=0 queue=0 job=9 correlation=0 kind=1 name=k "
	"submit_ns=1000 complete_ns=1900 ts=1100,1200,1300,1400,1500\n"
	"3000 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=1 dropped=0 "
	"words=slot:1:9,queue:1:0,anchor_lo:0:1000,anchor_hi:0:5,stamp:0:1000,stamp:4:1100,"
	"stamp:8:1500,stamp:3:1600\n";

static void test_unwrap__ties_a_run_to_its_operation(void **state)
{
	struct fixture *fixture = unwrap_text(state, one_run);

	assert_int_equal(op_at(fixture, 0)->ticks[0], 5 * WRAP + 1100);
	assert_int_equal(op_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(fixture->out.marks.n_rows, 4);
	assert_int_equal(mark_at(fixture, 0)->id, FLEXTRACE_WIRE_FW_START);
	assert_int_equal(mark_at(fixture, 0)->kind, FLEXTRACE_WIRE_SLOT_STAMP);
	assert_int_equal(mark_at(fixture, 0)->ticks, 5 * WRAP + 1000);
	assert_int_equal(mark_at(fixture, 0)->job, 9);
	assert_int_equal(mark_at(fixture, 0)->run, 1);
	assert_int_equal(mark_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(mark_at(fixture, 1)->id, FLEXTRACE_WIRE_FW_END);
	assert_int_equal(mark_at(fixture, 1)->ticks, 5 * WRAP + 1600);
	assert_int_equal(fixture->ledger->evidence[RECORD_MARKER_BATCH], 0); /* derive books it */
	assert_int_equal(bracket_at(fixture, 0)->first_ticks, 5 * WRAP + 1000); /* the run's */
	assert_int_equal(bracket_at(fixture, 0)->before_host_ns, 1000);
}

static void test_unwrap__gives_a_core_clock_the_bracket_of_its_runs(void **state)
{
	char text[2048];
	struct fixture *fixture;

	snprintf(text, sizeof(text), "%s%s", one_run,
	         "3100 1 1 marker_batch device=0 core=1 processor=0 domain=7 first_index=1 "
	         "dropped=0 "
	         "words=slot:1:9,queue:1:0,anchor_lo:0:77,anchor_hi:0:1,stamp:0:77,stamp:3:99\n");
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->out.brackets.n_rows, 3);
	assert_int_equal(bracket_at(fixture, 2)->first_ticks, WRAP + 77);
	assert_int_equal(bracket_at(fixture, 2)->before_host_ns, 1000);
	assert_int_equal(bracket_at(fixture, 2)->after_host_ns, 1900);
	assert_int_not_equal(bracket_at(fixture, 2)->counter, bracket_at(fixture, 0)->counter);
}

static void test_unwrap__unwraps_ring_records_from_their_run(void **state)
{
	char text[2048];
	struct fixture *fixture;

	snprintf(
		text, sizeof(text), "%s%s", one_run,
		"3100 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=4 "
		"dropped=0 "
		"words=mark:3:900,run:1:1000,begin:16:1010,value:48:1020,data:48:77,end:32:1030\n");
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->out.marks.n_rows, 8);
	assert_int_equal(mark_at(fixture, 4)->kind, FLEXTRACE_WIRE_MARK);
	assert_int_equal(mark_at(fixture, 4)->ticks, 5 * WRAP + 900); /* of a run before */
	assert_int_equal(mark_at(fixture, 4)->status, TIME_ASSUMED);
	assert_int_equal(mark_at(fixture, 5)->ticks, 5 * WRAP + 1010);
	assert_int_equal(mark_at(fixture, 5)->run, 1);
	assert_int_equal(mark_at(fixture, 5)->job, 9);
	assert_int_equal(mark_at(fixture, 5)->status, TIME_CERTIFIED);
	assert_int_equal(mark_at(fixture, 6)->value, 77);
	assert_int_equal(mark_at(fixture, 7)->ticks, 5 * WRAP + 1030);
}

static void test_unwrap__counts_what_the_ring_dropped(void **state)
{
	struct fixture *fixture = unwrap_text(
		state, "1000 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=0 "
		       "dropped=3 "
		       "words=mark:1:10\n"
		       "2000 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=1 "
		       "dropped=5 "
		       "words=mark:1:20\n"
		       "3000 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=12 "
		       "dropped=5 "
		       "words=mark:1:30\n"
		       "4000 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=13 "
		       "dropped=9 "
		       "words=\n"
		       "5000 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=4 "
		       "dropped=2 "
		       "words=slot:4:1,queue:1:0,anchor_lo:0:7,anchor_hi:0:0,stamp:0:7\n");

	assert_int_equal(ledger_total(fixture->ledger, LOSS_RING_DROPPED), 3 + 2 + 10 + 4);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_RUN_OVERWRITTEN), 2);
	assert_int_equal(fixture->ledger->evidence[RECORD_MARKER_BATCH], 1);
	assert_int_equal(fixture->out.marks.n_rows, 4);
}

static void test_unwrap__counts_words_it_cannot_read(void **state)
{
	struct fixture *fixture = unwrap_text(
		state, "1000 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=0 "
		       "dropped=0 words=mark:1:10,data:1:11,stamp:1:12,mark:1:13\n"
		       "2000 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=1 "
		       "dropped=0 words=queue:1:0,stamp:20:5,slot:1:1,mark:1:1,stamp:0:9\n");

	assert_int_equal(fixture->out.marks.n_rows, 2);
	assert_int_equal(mark_at(fixture, 1)->ticks - mark_at(fixture, 0)->ticks, 3);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_MALFORMED), 2 + 5);
	assert_int_equal(fixture->ledger->evidence[RECORD_MARKER_BATCH], 1);
}

static void test_unwrap__orders_marks_by_area(void **state)
{
	struct fixture *fixture = unwrap_text(
		state, "1000 1 1 marker_batch device=0 core=1 processor=0 domain=0 first_index=0 "
		       "dropped=0 words=mark:1:10\n"
		       "1100 1 1 marker_batch device=0 core=0 processor=1 domain=0 first_index=0 "
		       "dropped=0 words=mark:2:20\n"
		       "1200 1 1 marker_batch device=0 core=1 processor=0 domain=0 first_index=1 "
		       "dropped=0 words=mark:3:30\n"
		       "1300 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=0 "
		       "dropped=0 words=mark:4:40\n");
	const uint32_t expected[] = {4, 2, 1, 3};

	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(mark_at(fixture, i)->id, expected[i]);
}

/* -- hostile -------------------------------------------------------------------------------------- */

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
#define TEST(name) cmocka_unit_test_setup_teardown(test_unwrap__##name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(survives_a_gap_of_many_wraps),
		TEST(splits_where_a_gap_is_too_long),
		TEST(sees_a_wrap_inside_an_operation),
		TEST(turns_garbage_away),
		TEST(turns_garbage_at_the_start_away),
		TEST(begins_a_segment_at_a_reset),
		TEST(puts_a_32_bit_stamp_on_the_whole_counter),
		TEST(assumes_what_is_longer_than_a_wrap),
		TEST(places_one_operation),
		TEST(keeps_stamps_that_were_not_taken_at_zero),
		TEST(assumes_what_has_no_bracket),
		TEST(gives_an_operation_its_bracket),
		TEST(matches_a_job_that_comes_again_in_order),
		TEST(counts_brackets_that_disagree),
		TEST(counts_edges_that_nothing_owns),
		TEST(takes_an_estimate_where_there_is_no_bracket),
		TEST(leaves_other_recordings_out),
		TEST(pairs_the_halves_of_a_collective),
		TEST(ties_a_run_to_its_operation),
		TEST(gives_a_core_clock_the_bracket_of_its_runs),
		TEST(unwraps_ring_records_from_their_run),
		TEST(counts_what_the_ring_dropped),
		TEST(counts_words_it_cannot_read),
		TEST(orders_marks_by_area),
		TEST(makes_nothing_of_nothing),
		TEST(survives_extremes),
	};

	return cmocka_run_group_tests_name("unwrap", tests, NULL, NULL);
}
