/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdlib.h>

#define N_BUCKETS_FIRST 16u

/* Where the entry of a key hangs, or would. */
static struct table_entry **place_of(const struct table *table, uint64_t key)
{
	uint64_t z = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	struct table_entry **at = &table->buckets[(z ^ (z >> 31)) & (table->n_buckets - 1)];

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	return at;
}

void *table_find(const struct table *table, uint64_t key)
{
	return table->n ? *place_of(table, key) : NULL;
}

static int grow(struct table *table)
{
	struct table larger = {.n_buckets = table->n_buckets ? 2 * table->n_buckets
	                                                     : N_BUCKETS_FIRST};

	larger.buckets = calloc(larger.n_buckets, sizeof(struct table_entry *));
	if (!larger.buckets)
		return -1;
	for (size_t i = 0; i < table->n_buckets; i++) {
		for (struct table_entry *at = table->buckets[i], *next; at; at = next) {
			next = at->next;
			table_put(&larger, at->key, at);
		}
	}
	free(table->buckets);
	*table = larger;
	return 0;
}

int table_put(struct table *table, uint64_t key, struct table_entry *entry)
{
	if (table->n >= table->n_buckets && grow(table) < 0)
		return -1;
	entry->key = key;
	entry->next = NULL;
	*place_of(table, key) = entry;
	table->n++;
	return 0;
}

void *table_take(struct table *table, uint64_t key)
{
	struct table_entry **at = table->n ? place_of(table, key) : NULL;
	struct table_entry *entry = at ? *at : NULL;

	if (!entry)
		return NULL;
	*at = entry->next;
	table->n--;
	return entry;
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->n_buckets; i++) {
		for (struct table_entry *at = table->buckets[i], *next; at; at = next) {
			next = at->next;
			free(at);
		}
	}
	free(table->buckets);
	*table = (struct table){NULL, 0, 0};
}
