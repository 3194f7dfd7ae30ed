/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h: growing arrays.
 */
#ifndef FLEXTRACE_DERIVE_ARRAY_H
#define FLEXTRACE_DERIVE_ARRAY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Returns `array` (owned by the caller) or its larger successor with room for `n` elements of `size_bytes`, new
 * ones zeroed; NULL: no memory, and `array` is as it was. */
static inline void *array_grow(void *array, uint32_t *n_allocated, uint64_t n, size_t size_bytes)
{
	uint64_t larger = *n_allocated ? *n_allocated : 8;
	char *moved;

	while (larger < n)
		larger *= 2;
	if (larger > UINT32_MAX)
		return NULL;
	moved = realloc(array, larger * size_bytes);
	if (!moved)
		return NULL;
	memset(moved + *n_allocated * size_bytes, 0, (larger - *n_allocated) * size_bytes);
	*n_allocated = (uint32_t)larger;
	return moved;
}

/* Makes room for `n` elements in `array`, which is a pointer variable. FLEXTRACE_E_MEMORY or 0. */
#define ARRAY_RESERVE(array, n_allocated, n)                                                   \
	({                                                                                     \
		int reserve_ = FLEXTRACE_OK;                                                   \
		if ((uint64_t)(n) > (n_allocated)) {                                           \
			void *moved_ = array_grow(array, &(n_allocated), n, sizeof(*(array))); \
			if (moved_)                                                            \
				(array) = moved_;                                              \
			else                                                                   \
				reserve_ = FLEXTRACE_E_MEMORY;                                 \
		}                                                                              \
		reserve_;                                                                      \
	})

#endif
