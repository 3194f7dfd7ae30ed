/* SPDX-License-Identifier: Apache-2.0 */
/* glob_in.h: globbing in a directory that may itself have *, ? or [ in its name. */
#ifndef FLEXTRACE_GLOB_IN_H
#define FLEXTRACE_GLOB_IN_H

#include <glob.h>
#include <stdint.h>

/* Finds what matches `pattern` below `dir`, sorted by name. Returns what glob() returns; on 0 the
 * caller owns `ret_found` (globfree()). */
int glob_in(const char *dir, const char *pattern, glob_t *ret_found);

/* Sums up the sizes of the files that match, in bytes. */
uint64_t glob_sum_bytes(const char *dir, const char *pattern);

#endif
