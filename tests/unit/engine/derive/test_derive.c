/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <cjson/cJSON.h>

#include "derive_fixture.h"

/* -- host rows ------------------------------------------------------------------------------ */

struct host_case {
	const char *text, *expected;
	struct {
		enum loss_cause cause;
		uint64_t count;
	} lost[2];
};

static const struct host_case host_cases[] = {
	/* scopes are one record at their end; children come first */
	{"20 1 7 scope begin_ns=10 name=inner\n"
         "30 1 7 scope begin_ns=20 name=next\n"
         "40 1 7 scope begin_ns=5 name=outer\n"
         "40 1 8 scope begin_ns=5 name=other\n",
         "5-40 outer t7 d0 certified\n"
         "5-40 other t8 d0 certified\n"
         "10-20 inner t7 d1 certified\n"
         "20-30 next t7 d1 certified\n",
         {{0}}},
	/* a scope that crosses another goes to a lane of its own */
	{"20 1 7 scope begin_ns=10 name=a\n"
         "25 1 7 scope begin_ns=15 name=b\n",
         "10-20 a t7 d0 certified\n"
         "15-25 b t7.1 d0 certified\n",
         {{0}}},
	{"20 1 7 scope begin_ns=21 name=backwards\n"
         "21 1 7 scope begin_ns=0 name=never\n"
         "22 1 7 scope begin_ns=22 name=point\n",
         "22-22 point t7 d0 certified\n",
         {{LOSS_BACKWARDS, 1}, {LOSS_MALFORMED, 1}}},
	/* pairs */
	{"10 1 7 begin name=a\n"
         "11 1 7 begin name=b kind=7\n"
         "12 1 7 end name=b kind=7\n"
         "13 1 7 end name=a\n",
         "10-13 a t7 d0 certified\n"
         "11-12 b t7 d1 certified\n",
         {{0}}},
	/* innermost of equals first; other threads and kinds are apart */
	{"10 1 7 begin name=a\n"
         "11 1 7 begin name=a\n"
         "12 1 8 end name=a\n"
         "13 1 7 end name=a kind=7\n"
         "14 1 7 end name=a\n"
         "15 1 7 end name=a\n",
         "10-15 a t7 d0 certified\n"
         "11-14 a t7 d1 certified\n",
         {{LOSS_UNMATCHED_END, 2}}},
	/* an end that skips a begin ends it, too */
	{"10 1 7 begin name=a\n"
         "11 1 7 begin name=b\n"
         "12 1 7 begin name=c\n"
         "14 1 7 end name=a\n"
         "15 1 7 end name=b\n",
         "10-14 a t7 d0 certified\n"
         "11-14 b t7 d1 assumed\n"
         "12-14 c t7 d2 assumed\n",
         {{LOSS_UNMATCHED_BEGIN, 2}, {LOSS_UNMATCHED_END, 1}}},
	/* what a crash left open lasts to the last time of its process */
	{"10 1 7 begin name=a\n"
         "12 1 7 begin name=b\n"
         "15 1 8 instant name=i\n"
         "99 2 9 instant name=i\n",
         "10-15 a t7 d0 assumed\n"
         "12-15 b t7 d1 assumed\n",
         {{LOSS_UNMATCHED_BEGIN, 2}}},
	/* async intervals cross and are paired by id across threads */
	{"10 1 7 async_begin name=a correlation=1\n"
         "12 1 7 async_begin name=a correlation=2\n"
         "14 1 8 async_end name=a correlation=1\n"
         "15 1 7 scope begin_ns=11 name=s\n"
         "16 1 7 async_end name=a correlation=2\n"
         "17 1 7 async_end name=a correlation=2\n"
         "17 1 7 async_begin name=b correlation=2\n"
         "18 2 7 async_end name=b correlation=2\n"
         "19 1 7 async_begin name=a correlation=1\n",
         "10-14 a a7 d0 certified\n"
         "11-15 s t7 d0 certified\n"
         "12-16 a a7.1 d0 certified\n"
         "17-19 b a7 d0 assumed\n"
         "19-19 a a7 d0 assumed\n",
         {{LOSS_UNMATCHED_BEGIN, 2}, {LOSS_UNMATCHED_END, 2}}},
	/* spans have their own times, on their thread or across threads; those that end before they
         * begin are lost, and arguments are the scope's that comes behind */
	{"20 1 7 scope_args args=x=1\n"
         "21 1 7 span begin_ns=12 end_ns=14 name=late kind=33\n"
         "21 1 7 scope begin_ns=10 name=a\n"
         "22 1 7 span begin_ns=12 end_ns=11 name=back\n"
         "23 1 8 async_span begin_ns=11 end_ns=13 name=b\n"
         "23 1 8 async_span begin_ns=12 end_ns=15 name=c kind=33\n"
         "24 1 8 scope begin_ns=5 name=d\n"
         "25 1 8 span begin_ns=30 end_ns=40 name=ahead\n",
         "5-24 d t8 d0 certified\n"
         "10-21 a t7 d0 certified x=1\n"
         "11-13 b a8 d0 certified\n"
         "12-15 c a8.1 d0 certified\n"
         "12-14 late t7 d1 certified\n"
         "30-40 ahead t8 d0 certified\n",
         {{LOSS_BACKWARDS, 1}}},
	/* what marks rows of a file of Perfetto is a text in a recording */
	{"20 1 7 scope_args correlation=4 args=\"\x01status 1;x\"\n"
         "20 1 7 scope begin_ns=10 name=a correlation=4\n",
         "10-20 a t7 d0 certified \x01status 1;x\n",
         {{0}}},
	/* steps last to the next step of their process and never count as crossing */
	{"10 1 7 step number=0\n"
         "15 2 9 step number=5\n"
         "20 1 7 step number=1\n"
         "25 1 7 scope begin_ns=5 name=s\n",
         "5-25 s t7 d0 certified\n"
         "10-20 ProfilerStep#0 a7 d0 certified\n"
         "15-15 ProfilerStep#5 a9 d0 assumed\n"
         "20-25 ProfilerStep#1 a7 d0 assumed\n",
         {{0}}},
	{"10 1 7 window edge=0 name=w\n"
         "15 1 8 window edge=1 name=w\n"
         "16 1 8 window edge=1 name=w\n"
         "17 1 8 window edge=0 name=v\n",
         "10-15 w a7 d0 certified\n"
         "17-17 v a8 d0 assumed\n",
         {{LOSS_UNMATCHED_BEGIN, 1}, {LOSS_UNMATCHED_END, 1}}},
	/* arguments belong to the scope behind them */
	{"20 1 7 scope_args correlation=4 args=x=1\n"
         "20 1 7 scope begin_ns=10 name=a correlation=4\n"
         "30 1 7 scope_args correlation=4 args=x=2\n"
         "30 1 8 scope begin_ns=20 name=b correlation=4\n"
         "31 1 7 scope begin_ns=20 name=c correlation=5\n"
         "40 1 7 scope_args args=x=3\n"
         "41 1 7 scope_args args=x=4\n"
         "42 1 7 scope begin_ns=41 name=d\n"
         "43 1 7 scope_args args=x=5\n",
         "10-20 a t7 d0 certified x=1\n"
         "20-31 c t7 d0 certified\n"
         "20-30 b t8 d0 certified\n"
         "41-42 d t7 d0 certified x=4\n",
         {{LOSS_UNMATCHED_ARGS, 3}}},
	/* those of an operation stand in its own: as JSON where they are that to the last byte */
	{"20 1 7 op correlation=4 type=t\n"
         "20 1 7 scope_args correlation=4 args=\"{\\\"a\\\":1}\"\n"
         "20 1 7 scope begin_ns=10 kind=34 name=a correlation=4\n"
         "30 1 7 op correlation=5 type=t\n"
         "30 1 7 scope_args correlation=5 args=\"{\\\"a\\\":1}x\"\n"
         "30 1 7 scope begin_ns=25 kind=34 name=b correlation=5\n",
         "10-20 a t7 d0 certified {\"type\":\"t\",\"cores\":0,\"depth\":0,\"inputs\":[],"
         "\"outputs\":[],\"args\":{\"a\":1}}\n"
         "25-30 b t7 d0 certified {\"type\":\"t\",\"cores\":0,\"depth\":0,\"inputs\":[],"
         "\"outputs\":[],\"args\":\"{\\\"a\\\":1}x\"}\n",
         {{0}}},
	{"", "", {{0}}},
};

static void test_derive__makes_host_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(host_cases) / sizeof(*host_cases); i++) {
		const struct host_case *test = &host_cases[i];
		struct derive_fixture fixture;
		uint64_t lost = 0;

		fixture_open(&fixture, test->text);
		fixture_run(&fixture);
		expect_host(&fixture, test->expected);
		for (int k = 0; k < 2; k++) {
			if (test->lost[k].count)
				expect_lost(&fixture, test->lost[k].cause, test->lost[k].count);
			lost += test->lost[k].count;
		}
		assert_int_equal(ledger_lost(&fixture.ledger), lost);
		fixture_close(&fixture);
	}
}

static void test_derive__counts_rows_that_cross(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "20 1 7 scope begin_ns=10\n"
	                       "25 1 7 scope begin_ns=15\n"
	                       "26 1 7 scope begin_ns=16\n"
	                       "26 1 7 scope begin_ns=26\n");
	fixture_run(&fixture);
	assert_int_equal(fixture.timeline.counts.n_crossing, 2);
	assert_int_equal(fixture.ledger.warnings[WARNING_CROSSING], 2);
	fixture_close(&fixture);
}

static void test_derive__refuses_scopes_of_a_clock_that_counts_no_ns(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "stream hz=1000000\n"
	                       "20 1 7 scope_args args=x\n"
	                       "20 1 7 scope begin_ns=10\n"
	                       "21 1 7 instant name=i\n");
	fixture_run(&fixture);
	expect_host(&fixture, "");
	assert_int_equal(fixture.timeline.instants.n_rows, 1);
	expect_lost(&fixture, LOSS_MALFORMED, 1);
	expect_lost(&fixture, LOSS_UNMATCHED_ARGS, 1);
	assert_int_equal(fixture.ledger.warnings[WARNING_CLOCK_NOT_1GHZ], 1);
	fixture_close(&fixture);
}

static void test_derive__leaves_out_processes_of_another_recording(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "1 1 7 process start_ns=1 rank=0\n"
	                       "1 2 8 process start_ns=1 rank=1\n"
	                       "20 1 7 scope begin_ns=10 name=mine\n"
	                       "20 2 8 scope begin_ns=10 name=theirs\n");
	fixture.identity.processes[1].is_excluded = true;
	fixture_run(&fixture);
	expect_host(&fixture, "10-20 mine t7 d0 certified\n");
	assert_int_equal(fixture.ledger.discarded[RECORD_SCOPE][LOSS_FOREIGN_PROCESS], 1);
	fixture_close(&fixture);
}

static void test_derive__refuses_times_that_no_clock_has(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "0x8000000000000000 1 7 scope begin_ns=10\n"
	                       "0xffffffffffffffff 1 7 instant name=i\n");
	fixture_run(&fixture);
	assert_int_equal(fixture.timeline.last_time_ns, 0);
	expect_lost(&fixture, LOSS_MALFORMED, 2);
	fixture_close(&fixture);
}

static void test_derive__puts_ranks_on_one_clock(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "1 1 7 process start_ns=1 rank=0\n"
	                       "1 2 8 process start_ns=1 rank=1\n"
	                       "20 1 7 scope begin_ns=10 name=a\n"
	                       "1020 2 8 scope begin_ns=1005 name=b\n");
	fake_clocks.process_ns[1] = -1000;
	fake_clocks.process_status = TIME_ASSUMED;
	fixture_run(&fixture);
	expect_host(&fixture, "5-20 b t8 d0 assumed\n"
	                      "10-20 a t7 d0 assumed\n");
	assert_int_equal(fixture.timeline.first_time_ns, 5);
	assert_int_equal(fixture.timeline.last_time_ns, 20);
	fixture_close(&fixture);
}

static void test_derive__is_not_slowed_by_ends_that_match_nothing(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "");
	for (uint64_t i = 0; i < 50000; i++) { /* quadratic work would not end in time */
		char line[64];

		snprintf(line, sizeof(line), "%llu 1 7 begin name=a correlation=%llu\n",
		         (unsigned long long)i + 1, (unsigned long long)i);
		assert_int_equal(text_source_read(&fixture.source, line, NULL), 0);
		snprintf(line, sizeof(line), "%llu 1 7 end name=b\n", (unsigned long long)i + 1);
		assert_int_equal(text_source_read(&fixture.source, line, NULL), 0);
	}
	stream_set_sort(&fixture.source.set);
	fixture_run(&fixture);
	expect_lost(&fixture, LOSS_UNMATCHED_END, 50000);
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 50000);
	assert_int_equal(fixture.timeline.host_rows.n_rows, 50000);
	timeline_release(&fixture.timeline); /* too many to check by pairs */
	fixture_close(&fixture);
}

/* -- collectives ---------------------------------------------------------------------------- */

static void add_sync_point(struct derive_fixture *fixture, int64_t enter, int64_t exit,
                           const char *peers)
{
	struct sync_point *point = table_append(&fixture->unwrapped.sync_points, sizeof(*point));
	struct record record = {.vpid = 1, .vtid = 7, .clock_ns = 10};

	assert_non_null(point);
	*point = (struct sync_point){
		.enter_host_ns = enter,
		.exit_host_ns = exit,
		.seq = 3,
		.bytes = 64,
		.group = fixture_string(fixture, "w\"1"),
		.op = fixture_string(fixture, "all_reduce"),
		.peers = fixture_string(fixture, peers),
	};
	assert_int_equal(identity_thread(&fixture->identity, fixture->source.set.streams[0],
	                                 &record, &point->thread),
	                 0);
	point->process = fixture->identity.threads[point->thread].process;
}

static void test_derive__makes_rows_of_collectives(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "40 1 7 scope begin_ns=5 name=s\n"
	                       "41 1 7 instant name=i\n");
	add_sync_point(&fixture, 10, 20, "");
	add_sync_point(&fixture, INT64_MIN, 25, "");
	add_sync_point(&fixture, 40, INT64_MAX, "0,1");
	fixture_run(&fixture);
	expect_host(&fixture, "5-40 s t7 d0 certified\n"
	                      "10-20 all_reduce t7 d1 certified "
	                      "{\"group\":\"w\\\"1\",\"seq\":3,\"bytes\":64}\n"
	                      "40-41 all_reduce t7 d0 assumed "
	                      "{\"group\":\"w\\\"1\",\"seq\":3,\"bytes\":64,\"peers\":\"0,1\"}\n");
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 1);
	expect_lost(&fixture, LOSS_UNMATCHED_END, 1);
	fixture_close(&fixture);
}

/* -- attributes ----------------------------------------------------------------------------- */

static cJSON *args_of_first_row(const struct derive_fixture *fixture)
{
	struct table rows = fixture->timeline.host_rows;
	struct table_cursor cursor;
	const struct host_row *row;
	cJSON *json;

	table_read(&cursor, &rows, false);
	row = table_next(&cursor, sizeof(*row));
	assert_non_null(row);
	json = cJSON_Parse(string_get(fixture->source.strings, row->args));
	assert_non_null(json);
	return json;
}

static void expect_member(const cJSON *json, const char *name, const char *value)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));

	assert_non_null(text);
	assert_string_equal(text, value);
}

static void test_derive__joins_operations_with_their_attributes(void **state)
{
	struct derive_fixture fixture;
	const cJSON *list;
	cJSON *json;

	(void)state;
	fixture_open(&fixture,
	             "10 1 7 op correlation=4 type=MatMul attributes=\"a \\\"quoted\\\" \\n\\\\\" "
	             "n_cores=2 depth=1\n"
	             "11 1 7 tensor correlation=4 dims=2x3 dtype=fp16\n"
	             "12 1 7 tensor correlation=4 dims=3x4 dtype=fp16\n"
	             "13 2 7 tensor correlation=4 dims=9x9\n"
	             "14 1 7 scope_args correlation=4 args=own\n"
	             "14 1 7 scope begin_ns=9 name=mm kind=34 correlation=4\n"
	             "15 1 7 tensor correlation=4 is_output=1 dims=2x4\n"
	             "16 1 7 op_info correlation=4 op_name=jit/mm frames=\"a.py:1\\nb.py:2\"\n"
	             "16 1 7 op_info correlation=0 op_name=none\n");
	fixture_run(&fixture);
	json = args_of_first_row(&fixture);
	expect_member(json, "type", "MatMul");
	expect_member(json, "attributes", "a \"quoted\" \n\\");
	expect_member(json, "op_name", "jit/mm");
	expect_member(json, "frames", "a.py:1\nb.py:2");
	expect_member(json, "args", "own");
	assert_int_equal(cJSON_GetObjectItem(json, "cores")->valueint, 2);
	list = cJSON_GetObjectItem(json, "inputs");
	assert_int_equal(cJSON_GetArraySize(list), 2);
	expect_member(cJSON_GetArrayItem(list, 0), "dims", "2x3");
	expect_member(cJSON_GetArrayItem(list, 1), "dims", "3x4");
	list = cJSON_GetObjectItem(json, "outputs");
	assert_int_equal(cJSON_GetArraySize(list), 1);
	expect_member(cJSON_GetArrayItem(list, 0), "dims", "2x4");
	cJSON_Delete(json);
	expect_lost(&fixture, LOSS_UNMATCHED_ARGS, 2);
	fixture_close(&fixture);
}

/* -- points --------------------------------------------------------------------------------- */

static void test_derive__keeps_instants_and_counters(void **state)
{
	struct derive_fixture fixture;
	struct table_cursor cursor;
	const struct instant_row *instant;
	const struct counter_row *counter;

	(void)state;
	fixture_open(&fixture, "10 1 7 instant name=i correlation=4\n"
	                       "11 1 7 annotation key=k value=v\n"
	                       "12 1 7 counter name=c value=-1.5\n");
	fixture_run(&fixture);
	table_read(&cursor, &fixture.timeline.instants, false);
	instant = table_next(&cursor, sizeof(*instant));
	assert_int_equal(instant->time_ns, 10);
	assert_int_equal(instant->correlation, 4);
	assert_int_equal(instant->class, RECORD_INSTANT);
	assert_int_equal(fixture.timeline.tracks[instant->track].kind, TRACK_THREAD);
	instant = table_next(&cursor, sizeof(*instant));
	assert_int_equal(instant->class, RECORD_ANNOTATION);
	assert_string_equal(string_get(fixture.source.strings, instant->name), "k");
	assert_string_equal(string_get(fixture.source.strings, instant->value), "v");
	table_read(&cursor, &fixture.timeline.counters, false);
	counter = table_next(&cursor, sizeof(*counter));
	assert_true(counter->value == -1.5);
	assert_false(counter->is_device);
	assert_int_equal(counter->owner, 0);
	fixture_close(&fixture);
}

static void test_derive__totals_memory_per_device(void **state)
{
	static const uint64_t totals[] = {100, 150, 5, 170, 70, 70, 70, 30, 70};
	struct derive_fixture fixture;
	const struct memory_row *row;
	struct table_cursor cursor;

	(void)state;
	fixture_open(&fixture,
	             "10 1 7 memory device=0 address=0x1000 bytes=100 op=0\n"
	             "11 1 7 memory device=0 address=0x2000 bytes=50 op=0\n"
	             "12 1 7 memory device=1 address=0x1000 bytes=5 op=0\n"
	             "13 1 7 memory device=0 address=0x2000 bytes=70 op=2\n"
	             "14 1 7 memory device=0 address=0x1000 op=1\n"
	             "15 1 7 memory device=0 address=0x1000 op=1\n"            /* twice */
	             "16 1 7 memory device=0 address=0x3000 op=1\n"            /* nothing there */
	             "17 1 7 memory device=0 address=0x2000 bytes=30 op=0\n"   /* on top */
	             "18 1 7 memory device=0 address=0x4000 bytes=40 op=2\n"); /* of nothing */
	fixture_run(&fixture);
	table_read(&cursor, &fixture.timeline.memory, false);
	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++) {
		row = table_next(&cursor, sizeof(*row));
		assert_non_null(row);
		assert_int_equal(row->total_bytes, totals[i]);
		assert_int_equal(row->bytes, i == 4 ? 100 : row->bytes);
	}
	expect_lost(&fixture, LOSS_UNMATCHED_END, 3);
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 1);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derive__makes_host_rows),
		cmocka_unit_test(test_derive__counts_rows_that_cross),
		cmocka_unit_test(test_derive__refuses_scopes_of_a_clock_that_counts_no_ns),
		cmocka_unit_test(test_derive__leaves_out_processes_of_another_recording),
		cmocka_unit_test(test_derive__refuses_times_that_no_clock_has),
		cmocka_unit_test(test_derive__puts_ranks_on_one_clock),
		cmocka_unit_test(test_derive__is_not_slowed_by_ends_that_match_nothing),
		cmocka_unit_test(test_derive__makes_rows_of_collectives),
		cmocka_unit_test(test_derive__joins_operations_with_their_attributes),
		cmocka_unit_test(test_derive__keeps_instants_and_counters),
		cmocka_unit_test(test_derive__totals_memory_per_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
