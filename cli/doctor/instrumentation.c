/* SPDX-License-Identifier: Apache-2.0 */
#include "instrumentation.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/src/area/elf_file.h"
#include "tracer/src/area/elf_names.h"
#include "tracer/src/area/elf_note.h"

#define NOTE_HEAD_BYTES 12u

static size_t padded(uint64_t n_bytes)
{
	return (n_bytes + 3) / 4 * 4;
}

static void take_version(char to[INSTRUMENTATION_VERSION_SIZE], const char *text, size_t n_bytes)
{
	if (!*to)
		snprintf(to, INSTRUMENTATION_VERSION_SIZE, "%.*s", (int)strnlen(text, n_bytes),
		         text);
}

/* One note after the other; up to the first that does not fit. */
static void take_notes(const struct flextrace_i_elf *elf, const char *notes, size_t n_bytes,
                       struct instrumentation *found)
{
	uint64_t owner_bytes, text_bytes, type;

	for (size_t at = 0; n_bytes - at >= NOTE_HEAD_BYTES;) {
		const uint8_t *head = (const uint8_t *)notes + at;
		const char *owner = notes + at + NOTE_HEAD_BYTES;

		owner_bytes = flextrace_i_elf_number(elf, head, 4);
		text_bytes = flextrace_i_elf_number(elf, head + 4, 4);
		type = flextrace_i_elf_number(elf, head + 8, 4);
		at += NOTE_HEAD_BYTES;
		if (padded(owner_bytes) + padded(text_bytes) > n_bytes - at)
			return;
		at += padded(owner_bytes) + padded(text_bytes);
		if (owner_bytes != sizeof(ELF_NOTE_OWNER) ||
		    memcmp(owner, ELF_NOTE_OWNER, sizeof(ELF_NOTE_OWNER)) != 0)
			continue;
		if (type == ELF_NOTE_PROGRAM)
			take_version(found->program, owner + padded(owner_bytes), text_bytes);
		else if (type == ELF_NOTE_PROVIDER)
			take_version(found->provider, owner + padded(owner_bytes), text_bytes);
	}
}

/* Two texts that begin with numbers: version of the areas, bits of the counter. */
static void take_markers(const struct flextrace_i_elf *elf, const char *text, size_t n_bytes,
                         struct instrumentation *found)
{
	size_t first = strnlen(text, n_bytes);

	(void)elf;
	found->has_markers = true;
	found->wire_version = (uint32_t)strtoul(text, NULL, 10);
	if (first < n_bytes)
		found->counter_bits = (uint32_t)strtoul(text + first + 1, NULL, 10);
}

typedef void take_section(const struct flextrace_i_elf *elf, const char *bytes, size_t n_bytes,
                          struct instrumentation *found);

static int read_section(const struct flextrace_i_elf *elf, const char *name, uint32_t type,
                        take_section *take, struct instrumentation *found)
{
	struct flextrace_i_elf_section section;
	char *bytes;
	int code = flextrace_i_elf_find(elf, name, type, &section);

	if (code == 0 && (code = flextrace_i_elf_load(elf, &section, &bytes)) == 0) {
		take(elf, bytes, section.bytes, found);
		free(bytes);
	}
	return code == -ENODATA ? 0 : code;
}

static int read_sections(const struct flextrace_i_elf *elf, struct instrumentation *found)
{
	int code;

	FLEXTRACE_TRY(read_section(elf, ELF_NOTE_SECTION, SHT_NOTE, take_notes, found));
	FLEXTRACE_TRY(read_section(elf, ".flextrace.markers", SHT_PROGBITS, take_markers, found));
	code = flextrace_i_elf_symbol(elf, "flextrace_area", &found->area_bytes);
	return code == -ENODATA ? 0 : code;
}

/* What runs here, as this program itself does. */
static bool is_of_this_machine(const struct flextrace_i_elf *elf)
{
	struct flextrace_i_elf own;
	bool is_same;

	if (flextrace_i_elf_open(&own, "/proc/self/exe") < 0)
		return false;
	is_same = own.machine == elf->machine;
	flextrace_i_elf_close(&own);
	return is_same;
}

static void ignore_name(void *context, const struct flextrace_elf_name *name)
{
	(void)context;
	(void)name;
}

int instrumentation_read(const char *path, struct instrumentation *ret_found,
                         struct flextrace_error *error)
{
	struct flextrace_i_elf elf;
	int code = flextrace_i_elf_open(&elf, path), n_names;

	*ret_found = (struct instrumentation){.has_markers = false};
	if (code == 0) {
		ret_found->is_of_this_machine = is_of_this_machine(&elf);
		code = read_sections(&elf, ret_found);
		flextrace_i_elf_close(&elf);
	}
	if (code == -ENOEXEC)
		return error_set(
			error, FLEXTRACE_E_INPUT,
			"Not an ELF file; name the program, not a script that starts it: path=%s",
			path);
	if (code < 0)
		return error_set(error, FLEXTRACE_E_INPUT, "Cannot read: path=%s, reason=%s", path,
		                 strerror(-code));
	n_names = flextrace_elf_names_read(path, ignore_name, NULL);
	ret_found->n_names = n_names > 0 ? (uint32_t)n_names : 0;
	ret_found->has_markers |= n_names > 0;
	return FLEXTRACE_OK;
}
