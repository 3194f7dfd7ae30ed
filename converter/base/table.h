/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: append-only tables in chunks, read in order.
 *
 * Two shapes over one chunk list: rows of one fixed size, and records of many sizes (8-byte
 * aligned). Chunks never move. A reader that consumes frees each chunk behind it, so that a table
 * may shrink while its successor grows. Not thread-safe: one writer, then any number of readers
 * that do not consume.
 */
#ifndef FLEXTRACE_TABLE_H
#define FLEXTRACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"

struct table_chunk {              /* one allocation */
	struct table_chunk *next; /* owned */
	size_t used_bytes, n_bytes;
	uint64_t rows[];
};

struct table {
	struct table_chunk *first; /* owned */
	struct table_chunk *last;  /* weak */
	uint64_t n_rows;
	uint64_t n_bytes; /* of all chunks that were ever added */
	bool is_of_many;  /* one of hundreds, perhaps, that are merged: its chunks stay small */
};

#define TABLE_INIT                      \
	{                               \
		NULL, NULL, 0, 0, false \
	}

/* A place in a table, at the next unread row. */
struct table_cursor {
	struct table *table; /* weak */
	struct table_chunk *chunk;
	size_t offset_bytes;
	bool consumes;
};

/* The way of table_append() where the last chunk is full. False: no memory. */
bool table_make_room(struct table *table, size_t size_bytes);

/* Appends room for one row of `size_bytes` (a multiple of 8, at most 16 MiB) and returns it;
 * NULL: no memory. */
static inline void *table_append(struct table *table, size_t size_bytes)
{
	struct table_chunk *chunk = table->last;
	void *row;

	if (!chunk || chunk->n_bytes - chunk->used_bytes < size_bytes) {
		if (!table_make_room(table, size_bytes))
			return NULL;
		chunk = table->last;
	}
	row = (char *)chunk->rows + chunk->used_bytes;
	chunk->used_bytes += size_bytes;
	table->n_rows++;
	return row;
}

/* Appends a copy of a row. FLEXTRACE_E_MEMORY or 0. */
static inline int table_put(struct table *table, const void *row, size_t size_bytes)
{
	void *copy = table_append(table, size_bytes);

	if (!copy)
		return FLEXTRACE_E_MEMORY;
	memcpy(copy, row, size_bytes);
	return FLEXTRACE_OK;
}

/* Starts reading at the first row. With `consumes`, chunks are freed once read past, and the
 * table is empty when the end was reached; `n_rows` is not stepped before. */
void table_read(struct table_cursor *cursor, struct table *table, bool consumes);

/* The way of table_next() at the end of a chunk. */
void *table_next_chunk(struct table_cursor *cursor, size_t size_bytes);

/* Returns the row at the cursor and steps `size_bytes` on; NULL at the end. Weak: until the next
 * step of a consuming cursor, else while the table lives. */
static inline void *table_next(struct table_cursor *cursor, size_t size_bytes)
{
	void *row;

	if (!cursor->chunk || cursor->offset_bytes == cursor->chunk->used_bytes)
		return table_next_chunk(cursor, size_bytes);
	row = (char *)cursor->chunk->rows + cursor->offset_bytes;
	cursor->offset_bytes += size_bytes;
	return row;
}

/* The same, for an initializer. */
static inline struct table_cursor table_start(const struct table *table, bool consumes)
{
	struct table_cursor cursor;

	table_read(&cursor, (struct table *)(uintptr_t)table, consumes);
	return cursor;
}

/* The start of a table that stays as it is. */
static inline struct table_cursor table_begin(const struct table *table)
{
	return table_start(table, false);
}

/* For each row: TABLE_EACH(struct flow, flow, flows) { ... }. The table stays as it is. */
#define TABLE_EACH(type, row, table) TABLE_ROWS(const type, row, table, false)

/* The same, but that rows may be changed; or that they are given away, as table_read() does. */
#define TABLE_CHANGE(type, row, table)  TABLE_ROWS(type, row, table, false)
#define TABLE_CONSUME(type, row, table) TABLE_ROWS(const type, row, table, true)

#define TABLE_ROWS(type, row, table, consumes)                                                    \
	for (struct table_cursor row##_at = table_start(table, consumes), *row##_one = &row##_at; \
	     row##_one; row##_one = NULL)                                                         \
		for (type * row; (row = table_next(row##_one, sizeof(*row)));)

/* Returns the row at the cursor without stepping; NULL at the end. */
void *table_peek(struct table_cursor *cursor);

/* Moves all rows of `from` behind those of `to`, leaving `from` empty. */
void table_take(struct table *to, struct table *from);

void table_release(struct table *table);

/* Where the chunks of a table of one row size are, which stays as it is: finds any row in
 * O(log chunks). */
struct table_index {
	const struct table_chunk **chunks; /* owned; weak */
	uint64_t *first_rows;              /* owned: number of their first rows */
	uint32_t n;
};

/* FLEXTRACE_E_MEMORY or 0. */
int table_index_init(struct table_index *index, const struct table *table, size_t row_bytes);
void table_index_release(struct table_index *index); /* also of zeroes */

/* Row `i`, which there is. */
const void *table_index_get(const struct table_index *index, uint64_t i, size_t row_bytes);

#endif
