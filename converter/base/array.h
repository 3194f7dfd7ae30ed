/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h: growing arrays, which double, and what is looked up in sorted ones. Large ones of known
 * size are made by blocks.h.
 */
#ifndef FLEXTRACE_ARRAY_H
#define FLEXTRACE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Makes an owned array of `n` zeroed elements. FLEXTRACE_E_MEMORY or 0. */
#define ARRAY_NEW(array, n) \
	(((array) = calloc((n), sizeof(*(array)))) ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY)

/* A pointer variable of whatever type. */
typedef void *array_pointer __attribute__((__may_alias__));

/* Makes room for `n` elements in an owned array, `array` being the address of the pointer to it;
 * new ones are zeroed. FLEXTRACE_E_MEMORY, and all is as it was, or 0. */
static inline int array_grow(void *array, uint32_t *n_allocated, uint64_t n, size_t element_bytes)
{
	uint64_t larger = *n_allocated ? *n_allocated : 8;
	array_pointer *pointer = array;
	char *grown;

	while (larger < n)
		larger *= 2;
	if (larger > UINT32_MAX)
		return FLEXTRACE_E_MEMORY;
	grown = realloc(*pointer, larger * element_bytes);
	if (!grown)
		return FLEXTRACE_E_MEMORY;
	memset(grown + *n_allocated * element_bytes, 0, (larger - *n_allocated) * element_bytes);
	*pointer = grown;
	*n_allocated = (uint32_t)larger;
	return FLEXTRACE_OK;
}

/* The same for `array`, a pointer variable. */
#define ARRAY_RESERVE(array, n_allocated, n) \
	((uint64_t)(n) <= (n_allocated)      \
	         ? FLEXTRACE_OK              \
	         : array_grow(&(array), &(n_allocated), (n), sizeof(*(array))))

/* Makes room for one more of `n` elements where nobody keeps how many there is room for: their
 * number doubles whenever it is a power of two. New elements are not zeroed. */
static inline int array_make_room(void *array, uint32_t n, size_t element_bytes)
{
	array_pointer *pointer = array;
	void *grown;

	if (n && (n < 8 || (n & (n - 1))))
		return FLEXTRACE_OK;
	if (n > UINT32_MAX / 4)
		return FLEXTRACE_E_MEMORY;
	grown = realloc(*pointer, (n ? 2 * (size_t)n : 8) * element_bytes);
	if (!grown)
		return FLEXTRACE_E_MEMORY;
	*pointer = grown;
	return FLEXTRACE_OK;
}

/* The same for `array`, a pointer variable of `n` elements. */
#define ARRAY_ROOM(array, n) array_make_room(&(array), (n), sizeof(*(array)))

/* Appends a value to it. FLEXTRACE_E_MEMORY or 0. */
#define ARRAY_PUSH(array, n, ...)                      \
	(ARRAY_ROOM(array, n) < 0 ? FLEXTRACE_E_MEMORY \
	                          : ((array)[(n)++] = __VA_ARGS__, FLEXTRACE_OK))

/* How many of `n` sorted rows are before a key, by a caller's order. */
static inline uint32_t array_count_before(const void *rows, uint32_t n, size_t row_bytes,
                                          bool (*is_before)(const void *row, const void *key),
                                          const void *key)
{
	uint32_t lo = 0;

	while (n > 0) {
		uint32_t half = n / 2;

		if (is_before((const char *)rows + (size_t)(lo + half) * row_bytes, key)) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

#endif
