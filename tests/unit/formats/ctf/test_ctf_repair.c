/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "formats/ctf/ctf_repair.h"
#include "ctf_writer.h"
#include "scratch.h"

#define PACKET_BYTES 4096
#define N_PACKETS    4

static const struct event instant = {
	.class = RECORD_STEP, .clock_ns = 5, .payload.step = {.number = 1}};

/* A trace of two streams; the second is shorter. */
static void write_trace(const char *dir)
{
	struct ctf_writer_options options = {
		.dir = dir, .uuid = {7}, .packet_bytes = PACKET_BYTES, .n_stream_classes = 4};
	struct ctf_writer *writer = ctf_writer_new(&options);
	struct ctf_stream *streams[2];

	assert_non_null(writer);
	streams[0] = ctf_writer_stream(writer, 3, 42);
	streams[1] = ctf_writer_stream(writer, 1, 5);
	for (int i = 0; i < N_PACKETS; i++) {
		assert_int_equal(ctf_stream_event(streams[0], &instant), 0);
		assert_int_equal(ctf_stream_flush(streams[0]), 0);
	}
	assert_int_equal(ctf_stream_event(streams[1], &instant), 0);
	assert_int_equal(ctf_writer_close(writer), 0);
}

static void path_in(char *to, const char *dir, const char *name)
{
	snprintf(to, PATH_MAX, "%s/%s", dir, name);
}

static void cut(const char *dir, const char *name, off_t n_bytes)
{
	char path[PATH_MAX];

	path_in(path, dir, name);
	assert_int_equal(truncate(path, n_bytes), 0);
}

static const struct ctf_file *find(const struct ctf_dir *dir, const char *name)
{
	for (uint32_t i = 0; i < dir->n_files; i++)
		if (strcmp(dir->files[i].name, name) == 0)
			return &dir->files[i];
	fail_msg("no file %s", name);
	return NULL;
}

static int setup(void **state)
{
	*state = scratch_dir();
	write_trace(*state);
	return 0;
}

static int teardown(void **state)
{
	scratch_remove(*state);
	return 0;
}

static void test_ctf_repair__reads_streams_and_sizes_of_a_whole_trace(void **state)
{
	struct ctf_dir dir;
	const struct ctf_file *file;

	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(dir.n_files, 2);
	assert_int_equal(dir.n_cut, 0);
	file = find(&dir, "channel3_42");
	assert_true(file->has_stream);
	assert_int_equal(file->class_id, 3);
	assert_int_equal(file->instance_id, 42);
	assert_int_equal(file->size_bytes, N_PACKETS * PACKET_BYTES);
	assert_int_equal(file->whole_bytes, N_PACKETS * PACKET_BYTES);
	ctf_dir_release(&dir);
}

/* Positions around every packet's bounds and head, and a spread in between, from the end to the
 * start. */
static void test_ctf_repair__finds_the_last_whole_packet_wherever_it_is_cut(void **state)
{
	static const int around[] = {1, 2, 3, 4, 5, 20, 31, 32, 55, 56, 63, 64, 65, 84, 700};

	for (int packet = N_PACKETS; packet > 0; packet--) {
		for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
			off_t size = (off_t)packet * PACKET_BYTES - around[i];
			struct ctf_dir dir;

			cut(*state, "channel3_42", size);
			assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
			assert_int_equal(dir.n_cut, 1);
			assert_int_equal(find(&dir, "channel3_42")->whole_bytes,
			                 (packet - 1) * PACKET_BYTES);
			ctf_dir_release(&dir);
		}
		for (size_t i = sizeof(around) / sizeof(around[0]); i-- > 0;) {
			off_t size = (off_t)(packet - 1) * PACKET_BYTES + around[i];
			struct ctf_dir dir;

			cut(*state, "channel3_42", size);
			assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
			assert_int_equal(find(&dir, "channel3_42")->whole_bytes,
			                 (packet - 1) * PACKET_BYTES);
			ctf_dir_release(&dir);
		}
		cut(*state, "channel3_42", (off_t)(packet - 1) * PACKET_BYTES);
	}
}

static void test_ctf_repair__stops_at_the_first_packet_that_is_none(void **state)
{
	char path[PATH_MAX];
	struct ctf_dir dir;
	FILE *file;

	path_in(path, *state, "channel3_42");
	file = fopen(path, "r+e");
	assert_int_equal(fseek(file, 2 * PACKET_BYTES, SEEK_SET), 0);
	assert_int_equal(fwrite("garbage", 7, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(find(&dir, "channel3_42")->whole_bytes, 2 * PACKET_BYTES);
	ctf_dir_release(&dir);
}

static void test_ctf_repair__takes_the_index_where_packets_look_different(void **state)
{
	uint32_t head[4] = {htobe32(0xC1F1DCC1), htobe32(1), htobe32(1), htobe32(40)};
	char path[PATH_MAX];
	struct ctf_dir dir;
	FILE *file;

	path_in(path, *state, "other");
	file = fopen(path, "we");
	for (int i = 0; i < 250; i++)
		assert_int_equal(fwrite("abcd", 4, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	path_in(path, *state, "index");
	assert_int_equal(mkdir(path, 0777), 0);
	path_in(path, *state, "index/other.idx");
	file = fopen(path, "we");
	assert_int_equal(fwrite(head, sizeof(head), 1, file), 1);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t entry[5] = {htobe64(400 * i), htobe64(8 * 400)};

		assert_int_equal(fwrite(entry, sizeof(entry), 1, file), 1);
	}
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(find(&dir, "other")->size_bytes, 1000);
	assert_int_equal(find(&dir, "other")->whole_bytes, 800);
	ctf_dir_release(&dir);
}

static void test_ctf_repair__leaves_alone_what_it_cannot_judge(void **state)
{
	char path[PATH_MAX];
	struct ctf_dir dir;
	FILE *file;

	path_in(path, *state, "other");
	file = fopen(path, "we");
	assert_int_equal(fwrite("hello", 5, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	cut(*state, "channel1_5", 0);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(dir.n_cut, 0);
	assert_int_equal(find(&dir, "other")->whole_bytes, 5);
	assert_int_equal(find(&dir, "channel1_5")->whole_bytes, 0);
	ctf_dir_release(&dir);
}

static void test_ctf_repair__a_view_shows_whole_files_and_a_shortened_copy(void **state)
{
	struct ctf_views views = {0};
	struct ctf_dir dir;
	struct ctf_dir view;
	struct stat status;
	char root[sizeof(views.root)];
	char *path;

	cut(*state, "channel3_42", 2 * PACKET_BYTES + 100);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(ctf_views_add(&views, &dir, &path, NULL), 0);
	assert_int_equal(ctf_dir_scan(path, &view, NULL), 0);
	assert_int_equal(view.n_cut, 0);
	assert_int_equal(view.n_files, 2);
	assert_int_equal(find(&view, "channel3_42")->size_bytes, 2 * PACKET_BYTES);
	assert_int_equal(find(&view, "channel1_5")->size_bytes, PACKET_BYTES);
	assert_true(scratch_has(path, "metadata"));
	/* The trace itself is as it was. */
	ctf_dir_release(&dir);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(find(&dir, "channel3_42")->size_bytes, 2 * PACKET_BYTES + 100);
	strcpy(root, views.root);
	ctf_views_remove(&views);
	assert_int_equal(stat(root, &status), -1);
	assert_true(scratch_has(*state, "channel1_5"));
	free(path);
	ctf_dir_release(&view);
	ctf_dir_release(&dir);
}

/* Where the file system knows holes; else there is nothing to see. */
static void test_ctf_repair__a_view_is_no_larger_on_the_disk_than_the_trace(void **state)
{
	static const uint64_t packet_bits[2] = {8 << 26, 8 << 26}; /* content, all */
	struct ctf_views views = {0};
	struct ctf_dir dir;
	struct stat of_trace, of_view;
	char path[PATH_MAX], *view;
	FILE *file;

	path_in(path, *state, "channel3_42");
	file = fopen(path, "r+e");
	assert_int_equal(fseek(file, 48, SEEK_SET), 0);
	assert_int_equal(fwrite(packet_bits, sizeof(packet_bits), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	cut(*state, "channel3_42", (1 << 26) + 100);
	assert_int_equal(stat(path, &of_trace), 0);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(dir.n_cut, 1);
	assert_int_equal(ctf_views_add(&views, &dir, &view, NULL), 0);
	path_in(path, view, "channel3_42");
	assert_int_equal(stat(path, &of_view), 0);
	assert_int_equal(of_view.st_size, 1 << 26);
	assert_true(of_view.st_blocks < of_trace.st_blocks + (1 << 16)); /* all: twice that */
	ctf_views_remove(&views);
	ctf_dir_release(&dir);
	free(view);
}

static void test_ctf_repair__a_view_leaves_out_what_has_no_whole_packet(void **state)
{
	struct ctf_views views = {0};
	struct ctf_dir dir;
	char *path;

	cut(*state, "channel3_42", 100);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(ctf_views_add(&views, &dir, &path, NULL), 0);
	assert_false(scratch_has(path, "channel3_42"));
	assert_true(scratch_has(path, "channel1_5"));
	ctf_views_remove(&views);
	free(path);
	ctf_dir_release(&dir);
}

static void test_ctf_repair__removes_the_views_of_the_dead_and_no_others(void **state)
{
	struct ctf_views live = {0}, later = {0};
	char stale[PATH_MAX], *path[2];
	struct ctf_dir dir;
	char *temporary = scratch_dir();

	setenv("TMPDIR", temporary, 1);
	cut(*state, "channel3_42", 100);
	assert_int_equal(ctf_dir_scan(*state, &dir, NULL), 0);
	assert_int_equal(ctf_views_add(&live, &dir, &path[0], NULL), 0);
	snprintf(stale, sizeof(stale), "%s/flextrace-view-abcdef/0", temporary);
	*strrchr(stale, '/') = '\0';
	assert_int_equal(mkdir(stale, 0700), 0);
	strcat(stale, "/0");
	assert_int_equal(mkdir(stale, 0700), 0);
	assert_int_equal(ctf_views_add(&later, &dir, &path[1], NULL), 0);
	assert_false(scratch_has(temporary, "flextrace-view-abcdef"));
	assert_true(scratch_has(path[0], "channel1_5"));
	assert_true(scratch_has(path[1], "channel1_5"));
	ctf_views_remove(&live);
	ctf_views_remove(&later);
	unsetenv("TMPDIR");
	free(path[0]);
	free(path[1]);
	ctf_dir_release(&dir);
	scratch_remove(temporary);
}

static void test_ctf_repair__says_what_it_cannot_read(void **state)
{
	struct flextrace_error error = {0};
	struct ctf_dir dir;

	(void)state;
	assert_int_equal(ctf_dir_scan("/does/not/exist", &dir, &error), FLEXTRACE_E_INPUT);
	assert_string_equal(error.message, "Cannot read trace directory: path=/does/not/exist, "
	                                   "reason=No such file or directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ctf_repair__reads_streams_and_sizes_of_a_whole_trace),
		TEST(test_ctf_repair__finds_the_last_whole_packet_wherever_it_is_cut),
		TEST(test_ctf_repair__stops_at_the_first_packet_that_is_none),
		TEST(test_ctf_repair__takes_the_index_where_packets_look_different),
		TEST(test_ctf_repair__leaves_alone_what_it_cannot_judge),
		TEST(test_ctf_repair__a_view_shows_whole_files_and_a_shortened_copy),
		TEST(test_ctf_repair__a_view_is_no_larger_on_the_disk_than_the_trace),
		TEST(test_ctf_repair__a_view_leaves_out_what_has_no_whole_packet),
		TEST(test_ctf_repair__removes_the_views_of_the_dead_and_no_others),
		TEST(test_ctf_repair__says_what_it_cannot_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
