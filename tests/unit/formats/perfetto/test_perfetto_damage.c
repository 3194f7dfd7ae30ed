/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of Perfetto of which something is missing, packed or damaged: all of it is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "imports.h"
#include "perfetto_builder.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

/* -- reading ---------------------------------------------------------------------------------- */

/* Reads it up to the records only: it may be nothing at all. */
static void read_records(const char *path, struct ledger *ret_ledger)
{
	const struct import_options options = {
		.paths = &path, .n_paths = 1, .dialect = IMPORT_PERFETTO};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct flextrace_error error = {0};

	ledger_init(ret_ledger);
	import_run(&options, strings, &set, ret_ledger, &error);
	stream_set_release(&set);
	string_pool_free(strings);
}

static void read_bytes(const struct flex_run *run, const void *bytes, size_t n,
                       struct ledger *ret_ledger)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/b.pftrace", run->in);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	read_records(path, ret_ledger);
}

/* -- losses ----------------------------------------------------------------------------------- */

static void test_perfetto_damage__what_relies_on_what_was_lost_is_lost(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_interned_begin(of, 100, SEQUENCE_STATE_CLEARED, true);
	put_end(of, 200, THREAD_UUID);
	begin_packet(of, 0);
	protobuf_put_number(of, PACKET_DROPPED, 1);
	protobuf_close(of);
	put_interned_begin(of, 300, SEQUENCE_NEEDS_STATE, false);
	put_interned_begin(of, 400, SEQUENCE_STATE_CLEARED, true);
	put_end(of, 500, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 2);
	assert_int_equal(lost(run, LOSS_LOST_PACKETS), 2);
}

static void test_perfetto_damage__losses_of_the_recorder_count(void **state)
{
	trace *of = start();

	put_begin(of, 100, THREAD_UUID, "a");
	put_end(of, 200, THREAD_UUID);
	for (uint64_t n = 3; n < 6; n += 2) {
		begin_packet(of, 0);
		protobuf_open(of, PACKET_TRACE_STATS);
		protobuf_open(of, STATS_BUFFERS);
		protobuf_put_number(of, BUFFER_PACKET_LOSS, n);
		protobuf_put_number(of, BUFFER_CHUNKS_OVERWRITTEN, 2);
		protobuf_close(of);
		protobuf_close(of);
		protobuf_close(of);
	}
	assert_int_equal(lost(convert(state, of), LOSS_LOST_PACKETS), 7);
}

static void test_perfetto_damage__ends_and_begins_alone_are_counted(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_end(of, 50, THREAD_UUID);
	put_begin(of, 100, THREAD_UUID, "open");
	put_begin(of, 200, THREAD_UUID, "closed");
	put_end(of, 300, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(lost(run, LOSS_UNMATCHED_END), 1);
	assert_int_equal(lost(run, LOSS_UNMATCHED_BEGIN), 1);
	assert_int_equal(run->host.n_rows, 2);
}

static void test_perfetto_damage__other_packets_are_counted_by_kind(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_begin(of, 100, THREAD_UUID, "a");
	put_end(of, 200, THREAD_UUID);
	for (int i = 0; i < 3; i++) {
		begin_packet(of, 0);
		protobuf_put_text(of, i < 2 ? 1 : 2000, "");
		protobuf_close(of);
	}
	run = convert(state, of);
	assert_int_equal(lost(run, LOSS_UNUSED), 3);
	assert_non_null(strstr(run->warnings, "ftrace_events=2"));
}

/* -- packing ---------------------------------------------------------------------------------- */

static void put_compressed(trace *to, const void *bytes, size_t n)
{
	static uint8_t packed[1 << 20];
	uLongf n_packed = sizeof(packed);

	assert_int_equal(compress(packed, &n_packed, bytes, n), Z_OK);
	protobuf_open(to, TRACE_PACKET);
	protobuf_open(to, PACKET_COMPRESSED_PACKETS);
	assert_true(to->n + n_packed < sizeof(to->bytes));
	memcpy(to->bytes + to->n, packed, n_packed);
	to->n += n_packed;
	protobuf_close(to);
	protobuf_close(to);
}

static void test_perfetto_damage__packed_packets_are_packets(void **state)
{
	static trace packed;
	trace *of = start();
	struct flex_run *run;

	put_begin(of, 100, THREAD_UUID, "a");
	put_end(of, 200, THREAD_UUID);
	packed.n = 0;
	put_compressed(&packed, of->bytes, of->n);
	run = convert_bytes(state, "by_content", packed.bytes, packed.n);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(flex_number(&run->host, 0, "start_ns"), REAL_NS + 100);
}

static size_t put_head(uint8_t *to, uint32_t tag, uint64_t n)
{
	size_t length = 0;

	for (uint64_t left = tag; left || !length; left >>= 7)
		to[length++] = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
	for (bool is_first = true; is_first || n; n >>= 7, is_first = false)
		to[length++] = (uint8_t)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
	return length;
}

/* A packet of 40 MB in a file of 40 KB. */
static void test_perfetto_damage__a_bomb_costs_itself(void **state)
{
	enum { N = 40 << 20 };
	uint8_t *zeroes = calloc(1, N + 16), *packed = malloc(N), *file = malloc(N);
	uLongf n_packed = N;
	trace *of = start();
	struct ledger ledger;
	size_t n, n_file;

	put_begin(of, 100, THREAD_UUID, "a");
	assert_true(zeroes && packed && file);
	n = put_head(zeroes, TRACE_PACKET << 3 | 2, N);
	assert_int_equal(compress(packed, &n_packed, zeroes, N + n), Z_OK);
	n_file = put_head(file, PACKET_COMPRESSED_PACKETS << 3 | 2, n_packed);
	n = n_file;
	n_file = put_head(file, TRACE_PACKET << 3 | 2, n + n_packed);
	n_file += put_head(file + n_file, PACKET_COMPRESSED_PACKETS << 3 | 2, n_packed);
	memcpy(file + n_file, packed, n_packed);
	n_file += n_packed;
	memcpy(file + n_file, of->bytes, of->n);
	read_bytes(*state, file, n_file + of->n, &ledger);
	assert_int_equal(ledger_total(&ledger, LOSS_MALFORMED), 1);
	ledger_release(&ledger);
	free(zeroes);
	free(packed);
	free(file);
}

/* -- damage ----------------------------------------------------------------------------------- */

static trace *whole(void)
{
	trace *of = start();

	put_interned_begin(of, 100, SEQUENCE_STATE_CLEARED, true);
	begin_event(of, 150, TYPE_INSTANT, NAMED_UUID);
	put_arg(of, "n", ANNOTATION_UINT, 1);
	end_event(of);
	put_end(of, 200, THREAD_UUID);
	put_legacy(of, 300, 'X', 0, 2);
	return of;
}

static void test_perfetto_damage__survives_a_file_that_is_cut_anywhere(void **state)
{
	const trace *of = whole();
	struct ledger ledger;

	for (size_t n = 0; n < of->n; n++) {
		read_bytes(*state, of->bytes, n, &ledger);
		ledger_release(&ledger);
	}
}

static void test_perfetto_damage__survives_any_byte_that_is_wrong(void **state)
{
	static const uint8_t wrong[] = {0x00, 0x7f, 0x80, 0xff};
	trace *of = whole();
	struct ledger ledger;

	for (size_t i = 0; i < of->n; i++) {
		uint8_t right = of->bytes[i];

		for (size_t k = 0; k < sizeof(wrong); k++) {
			of->bytes[i] = wrong[k];
			read_bytes(*state, of->bytes, of->n, &ledger);
			ledger_release(&ledger);
		}
		of->bytes[i] = right;
	}
}

static void test_perfetto_damage__says_that_a_file_stops_in_the_middle(void **state)
{
	const trace *of = whole();
	struct ledger ledger;

	read_bytes(*state, of->bytes, of->n - 1, &ledger);
	assert_int_equal(ledger_total(&ledger, LOSS_TRUNCATED_STREAM), 1);
	ledger_release(&ledger);
}

static void test_perfetto_damage__a_damaged_packet_costs_itself(void **state)
{
	static const char *const bad[] = {
		"\x0b",                                             /* a group */
		"\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* eleven bytes */
		"\x5a\x7f"
		"a", /* longer than its packet */
	};
	trace *of = start();
	struct flex_run *run;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		protobuf_put_text(of, TRACE_PACKET, bad[i]);
	put_begin(of, 100, THREAD_UUID, "a");
	put_end(of, 200, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(lost(run, LOSS_MALFORMED), 3);
}

static void test_perfetto_damage__parents_may_go_in_a_circle(void **state)
{
	trace *of = start();
	struct flex_run *run;

	begin_track(of, 20, 21);
	protobuf_put_text(of, DESCRIPTOR_NAME, "circle");
	end_track(of);
	begin_track(of, 21, 20);
	end_track(of);
	put_begin(of, 100, 20, "a");
	put_end(of, 200, 20);
	run = convert(state, of);
	assert_string_equal(flex_cell(&run->host, 0, "thread"), "circle");
	assert_int_equal(flex_number(&run->host, 0, "pid"), 0);
}

/* Nobody may take the begin of the trace for its time. */
static void test_perfetto_damage__an_event_without_a_time_is_none(void **state)
{
	trace *of = start();
	struct flex_run *run;

	begin_packet(of, 0);
	protobuf_open(of, PACKET_TRACK_EVENT);
	protobuf_put_number(of, TRACK_EVENT_TYPE, TYPE_INSTANT);
	protobuf_put_number(of, TRACK_EVENT_TRACK_UUID, THREAD_UUID);
	end_event(of);
	put_begin(of, 100, THREAD_UUID, "a");
	put_end(of, 200, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(lost(run, LOSS_MALFORMED), 1);
}

static void test_perfetto_damage__a_text_that_nobody_defined_is_none(void **state)
{
	trace *of = start();
	struct flex_run *run;

	put_interned_begin(of, 100, 0, false);
	put_end(of, 200, THREAD_UUID);
	run = convert(state, of);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(lost(run, LOSS_MALFORMED), 4);
}

/* What a file of ours says of its clocks is a claim: of one that cannot be nothing is known, and a
 * segment stands behind the one before. */
static void test_perfetto_damage__figures_of_clocks_have_limits(void **state)
{
	static const char ours[] =
		"{\"1\":{\"is\":\"process\",\"pid\":7,\"exact\":1,\"drift_ppm\":1e999,"
		"\"component\":0},"
		"\"2\":{\"is\":\"device\",\"of\":1,\"number\":0},"
		"\"3\":{\"is\":\"clock\",\"of\":2,\"counter_bits\":32,\"segment\":0,\"events\":7,"
		"\"freq_mhz\":-5,\"offset_ns\":\"Infinity\",\"ci_ppm\":2,\"rho_source\":\"mine\"},"
		"\"4\":{\"is\":\"clock\",\"of\":2,\"segment\":2,\"freq_mhz\":100},"
		"\"5\":{\"is\":\"clock\",\"of\":2,\"segment\":1,\"freq_mhz\":1e300},"
		"\"6\":{\"is\":\"thread\",\"of\":1,\"number\":5},"
		"\"7\":{\"is\":\"loss\",\"of\":1,\"cause\":\"negative_duration\",\"count\":3,"
		"\"spans\":"
		"[-9223372036854775808,0,1]}}";
	trace *of = start();
	struct csv_table clocks, alignment;
	struct flex_run *run;

	begin_packet(of, 0);
	protobuf_open(of, PACKET_TRACE_ATTRIBUTES);
	protobuf_open(of, ATTRIBUTES_ATTRIBUTE);
	protobuf_put_text(of, ATTRIBUTE_KEY, "flextrace");
	protobuf_put_text(of, ATTRIBUTE_TEXT, ours);
	protobuf_close(of);
	protobuf_close(of);
	protobuf_close(of);
	begin_track(of, 6, 1);
	end_track(of);
	put_begin(of, 100, 6, "a");
	put_end(of, 200, 6);
	run = convert(state, of);
	clocks = flex_read_table(run, "tables/clocks.csv");
	alignment = flex_read_table(run, "tables/alignment.csv");
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(clocks.n_rows, 2);
	assert_string_equal(flex_cell(&clocks, 0, "events"), "7");
	assert_string_equal(flex_cell(&clocks, 0, "ci_ppm"), "2.000000");
	assert_string_equal(flex_cell(&clocks, 0, "rho_source"), "default");
	assert_string_equal(flex_cell(&clocks, 0, "freq_mhz"), "");
	assert_string_equal(flex_cell(&clocks, 0, "offset_ns"), "");
	assert_string_equal(flex_cell(&clocks, 1, "freq_mhz"), "");
	assert_string_equal(flex_cell(&alignment, 0, "drift_ppm"), "");
	assert_int_equal(lost(run, LOSS_MALFORMED), 1);
	assert_int_equal(lost(run, LOSS_BACKWARDS), 3);
	csv_table_release(&clocks);
	csv_table_release(&alignment);
}

/* A million may be open, one more is none. */
static void test_perfetto_damage__nests_as_deep_as_it_likes(void **state)
{
	enum { N = (1 << 20) + 1 };
	static const uint8_t begin[] =
		"\x0a\x09\x40\x05\x50\x01\x5a\x03\x48\x01\x58"; /* 1 byte behind */
	struct flex_run *run = *state;
	size_t n_bytes = 12 * (size_t)N;
	uint8_t *bytes = malloc(n_bytes);
	struct ledger ledger;

	assert_non_null(bytes);
	for (size_t i = 0; i < N; i++) {
		memcpy(bytes + 12 * i, begin, 11);
		bytes[12 * i + 1] = 10;
		bytes[12 * i + 7] = 4;
		bytes[12 * i + 11] = 7;
	}
	read_bytes(run, bytes, n_bytes, &ledger);
	free(bytes);
	assert_int_equal(ledger_total(&ledger, LOSS_MALFORMED), 1);
	ledger_release(&ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_perfetto_damage__what_relies_on_what_was_lost_is_lost),
		TEST(test_perfetto_damage__losses_of_the_recorder_count),
		TEST(test_perfetto_damage__ends_and_begins_alone_are_counted),
		TEST(test_perfetto_damage__other_packets_are_counted_by_kind),
		TEST(test_perfetto_damage__packed_packets_are_packets),
		TEST(test_perfetto_damage__a_bomb_costs_itself),
		TEST(test_perfetto_damage__survives_a_file_that_is_cut_anywhere),
		TEST(test_perfetto_damage__survives_any_byte_that_is_wrong),
		TEST(test_perfetto_damage__says_that_a_file_stops_in_the_middle),
		TEST(test_perfetto_damage__a_damaged_packet_costs_itself),
		TEST(test_perfetto_damage__parents_may_go_in_a_circle),
		TEST(test_perfetto_damage__an_event_without_a_time_is_none),
		TEST(test_perfetto_damage__a_text_that_nobody_defined_is_none),
		TEST(test_perfetto_damage__figures_of_clocks_have_limits),
		TEST(test_perfetto_damage__nests_as_deep_as_it_likes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
