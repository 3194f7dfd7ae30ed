/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_malloc.h: lets the n-th allocation of a program fail.
 *
 * For programs that CMake's flextrace_fail_allocations() links. What shared libraries allocate does
 * not fail, but for what they hand out to be owned (strdup, asprintf, open_memstream). Counts over
 * all threads.
 */
#ifndef FLEXTRACE_TESTS_FAILING_MALLOC_H
#define FLEXTRACE_TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From here on the n-th allocation (from 1) and all behind it fail; 0 = none does. */
void failing_malloc_set(uint64_t n);

/* From here on the n-th allocation fails, and those behind it go well again. */
void failing_malloc_set_once(uint64_t n);

/* Whether one failed since. */
bool failing_malloc_has_failed(void);

/* Is told of each allocation of the only thread, before it is made; NULL = nobody. `n` counts from
 * 1 since it was set. */
void failing_malloc_watch(void (*watch)(void *context, uint64_t n), void *context);

/* malloc() as the program calls it, for libraries that take one. */
void *failing_malloc(size_t n);

#endif
