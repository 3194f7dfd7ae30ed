/* SPDX-License-Identifier: Apache-2.0 */
/* Real CTF files through babeltrace2's source into streams, compared with what was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "event_samples.h"
#include "reading.h"
#include "scratch.h"

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

/* -- what arrives ------------------------------------------------------------------------------ */

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
	stream_release(&expected);
	reading_release(&reading);
}

static void test_reader__reads_what_it_knows_of_a_later_version(void **state)
{
	struct ctf_writer_options options = {
		.dir = *state, .uuid = {1}, .packet_bytes = 1000, .has_newer_members = true};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *out = ctf_writer_stream(writer, 0, 0);
	struct stream expected = {.clock_is_1ghz = true};
	struct reading reading;

	write_samples(out, 5);
	assert_int_equal(ctf_stream_unknown(out, UINT64_C(1) << 40), 0);
	assert_int_equal(ctf_stream_unknown(out, UINT64_C(1) << 40), 0);
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	decode_samples(reading.strings, &expected, 5);
	assert_same_tables(reading.set.streams[0], &expected);
	assert_int_equal(lost(&reading, LOSS_MALFORMED), 0);
	assert_int_equal(lost(&reading, LOSS_UNKNOWN_EVENT), 2);
	assert_int_equal(reading.ledger.warnings[WARNING_UNKNOWN_KIND], 2);
	assert_string_equal(reading.warning, "Events of a newer version are not read: "
	                                     "events=flextrace:of_the_future");
	stream_release(&expected);
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
		{"begin_ns", NULL, 5}, /* scope, span, async_span, host_estimate, restored */
		{"ts", NULL, 0},       /* not needed */
		{NULL, "begin_ns", 5},
		{NULL, "ts", 1}, /* but wrong */
		{NULL, "words", 1},
		{NULL, "job", 5}, /* device_op, submit, complete, host_estimate, restored */
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

static void test_reader__knows_a_tracer_without_dialects(void **state)
{
	static const struct {
		const char *missing;
		bool has_dialects;
	} cases[] = {{NULL, true}, {"dialect", false}, {"args", true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[] = {(char)('a' + i), '\0'};
		char *dir = path_in(*state, name);
		struct ctf_writer_options options = {
			.dir = dir, .uuid = {1}, .missing_member = cases[i].missing};
		struct reading reading;

		write_trace(&options, 1, 1);
		assert_int_equal(read_path(&reading, dir, 1), 0);
		assert_int_equal(reading.set.streams[0]->has_dialects, cases[i].has_dialects);
		reading_release(&reading);
		free(dir);
	}
}

/* Writers differ in the signedness of what they write; only a value out of range is malformed. */
static void test_reader__takes_integers_of_either_sign_in_range(void **state)
{
	static const struct {
		const char *member;
		int32_t rank;
		uint32_t line;
		uint64_t start_ns;
		uint64_t n_malformed;
	} cases[] = {
		{"rank", 3, 0, 5, 0},     {"rank", -1, 0, 5, 1},
		{"line", 0, 7, 5, 0},     {"line", 0, UINT32_MAX, 5, 1},
		{"start_ns", 0, 0, 5, 0}, {"start_ns", 0, 0, UINT64_MAX, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *dir = path_in(*state, i % 2 ? "odd" : "even");
		struct ctf_writer_options options = {
			.dir = dir, .uuid = {1}, .flipped_member = cases[i].member};
		struct ctf_writer *writer = open_writer(&options);
		struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
		struct reading reading;
		struct event event;

		event_sample(RECORD_PROCESS, 1, 10, &event);
		event.payload.process.rank = cases[i].rank;
		event.payload.process.start_ns = cases[i].start_ns;
		assert_int_equal(ctf_stream_event(stream, &event), 0);
		event_sample(RECORD_SCOPE, 1, 20, &event);
		event.payload.scope.line = cases[i].line;
		assert_int_equal(ctf_stream_event(stream, &event), 0);
		assert_int_equal(ctf_writer_close(writer), 0);
		assert_int_equal(read_path(&reading, dir, 1), 0);
		assert_int_equal(lost(&reading, LOSS_MALFORMED), cases[i].n_malformed);
		assert_int_equal(count_records(reading.set.streams[0]), 2 - cases[i].n_malformed);
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

/* -- what was lost ----------------------------------------------------------------------------- */

static void test_reader__sums_discarded_events_modulo_2_to_the_64(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
	static const int64_t steps[] = {0, 5, 7, -7, 7, 100}; /* it drops and comes back */
	const struct loss *loss;
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
	assert_int_equal(lost(&reading, LOSS_DISCARDED_EVENTS), 112);
	loss = &reading.set.streams[0]->losses.all[0];
	assert_int_equal(loss->n_spans, 4); /* between the packets that tell of them */
	assert_int_equal(loss->spans[0].first_ns, 1000);
	assert_int_equal(loss->spans[0].last_ns, 2000);
	assert_int_equal(loss->spans[0].count, 5);
	assert_int_equal(loss->spans[3].last_ns, 6000);
	assert_int_equal(loss->spans[3].count, 100);
	assert_int_equal(lost(&reading, LOSS_DISCARDED_PACKETS), 0);
	reading_release(&reading);
}

/* Since when the first packet's counter counts is not known: babeltrace2 then gives no number. */
static void test_reader__discards_before_packet_0_count_exactly(void **state)
{
	struct ctf_writer_options options = {.dir = *state, .uuid = {1}};
	struct ctf_writer *writer = open_writer(&options);
	struct ctf_stream *stream = ctf_writer_stream(writer, 0, 0);
	struct reading reading;

	ctf_stream_discard_events(stream, 1000);
	assert_int_equal(ctf_stream_foreign(stream, 10), 0);
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(read_path(&reading, *state, 1), 0);
	assert_int_equal(lost(&reading, LOSS_DISCARDED_EVENTS), 1000);
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
	assert_int_equal(lost(&reading, LOSS_DISCARDED_PACKETS), 23);
	assert_int_equal(reading.set.streams[0]->losses.all[0].spans[1].first_ns, 2000);
	assert_int_equal(reading.set.streams[0]->losses.all[0].spans[1].last_ns, 3000);
	assert_int_equal(reading.set.streams[0]->losses.all[0].spans[1].count, 12);
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

/* -- workers and traces ------------------------------------------------------------------------ */

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

static void test_reader__finds_the_chunk_that_was_being_closed(void **state)
{
	char *chunk = path_in(*state, ".tmp_old_chunk"), *other = path_in(*state, ".other");
	struct ctf_writer_options options = {.dir = chunk, .uuid = {1}};
	struct reading reading;

	write_trace(&options, 1, 1);
	options = (struct ctf_writer_options){.dir = other, .uuid = {2}};
	write_trace(&options, 1, 1);
	assert_int_equal(read_path(&reading, *state, 2), 0);
	assert_int_equal(reading.set.n_streams, 1);
	assert_int_equal(count_records(reading.set.streams[0]), RECORD_CLASS_COUNT);
	reading_release(&reading);
	free(chunk);
	free(other);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_reader__every_class_arrives_with_every_field),
		TEST(test_reader__reads_what_it_knows_of_a_later_version),
		TEST(test_reader__a_stream_knows_its_key_host_and_clock),
		TEST(test_reader__a_clock_of_another_rate_is_told_and_scaled),
		TEST(test_reader__works_without_contexts),
		TEST(test_reader__a_missing_member_is_unknown),
		TEST(test_reader__events_without_what_they_need_are_malformed),
		TEST(test_reader__knows_a_tracer_without_dialects),
		TEST(test_reader__takes_integers_of_either_sign_in_range),
		TEST(test_reader__counts_events_that_are_not_ours),
		TEST(test_reader__sums_discarded_events_modulo_2_to_the_64),
		TEST(test_reader__discards_before_packet_0_count_exactly),
		TEST(test_reader__counts_discarded_packets),
		TEST(test_reader__a_declared_channel_without_streams_was_not_created),
		TEST(test_reader__records_without_definitions_miss_their_channel),
		TEST(test_reader__any_number_of_workers_reads_the_same),
		TEST(test_reader__more_streams_than_a_graph_takes),
		TEST(test_reader__finds_traces_below_and_keeps_them_apart),
		TEST(test_reader__joins_the_chunks_of_a_rotated_recording),
		TEST(test_reader__finds_the_chunk_that_was_being_closed),
		TEST(test_reader__a_trace_that_is_named_twice_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
