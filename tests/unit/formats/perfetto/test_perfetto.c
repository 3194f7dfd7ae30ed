/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of Perfetto that other programs wrote: what becomes of their events and times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "perfetto_builder.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

/* -- rows ------------------------------------------------------------------------------------- */

static void test_perfetto__slices_of_a_thread_nest(void **state)
{
	trace *of = start();
	struct flex_run *run;
	uint64_t outer, inner;

	put_begin(of, 100, THREAD_UUID, "outer");
	put_begin(of, 200, THREAD_UUID, "inner");
	put_end(of, 300, THREAD_UUID);
	put_end(of, 1000, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 2);
	outer = flex_row(&run->host, "name", "outer", "status", "given");
	inner = flex_row(&run->host, "name", "inner", "depth", "1");
	assert_int_equal(flex_number(&run->host, outer, "start_ns"), REAL_NS + 100);
	assert_int_equal(flex_number(&run->host, outer, "dur_ns"), 900);
	assert_int_equal(flex_number(&run->host, inner, "start_ns"), REAL_NS + 200);
	assert_int_equal(flex_number(&run->host, inner, "dur_ns"), 100);
	assert_int_equal(flex_number(&run->host, inner, "pid"), PID);
	assert_int_equal(flex_number(&run->host, inner, "tid"), TID);
	assert_string_equal(flex_cell(&run->host, inner, "thread"), "worker");
}

/* Of two that are equal the outer one began first in the file. */
static void test_perfetto__equal_slices_keep_their_order(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_begin(of, 100, THREAD_UUID, "a");
	put_begin(of, 100, THREAD_UUID, "b");
	put_begin(of, 100, THREAD_UUID, "c");
	for (int i = 0; i < 3; i++)
		put_end(of, 200, THREAD_UUID);
	run = convert(state, of);
	assert_string_equal(flex_cell(&run->host, 0, "name"), "a");
	assert_string_equal(flex_cell(&run->host, 1, "name"), "b");
	assert_string_equal(flex_cell(&run->host, 2, "name"), "c");
	assert_string_equal(flex_cell(&run->host, 2, "depth"), "2");
}

static void test_perfetto__a_track_with_a_name_is_a_line(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_begin(of, 100, NAMED_UUID, "request");
	put_end(of, 200, NAMED_UUID);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(flex_number(&run->host, 0, "pid"), PID);
	assert_string_equal(flex_cell(&run->host, 0, "thread"), "requests");
}

static void test_perfetto__texts_stand_once(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_interned_begin(of, 100, SEQUENCE_STATE_CLEARED, true);
	put_end(of, 200, THREAD_UUID);
	put_interned_begin(of, 300, SEQUENCE_NEEDS_STATE, false);
	put_end(of, 400, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(flex_count(&run->host, "name", "softmax"), 2);
	assert_string_equal(flex_cell(&run->host, 1, "args"),
	                    "{\"cat\":\"math\",\"shape\":\"2x\\\"3\"}");
}

static void test_perfetto__arguments_have_their_types(void **state)
{
	trace *of = start();
	struct flex_run *run;

	begin_event(of, 100, TYPE_SLICE_BEGIN, THREAD_UUID);
	put_arg(of, "u", ANNOTATION_UINT, UINT64_MAX);
	put_arg(of, "i", ANNOTATION_INT, (uint64_t)-3);
	put_arg(of, "b", ANNOTATION_BOOL, 1);
	put_arg(of, "p", ANNOTATION_POINTER, 255);
	protobuf_open(of, TRACK_EVENT_ANNOTATIONS);
	protobuf_put_text(of, ANNOTATION_NAME, "d");
	protobuf_open(of, ANNOTATION_DICT);
	protobuf_put_text(of, ANNOTATION_NAME, "x");
	protobuf_put_double(of, ANNOTATION_DOUBLE, 0.25);
	protobuf_close(of);
	protobuf_close(of);
	protobuf_open(of, TRACK_EVENT_ANNOTATIONS);
	protobuf_put_text(of, ANNOTATION_NAME, "l");
	for (uint64_t i = 1; i < 3; i++) {
		protobuf_open(of, ANNOTATION_ARRAY);
		protobuf_put_number(of, ANNOTATION_UINT, i);
		protobuf_close(of);
	}
	protobuf_close(of);
	end_event(of);
	begin_event(of, 200, TYPE_SLICE_END, THREAD_UUID);
	put_arg(of, "end", ANNOTATION_UINT, 4);
	end_event(of);
	run = convert(state, of);
	assert_string_equal(flex_cell(&run->host, 0, "args"),
	                    "{\"cat\":\"\",\"u\":18446744073709551615,\"i\":-3,\"b\":true,"
	                    "\"p\":\"0xff\",\"d\":{\"x\":0.25},\"l\":[1,2],\"end\":4}");
}

static void test_perfetto__counters_have_their_unit(void **state)
{
	trace *of = start();
	struct csv_table counters;
	struct flex_run *run;

	begin_track(of, COUNTER_UUID, PROCESS_UUID);
	protobuf_put_text(of, DESCRIPTOR_NAME, "sent");
	protobuf_open(of, DESCRIPTOR_COUNTER);
	protobuf_put_text(of, COUNTER_UNIT_NAME, "B");
	protobuf_put_number(of, COUNTER_MULTIPLIER, 1024);
	protobuf_put_number(of, COUNTER_IS_INCREMENTAL, 1);
	protobuf_close(of);
	end_track(of);
	for (uint64_t i = 1; i < 3; i++) {
		begin_event(of, 100 * i, TYPE_COUNTER, COUNTER_UUID);
		protobuf_put_number(of, TRACK_EVENT_COUNTER_VALUE, i);
		end_event(of);
	}
	run = convert(state, of);
	counters = flex_read_table(run, "tables/counters.csv");
	assert_string_equal(flex_cell(&counters, 1, "name"), "sent (B)");
	assert_string_equal(flex_cell(&counters, 0, "value"), "1024");
	assert_string_equal(flex_cell(&counters, 1, "value"), "3072");
	csv_table_release(&counters);
}

static void test_perfetto__instants_may_say_something(void **state)
{
	trace *of = start();
	struct csv_table instants;
	struct flex_run *run;

	begin_event(of, 100, TYPE_INSTANT, THREAD_UUID);
	protobuf_put_text(of, TRACK_EVENT_NAME, "bare");
	end_event(of);
	begin_event(of, 200, TYPE_INSTANT, THREAD_UUID);
	protobuf_put_text(of, TRACK_EVENT_NAME, "told");
	put_arg(of, "n", ANNOTATION_UINT, 1);
	end_event(of);
	run = convert(state, of);
	instants = flex_read_table(run, "tables/instants.csv");
	assert_string_equal(flex_cell(&instants, 0, "kind"), "instant");
	assert_string_equal(flex_cell(&instants, 1, "value"), "{\"cat\":\"\",\"n\":1}");
	csv_table_release(&instants);
}

static void test_perfetto__older_events_of_chrome_are_read(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_legacy(of, 100, 'X', 0, 2);
	put_legacy(of, 5000, 'b', 1, 0);
	put_legacy(of, 6000, 'b', 2, 0);
	put_legacy(of, 7000, 'e', 1, 0);
	put_legacy(of, 9000, 'e', 2, 0);
	put_legacy(of, 9500, 'M', 0, 0);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 3);
	assert_int_equal(flex_number(&run->host, 0, "dur_ns"), 2000);
	assert_int_equal(flex_number(&run->host, 1, "dur_ns"), 2000);
	assert_int_equal(flex_number(&run->host, 2, "dur_ns"), 3000);
	assert_int_equal(lost(run, LOSS_UNUSED), 1);
}

/* -- clocks ----------------------------------------------------------------------------------- */

/* A clock of the sequence: us, each the difference to the one before. */
static void test_perfetto__a_sequence_has_a_clock_of_its_own(void **state)
{
	trace *of = start();
	struct flex_run *run;

	begin_packet(of, SEQUENCE_STATE_CLEARED);
	protobuf_open(of, PACKET_DEFAULTS);
	protobuf_put_number(of, DEFAULTS_TIMESTAMP_CLOCK_ID, 64);
	protobuf_close(of);
	protobuf_open(of, PACKET_CLOCK_SNAPSHOT);
	put_clock(of, CLOCK_BOOTTIME_ID, BOOT_NS + 1000000);
	protobuf_open(of, SNAPSHOT_CLOCKS);
	protobuf_put_number(of, CLOCK_ID, 64);
	protobuf_put_number(of, CLOCK_TIMESTAMP, 7);
	protobuf_put_number(of, CLOCK_IS_INCREMENTAL, 1);
	protobuf_put_number(of, CLOCK_UNIT_NS, 1000);
	protobuf_close(of);
	protobuf_close(of);
	protobuf_close(of);
	for (uint64_t i = 0; i < 2; i++) {
		begin_packet(of, 0);
		protobuf_put_number(of, PACKET_TIMESTAMP, 5);
		protobuf_open(of, PACKET_TRACK_EVENT);
		protobuf_put_number(of, TRACK_EVENT_TYPE, TYPE_SLICE_BEGIN + i);
		protobuf_put_number(of, TRACK_EVENT_TRACK_UUID, THREAD_UUID);
		end_event(of);
	}
	run = convert(state, of);
	assert_int_equal(flex_number(&run->host, 0, "start_ns"), REAL_NS + 1005000);
	assert_int_equal(flex_number(&run->host, 0, "dur_ns"), 5000);
}

static void test_perfetto__a_clock_that_nobody_knows_costs_the_event(void **state)
{
	trace *of = start();
	struct flex_run *run;

	begin_packet(of, 0);
	protobuf_put_number(of, PACKET_TIMESTAMP, 5);
	protobuf_put_number(of, PACKET_TIMESTAMP_CLOCK_ID, 70);
	protobuf_open(of, PACKET_TRACK_EVENT);
	protobuf_put_number(of, TRACK_EVENT_TYPE, TYPE_SLICE_BEGIN);
	end_event(of);
	put_begin(of, 100, THREAD_UUID, "a");
	put_end(of, 200, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(lost(run, LOSS_MALFORMED), 1);
	assert_non_null(strstr(run->warnings, "no snapshot says what its clock is"));
}

/* MONOTONIC is known by BOOTTIME only, and that by REALTIME; the newest snapshot counts. */
static void test_perfetto__snapshots_lead_over_another_clock(void **state)
{
	trace *of = start();
	struct flex_run *run;

	for (uint64_t i = 0; i < 2; i++) {
		begin_packet(of, 0);
		protobuf_open(of, PACKET_CLOCK_SNAPSHOT);
		put_clock(of, CLOCK_MONOTONIC_ID, 1000 + 1000 * i);
		put_clock(of, CLOCK_BOOTTIME_ID, BOOT_NS + 1000 + 1100 * i);
		protobuf_close(of);
		protobuf_close(of);
	}
	for (uint64_t i = 0; i < 2; i++) {
		begin_packet(of, 0);
		protobuf_put_number(of, PACKET_TIMESTAMP, 1500 + 1000 * i);
		protobuf_put_number(of, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_MONOTONIC_ID);
		protobuf_open(of, PACKET_TRACK_EVENT);
		protobuf_put_number(of, TRACK_EVENT_TYPE, TYPE_SLICE_BEGIN + i);
		protobuf_put_number(of, TRACK_EVENT_TRACK_UUID, THREAD_UUID);
		end_event(of);
	}
	run = convert(state, of);
	assert_int_equal(flex_number(&run->host, 0, "start_ns"), REAL_NS + 1500);
	assert_int_equal(flex_number(&run->host, 0, "dur_ns"), 1100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_perfetto__slices_of_a_thread_nest),
		TEST(test_perfetto__equal_slices_keep_their_order),
		TEST(test_perfetto__a_track_with_a_name_is_a_line),
		TEST(test_perfetto__texts_stand_once),
		TEST(test_perfetto__arguments_have_their_types),
		TEST(test_perfetto__counters_have_their_unit),
		TEST(test_perfetto__instants_may_say_something),
		TEST(test_perfetto__older_events_of_chrome_are_read),
		TEST(test_perfetto__a_sequence_has_a_clock_of_its_own),
		TEST(test_perfetto__a_clock_that_nobody_knows_costs_the_event),
		TEST(test_perfetto__snapshots_lead_over_another_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
