/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that are cut, corrupt, empty or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
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

static void test_reader_damage__reads_a_cut_stream_up_to_its_last_whole_packet(void **state)
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

static void test_reader_damage__says_where_there_is_no_room_for_a_view(void **state)
{
	char *missing = path_in(*state, "missing");
	char *path = path_in(*state, "channel0_0");
	char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	struct reading reading;

	write_packets(*state);
	assert_int_equal(truncate(path, 4 * 4096 - 1), 0);
	setenv("TMPDIR", missing, 1);
	assert_int_equal(read_path(&reading, *state, 1), FLEXTRACE_E_SYSTEM);
	assert_non_null(strstr(reading.error.message, missing));
	reading_release(&reading);
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
	free(path);
	free(missing);
}

static void test_reader_damage__a_corrupt_packet_costs_the_rest_of_its_stream(void **state)
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
	assert_non_null(strstr(reading.warning, "Cannot read a stream to its end"));
	reading_release(&reading);
	free(path);
}

static void test_reader_damage__says_why_there_is_nothing_to_read(void **state)
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

static void test_reader_damage__links_that_lead_back_are_not_followed(void **state)
{
	char *below = path_in(*state, "below");
	char *links[2] = {path_in(below, "a"), path_in(below, "b")};
	char *trace = path_in(*state, "trace");
	char *linked = path_in(below, "c");
	struct ctf_writer_options options = {.dir = trace, .uuid = {1}};
	struct reading reading;

	assert_int_equal(mkdir(below, 0777), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(symlink("..", links[i]), 0);
	assert_int_equal(symlink("../trace", linked), 0);
	write_trace(&options, 1, 1);
	assert_int_equal(read_path(&reading, below, 1), 0);
	assert_int_equal(reading.set.n_streams, 1);
	assert_int_equal(count_records(reading.set.streams[0]), RECORD_CLASS_COUNT);
	reading_release(&reading);
	free(below);
	free(links[0]);
	free(links[1]);
	free(trace);
	free(linked);
}

static char *level_of(const char *dir, int level)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/level%d", dir, level) > 0);
	return path;
}

/* There are 2^40 ways to the trace. */
static void test_reader_damage__reads_a_trace_once_however_many_ways_lead_there(void **state)
{
	char *trace = path_in(*state, "level40"), *first = path_in(*state, "level0");
	struct ctf_writer_options options = {.dir = trace, .uuid = {1}};
	struct reading reading;

	write_trace(&options, 1, 1);
	for (int i = 0; i < 40; i++) {
		char *level = level_of(*state, i), *next = level_of("..", i + 1);
		char *links[] = {path_in(level, "a"), path_in(level, "b")};

		assert_int_equal(mkdir(level, 0777), 0);
		for (int j = 0; j < 2; j++) {
			assert_int_equal(symlink(next, links[j]), 0);
			free(links[j]);
		}
		free(level);
		free(next);
	}
	assert_int_equal(read_path(&reading, first, 1), 0);
	assert_int_equal(reading.set.n_streams, 1);
	assert_int_equal(count_records(reading.set.streams[0]), RECORD_CLASS_COUNT);
	reading_release(&reading);
	free(trace);
	free(first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_reader_damage__reads_a_cut_stream_up_to_its_last_whole_packet),
		TEST(test_reader_damage__says_where_there_is_no_room_for_a_view),
		TEST(test_reader_damage__a_corrupt_packet_costs_the_rest_of_its_stream),
		TEST(test_reader_damage__says_why_there_is_nothing_to_read),
		TEST(test_reader_damage__links_that_lead_back_are_not_followed),
		TEST(test_reader_damage__reads_a_trace_once_however_many_ways_lead_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
