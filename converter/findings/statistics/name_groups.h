/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_groups.h: what is counted by (owner, name, kind) or more: elements of one's own, found by
 * their keys, in the order in which they came, and later in another.
 *
 * Memory: an element, and 8 to 16 bytes to find it, where map.h takes 48 to 96; later 4 to sort it.
 */
#ifndef FLEXTRACE_NAME_GROUPS_H
#define FLEXTRACE_NAME_GROUPS_H

#include <stddef.h>
#include <stdint.h>

struct group_key {      /* the first member of an element */
	uint32_t owner; /* as the caller numbers them */
	uint32_t name;  /* string */
	uint32_t kind;
	uint32_t detail; /* what else tells them apart; 0 = nothing */
};

struct name_groups {
	char *all; /* owned: elements */
	size_t element_bytes;
	uint32_t n;
	uint64_t max;
	uint32_t *slots;  /* owned: place + 1; 0 = free; until they are sorted */
	uint32_t n_slots; /* a power of two, or 0 */
	uint32_t *order;  /* owned: places, once they are sorted */
};

/* There are never more than `max`. Release in any case. */
void name_groups_init(struct name_groups *groups, size_t element_bytes, uint64_t max);
void name_groups_release(struct name_groups *groups);

/* Stores the place of a key's element; a new one is all 0 besides. FLEXTRACE_E_MEMORY or 0. */
int name_groups_find(struct name_groups *groups, const struct group_key *key, uint32_t *ret_place);

/* Compares two elements for qsort_r(), which gives their places: uint32_t. None are equal. */
typedef int name_groups_compare(const void *left, const void *right, void *context);

/* Makes `order`; nothing is found from then on. FLEXTRACE_E_MEMORY or 0. */
int name_groups_sort(struct name_groups *groups, name_groups_compare *compare, void *context);

/* The element at a place, and in a place of the order. Weak; none moves. */
static inline void *name_groups_at(const struct name_groups *groups, uint32_t place)
{
	return groups->all + place * groups->element_bytes;
}

static inline void *name_groups_line(const struct name_groups *groups, uint32_t line)
{
	return name_groups_at(groups, groups->order[line]);
}

#endif
