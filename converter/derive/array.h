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

/* Makes room for `n` elements in an owned array, `array` being the address of the pointer to it;
 * new ones are zeroed. FLEXTRACE_E_MEMORY, and all is as it was, or 0. */
static inline int array_grow(void *array, uint32_t *n_allocated, uint64_t n, size_t element_bytes)
{
	uint64_t larger = *n_allocated ? *n_allocated : 8;
	char *grown;

	while (larger < n)
		larger *= 2;
	if (larger > UINT32_MAX)
		return FLEXTRACE_E_MEMORY;
	memcpy(&grown, array, sizeof(grown));
	grown = realloc(grown, larger * element_bytes);
	if (!grown)
		return FLEXTRACE_E_MEMORY;
	memset(grown + *n_allocated * element_bytes, 0, (larger - *n_allocated) * element_bytes);
	memcpy(array, &grown, sizeof(grown));
	*n_allocated = (uint32_t)larger;
	return FLEXTRACE_OK;
}

/* The same for `array`, a pointer variable. */
#define ARRAY_RESERVE(array, n_allocated, n) \
	((uint64_t)(n) <= (n_allocated)      \
	         ? FLEXTRACE_OK              \
	         : array_grow(&(array), &(n_allocated), (n), sizeof(*(array))))

#endif
