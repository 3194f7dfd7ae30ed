/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h: a hash table from two 64-bit words to a 32-bit index.
 *
 * The key is compared whole, so that different things never share an index; what the two words mean
 * is the caller's business. It never shrinks. Grows at half full, so that a lookup stays a probe or
 * two whatever the keys are (hash.h). All inline: it stands on the path of every record.
 */
#ifndef FLEXTRACE_MAP_H
#define FLEXTRACE_MAP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "hash.h"

#define MAP_NONE UINT32_MAX /* not in the map */

struct map_slot {
	uint64_t a, b;
	uint32_t value; /* MAP_NONE = free */
	uint32_t unused;
};

struct map {
	struct map_slot *slots; /* owned */
	uint64_t n_slots;       /* a power of two, or 0 */
	uint64_t n_used;
	struct hash_secret secret; /* from the first key on */
};

/* Two numbers as one word of a key. */
static inline uint64_t map_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static inline uint64_t map_home(const struct map *map, uint64_t a, uint64_t b)
{
	return hash_mix(a ^ map->secret.a, b ^ map->secret.b) & (map->n_slots - 1);
}

/* Returns the slot of a key, or the free one where it would go. */
static inline struct map_slot *map_slot(const struct map *map, uint64_t a, uint64_t b)
{
	uint64_t i = map_home(map, a, b);

	while (map->slots[i].value != MAP_NONE && (map->slots[i].a != a || map->slots[i].b != b))
		i = (i + 1) & (map->n_slots - 1);
	return &map->slots[i];
}

/* Returns the index stored for a key, or MAP_NONE. */
static inline uint32_t map_find(const struct map *map, uint64_t a, uint64_t b)
{
	return map->n_slots ? map_slot(map, a, b)->value : MAP_NONE;
}

static inline int map_grow(struct map *map)
{
	struct map grown = {.n_slots = map->n_slots ? 2 * map->n_slots : 16,
	                    .n_used = map->n_used,
	                    .secret = hash_get_secret()};

	grown.slots = malloc(grown.n_slots * sizeof(*grown.slots));
	if (!grown.slots)
		return FLEXTRACE_E_MEMORY;
	memset(grown.slots, 0xff, grown.n_slots * sizeof(*grown.slots)); /* all MAP_NONE */
	for (uint64_t i = 0; i < map->n_slots; i++) {
		const struct map_slot *slot = &map->slots[i];

		if (slot->value != MAP_NONE)
			*map_slot(&grown, slot->a, slot->b) = *slot;
	}
	free(map->slots);
	*map = grown;
	return FLEXTRACE_OK;
}

/* Stores where the index of a key stands, MAP_NONE where it is new, to be set before the next call.
 * FLEXTRACE_E_MEMORY or 0. */
static inline int map_enter(struct map *map, uint64_t a, uint64_t b, uint32_t **ret_value)
{
	struct map_slot *slot;

	if (2 * map->n_used >= map->n_slots)
		FLEXTRACE_TRY(map_grow(map));
	slot = map_slot(map, a, b);
	map->n_used += slot->value == MAP_NONE;
	slot->a = a;
	slot->b = b;
	*ret_value = &slot->value;
	return FLEXTRACE_OK;
}

/* Stores an index for a key, in place of what was there. FLEXTRACE_E_MEMORY or 0. */
static inline int map_put(struct map *map, uint64_t a, uint64_t b, uint32_t value)
{
	uint32_t *at;

	FLEXTRACE_TRY(map_enter(map, a, b, &at));
	*at = value;
	return FLEXTRACE_OK;
}

/* Finds the place of a key's element in `array`, which has `n`, and appends a new one as zeroes. 1:
 * it is new, 0: it is not, or FLEXTRACE_E_MEMORY. */
#define MAP_PLACE(map, a, b, array, n, ret_place) \
	map_append(map, a, b, (struct map_array){&(array), &(n), sizeof(*(array))}, ret_place)

struct map_array {
	void *array; /* weak, both: a pointer variable, and how many elements it has */
	uint32_t *n;
	size_t element_bytes;
};

static inline int map_append(struct map *map, uint64_t a, uint64_t b, struct map_array to,
                             uint32_t *ret_place)
{
	array_pointer *array = to.array;

	*ret_place = map_find(map, a, b);
	if (*ret_place != MAP_NONE)
		return 0;
	FLEXTRACE_TRY(array_make_room(array, *to.n, to.element_bytes));
	FLEXTRACE_TRY(map_put(map, a, b, *to.n));
	*ret_place = (*to.n)++;
	memset((char *)*array + *ret_place * to.element_bytes, 0, to.element_bytes);
	return 1;
}

/* Forgets a key, if it is there. */
static inline void map_remove(struct map *map, uint64_t a, uint64_t b)
{
	uint64_t mask = map->n_slots - 1, hole, next;

	hole = map->n_slots ? (uint64_t)(map_slot(map, a, b) - map->slots) : 0;
	if (!map->n_slots || map->slots[hole].value == MAP_NONE)
		return;
	/* Moves back what was pushed past the hole, so that no probe ends early. */
	for (next = (hole + 1) & mask; map->slots[next].value != MAP_NONE;
	     next = (next + 1) & mask) {
		uint64_t home = map_home(map, map->slots[next].a, map->slots[next].b);

		if (((next - home) & mask) >= ((next - hole) & mask)) {
			map->slots[hole] = map->slots[next];
			hole = next;
		}
	}
	map->slots[hole].value = MAP_NONE;
	map->n_used--;
}

static inline void map_release(struct map *map)
{
	free(map->slots);
	*map = (struct map){0};
}

#endif
