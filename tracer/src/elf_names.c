/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_names.h"

#define MAX_SECTION_BYTES ((uint64_t)1 << 28) /* an id has 28 bits */

struct elf {
	int fd; /* owned */
	uint64_t bytes;
	int is_64;
	int is_big;
	uint64_t table; /* offset of the section headers */
	uint64_t n_sections;
	uint64_t entry_bytes;
};

struct section {
	uint32_t name; /* offset in the section of section names */
	uint32_t type;
	uint32_t link;
	uint64_t offset, bytes;
};

static int read_at(const struct elf *elf, uint64_t offset, void *to, uint64_t bytes)
{
	uint8_t *at = to;

	if (offset > elf->bytes || bytes > elf->bytes - offset)
		return -EINVAL;
	while (bytes) {
		ssize_t n = pread(elf->fd, at, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EINVAL;
		at += n;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static uint64_t number(const struct elf *elf, const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < bytes; i++)
		value = value << 8 | at[elf->is_big ? i : bytes - 1 - i];
	return value;
}

/* A field that stands at different places in the two classes. */
#define FIELD(elf, raw, type, field)                                       \
	((elf)->is_64 ? number(elf, (raw) + offsetof(Elf64_##type, field), \
	                       sizeof(((Elf64_##type *)0)->field))         \
	              : number(elf, (raw) + offsetof(Elf32_##type, field), \
	                       sizeof(((Elf32_##type *)0)->field)))

static int read_section(const struct elf *elf, uint64_t index, struct section *ret_section)
{
	uint8_t raw[sizeof(Elf64_Shdr)];
	int ret;

	if (index >= elf->n_sections)
		return -EINVAL;
	ret = read_at(elf, elf->table + index * elf->entry_bytes, raw,
	              elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	if (ret < 0)
		return ret;
	ret_section->name = (uint32_t)FIELD(elf, raw, Shdr, sh_name);
	ret_section->type = (uint32_t)FIELD(elf, raw, Shdr, sh_type);
	ret_section->link = (uint32_t)FIELD(elf, raw, Shdr, sh_link);
	ret_section->offset = FIELD(elf, raw, Shdr, sh_offset);
	ret_section->bytes = FIELD(elf, raw, Shdr, sh_size);
	return 0;
}

/* Reads the ELF header; files with very many sections keep their number in section 0. */
static int read_header(struct elf *elf, uint64_t *ret_names)
{
	uint8_t raw[sizeof(Elf64_Ehdr)] = {0};
	struct section first;
	int ret;

	if (elf->bytes < sizeof(Elf32_Ehdr) || read_at(elf, 0, raw, sizeof(Elf32_Ehdr)) < 0 ||
	    memcmp(raw, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	elf->is_64 = raw[EI_CLASS] == ELFCLASS64;
	elf->is_big = raw[EI_DATA] == ELFDATA2MSB;
	if ((!elf->is_64 && raw[EI_CLASS] != ELFCLASS32) ||
	    (!elf->is_big && raw[EI_DATA] != ELFDATA2LSB))
		return -ENOEXEC;
	ret = read_at(elf, 0, raw, elf->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	if (ret < 0)
		return ret;
	elf->table = FIELD(elf, raw, Ehdr, e_shoff);
	elf->entry_bytes = FIELD(elf, raw, Ehdr, e_shentsize);
	elf->n_sections = FIELD(elf, raw, Ehdr, e_shnum);
	*ret_names = FIELD(elf, raw, Ehdr, e_shstrndx);
	if (elf->table == 0)
		return -ENODATA;
	if (elf->entry_bytes < (elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    elf->table > elf->bytes)
		return -EINVAL;
	if (elf->n_sections == 0 || *ret_names == SHN_XINDEX) {
		uint64_t n_sections = elf->n_sections;

		elf->n_sections = 1;
		ret = read_section(elf, 0, &first);
		if (ret < 0)
			return ret;
		elf->n_sections = n_sections ? n_sections : first.bytes;
		if (*ret_names == SHN_XINDEX)
			*ret_names = first.link;
	}
	if (elf->n_sections > (elf->bytes - elf->table) / elf->entry_bytes)
		return -EINVAL;
	return 0;
}

static int is_named(const struct elf *elf, const struct section *names,
                    const struct section *section, const char *name)
{
	char text[32];
	size_t bytes = strlen(name) + 1;

	if (section->name > names->bytes || bytes > names->bytes - section->name)
		return 0;
	return read_at(elf, names->offset + section->name, text, bytes) == 0 &&
	       memcmp(text, name, bytes) == 0;
}

static int find_names(struct elf *elf, struct section *ret_section)
{
	struct section names;
	uint64_t names_index, i;
	int ret = read_header(elf, &names_index);

	if (ret < 0)
		return ret;
	ret = read_section(elf, names_index, &names);
	if (ret < 0)
		return ret;
	if (names.offset > elf->bytes)
		return -EINVAL;
	for (i = 1; i < elf->n_sections; i++) {
		ret = read_section(elf, i, ret_section);
		if (ret < 0)
			return ret;
		if (ret_section->type != SHT_PROGBITS)
			continue;
		if (is_named(elf, &names, ret_section, ".flextrace.names") ||
		    is_named(elf, &names, ret_section, "flextrace_names"))
			return 0;
	}
	return -ENODATA;
}

/* Steps over a string; NULL if it does not end before `end`. */
static const char *skip_string(const char *at, const char *end)
{
	const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;

	return nul ? nul + 1 : NULL;
}

static uint32_t parse_line(const char *text)
{
	uint32_t line = 0;

	for (; *text; text++) {
		if (*text < '0' || *text > '9' || line > (UINT32_MAX - 9) / 10)
			return 0;
		line = line * 10 + (uint32_t)(*text - '0');
	}
	return line;
}

static int walk(const char *text, size_t bytes,
                void (*found)(void *context, const struct flextrace_elf_name *name), void *context)
{
	const char *end = text + bytes;
	const char *at = text;
	int n = 0;

	for (;;) {
		struct flextrace_elf_name name;
		const char *file, *line, *next;

		while (at < end && *at == '\0')
			at++;
		file = skip_string(at, end);
		line = file ? skip_string(file, end) : NULL;
		next = line ? skip_string(line, end) : NULL;
		if (!next)
			return n;
		name = (struct flextrace_elf_name){
			.id = (uint32_t)(at - text),
			.name = at,
			.file = file,
			.line = parse_line(line),
		};
		found(context, &name);
		n++;
		at = next;
	}
}

static int read_names(struct elf *elf,
                      void (*found)(void *context, const struct flextrace_elf_name *name),
                      void *context)
{
	struct section section;
	char *text;
	int ret = find_names(elf, &section);

	if (ret < 0)
		return ret;
	if (section.bytes > MAX_SECTION_BYTES || section.bytes > elf->bytes)
		return -EINVAL;
	if (section.bytes == 0)
		return 0;
	text = malloc(section.bytes);
	if (!text)
		return -ENOMEM;
	ret = read_at(elf, section.offset, text, section.bytes);
	if (ret == 0)
		ret = walk(text, section.bytes, found, context);
	free(text);
	return ret;
}

int flextrace_elf_names_read(const char *path,
                             void (*found)(void *context, const struct flextrace_elf_name *name),
                             void *context)
{
	struct elf elf = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
	struct stat stat;
	int ret;

	if (elf.fd < 0)
		return -errno;
	if (fstat(elf.fd, &stat) < 0) {
		ret = -errno;
	} else {
		elf.bytes = (uint64_t)stat.st_size;
		ret = read_names(&elf, found, context);
	}
	(void)close(elf.fd);
	return ret;
}
