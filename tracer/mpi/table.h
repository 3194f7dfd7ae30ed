/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: things by 64-bit keys: handles of MPI, and channels. Not thread-safe.
 */
#ifndef FLEXTRACE_MPI_TABLE_H
#define FLEXTRACE_MPI_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* The first member of what is in a table. */
struct table_entry {
	uint64_t key;
	struct table_entry *next; /* in its bucket */
};

struct table {
	struct table_entry **buckets; /* owned; their number is a power of two */
	size_t n_buckets, n;
};

/* What has a key, or NULL. */
void *table_find(const struct table *table, uint64_t key);

/* Adds an entry (owned by the caller) whose key is not there. Returns -1 without memory. */
int table_put(struct table *table, uint64_t key, struct table_entry *entry);

/* Returns what was there, or NULL. */
void *table_take(struct table *table, uint64_t key);

/* Frees the table, and all that is in it. */
void table_release(struct table *table);

#endif
