/* SPDX-License-Identifier: Apache-2.0 */
#include "name_groups.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/error.h"
#include "base/hash.h"

#define MIN_SLOTS 64

void name_groups_init(struct name_groups *groups, size_t element_bytes, uint64_t max)
{
	*groups = (struct name_groups){.element_bytes = element_bytes, .max = max};
}

void name_groups_release(struct name_groups *groups)
{
	blocks_free(groups->all);
	blocks_free(groups->slots);
	blocks_free(groups->order);
	*groups = (struct name_groups){.all = NULL};
}

static bool is_of(const struct name_groups *groups, uint32_t place, const struct group_key *key)
{
	return memcmp(name_groups_at(groups, place), key, sizeof(*key)) == 0;
}

/* Returns the slot of a key, or the free one where it would go. */
static inline uint32_t *find_slot(const struct name_groups *groups, const struct group_key *key)
{
	uint64_t at = hash_words((uint64_t)key->owner << 32 | key->kind,
	                         key->name ^ key->detail * UINT64_C(0x9e3779b97f4a7c15));
	uint32_t mask = groups->n_slots - 1;

	while (groups->slots[at & mask] && !is_of(groups, groups->slots[at & mask] - 1, key))
		at++;
	return &groups->slots[at & mask];
}

/* At least half of the slots stay free. */
static int grow(struct name_groups *groups)
{
	uint32_t n = groups->n_slots ? 2 * groups->n_slots : MIN_SLOTS;
	uint32_t *slots;

	slots = n ? blocks_allocate(n, sizeof(*slots)) : NULL;
	if (!slots)
		return FLEXTRACE_E_MEMORY;
	memset(slots, 0, n * sizeof(*slots));
	blocks_free(groups->slots);
	groups->slots = slots;
	groups->n_slots = n;
	for (uint32_t i = 0; i < groups->n; i++)
		*find_slot(groups, name_groups_at(groups, i)) = i + 1;
	return FLEXTRACE_OK;
}

static int add(struct name_groups *groups, const struct group_key *key)
{
	if (!groups->all)
		groups->all = blocks_reserve(groups->max, groups->element_bytes);
	if (!groups->all)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(blocks_fill_next(groups->all, groups->n, groups->element_bytes));
	memset(name_groups_at(groups, groups->n), 0, groups->element_bytes);
	memcpy(name_groups_at(groups, groups->n), key, sizeof(*key));
	groups->n++;
	return FLEXTRACE_OK;
}

/* Adds a key that would go into a slot; NULL: there are none. */
static int add_new(struct name_groups *groups, const struct group_key *key, uint32_t *slot,
                   uint32_t *ret_place)
{
	if (2 * (uint64_t)groups->n >= groups->n_slots) {
		FLEXTRACE_TRY(grow(groups));
		slot = find_slot(groups, key);
	}
	FLEXTRACE_TRY(add(groups, key));
	*slot = groups->n;
	*ret_place = groups->n - 1;
	return FLEXTRACE_OK;
}

int name_groups_find(struct name_groups *groups, const struct group_key *key, uint32_t *ret_place)
{
	uint32_t *slot = groups->n_slots ? find_slot(groups, key) : NULL;

	if (!slot || !*slot)
		return add_new(groups, key, slot, ret_place);
	*ret_place = *slot - 1;
	return FLEXTRACE_OK;
}

int name_groups_sort(struct name_groups *groups, name_groups_compare *compare, void *context)
{
	blocks_free(groups->slots);
	groups->slots = NULL;
	groups->n_slots = 0;
	FLEXTRACE_TRY(BLOCKS_NEW(groups->order, groups->n));
	for (uint32_t i = 0; i < groups->n; i++)
		groups->order[i] = i;
	qsort_r(groups->order, groups->n, sizeof(*groups->order), compare, context);
	return FLEXTRACE_OK;
}
