/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.h: large memory that may leave the machine's memory.
 *
 * Once it is on, the blocks of blocks.h are pieces of an unlinked file that is mapped as a whole:
 * they are read and written as any memory, and what was not touched for a while is in the file
 * only. Whoever goes through large memory says how far it went, and after each eighth of the limit
 * all pages are let go; those in use come back by themselves, from the page cache, which the kernel
 * shrinks as it must.
 *
 * The file's room is claimed before it is written to: a full disk is an error of spill_fill(), not
 * a signal. Addresses are used once, and there are as many as the file system allows, 4 TiB at
 * most. Thread-safe but for spill_begin().
 */
#ifndef FLEXTRACE_SPILL_H
#define FLEXTRACE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* Turns it on for all large memory from now on, until the process ends. `limit_bytes` is for the
 * whole process; the least that was ever asked for holds. FLEXTRACE_E_OUTPUT: the file cannot be
 * made. */
int spill_begin(uint64_t limit_bytes, struct flextrace_error *error);

bool spill_is_on(void);

/* Whether an address lies in the file. */
bool spill_owns(const void *bytes);

/* Returns a range that spill_fill() makes usable, aligned to `alignment` (a power of two, of at
 * least a page); NULL: there is no more. */
void *spill_reserve(size_t n_bytes, size_t alignment);

/* FLEXTRACE_E_MEMORY: there is no room in the file, see spill_explain(). Whole pages, as below. */
int spill_fill(void *bytes, size_t n_bytes);

/* Forgets what stands there: nobody uses it any more. */
void spill_drop(void *bytes, size_t n_bytes);

/* Tells that somebody went on over so many bytes. */
void spill_touch(size_t n_bytes);

/* Returns `code` or, where it is FLEXTRACE_E_MEMORY because of the file, FLEXTRACE_E_OUTPUT with
 * what is wrong with that. */
int spill_explain(int code, struct flextrace_error *error);

#endif
