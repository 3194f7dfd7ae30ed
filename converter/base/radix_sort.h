/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix_sort.h: sorts places by a 64-bit key, digit by digit (LSD radix sort), or, where that is
 * less, by merging the few ascending runs that they are: linear in their number, however far they
 * are out of order, and places of one key stay as they were.
 */
#ifndef FLEXTRACE_RADIX_SORT_H
#define FLEXTRACE_RADIX_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keyed_place {
	uint64_t key;
	uint32_t place;
};

/* Sorts `n` places between two arrays of that many and returns the one that holds them. The keys
 * are less the smallest one then: the fewer bits they differ in, the fewer rounds. */
struct keyed_place *radix_sort(struct keyed_place *places, struct keyed_place *spare, uint32_t n);

/* Returns where the sorted places of one key end that begin at `first`. */
static inline uint32_t radix_end_of_key(const struct keyed_place *sorted, uint32_t n,
                                        uint32_t first)
{
	uint32_t end = first + 1;

	while (end < n && sorted[end].key == sorted[first].key)
		end++;
	return end;
}

/* What is sorted, and by what. */
struct radix_order {
	size_t size_bytes, key_offset; /* of an element, of its 64-bit key */
	bool is_signed;                /* the key */
	/* of elements of one key */
	int (*compare)(const void *left, const void *right);
};

#define PLACES_MAX_BYTES 64 /* of an element */

/* Sorts `n` elements in place, by their keys and then as `compare` says. Needs 32 bytes per element
 * meanwhile. FLEXTRACE_E_MEMORY or 0. */
int radix_sort_elements(void *elements, uint32_t n, const struct radix_order *order);

#endif
