/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"

#define MAX_SECTION_BYTES ((uint64_t)1 << 28)

/* A part of the file. -EINVAL: it does not lie in it. */
static int read_at(const struct flextrace_i_elf *elf, uint64_t offset, void *to, uint64_t bytes)
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

uint64_t flextrace_i_elf_number(const struct flextrace_i_elf *elf, const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < bytes; i++)
		value = value << 8 | at[elf->is_big ? i : bytes - 1 - i];
	return value;
}

/* A field that stands at different places in the two classes. */
#define FIELD(elf, raw, type, field)                                                       \
	((elf)->is_64 ? flextrace_i_elf_number(elf, (raw) + offsetof(Elf64_##type, field), \
	                                       sizeof(((Elf64_##type *)0)->field))         \
	              : flextrace_i_elf_number(elf, (raw) + offsetof(Elf32_##type, field), \
	                                       sizeof(((Elf32_##type *)0)->field)))

static int read_section(const struct flextrace_i_elf *elf, uint64_t index,
                        struct flextrace_i_elf_section *ret_section)
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
static int read_header(struct flextrace_i_elf *elf, uint64_t *ret_names)
{
	uint8_t raw[sizeof(Elf64_Ehdr)] = {0};
	struct flextrace_i_elf_section first;
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
	elf->machine = (uint32_t)FIELD(elf, raw, Ehdr, e_machine);
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

static int is_named(const struct flextrace_i_elf *elf, const struct flextrace_i_elf_section *names,
                    const struct flextrace_i_elf_section *section, const char *name)
{
	char text[32];
	size_t bytes = strlen(name) + 1;

	if (section->name > names->bytes || bytes > names->bytes - section->name)
		return 0;
	return read_at(elf, names->offset + section->name, text, bytes) == 0 &&
	       memcmp(text, name, bytes) == 0;
}

int flextrace_i_elf_find(const struct flextrace_i_elf *elf, const char *name, uint32_t type,
                         struct flextrace_i_elf_section *ret_section)
{
	uint64_t i;

	for (i = 1; i < elf->n_sections; i++) {
		int ret = read_section(elf, i, ret_section);

		if (ret < 0)
			return ret;
		if (ret_section->type == type && is_named(elf, &elf->names, ret_section, name))
			return 0;
	}
	return -ENODATA;
}

int flextrace_i_elf_load(const struct flextrace_i_elf *elf,
                         const struct flextrace_i_elf_section *section, char **ret_bytes)
{
	char *bytes;
	int ret;

	if (section->bytes > MAX_SECTION_BYTES || section->bytes > elf->bytes)
		return -EINVAL;
	bytes = malloc(section->bytes + 1);
	if (!bytes)
		return -ENOMEM;
	ret = read_at(elf, section->offset, bytes, section->bytes);
	if (ret < 0) {
		free(bytes);
		return ret;
	}
	bytes[section->bytes] = '\0';
	*ret_bytes = bytes;
	return 0;
}

int flextrace_i_elf_symbol(const struct flextrace_i_elf *elf, const char *name, uint64_t *ret_bytes)
{
	const size_t entry = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct flextrace_i_elf_section table, texts;
	char *symbols;
	size_t at;
	int ret = flextrace_i_elf_find(elf, ".symtab", SHT_SYMTAB, &table);

	if (ret == 0)
		ret = read_section(elf, table.link, &texts);
	if (ret == 0)
		ret = flextrace_i_elf_load(elf, &table, &symbols);
	if (ret != 0)
		return ret;
	ret = -ENODATA;
	for (at = 0; ret < 0 && at + entry <= table.bytes; at += entry) {
		const uint8_t *raw = (const uint8_t *)symbols + at;
		const struct flextrace_i_elf_section symbol = {
			.name = (uint32_t)FIELD(elf, raw, Sym, st_name)};

		if (FIELD(elf, raw, Sym, st_size) == 0 || !is_named(elf, &texts, &symbol, name))
			continue;
		*ret_bytes = FIELD(elf, raw, Sym, st_size);
		ret = 0;
	}
	free(symbols);
	return ret;
}

static int read_sections(struct flextrace_i_elf *elf)
{
	uint64_t index;
	int ret = read_header(elf, &index);

	if (ret == 0)
		ret = read_section(elf, index, &elf->names);
	if (ret == 0 && elf->names.offset > elf->bytes)
		ret = -EINVAL;
	return ret;
}

int flextrace_i_elf_open(struct flextrace_i_elf *elf, const char *path)
{
	struct stat stat;
	int ret;

	/* Of a pipe, do not wait for a writer. */
	*elf = (struct flextrace_i_elf){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	if (elf->fd < 0)
		return -errno;
	if (fstat(elf->fd, &stat) < 0) {
		ret = -errno;
	} else {
		elf->bytes = (uint64_t)stat.st_size;
		ret = read_sections(elf);
	}
	if (ret < 0)
		flextrace_i_elf_close(elf);
	return ret;
}

void flextrace_i_elf_close(struct flextrace_i_elf *elf)
{
	(void)close(elf->fd);
	elf->fd = -1;
}
