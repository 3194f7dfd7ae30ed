/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are there whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text/writer.h"
#include "full_disk.h"
#include "scratch.h"

struct fixture {
	char *dir; /* owned */
	struct writer writer;
};

static int open_writer(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = scratch_dir();
	assert_int_equal(writer_open(&f->writer, f->dir, "out", false, NULL), 0);
	*state = f;
	return 0;
}

static int drop_writer(void **state)
{
	struct fixture *f = *state;

	writer_abandon(&f->writer);
	scratch_remove(f->dir);
	free(f);
	return 0;
}

static void assert_written(struct fixture *f, const char *expected)
{
	char *text;

	assert_int_equal(writer_close(&f->writer, NULL), 0);
	assert_false(scratch_has(f->dir, "out.tmp"));
	text = scratch_read(f->dir, "out", NULL);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void test_writer_files__has_no_final_name_before_the_end(void **state)
{
	struct fixture *f = *state;

	writer_literal(&f->writer, "half");
	assert_false(scratch_has(f->dir, "out"));
	assert_true(scratch_has(f->dir, "out.tmp"));
	assert_written(f, "half");
}

static void test_writer_files__has_room_for_a_line_of_any_length(void **state)
{
	const size_t n = 3 << 20;
	struct fixture *f = *state;
	char *expected = malloc(n + 7), *at;

	memcpy(expected, "first", 5);
	memset(expected + 5, 'x', n);
	memcpy(expected + 5 + n, "!", 2);
	writer_literal(&f->writer, "first");
	at = writer_room(&f->writer, n);
	assert_non_null(at);
	memset(at, 'x', n);
	f->writer.at = at + n;
	writer_char(&f->writer, '!');
	assert_written(f, expected);
	free(expected);
}

static void test_writer_files__leaves_nothing_when_abandoned(void **state)
{
	struct fixture *f = *state;

	writer_literal(&f->writer, "half");
	writer_abandon(&f->writer);
	writer_abandon(&f->writer);
	assert_false(scratch_has(f->dir, "out"));
	assert_false(scratch_has(f->dir, "out.tmp"));
}

static void test_writer_files__keeps_the_older_file_when_it_fails(void **state)
{
	struct fixture *f = *state;
	struct flextrace_error error = {0};

	assert_written(f, "");
	full_disk_for("out.tmp");
	assert_int_equal(writer_open(&f->writer, f->dir, "out", false, NULL), 0);
	writer_literal(&f->writer, "more than the disk can hold");
	assert_false(writer_failed(&f->writer)); /* still in the buffer: seen at the end */
	assert_int_equal(writer_close(&f->writer, &error), FLEXTRACE_E_OUTPUT);
	full_disk_for(NULL);
	assert_non_null(strstr(error.message, "/out, reason=No space left on device"));
	assert_false(scratch_has(f->dir, "out.tmp"));
	assert_true(scratch_has(f->dir, "out"));
}

static void plant_link(const char *at, const char *victim)
{
	assert_int_equal(symlink(victim, at), 0);
}

static void plant_name(const char *at, const char *victim)
{
	assert_int_equal(link(victim, at), 0);
}

static void plant_pipe(const char *at, const char *victim)
{
	(void)victim;
	assert_int_equal(mkfifo(at, 0666), 0);
}

/* Whoever may write into a directory could have us overwrite any file of ours, write into one that
 * he may read, or wait for ever. */
static void test_writer_files__replaces_what_others_left_in_the_way(void **state)
{
	void (*const plants[])(const char *at, const char *victim) = {plant_link, plant_name,
	                                                              plant_pipe};
	struct fixture *f = *state;
	char *at = NULL, *victim = NULL, *text;
	struct stat status;

	writer_literal(&f->writer, "kept");
	assert_written(f, "kept");
	assert_true(asprintf(&victim, "%s/out", f->dir) > 0);
	assert_true(asprintf(&at, "%s/new.tmp", f->dir) > 0);
	assert_int_equal(chmod(victim, 0666), 0);
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++) {
		plants[i](at, victim);
		assert_int_equal(writer_open(&f->writer, f->dir, "new", false, NULL), 0);
		writer_literal(&f->writer, "secret");
		assert_int_equal(lstat(at, &status), 0);
		assert_int_equal(status.st_mode, S_IFREG | 0600);
		assert_int_equal(writer_close(&f->writer, NULL), 0);
		text = scratch_read(f->dir, "new", NULL);
		assert_string_equal(text, "secret");
		free(text);
		text = scratch_read(f->dir, "out", NULL);
		assert_string_equal(text, "kept");
		free(text);
	}
	free(victim);
	free(at);
}

static void test_writer_files__says_what_stays_in_the_way(void **state)
{
	struct fixture *f = *state;
	struct flextrace_error error = {0};
	char *at = NULL;

	writer_abandon(&f->writer);
	assert_true(asprintf(&at, "%s/new.tmp", f->dir) > 0);
	assert_int_equal(mkdir(at, 0700), 0);
	assert_int_equal(writer_open(&f->writer, f->dir, "new", false, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "/new.tmp, reason=File exists"));
	free(at);
}

static void fill_disk(struct fixture *f, bool gzip)
{
	struct flextrace_error error = {0};

	full_disk_for("full.tmp");
	writer_abandon(&f->writer);
	assert_int_equal(writer_open(&f->writer, f->dir, "full", gzip, NULL), 0);
	for (uint64_t i = 0; i < 1000000 && !writer_failed(&f->writer); i++)
		writer_u64(&f->writer, i * 0x9e3779b97f4a7c15u);
	assert_true(writer_failed(&f->writer)); /* before the end: a loop can stop early */
	assert_int_equal(writer_close(&f->writer, &error), FLEXTRACE_E_OUTPUT);
	full_disk_for(NULL);
	assert_int_equal(error.code, FLEXTRACE_E_OUTPUT);
	assert_false(scratch_has(f->dir, "full"));
	assert_false(scratch_has(f->dir, "full.tmp"));
}

static void test_writer_files__notices_a_full_disk_early(void **state)
{
	fill_disk(*state, false);
	fill_disk(*state, true);
}

static void test_writer_files__names_what_cannot_be_created(void **state)
{
	struct fixture *f = *state;
	struct flextrace_error error = {0};
	struct writer writer;
	char *file = NULL;

	assert_written(f, "");
	assert_true(asprintf(&file, "%s/out", f->dir) > 0); /* a file, not a directory */
	assert_int_equal(writer_open(&writer, file, "x", false, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, file));
	assert_non_null(strstr(error.message, "reason=Not a directory"));
	free(file);
}

static void test_writer_files__cannot_replace_a_directory(void **state)
{
	struct fixture *f = *state;
	struct flextrace_error error = {0};
	char *dir = NULL;

	assert_true(asprintf(&dir, "%s/out", f->dir) > 0);
	assert_int_equal(mkdir(dir, 0777), 0);
	free(dir);
	assert_int_equal(writer_close(&f->writer, &error), FLEXTRACE_E_OUTPUT);
	assert_false(scratch_has(f->dir, "out.tmp"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_writer, drop_writer)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_writer_files__has_no_final_name_before_the_end),
		TEST(test_writer_files__has_room_for_a_line_of_any_length),
		TEST(test_writer_files__leaves_nothing_when_abandoned),
		TEST(test_writer_files__keeps_the_older_file_when_it_fails),
		TEST(test_writer_files__replaces_what_others_left_in_the_way),
		TEST(test_writer_files__says_what_stays_in_the_way),
		TEST(test_writer_files__notices_a_full_disk_early),
		TEST(test_writer_files__names_what_cannot_be_created),
		TEST(test_writer_files__cannot_replace_a_directory),
	};

	return cmocka_run_group_tests_name("writer_files", tests, NULL, NULL);
}
