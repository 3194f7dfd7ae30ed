/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h: which files of a path are read, what a file begins with, and its text.
 */
#ifndef FLEXTRACE_IMPORT_PATHS_H
#define FLEXTRACE_IMPORT_PATHS_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/kit/trace_file.h"

bool path_ends_with(const char *path, const char *end);
bool path_is_json(const char *path); /* by its name */
bool path_is_folder(const char *path);

/* What is read of a folder. */
struct path_filter {
	bool (*fits)(const char *name); /* names that begin with a point never do */
	const char *below; /* a folder in it, of which the same is read; NULL: none is */
	const char *runs; /* the same of the newest of the folders in that one, see path_newest() */
	bool has_pipes;   /* what is no file fits, too: on a pipe one could wait for ever */
};

typedef int path_visit(void *context, const char *path);

/* Visits a file, or what is read of a folder (`filter` NULL: nothing), in order of the names, until
 * a visit does not return 0, and returns that. FLEXTRACE_E_MEMORY. */
int path_each(const char *path, const struct path_filter *filter, path_visit *visit, void *context);

/* The last of the folders in `runs` in a folder by its name, which begins with its time; owned.
 * NULL: there is none. How many there are, in `ret_n`. */
char *path_newest(const char *folder, const char *runs, uint32_t *ret_n);

#define PROBE_BYTES ((size_t)16 << 10)

/* What a file begins with, unpacked; nothing, if it cannot be read or is no file. */
struct probe {
	const char *path; /* weak */
	size_t n_bytes;
	bool is_packed;
	_Alignas(8) char bytes[PROBE_BYTES + 8]; /* zeroes behind those that there are */
};

/* FLEXTRACE_E_MEMORY or 0. */
int probe_file(const char *path, struct probe *ret_probe);

/* Whether a text stands in the first 4 KiB, where headings are. */
bool probe_has(const struct probe *probe, const char *text);

/* These bytes as a text of their own, weak; `source` is for one reader. */
struct probe_text {
	const struct probe *probe; /* weak */
	size_t at;
};

struct trace_source probe_source(struct probe_text *text);

/* A file, unpacked; it ends where it is damaged, and ferror() tells so. NULL: see the error. */
FILE *text_open(const char *path, struct flextrace_error *error);

#endif
