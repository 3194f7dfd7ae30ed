/* SPDX-License-Identifier: Apache-2.0 */
/* What the host side of QEMU does without QEMU: load images, read its own counter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host_clock.h"
#include "image.h"

/* -- images ------------------------------------------------------------------------------------ */

#define ADDRESS      0x80000000u
#define MEMORY_BYTES 0x400u
#define TEXT         "the code"
#define TEXT_OFFSET  0x200u

static uint8_t file[0x210];

/* The code at the start of the memory; a segment of which 4 bytes are in the file and 4 are not. */
static size_t make_elf64(void)
{
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_machine = EM_RISCV,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
	};
	const Elf64_Phdr segments[] = {
		{.p_type = PT_LOAD,
	         .p_offset = TEXT_OFFSET,
	         .p_paddr = ADDRESS,
	         .p_filesz = 8,
	         .p_memsz = 8},
		{.p_type = PT_NOTE, .p_offset = 1 << 20, .p_filesz = 1},
		{.p_type = PT_LOAD,
	         .p_offset = TEXT_OFFSET,
	         .p_paddr = ADDRESS + 0x100,
	         .p_filesz = 4,
	         .p_memsz = 8},
	};

	memset(file, 0, sizeof(file));
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	memcpy(file + TEXT_OFFSET, TEXT, 8);
	return TEXT_OFFSET + 8;
}

static size_t make_elf32(void)
{
	const Elf32_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB},
		.e_machine = EM_RISCV,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 2,
	};
	const Elf32_Phdr segments[] = {
		{.p_type = PT_LOAD,
	         .p_offset = TEXT_OFFSET,
	         .p_paddr = ADDRESS,
	         .p_filesz = 8,
	         .p_memsz = 8},
		{.p_type = PT_LOAD,
	         .p_offset = TEXT_OFFSET,
	         .p_paddr = ADDRESS + 0x100,
	         .p_filesz = 4,
	         .p_memsz = 8},
	};

	memset(file, 0, sizeof(file));
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	memcpy(file + TEXT_OFFSET, TEXT, 8);
	return TEXT_OFFSET + 8;
}

/* The first `n` bytes of the file, loaded; the memory is the caller's. */
static int load(size_t n, uint8_t *memory)
{
	char path[] = "/tmp/flextrace-image-XXXXXX";
	int fd = mkstemp(path);
	int ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, n), (ssize_t)n);
	(void)close(fd);
	ret = image_load(path, memory, MEMORY_BYTES, ADDRESS);
	(void)unlink(path);
	return ret;
}

static void check_loaded(size_t n)
{
	static const uint8_t expected_end[] = {'t', 'h', 'e', ' ', 0, 0, 0, 0, 0xee};
	uint8_t memory[MEMORY_BYTES];

	memset(memory, 0xee, sizeof(memory));
	assert_int_equal(load(n, memory), 0);
	assert_memory_equal(memory, TEXT, 8);
	assert_int_equal(memory[8], 0xee);
	assert_memory_equal(memory + 0x100, expected_end, sizeof(expected_end));
}

static void test_image__loads_and_clears_segments(void **state)
{
	(void)state;
	check_loaded(make_elf64());
	check_loaded(make_elf32());
}

static void test_image__cut_anywhere_is_refused(void **state)
{
	size_t n_bytes[2] = {make_elf64(), 0};
	uint8_t *memory = malloc(MEMORY_BYTES); /* so that a sanitizer sees its end */
	size_t n;

	(void)state;
	for (n = 0; n < n_bytes[0]; n++)
		assert_int_equal(load(n, memory), -ENOEXEC);
	n_bytes[1] = make_elf32();
	for (n = 0; n < n_bytes[1]; n++)
		assert_int_equal(load(n, memory), -ENOEXEC);
	free(memory);
}

/* Bytes of the 64-bit file that make it bad: offset, what is written there, how many bytes. */
static void test_image__that_does_not_fit_is_refused(void **state)
{
#define HEADER(field) offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field)
#define SEGMENT(field) \
	sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, field), sizeof(((Elf64_Phdr *)0)->field)
	static const struct {
		size_t offset, bytes;
		uint64_t value;
	} cases[] = {
		{0, 1, 'E'},
		{HEADER(e_machine), EM_X86_64},
		{HEADER(e_phnum), 0},
		{HEADER(e_phnum), 0xffff},
		{HEADER(e_phentsize), 1},
		{HEADER(e_phoff), UINT64_MAX - 8},
		{SEGMENT(p_offset), UINT64_MAX},
		{SEGMENT(p_filesz), UINT64_MAX},
		{SEGMENT(p_filesz), 9},
		{SEGMENT(p_paddr), 0},
		{SEGMENT(p_paddr), ADDRESS - 1},
		{SEGMENT(p_paddr), ADDRESS + MEMORY_BYTES - 7},
		{SEGMENT(p_paddr), ADDRESS + MEMORY_BYTES + 1},
		{SEGMENT(p_memsz), MEMORY_BYTES + 1},
		{SEGMENT(p_memsz), UINT64_MAX},
		{SEGMENT(p_memsz), 7},
	};
	uint8_t *memory = malloc(MEMORY_BYTES);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = make_elf64();

		memcpy(file + cases[i].offset, &cases[i].value, cases[i].bytes);
		assert_int_equal(load(n, memory), -ENOEXEC);
	}
	assert_int_equal(image_load("/nonexistent", memory, MEMORY_BYTES, ADDRESS), -ENOENT);
	free(memory);
}

/* -- the host's counter ------------------------------------------------------------------------ */

static void test_host_clock__is_a_line_between_two_readings(void **state)
{
	struct host_clock_point points[] = {{1000, 500}, {3000, 1500}, {4000, 3500}};
	const struct host_clock clock = {.points = points, .n_points = 3};

	(void)state;
	assert_int_equal(host_clock_ns(&clock, 1000), 500);
	assert_int_equal(host_clock_ns(&clock, 2001), 1001); /* rounded */
	assert_int_equal(host_clock_ns(&clock, 3000), 1500);
	assert_int_equal(host_clock_ns(&clock, 3500), 2500);
	assert_int_equal(host_clock_ns(&clock, 4100), 3700); /* on from the last two */
	assert_int_equal(host_clock_ns(&clock, 900), 450);   /* back from the first two */
	assert_true(host_clock_hz(&clock) == 1e9);
}

static void test_host_clock__runs_with_the_host(void **state)
{
	struct host_clock clock = {0};
	uint64_t before = host_cycles();

	(void)state;
	assert_int_equal(host_clock_read(&clock), 0);
	assert_int_equal(host_clock_read(&clock), 0); /* too soon for another point, or one more */
	assert_true(clock.n_points >= 1 && clock.points[0].cycles >= before);
	assert_true(clock.points[clock.n_points - 1].cycles <= host_cycles());
	host_clock_release(&clock);
	assert_int_equal(clock.n_points, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image__loads_and_clears_segments),
		cmocka_unit_test(test_image__cut_anywhere_is_refused),
		cmocka_unit_test(test_image__that_does_not_fit_is_refused),
		cmocka_unit_test(test_host_clock__is_a_line_between_two_readings),
		cmocka_unit_test(test_host_clock__runs_with_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
