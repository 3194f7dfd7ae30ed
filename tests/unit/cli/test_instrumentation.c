/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/doctor/instrumentation.h"
#include "tracer/src/area/elf_file.h"
#include "tracer/src/area/elf_note.h"

ELF_NOTE(ELF_NOTE_PROGRAM)

/* A copy of this program, which has the note above. */
struct copy {
	char path[64];
	int fd;
	uint64_t note_at, note_bytes;
};

static int set_up(void **state)
{
	struct copy *copy = test_calloc(1, sizeof(*copy));
	struct flextrace_i_elf_section section;
	struct flextrace_i_elf elf;
	int own = open("/proc/self/exe", O_RDONLY);
	struct stat stat;
	off_t done = 0;

	strcpy(copy->path, "/tmp/test_instrumentation.XXXXXX");
	copy->fd = mkstemp(copy->path);
	assert_true(own >= 0 && copy->fd >= 0);
	assert_int_equal(fstat(own, &stat), 0);
	while (done < stat.st_size)
		assert_true(sendfile(copy->fd, own, &done, (size_t)(stat.st_size - done)) > 0);
	close(own);
	assert_int_equal(flextrace_i_elf_open(&elf, copy->path), 0);
	assert_int_equal(flextrace_i_elf_find(&elf, ELF_NOTE_SECTION, SHT_NOTE, &section), 0);
	copy->note_at = section.offset;
	copy->note_bytes = section.bytes;
	flextrace_i_elf_close(&elf);
	*state = copy;
	return 0;
}

static int tear_down(void **state)
{
	struct copy *copy = *state;

	close(copy->fd);
	unlink(copy->path);
	test_free(copy);
	return 0;
}

static void test_instrumentation__tells_the_version_in_a_program(void **state)
{
	struct flextrace_error error = {0};
	const struct copy *copy = *state;
	struct instrumentation found;

	assert_int_equal(instrumentation_read(copy->path, &found, &error), 0);
	assert_true(found.is_of_this_machine);
	assert_string_equal(found.program, FLEXTRACE_VERSION);
	assert_string_equal(found.provider, "");
	assert_false(found.has_markers);
	assert_int_equal(found.n_names, 0);
}

static void test_instrumentation__a_note_with_any_wrong_byte_does_no_harm(void **state)
{
	static const uint8_t values[] = {0x00, 0x01, 0x02, 0x7f, 0x80, 0xff};
	const struct copy *copy = *state;
	uint8_t kept;

	for (uint64_t at = 0; at < copy->note_bytes; at++) {
		off_t place = (off_t)(copy->note_at + at);

		assert_int_equal(pread(copy->fd, &kept, 1, place), 1);
		for (size_t v = 0; v < sizeof(values); v++) {
			struct flextrace_error error = {0};
			struct instrumentation found;

			assert_int_equal(pwrite(copy->fd, &values[v], 1, place), 1);
			assert_int_equal(instrumentation_read(copy->path, &found, &error), 0);
			assert_true(strlen(found.program) < sizeof(FLEXTRACE_VERSION) + 3);
		}
		assert_int_equal(pwrite(copy->fd, &kept, 1, place), 1);
	}
}

static void test_instrumentation__notes_of_others_are_passed_over(void **state)
{
	const struct copy *copy = *state;
	struct flextrace_error error = {0};
	struct instrumentation found;

	assert_int_equal(pwrite(copy->fd, "x", 1, (off_t)copy->note_at + 12), 1);
	assert_int_equal(instrumentation_read(copy->path, &found, &error), 0);
	assert_string_equal(found.program, "");
	assert_int_equal(pwrite(copy->fd, "f", 1, (off_t)copy->note_at + 12), 1);
}

static void test_instrumentation__says_what_it_cannot_read(void **state)
{
	struct flextrace_error error = {0};
	struct instrumentation found;

	(void)state;
	assert_int_equal(instrumentation_read("/nowhere", &found, &error), FLEXTRACE_E_INPUT);
	assert_string_equal(error.message,
	                    "Cannot read: path=/nowhere, reason=No such file or directory");
	assert_int_equal(instrumentation_read("/proc/self/status", &found, &error),
	                 FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "Not an ELF file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instrumentation__tells_the_version_in_a_program),
		cmocka_unit_test(test_instrumentation__a_note_with_any_wrong_byte_does_no_harm),
		cmocka_unit_test(test_instrumentation__notes_of_others_are_passed_over),
		cmocka_unit_test(test_instrumentation__says_what_it_cannot_read),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
