/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: from 64-bit keys to values, for handles of MPI and for channels. Not thread-safe.
 */
#ifndef FLEXTRACE_MPI_TABLE_H
#define FLEXTRACE_MPI_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint64_t key;
	void *value; /* NULL: free */
};

struct table {
	struct table_slot *slots; /* owned; their number is a power of two */
	size_t n_slots, n;
};

/* The value of a key, or NULL. */
void *table_find(const struct table *table, uint64_t key);

/* Sets it; `value` is not NULL. Returns -1 without memory. */
int table_put(struct table *table, uint64_t key, void *value);

/* Returns what was there, or NULL. */
void *table_take(struct table *table, uint64_t key);

/* Frees the table, not its values. */
void table_release(struct table *table);

#endif
