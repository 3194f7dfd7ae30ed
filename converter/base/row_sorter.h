/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_sorter.h: puts rows into output order: start, then longer first, then as they came.
 *
 * Rows are filled into a run; a full run is sorted and put aside; the merge reads all runs through
 * a heap and frees each behind it. A row begins with its start (int64_t) and, where it `has_end`,
 * its end. Memory: the rows themselves in whole blocks, and while a run is sorted that is far from
 * order, another block and 32 bytes per row.
 */
#ifndef FLEXTRACE_ROW_SORTER_H
#define FLEXTRACE_ROW_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blocks.h"
#include "error.h"

#define ROWS_PER_RUN(row_bytes) ((uint32_t)(BLOCK_BYTES / (row_bytes)))

struct row_run {
	uint8_t *rows; /* owned, sorted */
	uint32_t n_rows;
	uint32_t next;      /* first row the merge has not read */
	int64_t start, end; /* of the first row: a merge touches a run when it is its turn */
};

struct row_sorter {
	size_t row_bytes;
	uint32_t n_full; /* rows of a run */
	bool has_end;
	uint8_t *filling; /* owned: the run being filled */
	uint32_t n_filling;
	struct row_run *runs; /* owned, in the order they were filled */
	uint32_t n_runs, n_allocated;
};

void row_sorter_init(struct row_sorter *sorter, size_t row_bytes, bool has_end);
void row_sorter_release(struct row_sorter *sorter);

/* Returns room for one row, to be filled before the next call (weak until then); NULL: no
 * memory. */
void *row_sorter_append(struct row_sorter *sorter);

/* Appends a copy of a row. FLEXTRACE_E_MEMORY or 0. */
static inline int row_sorter_put(struct row_sorter *sorter, const void *row)
{
	void *room = row_sorter_append(sorter);

	if (!room)
		return FLEXTRACE_E_MEMORY;
	memcpy(room, row, sorter->row_bytes);
	return FLEXTRACE_OK;
}

/* Visits all rows in output order and leaves the sorter empty. The visitor may change the row,
 * which is weak and gone after its return; its negative value stops the merge and is returned.
 * FLEXTRACE_E_MEMORY. */
int row_sorter_merge(struct row_sorter *sorter, int (*visit)(void *context, void *row),
                     void *context);

#endif
