/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdlib.h>

#define N_SLOTS_FIRST 16u

static size_t place_of(const struct table *table, uint64_t key)
{
	uint64_t z = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);

	return (size_t)(z ^ (z >> 31)) & (table->n_slots - 1);
}

/* The slot of the key, or the free one where it belongs. */
static struct table_slot *slot_of(const struct table *table, uint64_t key)
{
	size_t i = place_of(table, key);

	while (table->slots[i].value && table->slots[i].key != key)
		i = (i + 1) & (table->n_slots - 1);
	return &table->slots[i];
}

void *table_find(const struct table *table, uint64_t key)
{
	return table->n ? slot_of(table, key)->value : NULL;
}

static int grow(struct table *table)
{
	struct table larger = {.n_slots = table->n_slots ? 2 * table->n_slots : N_SLOTS_FIRST,
	                       .n = table->n};

	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (size_t i = 0; i < table->n_slots; i++)
		if (table->slots[i].value)
			*slot_of(&larger, table->slots[i].key) = table->slots[i];
	free(table->slots);
	*table = larger;
	return 0;
}

int table_put(struct table *table, uint64_t key, void *value)
{
	struct table_slot *slot;

	if (2 * (table->n + 1) > table->n_slots && grow(table) < 0)
		return -1;
	slot = slot_of(table, key);
	table->n += !slot->value;
	*slot = (struct table_slot){key, value};
	return 0;
}

void *table_take(struct table *table, uint64_t key)
{
	struct table_slot *slot = table->n ? slot_of(table, key) : NULL;
	void *value = slot ? slot->value : NULL;
	size_t gap, i;

	if (!value)
		return NULL;
	table->n--;
	/* Those behind it close the gap, unless they stand where they belong. */
	gap = i = (size_t)(slot - table->slots);
	for (;;) {
		size_t home;

		i = (i + 1) & (table->n_slots - 1);
		if (!table->slots[i].value)
			break;
		home = place_of(table, table->slots[i].key);
		if (((i - home) & (table->n_slots - 1)) < ((i - gap) & (table->n_slots - 1)))
			continue;
		table->slots[gap] = table->slots[i];
		gap = i;
	}
	table->slots[gap].value = NULL;
	return value;
}

void table_release(struct table *table)
{
	free(table->slots);
	*table = (struct table){NULL, 0, 0};
}
