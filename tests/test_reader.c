/* SPDX-License-Identifier: Apache-2.0 */
/* Real CTF files through babeltrace2's source into streams, compared with what was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "bt2/reader.h"
#include "ctf_writer.h"
#include "decode/decode.h"
#include "event_samples.h"
#include "scratch.h"

/* What reader_run() gives, with its pool. */
struct reading {
	struct string_pool *strings;
	struct stream_set set;
	struct ledger ledger;
	struct ctf_views views;
	struct flextrace_error error;
	int n_warnings;
	char warning[512]; /* the last */
};

static void count_warning(void *context, const char *text)
{
	struct reading *reading = context;

	reading->n_warnings++;
	snprintf(reading->warning, sizeof(reading->warning), "%s", text);
}

static int read_paths(struct reading *reading, const char *const *paths, uint32_t n_paths,
                      uint32_t n_workers)
{
	struct reader_options options = {n_workers, NULL, count_warning, reading};
	int code;

	memset(reading, 0, sizeof(*reading));
	reading->strings = string_pool_new();
	ledger_init(&reading->ledger);
	code = reader_run(paths, n_paths, &options, &reading->views, reading->strings,
	                  &reading->set, &reading->ledger, &reading->error);
	stream_set_sort(&reading->set);
	return code;
}

static int read_path(struct reading *reading, const char *path, uint32_t n_workers)
{
	return read_paths(reading, &path, 1, n_workers);
}

static void reading_release(struct reading *reading)
{
	ctf_views_remove(&reading->views);
	stream_set_release(&reading->set);
	ledger_release(&reading->ledger);
	string_pool_free(reading->strings);
}

static uint64_t lost(const struct reading *reading, enum loss_cause cause)
{
	return ledger_total(&reading->ledger, cause);
}

/* The n-th record of a stream's table, or NULL. */
static const struct record *record_at(struct stream *stream, enum record_table table, int n)
{
	struct table_cursor cursor;
	const struct record *record;

	table_read(&cursor, &stream->tables[table], false);
	while ((record = table_peek(&cursor)) && n--)
		table_next(&cursor, record->size_bytes);
	return record;
}

static uint64_t count_records(const struct stream *stream)
{
	return stream->tables[0].n_rows + stream->tables[1].n_rows + stream->tables[2].n_rows;
}

static void assert_same_tables(struct stream *a, struct stream *b)
{
	for (int table = 0; table < RECORD_TABLE_COUNT; table++) {
		const struct record *x, *y;

		assert_int_equal(a->tables[table].n_rows, b->tables[table].n_rows);
		for (int i = 0; (x = record_at(a, table, i)); i++) {
			y = record_at(b, table, i);
			assert_int_equal(x->size_bytes, y->size_bytes);
			assert_memory_equal(x, y, x->size_bytes);
		}
	}
}

static char *path_in(const char *dir, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	return path;
}

static struct ctf_writer *open_writer(const struct ctf_writer_options *options)
{
	struct ctf_writer *writer = ctf_writer_new(options);

	assert_non_null(writer);
	return writer;
}

/* Every class `n_rounds` times, with a gap of more than 32 bits of ns in the middle. */
static void write_samples(struct ctf_stream *stream, uint32_t n_rounds)
{
	struct event event;
	uint64_t clock_ns = 1000;

	for (uint32_t i = 0; i < n_rounds; i++)
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
			clock_ns += class == 9 ? UINT64_C(10000000000) : 100;
			event_sample(class, i, clock_ns, &event);
			assert_int_equal(ctf_stream_event(stream, &event), 0);
		}
}

/* The same events straight into the decoder. */
static void decode_samples(struct string_pool *strings, struct stream *stream, uint32_t n_rounds)
{
	struct decoder decoder;
	struct event event;
	uint64_t clock_ns = 1000;

	assert_int_equal(decoder_init(&decoder, strings), 0);
	for (uint32_t i = 0; i < n_rounds; i++)
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
			clock_ns += class == 9 ? UINT64_C(10000000000) : 100;
			event_sample(class, i, clock_ns, &event);
			assert_int_equal(decode_push(&decoder, stream, &event), 0);
		}
	decoder_release(&decoder);
}

static void write_trace(const struct ctf_writer_options *options, uint32_t n_streams,
                        uint32_t n_rounds)
{
	struct ctf_writer *writer = open_writer(options);

	for (uint32_t i = 0; i < n_streams; i++)
		write_samples(ctf_writer_stream(writer, 0, i), n_rounds);
	assert_int_equal(ctf_writer_close(writer), 0);
}

static int setup(void **state)
{
	*state = scratch_dir();
	return 0;
}

static int teardown(void **state)
{
	scratch_remove(*state);
	return 0;
}

/* -- what arrives ------------------------------------------------------------------------------------ */

static void test_reader__every_class_arrives_with_every_field(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}, .packet_bytes = 1000};
	struct stream expected = {.clock_is_1ghz = true};
	struct reading reading;

	write_trace(&options, 1, 5);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(reading.set.n_streams, 1);
	decode_samples(reading.strings, &expected, 5);
	assert_int_equal(count_records(&expected), 5 * RECORD_CLASS_COUNT);
	assert_same_tables(reading.set.streams[0], &expected);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		assert_int_equal(reading.ledger.read[class], 5);
	for (int table = 0; table < RECORD_TABLE_COUNT; table++)
		table_release(&expected.tables[table]);
	reading_release(&reading);
}

static void test_reader__a_stream_knows_its_key_host_and_clock(void **state)
{
	struct ctf_writer_options options = {.dir = *state,
	                                     .uuid = {0xab, 2, [15] = 9},
	                                     .hostname = "node7",
	                                     .clock_offset_ns = 1700000000123456789,
	                                     .n_stream_classes = 3};
	struct ctf_writer *writer = open_writer(&options);
	struct reading reading;
	struct stream *stream;

	write_samples(ctf_writer_stream(writer, 2, 77), 1);
	write_samples(ctf_writer_stream(writer, 1, 5), 1);
	write_samples(ctf_writer_stream(writer, 0, 6), 1);
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 2), 0);
	assert_int_equal(reading.set.n_streams, 3);
	stream = reading.set.streams[2];
	assert_memory_equal(stream->trace_uuid, options.uuid, 16);
	assert_int_equal(stream->class_id, 2);
	assert_int_equal(stream->instance_id, 77);
	assert_string_equal(string_get(reading.strings, stream->host), "node7");
	assert_true(stream->clock_offset_ns == 1700000000123456789);
	assert_true(stream->clock_is_1ghz);
	assert_int_equal(lost(&reading, LOSS_CHANNEL_NOT_CREATED), 0);
	reading_release(&reading);
}

static void test_reader__a_clock_of_another_rate_is_told_and_scaled(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}, .clock_hz = 2000000000};
	struct reading reading;

	write_trace(&options, 1, 1);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_false(reading.set.streams[0]->clock_is_1ghz);
	assert_int_equal(record_at(reading.set.streams[0], TABLE_DEFINITIONS, 0)->clock_ns, 550);
	reading_release(&reading);
}

static void test_reader__works_without_contexts(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}, .without_contexts = true};
	struct reading reading;
	const struct record *record;

	write_trace(&options, 1, 1);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(count_records(reading.set.streams[0]), RECORD_CLASS_COUNT);
	record = record_at(reading.set.streams[0], TABLE_HOST, 0);
	assert_int_equal(record->vpid, -1);
	assert_int_equal(record->vtid, -1);
	reading_release(&reading);
}

static void test_reader__a_missing_member_is_unknown(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}, .missing_member = "peer"};
	struct reading reading;
	const struct record *record;

	write_trace(&options, 1, 1);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(lost(&reading, LOSS_MALFORMED), 0);
	for (int i = 0; (record = record_at(reading.set.streams[0], TABLE_EVIDENCE, i)); i++)
		if (record->class == RECORD_DEVICE_OP)
			break;
	assert_non_null(record);
	assert_int_equal(((const struct record_device_op *)record)->peer, -1);
	reading_release(&reading);
}

static void test_reader__events_without_what_they_need_are_malformed(void **state)
{
	static const struct {
		const char *missing, *mistyped;
		uint64_t n_malformed;
	} cases[] = {
		{"begin_ns", NULL, 2}, /* scope, host_estimate */
		{"ts", NULL, 0},       /* not needed */
		{NULL, "begin_ns", 2},
		{NULL, "ts", 1}, /* but wrong */
		{NULL, "words", 1},
		{NULL, "job", 4}, /* device_op, submit, complete, host_estimate */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *dir = path_in(*state, i % 2 ? "odd" : "even");
		struct ctf_writer_options options = {.uuid = {1},
		                                     .missing_member = cases[i].missing,
		                                     .mistyped_member = cases[i].mistyped};
		struct reading reading;

		options.dir = dir;
		write_trace(&options, 1, 1);
		assert_int_equal(read_path(&reading, dir, 1), 0);
		assert_int_equal(lost(&reading, LOSS_MALFORMED), cases[i].n_malformed);
		assert_int_equal(count_records(reading.set.streams[0]),
		                 RECORD_CLASS_COUNT - cases[i].n_malformed);
		assert_int_equal(reading.set.streams[0]->n_events, RECORD_CLASS_COUNT);
		reading_release(&reading);
		free(dir);
	}
}

static void test_reader__counts_events_that_are_not_ours(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
	struct reading reading;
	struct event event;

	event_sample(RECORD_SCOPE, 1, 30, &event);
	assert_int_equal(ctf_stream_foreign(stream, 10), 0);
	assert_int_equal(ctf_stream_unknown(stream, 20), 0);
	assert_int_equal(ctf_stream_event(stream, &event), 0);
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(reading.ledger.foreign_events, 1);
	assert_int_equal(lost(&reading, LOSS_UNKNOWN_EVENT), 1);
	assert_int_equal(record_at(reading.set.streams[0], TABLE_HOST, 0)->index, 2);
	reading_release(&reading);
}

/* -- what was lost ----------------------------------------------------------------------------------- */

static void test_reader__sums_discarded_events_modulo_2_to_the_64(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
	static const int64_t steps[] = {0, 5, 7, -7, 7, 100}; /* it drops and comes back */
	struct reading reading;
	struct event event;

	for (uint64_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		event_sample(RECORD_STEP, 1, 1000 * (i + 1), &event);
		assert_int_equal(ctf_stream_event(stream, &event), 0);
		ctf_stream_discard_events(stream, (uint64_t)steps[i]);
		assert_int_equal(ctf_stream_flush(stream), 0);
	}
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(reading.set.streams[0]->discarded_events, 112);
	assert_int_equal(reading.set.streams[0]->discarded_packets, 0);
	reading_release(&reading);
}

/* Since when the first packet's counter counts is not known: babeltrace2 then gives no number. */
static void test_reader__discards_before_the_first_packet_count_once(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
	struct reading reading;

	ctf_stream_discard_events(stream, 1000);
	assert_int_equal(ctf_stream_foreign(stream, 10), 0);
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(reading.set.streams[0]->discarded_events, 1);
	reading_release(&reading);
}

static void test_reader__counts_discarded_packets(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
	struct reading reading;
	struct event event;

	for (uint64_t i = 0; i < 3; i++) {
		event_sample(RECORD_STEP, 1, 1000 * (i + 1), &event);
		assert_int_equal(ctf_stream_event(stream, &event), 0);
		if (i)
			ctf_stream_discard_packets(stream, 10 + i);
		assert_int_equal(ctf_stream_flush(stream), 0);
	}
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(reading.set.streams[0]->discarded_packets, 23);
	assert_int_equal(count_records(reading.set.streams[0]), 3);
	reading_release(&reading);
}

static void test_reader__a_declared_channel_without_streams_was_not_created(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}, .n_stream_classes = 3};
	struct reading reading;

	write_trace(&options, 2, 1);
	for (uint32_t n_workers = 1; n_workers <= 2; n_workers++) {
		assert_int_equal(read_path(&reading, *state, n_workers), 0);
		assert_int_equal(lost(&reading, LOSS_CHANNEL_NOT_CREATED), 2);
		reading_release(&reading);
	}
}

static void test_reader__records_without_definitions_miss_their_channel(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct ctf_writer *writer = open_writer(&options);
	struct reading reading;
	struct event event;

	event_sample(RECORD_SCOPE, 1, 10, &event);
	assert_int_equal(ctf_stream_event(ctf_writer_stream(writer, 0, 0), &event), 0);
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(lost(&reading, LOSS_CHANNEL_NOT_CREATED), 1);
	reading_release(&reading);
}

/* -- workers and traces ------------------------------------------------------------------------------ */

static void test_reader__any_number_of_workers_reads_the_same(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}, .packet_bytes = 4096};
	static const uint32_t n_workers[] = {2, 3, 16};
	struct reading one;

	write_trace(&options, 5, 3);
	assert_int_equal(read_path(&one, *state, 1), 0);
	assert_int_equal(one.set.n_streams, 5);
	for (size_t i = 0; i < sizeof(n_workers) / sizeof(n_workers[0]); i++) {
		struct reading many;

		assert_int_equal(read_path(&many, *state, n_workers[i]), 0);
		assert_int_equal(many.set.n_streams, 5);
		for (uint32_t j = 0; j < 5; j++) {
			assert_int_equal(many.set.streams[j]->instance_id, j);
			assert_int_equal(count_records(many.set.streams[j]),
			                 count_records(one.set.streams[j]));
			assert_int_equal(many.set.streams[j]->n_events,
			                 one.set.streams[j]->n_events);
		}
		assert_memory_equal(many.ledger.read, one.ledger.read, sizeof(one.ledger.read));
		reading_release(&many);
	}
	reading_release(&one);
}

static void test_reader__more_streams_than_a_graph_takes(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}, .packet_bytes = 8192};
	struct reading reading;

	write_trace(&options, 150, 1);
	assert_int_equal(read_path(&reading, *state, 2), 0);
	assert_int_equal(reading.set.n_streams, 150);
	for (uint32_t i = 0; i < 150; i++)
		assert_int_equal(count_records(reading.set.streams[i]), RECORD_CLASS_COUNT);
	reading_release(&reading);
}

static void test_reader__finds_traces_below_and_keeps_them_apart(void **state)
{
	char *a = path_in(*state, "a");
	char *b = path_in(*state, "b");
	struct ctf_writer_options options = {.dir = a, .uuid = {1}, .hostname = "one"};
	struct reading reading;

	write_trace(&options, 1, 1);
	options = (struct ctf_writer_options){.dir = b, .uuid = {2}, .hostname = "two"};
	write_trace(&options, 1, 1);
	assert_int_equal(read_path(&reading, *state, 2), 0);
	assert_int_equal(reading.set.n_streams, 2);
	assert_string_equal(string_get(reading.strings, reading.set.streams[0]->host), "one");
	assert_string_equal(string_get(reading.strings, reading.set.streams[1]->host), "two");
	assert_int_equal(reading.set.streams[1]->trace, 1);
	reading_release(&reading);
	free(a);
	free(b);
}

/* LTTng writes each chunk of a rotated recording as a trace of its own with the same uuid. */
static void test_reader__joins_the_chunks_of_a_rotated_recording(void **state)
{
	char *chunks[2] = {path_in(*state, "1"), path_in(*state, "2")};
	struct reading reading;

	for (uint64_t i = 0; i < 2; i++) {
		struct ctf_writer_options options = {.dir = chunks[i], .uuid = {1}};
		struct ctf_writer *writer = open_writer(&options);
		struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
		struct event event;

		event_sample(RECORD_STEP, 1, 1000 * (i + 1), &event);
		if (i)
			ctf_stream_discard_packets(stream, 1);
		assert_int_equal(ctf_stream_event(stream, &event), 0);
		assert_int_equal(ctf_writer_close(writer), 0);
	}
	assert_int_equal(read_path(&reading, *state, 2), 0);
	assert_int_equal(reading.set.n_streams, 1);
	assert_int_equal(count_records(reading.set.streams[0]), 2);
	assert_int_equal(record_at(reading.set.streams[0], TABLE_HOST, 1)->index, 1);
	reading_release(&reading);
	free(chunks[0]);
	free(chunks[1]);
}

static void test_reader__a_trace_that_is_named_twice_is_read_once(void **state)
{
	const char *paths[] = {*state, *state};
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct reading reading;

	write_trace(&options, 1, 1);
	assert_int_equal(read_paths(&reading, paths, 2, 1), 0);
	assert_int_equal(reading.set.n_streams, 1);
	assert_int_equal(count_records(reading.set.streams[0]), RECORD_CLASS_COUNT);
	reading_release(&reading);
}

/* -- damaged and absent traces ----------------------------------------------------------------------- */

/* Four packets of one event each. */
static void write_packets(const char *dir)
{
	struct ctf_writer_options options = {.dir = dir, .uuid = {1}, .packet_bytes = 4096};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
	struct event event;

	for (uint64_t i = 0; i < 4; i++) {
		event_sample(i ? RECORD_STEP : RECORD_PROCESS, 1, 1000 * (i + 1), &event);
		assert_int_equal(ctf_stream_event(stream, &event), 0);
		assert_int_equal(ctf_stream_flush(stream), 0);
	}
	write_samples(ctf_writer_stream(writer, 0, 1), 1);
	assert_int_equal(ctf_writer_close(writer), 0);
}

static void test_reader__reads_a_cut_stream_up_to_its_last_whole_packet(void **state)
{
	static const off_t sizes[] = {4 * 4096 - 1, 3 * 4096 + 1, 2 * 4096 + 100, 4096, 64, 1, 0};
	static const uint64_t n_expected[] = {3, 3, 2, 1, 0, 0, 0};
	char *path = path_in(*state, "channel0_0");

	write_packets(*state);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bool is_cut = sizes[i] % 4096;
		struct reading reading;

		assert_int_equal(truncate(path, sizes[i]), 0);
		assert_int_equal(read_path(&reading, *state, 1), 0);
		assert_int_equal(reading.set.n_streams, n_expected[i] ? 2 : 1);
		if (n_expected[i])
			assert_int_equal(count_records(reading.set.streams[0]), n_expected[i]);
		assert_int_equal(lost(&reading, LOSS_TRUNCATED_STREAM), is_cut);
		assert_int_equal(reading.n_warnings, is_cut);
		if (is_cut)
			assert_non_null(strstr(reading.warning, "channel0_0"));
		reading_release(&reading);
	}
	free(path);
}

static void test_reader__a_corrupt_packet_costs_the_rest_of_its_stream(void **state)
{
	uint16_t no_such_event = 60000;
	char *path = path_in(*state, "channel0_0");
	struct reading reading;
	FILE *file;

	write_packets(*state);
	file = fopen(path, "r+e");
	assert_int_equal(fseek(file, 2 * 4096 + 84, SEEK_SET), 0);
	assert_int_equal(fwrite(&no_such_event, sizeof(no_such_event), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(reading.set.n_streams, 2);
	assert_int_equal(count_records(reading.set.streams[0]), 2);
	assert_int_equal(count_records(reading.set.streams[1]), RECORD_CLASS_COUNT);
	assert_int_equal(lost(&reading, LOSS_TRUNCATED_STREAM), 1);
	assert_int_equal(reading.n_warnings, 1);
	reading_release(&reading);
	free(path);
}

static void test_reader__says_why_there_is_nothing_to_read(void **state)
{
	char *missing = path_in(*state, "missing");
	char *empty = path_in(*state, "empty");
	char *file = path_in(*state, "streamless/metadata");
	char *streamless = path_in(*state, "streamless");
	struct ctf_writer_options options = {.dir = streamless, .uuid = {1}};
	const struct {
		const char *path, *message;
	} cases[] = {
		{missing, "Cannot read trace: path="},
		{empty, "No data: there is no trace at or below the path"},
		{file, "A trace is a directory, this is not: path="},
		{streamless, "No data: the trace has no streams"},
	};

	assert_int_equal(mkdir(empty, 0777), 0);
	assert_int_equal(ctf_writer_close(open_writer(&options)), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reading reading;

		assert_int_equal(read_path(&reading, cases[i].path, 2), FLEXTRACE_E_INPUT);
		assert_int_equal(reading.error.code, FLEXTRACE_E_INPUT);
		assert_non_null(strstr(reading.error.message, cases[i].message));
		reading_release(&reading);
	}
	free(missing);
	free(empty);
	free(file);
	free(streamless);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_reader__every_class_arrives_with_every_field),
		TEST(test_reader__a_stream_knows_its_key_host_and_clock),
		TEST(test_reader__a_clock_of_another_rate_is_told_and_scaled),
		TEST(test_reader__works_without_contexts),
		TEST(test_reader__a_missing_member_is_unknown),
		TEST(test_reader__events_without_what_they_need_are_malformed),
		TEST(test_reader__counts_events_that_are_not_ours),
		TEST(test_reader__sums_discarded_events_modulo_2_to_the_64),
		TEST(test_reader__discards_before_the_first_packet_count_once),
		TEST(test_reader__counts_discarded_packets),
		TEST(test_reader__a_declared_channel_without_streams_was_not_created),
		TEST(test_reader__records_without_definitions_miss_their_channel),
		TEST(test_reader__any_number_of_workers_reads_the_same),
		TEST(test_reader__more_streams_than_a_graph_takes),
		TEST(test_reader__finds_traces_below_and_keeps_them_apart),
		TEST(test_reader__joins_the_chunks_of_a_rotated_recording),
		TEST(test_reader__a_trace_that_is_named_twice_is_read_once),
		TEST(test_reader__reads_a_cut_stream_up_to_its_last_whole_packet),
		TEST(test_reader__a_corrupt_packet_costs_the_rest_of_its_stream),
		TEST(test_reader__says_why_there_is_nothing_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
