/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_places.h: rows of a table by their place, where they are not read in order.
 *
 * Memory: 16 bytes for each chunk of the table, which stays as it is meanwhile.
 */
#ifndef FLEXTRACE_TABLE_PLACES_H
#define FLEXTRACE_TABLE_PLACES_H

#include "base/table.h"

struct table_place {
	const struct table_chunk *chunk; /* weak */
	uint64_t first;                  /* place of its first row */
};

struct table_places {
	struct table_place *chunks; /* owned */
	uint32_t n;
	size_t row_bytes;
};

/* Of a table whose rows are of one size. FLEXTRACE_E_MEMORY or 0; release in any case. */
int table_places_init(struct table_places *places, const struct table *table, size_t row_bytes);
void table_places_release(struct table_places *places);

/* The row in a place, from 0, which is less than the number of rows. Weak. */
const void *table_at(const struct table_places *places, uint64_t place);

#endif
