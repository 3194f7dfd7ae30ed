/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_names.h: reads the marker names out of a firmware's ELF file.
 *
 * The names are a section `.flextrace.names` (not loaded) or `flextrace_names` (loaded): entries
 * "name\0file\0line\0", with bytes of 0 as padding in front of an entry. The id of a marker is the
 * offset of its entry in the section.
 *
 * ELF32 and ELF64, either byte order, whatever the machine. Needs nothing of the tracer. A file
 * that is cut or lies about itself is refused or read up to the fault, never out of bounds.
 */
#ifndef FLEXTRACE_ELF_NAMES_H
#define FLEXTRACE_ELF_NAMES_H

#include <stdint.h>

/* One marker; strings are weak, valid during the call. */
struct flextrace_elf_name {
	uint32_t id;
	const char *name;
	const char *file;
	uint32_t line; /* 0 = not a number */
};

/*
 * Calls `found` for every name in the file at `path`, in order of ids. Returns the number of
 * names, or -ENODATA if the file has no such section, -ENOEXEC if it is no ELF file, -EINVAL if it
 * contradicts itself, -ENOMEM, or the errno of open() and read().
 */
int flextrace_elf_names_read(const char *path,
                             void (*found)(void *context, const struct flextrace_elf_name *name),
                             void *context);

#endif
