/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h: the files that a stream of an importer is from, by number: what the origins of its
 * events name.
 */
#ifndef FLEXTRACE_IMPORT_FILES_H
#define FLEXTRACE_IMPORT_FILES_H

#include <stdint.h>

struct import_files {
	char **texts; /* owned, each: "<tool> <path>" */
	uint32_t n, n_allocated;
};

/* Adds a file; its number is `n` - 1. `tool` has no blank. FLEXTRACE_E_MEMORY or 0. */
int import_files_add(struct import_files *files, const char *tool, const char *path);

/* Moves all files of `from` behind those of `to`. */
int import_files_take(struct import_files *to, struct import_files *from);
void import_files_release(struct import_files *files);

#endif
