/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h: files by directory and name, files without a name, and globbing in a directory that may
 * itself have *, ? or [ in its name.
 */
#ifndef FLEXTRACE_PATHS_H
#define FLEXTRACE_PATHS_H

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "error.h"

#define PATHS_SIZE (2 * PATH_MAX)

/* "dir/name", cut where that is too long; `path_of(dir, name).text` lasts as long as the expression
 * that it stands in. */
struct path {
	char text[PATHS_SIZE];
};
struct path path_of(const char *dir, const char *name);

/* The same. FLEXTRACE_E_OUTPUT: it is too long. */
int path_join(char ret_path[PATH_MAX], const char *dir, const char *name,
              struct flextrace_error *error);

/* False: with errno. */
bool path_is_there(const char *dir, const char *name);
void path_remove(const char *dir, const char *name);

/* Whether it is there, or behind a link there, and of a type: S_IFREG, S_IFDIR. */
bool path_has_type(const char *path, mode_t type);

/* What stands behind the last slash. */
const char *path_base(const char *path);

/* FLEXTRACE_E_OUTPUT with errno: "Cannot make the <what>". */
int path_not_made(const char *what, const char *path, struct flextrace_error *error);

/* Makes the file, or empties it, for its owner alone; through no link. NULL: with errno. */
FILE *path_create(const char *path);

/* Copies the first bytes of a file to a new one, where nothing is yet; holes stay holes. False:
 * with errno. */
bool path_copy_front(const char *from, const char *to, uint64_t n_bytes);

/* Copies a file in place of what is there. */
bool path_copy(const char *from, const char *to);

/* Removes a directory with all that is in it. */
void path_remove_tree(const char *path);

/* Reads a small file, such as those of the kernel, into `text`, which ends with NUL then. Returns
 * its length, 0 where it cannot be read. */
size_t path_read(const char *path, char *text, size_t size);

/* Where files without a name are made: $TMPDIR, else /tmp; a set-user-id program's environment is
 * not asked. */
const char *temporary_directory(void);

/* Opens a new file that is gone with its descriptor, for reading and writing by its owner alone;
 * -1 with errno. */
int temporary_file_open(void);

/* Finds what matches `pattern` below `dir`, sorted by name. Returns how many; `ret_found` is owned
 * (globfree()) in any case. */
size_t glob_in(const char *dir, const char *pattern, glob_t *ret_found);

/* How many match. */
size_t glob_count(const char *dir, const char *pattern);

/* Sums up the sizes of the files that match, in bytes. */
uint64_t glob_sum_bytes(const char *dir, const char *pattern);

#endif
