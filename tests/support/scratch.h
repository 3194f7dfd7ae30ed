/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.h: an empty directory for one test, and what a test reads back from it.
 */
#ifndef FLEXTRACE_TESTS_SCRATCH_H
#define FLEXTRACE_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Makes an empty directory below $TMPDIR or /tmp. Owned: scratch_remove(). */
char *scratch_dir(void);

/* Removes the directory with everything in it. */
void scratch_remove(char *dir);

/* The whole file `dir`/`name`, ended by NUL; NULL when there is none. Owned; `ret_n` may be
 * NULL. */
char *scratch_read(const char *dir, const char *name, size_t *ret_n);

bool scratch_has(const char *dir, const char *name);

#endif
