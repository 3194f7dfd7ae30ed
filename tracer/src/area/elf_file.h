/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_file.h: the sections of an ELF file.
 *
 * ELF32 and ELF64, either byte order, whatever the machine. A file that is cut or lies about itself
 * is refused, never read out of bounds.
 */
#ifndef FLEXTRACE_TRACER_ELF_FILE_H
#define FLEXTRACE_TRACER_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

struct flextrace_i_elf_section {
	uint32_t name; /* offset in the section of section names */
	uint32_t type; /* SHT_PROGBITS, ... */
	uint32_t link;
	uint64_t offset, bytes;
};

struct flextrace_i_elf {
	int fd; /* owned */
	uint64_t bytes;
	int is_64;
	int is_big;
	uint32_t machine; /* EM_RISCV, ... */
	uint64_t table;   /* offset of the section headers */
	uint64_t n_sections;
	uint64_t entry_bytes;
	struct flextrace_i_elf_section names;
};

/* Returns 0, -ENOEXEC if it is no ELF file, -ENODATA if it has no sections, -EINVAL if it
 * contradicts itself, or the errno of open() and read(). */
int flextrace_i_elf_open(struct flextrace_i_elf *elf, const char *path);
void flextrace_i_elf_close(struct flextrace_i_elf *elf);

/* Stores the first section of that name and type. -ENODATA: there is none. */
int flextrace_i_elf_find(const struct flextrace_i_elf *elf, const char *name, uint32_t type,
                         struct flextrace_i_elf_section *ret_section);

/* Stores what is in a section, owned (free()), and a byte of 0 behind it. */
int flextrace_i_elf_load(const struct flextrace_i_elf *elf,
                         const struct flextrace_i_elf_section *section, char **ret_bytes);

/* Stores how many bytes the symbol table gives an object. -ENODATA: it does not know it. */
int flextrace_i_elf_symbol(const struct flextrace_i_elf *elf, const char *name,
                           uint64_t *ret_bytes);

/* A number in the file's byte order. */
uint64_t flextrace_i_elf_number(const struct flextrace_i_elf *elf, const uint8_t *at, size_t bytes);

#endif
