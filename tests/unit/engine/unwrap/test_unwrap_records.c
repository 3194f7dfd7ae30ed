/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwrap_fixture.h"

/* -- submit, complete, host_estimate --------------------------------------------------------- */

#define BARE_OP(clock, job, first)                                  \
#clock " 1 1 device_op device=0 domain=0 queue=0 job=" #job \
	       " correlation=0 kind=1 name=k submit_ns=0 complete_ns=0 ts=" #first ",0,0,0,0\n"

static void test_unwrap_records__gives_an_operation_its_bracket(void **state)
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

static void test_unwrap_records__matches_a_job_that_comes_again_in_order(void **state)
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

static void test_unwrap_records__counts_brackets_that_disagree(void **state)
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

static void test_unwrap_records__counts_edges_that_nothing_owns(void **state)
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

static void test_unwrap_records__takes_an_estimate_where_there_is_no_bracket(void **state)
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

#define ESTIMATED_OP(clock, job, kind)                                        \
#clock " 1 1 device_op device=0 domain=0 queue=0 job=" #job           \
	       " correlation=0 kind=1 name=k submit_ns=0 complete_ns=0 "      \
	       "ts=1000,2000,3000,7000,7006\n" #clock                         \
	       " 1 1 host_estimate device=0 queue=0 job=" #job " kind=" #kind \
	       " begin_ns=500000 end_ns=504000 source=flex\n"

static void test_unwrap_records__knows_which_stamps_an_estimate_is_about(void **state)
{
	static const struct {
		const char *text;
		uint64_t from_ticks, to_ticks;
	} cases[] = {
		{ESTIMATED_OP(1000, 1, 0), 1000, 7006}, {ESTIMATED_OP(1000, 1, 1), 1000, 2000},
		{ESTIMATED_OP(1000, 1, 2), 2000, 3000}, {ESTIMATED_OP(1000, 1, 3), 3000, 7000},
		{ESTIMATED_OP(1000, 1, 4), 7000, 7006},
	};

	for (size_t i = 0; i < 5; i++) {
		struct fixture *fixture;

		fixture_stop(state);
		fixture_start(state);
		fixture = unwrap_text(state, cases[i].text);
		assert_int_equal(fixture->out.brackets.n_rows, 2);
		assert_int_equal(bracket_at(fixture, 0)->first_ticks, cases[i].from_ticks);
		assert_int_equal(bracket_at(fixture, 0)->before_host_ns, 500000);
		assert_int_equal(bracket_at(fixture, 1)->last_ticks, cases[i].to_ticks);
		assert_int_equal(bracket_at(fixture, 1)->after_host_ns, 504000);
		assert_int_equal(bracket_at(fixture, 1)->source, BRACKET_ESTIMATE);
		assert_int_equal(op_at(fixture, 0)->ticks[0], 1000);
		assert_int_equal(op_at(fixture, 0)->ticks[4], 7006);
		assert_int_equal(op_at(fixture, 0)->status, TIME_ASSUMED);
	}
}

/* Of many operations an estimate each is as good as two. */
static void test_unwrap_records__takes_one_end_of_many_estimates(void **state)
{
	static const struct {
		uint32_t n;
		uint64_t n_brackets;
	} cases[] = {{100, 200}, {8191, 16382}, {8192, 8192}};

	for (size_t i = 0; i < 3; i++) {
		char *text = malloc(cases[i].n * 400ul + 1), *at = text;
		struct fixture *fixture;

		for (uint32_t k = 0; k < cases[i].n; k++) {
			uint32_t host_ns = 500000 + 10000 * k, ts = 1000 + 10000 * k;

			at += sprintf(at,
			              "%u 1 1 device_op device=0 domain=0 queue=0 job=%u "
			              "correlation=0 kind=1 name=k submit_ns=0 complete_ns=0 "
			              "ts=%u,%u,%u,%u,%u\n%u 1 1 host_estimate device=0 queue=0 "
			              "job=%u kind=3 begin_ns=%u end_ns=%u source=flex\n",
			              host_ns + 4000, k + 1, ts, ts, ts, ts + 4000, ts + 4000,
			              host_ns + 4000, k + 1, host_ns, host_ns + 4000);
		}
		fixture_stop(state);
		fixture_start(state);
		fixture = unwrap_text(state, text);
		assert_int_equal(fixture->out.brackets.n_rows, cases[i].n_brackets);
		assert_int_equal(fixture->out.ops.n_rows, cases[i].n);
		free(text);
	}
}

/* Wherever the estimate stands, and though it lies elsewhere. */
static void test_unwrap_records__believes_a_bracket_rather_than_an_estimate(void **state)
{
	static const char edges[] = "400 1 1 submit device=0 queue=0 job=1 host_ns=400\n";
	static const char op[] = ESTIMATED_OP(1000, 1, 3);
	static const char end[] = "1100 1 1 complete device=0 queue=0 job=1 host_ns=1050\n";
	static const char late[] = "1200 1 1 host_estimate device=0 queue=0 job=1 kind=1 "
				   "begin_ns=600000 end_ns=604000 source=flex\n";
	const char *const orders[][4] = {
		{edges, op, end, ""}, {op, end, "", ""}, {edges, op, end, late}};

	for (size_t i = 0; i < 3; i++) {
		struct fixture *fixture;
		char text[1000] = "";

		fixture_stop(state);
		fixture_start(state);
		for (int k = 0; k < 4; k++)
			strcat(text, orders[i][k]);
		fixture = unwrap_text(state, text);
		assert_int_equal(op_at(fixture, 0)->complete_host_ns, 1050);
		assert_true(op_at(fixture, 0)->submit_host_ns == (i == 1 ? 0 : 400));
		assert_int_equal(fixture->out.brackets.n_rows, i != 1);
		if (i != 1)
			assert_int_equal(bracket_at(fixture, 0)->source, BRACKET_OP);
	}
}

static void test_unwrap_records__leaves_other_recordings_out(void **state)
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

/* -- collectives ----------------------------------------------------------------------------- */

static void test_unwrap_records__pairs_the_halves_of_a_collective(void **state)
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

/* Messages to two peers, and a collective, have one number. */
static void test_unwrap_records__pairs_by_operation_and_peers(void **state)
{
	struct fixture *fixture = unwrap_text(
		state,
		"1000 1 1 collective group=g seq=1 op=MPI_Iallreduce bytes=8 peers=\"\" phase=0\n"
		"1100 1 1 collective group=g seq=1 op=send bytes=8 peers=1 phase=0\n"
		"1200 1 1 collective group=g seq=1 op=send bytes=8 peers=2 phase=0\n"
		"1300 1 1 collective group=g seq=1 op=send bytes=8 peers=1 phase=1\n"
		"1400 1 1 collective group=g seq=1 op=MPI_Iallreduce bytes=8 peers=\"\" phase=1\n"
		"1500 1 1 collective group=g seq=1 op=send bytes=8 peers=2 phase=1\n");

	assert_int_equal(fixture->out.sync_points.n_rows, 3);
	assert_int_equal(point_at(fixture, 0)->exit_host_ns, 1400);
	assert_int_equal(point_at(fixture, 1)->exit_host_ns, 1300);
	assert_int_equal(point_at(fixture, 2)->exit_host_ns, 1500);
}

/* -- markers --------------------------------------------------------------------------------- */

/* Run 1 of job 9, whose counter stands at 5 wraps + 1000 at FW start, with its operation. */
static const char one_run[] =
	"2000 1 1 device_op device=0 domain=0 queue=0 job=9 correlation=0 kind=1 name=k "
	"submit_ns=1000 complete_ns=1900 ts=1100,1200,1300,1400,1500\n"
	"3000 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=1 dropped=0 "
	"words=slot:1:9,queue:1:0,anchor_lo:0:1000,anchor_hi:0:5,stamp:0:1000,stamp:4:1100,"
	"stamp:8:1500,stamp:3:1600\n";

static void test_unwrap_records__ties_a_run_to_its_operation(void **state)
{
	struct fixture *fixture = unwrap_text(state, one_run);

	assert_int_equal(op_at(fixture, 0)->ticks[0], 5 * WRAP + 1100);
	assert_int_equal(op_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(fixture->out.marks.n_rows, 2);
	assert_int_equal(mark_at(fixture, 0)->id, FLEXTRACE_WIRE_FW_START);
	assert_int_equal(mark_at(fixture, 0)->kind, FLEXTRACE_WIRE_SLOT_STAMP);
	assert_int_equal(mark_at(fixture, 0)->ticks, 5 * WRAP + 1000);
	assert_int_equal(run_of_mark_at(fixture, 0)->job, 9);
	assert_int_equal(run_of_mark_at(fixture, 0)->run, 1);
	assert_int_equal(run_of_mark_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(mark_at(fixture, 1)->id, FLEXTRACE_WIRE_FW_END);
	assert_int_equal(mark_at(fixture, 1)->ticks, 5 * WRAP + 1600);
	assert_int_equal(fixture->ledger->evidence[RECORD_MARKER_BATCH], 0); /* derive books it */
	assert_int_equal(bracket_at(fixture, 0)->first_ticks, 5 * WRAP + 1000); /* the run's */
	assert_int_equal(bracket_at(fixture, 0)->before_host_ns, 1000);
}

static void test_unwrap_records__gives_a_core_clock_the_bracket_of_its_runs(void **state)
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

static void test_unwrap_records__unwraps_ring_records_from_their_run(void **state)
{
	char text[2048];
	struct fixture *fixture;

	snprintf(
		text, sizeof(text), "%s%s", one_run,
		"3100 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=4 "
		"dropped=0 "
		"words=mark:3:900,run:1:1000,begin:16:1010,value:48:1020,data:48:77,end:32:1030\n");
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->out.marks.n_rows, 6);
	assert_int_equal(mark_at(fixture, 2)->kind, FLEXTRACE_WIRE_MARK);
	assert_int_equal(mark_at(fixture, 2)->ticks, 5 * WRAP + 900); /* of a run before */
	assert_int_equal(run_of_mark_at(fixture, 2)->status, TIME_ASSUMED);
	assert_int_equal(mark_at(fixture, 3)->ticks, 5 * WRAP + 1010);
	assert_int_equal(run_of_mark_at(fixture, 3)->run, 1);
	assert_int_equal(run_of_mark_at(fixture, 3)->job, 9);
	assert_int_equal(run_of_mark_at(fixture, 3)->status, TIME_CERTIFIED);
	assert_int_equal(mark_at(fixture, 4)->value, 77);
	assert_int_equal(mark_at(fixture, 5)->ticks, 5 * WRAP + 1030);
}

/* The ring starts anew behind a gap: a RUN record may be among what is missing. */
static void test_unwrap_records__doubts_the_run_behind_a_gap(void **state)
{
	char text[2048];
	struct fixture *fixture;

	snprintf(text, sizeof(text), "%s%s", one_run,
	         "3100 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=4 "
	         "dropped=0 words=run:1:1000,mark:3:1010\n"
	         "3200 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=9 "
	         "dropped=0 words=mark:3:1020\n");
	fixture = unwrap_text(state, text);
	assert_int_equal(run_of_mark_at(fixture, 2)->status, TIME_CERTIFIED);
	assert_int_equal(run_of_mark_at(fixture, 3)->status, TIME_ASSUMED);
	assert_int_equal(mark_at(fixture, 3)->ticks, 5 * WRAP + 1020);
}

/* Its bracket is two wraps long, but its run has a 64-bit anchor, and the next run begins soon. */
static void test_unwrap_records__certifies_what_waited_longer_than_a_wrap_by_its_run(void **state)
{
	char text[8192] = "";
	struct fixture *fixture;
	const struct tick_op *op;

	for (uint32_t i = 1; i <= 10; i++)
		add_op(text, sizeof(text), 300000000 * (uint64_t)i, 300000000 * (uint64_t)i, i);
	strcat(text,
	       "13000000100 1 1 device_op device=0 domain=0 queue=0 job=50 correlation=0 kind=1 "
	       "name=k submit_ns=3500000000 complete_ns=13000000000 "
	       "ts=1110065408,1110066408,1110067408,1110068408,1110069408\n" /* 2 wraps, 9.7 s */
	       "13000000200 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=1 "
	       "dropped=0 words=slot:1:50,queue:1:0,anchor_lo:0:1110060000,anchor_hi:0:2,"
	       "stamp:0:1110060000,stamp:4:1110065408,stamp:8:1110069408,"
	       "slot:2:51,queue:1:0,anchor_lo:0:1110090000,anchor_hi:0:2,stamp:0:1110090000\n"
	       "13000000300 1 1 clock_sync device=0 domain=0 host_before_ns=13000000000 "
	       "ticks=13000000050 host_after_ns=13000000100\n");
	fixture = unwrap_text(state, text);
	op = op_at(fixture, 10);
	assert_int_equal(op->status, TIME_CERTIFIED);
	assert_int_equal(op->ticks[0], 2 * WRAP + 1110065408);
	assert_int_equal(op->ticks[4], 2 * WRAP + 1110069408);
}

static void test_unwrap_records__counts_what_the_ring_dropped(void **state)
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
		       "4500 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=20 "
		       "dropped=9 "
		       "words=\n"
		       "5000 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=4 "
		       "dropped=2 "
		       "words=slot:4:1,queue:1:0,anchor_lo:0:7,anchor_hi:0:0,stamp:0:7\n");
	const struct loss *loss;

	losses_sort(&fixture->ledger->losses);
	loss = &fixture->ledger->losses.all[0];
	assert_int_equal(ledger_total(fixture->ledger, LOSS_RING_DROPPED), 3 + 2 + 10 + 4 + 7);
	assert_int_equal(loss->cause, LOSS_RING_DROPPED); /* since the batch before */
	assert_int_equal(loss->n_spans, 4);
	assert_int_equal(loss->spans[0].last_ns, 2000);
	assert_int_equal(loss->spans[1].first_ns, 2000);
	assert_int_equal(loss->spans[1].last_ns, 3000);
	assert_int_equal(loss->spans[1].count, 10);
	assert_int_equal(loss->spans[3].last_ns, 4500);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_RUN_OVERWRITTEN), 2);
	assert_int_equal(fixture->ledger->evidence[RECORD_MARKER_BATCH], 2);
	assert_int_equal(fixture->out.marks.n_rows, 4);
}

static void test_unwrap_records__counts_words_it_cannot_read(void **state)
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

/* What precedes the first known run of a ring follows from it, backwards. */
static void test_unwrap_records__settles_what_precedes_the_first_run(void **state)
{
	char text[2048];
	struct fixture *fixture;

	snprintf(text, sizeof(text), "%s%s", one_run,
	         "3100 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=0 "
	         "dropped=0 words=mark:3:800,run:7:850,mark:3:900\n"
	         "3200 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=3 "
	         "dropped=0 words=run:1:1000,mark:3:1010\n");
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->out.marks.n_rows, 5);
	assert_int_equal(mark_at(fixture, 2)->ticks, 5 * WRAP + 800);
	assert_int_equal(mark_at(fixture, 3)->ticks, 5 * WRAP + 900);
	assert_int_equal(run_of_mark_at(fixture, 2)->run, 0);
	assert_int_equal(run_of_mark_at(fixture, 3)->run, 7);
	assert_int_equal(run_of_mark_at(fixture, 3)->job, 0);
	assert_int_equal(run_of_mark_at(fixture, 4)->job, 9);
}

static void test_unwrap_records__orders_marks_by_area(void **state)
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

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_unwrap_records__##name, fixture_start, fixture_stop)
	const struct CMUnitTest tests[] = {
		TEST(gives_an_operation_its_bracket),
		TEST(matches_a_job_that_comes_again_in_order),
		TEST(counts_brackets_that_disagree),
		TEST(counts_edges_that_nothing_owns),
		TEST(takes_an_estimate_where_there_is_no_bracket),
		TEST(knows_which_stamps_an_estimate_is_about),
		TEST(takes_one_end_of_many_estimates),
		TEST(believes_a_bracket_rather_than_an_estimate),
		TEST(leaves_other_recordings_out),
		TEST(pairs_the_halves_of_a_collective),
		TEST(pairs_by_operation_and_peers),
		TEST(ties_a_run_to_its_operation),
		TEST(gives_a_core_clock_the_bracket_of_its_runs),
		TEST(unwraps_ring_records_from_their_run),
		TEST(doubts_the_run_behind_a_gap),
		TEST(certifies_what_waited_longer_than_a_wrap_by_its_run),
		TEST(counts_what_the_ring_dropped),
		TEST(counts_words_it_cannot_read),
		TEST(settles_what_precedes_the_first_run),
		TEST(orders_marks_by_area),
	};

	return cmocka_run_group_tests_name("unwrap_records", tests, NULL, NULL);
}
