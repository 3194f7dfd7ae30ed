/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/src/area/elf_names.h"

/* -- an ELF file of four sections: none, .text, the names, the names of sections --------------- */

struct image {
	uint8_t bytes[2048];
	size_t n;
	int is_64, is_big;
};

static void put(struct image *image, size_t at, uint64_t value, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		image->bytes[at + (image->is_big ? bytes - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

/* Writes a field that both classes have, each at its place and in its size. */
#define PUT(image, base, type, field, value)                                      \
	do {                                                                      \
		if ((image)->is_64)                                               \
			put(image, (base) + offsetof(Elf64_##type, field), value, \
			    sizeof(((Elf64_##type *)0)->field));                  \
		else                                                              \
			put(image, (base) + offsetof(Elf32_##type, field), value, \
			    sizeof(((Elf32_##type *)0)->field));                  \
	} while (0)

static const char section_names[] = "\0.text\0.flextrace.names\0flextrace_names\0.shstrtab";

static void put_section(struct image *image, size_t index, uint32_t name, size_t offset,
                        size_t bytes)
{
	size_t base = 1024 + index * (image->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));

	PUT(image, base, Shdr, sh_name, name);
	PUT(image, base, Shdr, sh_type, index == 3 ? SHT_STRTAB : SHT_PROGBITS);
	PUT(image, base, Shdr, sh_offset, offset);
	PUT(image, base, Shdr, sh_size, bytes);
}

static void make(struct image *image, int is_64, int is_big, const char *text, size_t bytes)
{
	memset(image, 0, sizeof(*image));
	image->is_64 = is_64;
	image->is_big = is_big;
	memcpy(image->bytes, ELFMAG, SELFMAG);
	image->bytes[EI_CLASS] = is_64 ? ELFCLASS64 : ELFCLASS32;
	image->bytes[EI_DATA] = is_big ? ELFDATA2MSB : ELFDATA2LSB;
	PUT(image, 0, Ehdr, e_shoff, 1024);
	PUT(image, 0, Ehdr, e_shentsize, is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	PUT(image, 0, Ehdr, e_shnum, 4);
	PUT(image, 0, Ehdr, e_shstrndx, 3);
	memcpy(image->bytes + 128, section_names, sizeof(section_names));
	memcpy(image->bytes + 256, text, bytes);
	put_section(image, 1, 1, 64, 16);
	put_section(image, 2, is_64 ? 24 : 7, 256, bytes);
	put_section(image, 3, 40, 128, sizeof(section_names));
	image->n = 1024 + 4 * (is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
}

/* -- reading it -------------------------------------------------------------------------------- */

static char listing[4096];

static void list(void *context, const struct flextrace_elf_name *name)
{
	size_t used = strlen(listing);

	(void)context;
	snprintf(listing + used, sizeof(listing) - used, "%u %s %s:%u\n", name->id, name->name,
	         name->file, name->line);
}

static int read_bytes(const uint8_t *bytes, size_t n)
{
	char path[] = "/tmp/test_elf_names.XXXXXX";
	int fd = mkstemp(path);
	int ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	(void)close(fd);
	listing[0] = '\0';
	ret = flextrace_elf_names_read(path, list, NULL);
	(void)unlink(path);
	return ret;
}

#define NAMES                          \
	"\0\0dma in\0a.c\0"            \
	"12\0\0\0\0compute\0dir/b.c\0" \
	"4000000000\0x\0y\0z"

static void test_names__are_read_in_both_classes_and_byte_orders(void **state)
{
	struct image image;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		make(&image, i & 1, i & 2, NAMES, sizeof(NAMES));
		assert_int_equal(read_bytes(image.bytes, image.n), 3);
		assert_string_equal(listing, "2 dma in a.c:12\n"
		                             "19 compute dir/b.c:4000000000\n"
		                             "46 x y:0\n");
	}
}

static void test_names__end_at_a_cut_entry(void **state)
{
	struct image image;
	size_t cut;

	(void)state;
	for (cut = 0; cut <= sizeof(NAMES); cut++) {
		int expected = (cut >= 16) + (cut >= 46) + (cut >= sizeof(NAMES));

		make(&image, 1, 0, NAMES, cut);
		assert_int_equal(read_bytes(image.bytes, image.n), expected);
	}
}

static void test_file__cut_anywhere_is_refused(void **state)
{
	struct image image;
	size_t cut;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		make(&image, i & 1, i & 2, NAMES, sizeof(NAMES));
		for (cut = 0; cut < image.n; cut++)
			assert_true(read_bytes(image.bytes, cut) < 0);
	}
}

static void test_file__with_any_wrong_byte_does_no_harm(void **state)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	struct image image;
	size_t at, v;

	(void)state;
	make(&image, 1, 0, NAMES, sizeof(NAMES));
	for (at = 0; at < image.n; at++) {
		uint8_t kept = image.bytes[at];

		for (v = 0; v < sizeof(values); v++) {
			image.bytes[at] = values[v];
			assert_true(read_bytes(image.bytes, image.n) <= 16);
		}
		image.bytes[at] = kept;
	}
	assert_int_equal(read_bytes(image.bytes, image.n), 3);
}

static void test_file__says_why_it_has_no_names(void **state)
{
	struct image image;

	(void)state;
	assert_int_equal(flextrace_elf_names_read("/nowhere", list, NULL), -ENOENT);
	assert_int_equal(read_bytes((const uint8_t *)"#!/bin/sh\n", 10), -ENOEXEC);
	assert_int_equal(read_bytes(NULL, 0), -ENOEXEC);
	make(&image, 0, 0, NAMES, sizeof(NAMES));
	image.bytes[128 + 8] = 'x'; /* ".xlextrace.names" */
	assert_int_equal(read_bytes(image.bytes, image.n), -ENODATA);
}

static void test_file__may_have_very_many_sections(void **state)
{
	struct image image;

	(void)state;
	make(&image, 1, 1, NAMES, sizeof(NAMES));
	PUT(&image, 0, Ehdr, e_shnum, 0);
	PUT(&image, 0, Ehdr, e_shstrndx, SHN_XINDEX);
	PUT(&image, 1024, Shdr, sh_size, 4);
	PUT(&image, 1024, Shdr, sh_link, 3);
	assert_int_equal(read_bytes(image.bytes, image.n), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names__are_read_in_both_classes_and_byte_orders),
		cmocka_unit_test(test_names__end_at_a_cut_entry),
		cmocka_unit_test(test_file__cut_anywhere_is_refused),
		cmocka_unit_test(test_file__with_any_wrong_byte_does_no_harm),
		cmocka_unit_test(test_file__says_why_it_has_no_names),
		cmocka_unit_test(test_file__may_have_very_many_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
