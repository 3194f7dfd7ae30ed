/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP files, read back by minizip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unzip.h>

#include "base/paths.h"
#include "full_disk.h"
#include "output/archive/archive.h"
#include "scratch.h"

struct fixture {
	char *dir; /* owned */
	struct archive archive;
};

static int open_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = scratch_dir();
	assert_int_equal(archive_open(&f->archive, f->dir, "a.zip", NULL), 0);
	*state = f;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	full_disk_for(NULL);
	archive_abandon(&f->archive);
	assert_false(scratch_has(f->dir, "a.zip.tmp"));
	scratch_remove(f->dir);
	free(f);
	return 0;
}

static int add(struct fixture *f, const char *name, const char *text, uint64_t n_times)
{
	struct writer writer;
	int code = archive_open_member(&f->archive, &writer, name, NULL);

	for (uint64_t i = 0; i < n_times && code == 0; i++)
		writer_raw(&writer, text);
	return code < 0 ? code : writer_close(&writer, NULL);
}

static unzFile read_archive(const struct fixture *f)
{
	unzFile zip = unzOpen64(path_of(f->dir, "a.zip").text);

	assert_non_null(zip);
	return zip;
}

/* Goes to a member, and opens it. */
static unz_file_info64 go_to(unzFile zip, const char *name)
{
	unz_file_info64 info;

	assert_int_equal(unzLocateFile(zip, name, 1), UNZ_OK);
	assert_int_equal(unzGetCurrentFileInfo64(zip, &info, NULL, 0, NULL, 0, NULL, 0), UNZ_OK);
	assert_int_equal(unzOpenCurrentFile(zip), UNZ_OK);
	return info;
}

static void assert_member(unzFile zip, const char *name, const char *text)
{
	unz_file_info64 info = go_to(zip, name);
	char bytes[256] = "";

	assert_int_equal(info.uncompressed_size, strlen(text));
	assert_int_equal(unzReadCurrentFile(zip, bytes, sizeof(bytes) - 1), (int)strlen(text));
	assert_string_equal(bytes, text);
	assert_int_equal(unzCloseCurrentFile(zip), UNZ_OK);
}

static void test_archive__has_what_was_written_into_it(void **state)
{
	struct fixture *f = *state;
	struct writer writer;
	unzFile zip;

	assert_int_equal(writer_open(&writer, f->dir, "file", false, NULL), 0);
	writer_raw(&writer, "of a file");
	assert_int_equal(writer_close(&writer, NULL), 0);
	assert_int_equal(add(f, "trace.json", "{}", 1), 0);
	assert_int_equal(add(f, "tables/empty.csv", "", 0), 0);
	assert_int_equal(archive_add_file(&f->archive, f->dir, "file", NULL), 0);
	assert_false(scratch_has(f->dir, "a.zip"));
	assert_int_equal(archive_close(&f->archive, NULL), 0);
	zip = read_archive(f);
	assert_member(zip, "trace.json", "{}");
	assert_member(zip, "tables/empty.csv", "");
	assert_member(zip, "file", "of a file");
	assert_int_equal(unzClose(zip), UNZ_OK);
}

static void test_archive__stores_what_is_compressed(void **state)
{
	struct fixture *f = *state;
	unz_file_info64 info;
	unzFile zip;

	assert_int_equal(add(f, "a.gz", "text", 1000), 0);
	assert_int_equal(add(f, "a", "text", 1000), 0);
	assert_int_equal(archive_close(&f->archive, NULL), 0);
	zip = read_archive(f);
	info = go_to(zip, "a.gz");
	assert_int_equal(info.compression_method, 0);
	assert_in_range(info.uncompressed_size, 20, 200);
	info = go_to(zip, "a");
	assert_int_equal(info.compression_method, 8);
	assert_int_equal(info.uncompressed_size, 4000);
	assert_int_equal(info.dosDate, 0x00210000);
	assert_int_equal(unzClose(zip), UNZ_OK);
}

/* What stands behind is farther than 32 bits reach. */
static void test_archive__has_members_beyond_4_gib(void **state)
{
	struct fixture *f = *state;
	char command[PATHS_SIZE + 64];

	f->archive.offset += UINT64_C(5) << 30; /* a hole, as if members stood there */
	writer_seek(&f->archive.file, f->archive.offset);
	assert_int_equal(add(f, "behind", "it", 1), 0);
	assert_int_equal(archive_close(&f->archive, NULL), 0);
	snprintf(command, sizeof(command), "unzip -p '%s' behind | grep -qx it",
	         path_of(f->dir, "a.zip").text);
	assert_int_equal(system(command), 0);
}

static void test_archive__names_itself_when_the_disk_is_full(void **state)
{
	struct fixture *f = *state;
	struct flextrace_error error = {0};
	struct writer writer;

	full_disk_for("a.zip.tmp");
	assert_int_equal(archive_open_member(&f->archive, &writer, "trace.json", &error), 0);
	srand(1);
	for (int i = 0; i < 1 << 20; i++)
		writer_char(&writer, (char)(rand() >> 8));
	assert_int_equal(writer_close(&writer, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "/a.zip, reason=No space left on device"));
}

static void test_archive__is_not_there_when_its_end_finds_no_room(void **state)
{
	struct fixture *f = *state;
	struct flextrace_error error = {0};

	assert_int_equal(add(f, "trace.json", "{}", 1), 0);
	full_disk_for("a.zip.tmp");
	assert_int_equal(archive_close(&f->archive, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "/a.zip, reason=No space left on device"));
	assert_false(scratch_has(f->dir, "a.zip"));
}

static void test_archive__is_gone_when_it_is_abandoned_within_a_member(void **state)
{
	struct fixture *f = *state;
	struct writer writer;

	assert_int_equal(archive_open_member(&f->archive, &writer, "trace.json", NULL), 0);
	writer_raw(&writer, "half");
	writer_abandon(&writer);
	archive_abandon(&f->archive);
	assert_false(scratch_has(f->dir, "a.zip"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_archive__has_what_was_written_into_it),
		TEST(test_archive__stores_what_is_compressed),
		TEST(test_archive__has_members_beyond_4_gib),
		TEST(test_archive__names_itself_when_the_disk_is_full),
		TEST(test_archive__is_not_there_when_its_end_finds_no_room),
		TEST(test_archive__is_gone_when_it_is_abandoned_within_a_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
