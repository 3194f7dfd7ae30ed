/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h: a hash table of places in an array whose elements know their keys: 8 to 16 bytes for
 * each of many, where map.h takes 48 to 96. The owner of the array says how keys are compared.
 */
#ifndef FLEXTRACE_SLOTS_H
#define FLEXTRACE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/blocks.h"
#include "base/error.h"

struct slots {
	uint32_t *places; /* owned: place + 1; 0 = free */
	uint32_t n;       /* a power of two, or 0 */
};

/* What the table asks of the array. */
struct slots_of {
	uint64_t (*hash)(const void *array, uint32_t place);
	bool (*is)(const void *array, uint32_t place, const void *key);
};

/* Returns the slot of a key, or the free one where it would go. */
static inline uint32_t *slots_find(const struct slots *slots, const struct slots_of *of,
                                   const void *array, const void *key, uint64_t hash)
{
	uint32_t mask = slots->n - 1;

	while (slots->places[hash & mask] && !of->is(array, slots->places[hash & mask] - 1, key))
		hash++;
	return &slots->places[hash & mask];
}

/* Makes room for one more than `n_used`: at least half of the slots stay free. FLEXTRACE_E_MEMORY
 * or 0. */
static inline int slots_reserve(struct slots *slots, const struct slots_of *of, const void *array,
                                uint32_t n_used)
{
	struct slots grown = {NULL, slots->n ? 2 * slots->n : 64};

	if (2 * (uint64_t)n_used < slots->n)
		return FLEXTRACE_OK;
	grown.places = grown.n ? blocks_allocate(grown.n, sizeof(*grown.places)) : NULL;
	if (!grown.places)
		return FLEXTRACE_E_MEMORY;
	memset(grown.places, 0, grown.n * sizeof(*grown.places));
	for (uint32_t i = 0; i < n_used; i++) {
		uint64_t at = of->hash(array, i);

		while (grown.places[at & (grown.n - 1)])
			at++;
		grown.places[at & (grown.n - 1)] = i + 1;
	}
	blocks_free(slots->places);
	*slots = grown;
	return FLEXTRACE_OK;
}

static inline void slots_release(struct slots *slots)
{
	blocks_free(slots->places);
	*slots = (struct slots){NULL, 0};
}

#endif
