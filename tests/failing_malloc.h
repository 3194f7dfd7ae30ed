/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_malloc.h: lets the n-th allocation of a program fail.
 *
 * The program is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc; what shared libraries
 * allocate never fails. Counts over all threads.
 */
#ifndef FLEXTRACE_TESTS_FAILING_MALLOC_H
#define FLEXTRACE_TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stdint.h>

/* From here on the n-th allocation (from 1) and all behind it fail; 0 = none does. */
void failing_malloc_set(uint64_t n);

/* Whether one failed since. */
bool failing_malloc_has_failed(void);

#endif
