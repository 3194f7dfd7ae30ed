/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks start small, because a conversion has three tables for each of possibly hundreds of streams, and
 * grow by four up to a size that malloc() maps on its own, so that freeing one gives its memory back.
 */
#include "table.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_CHUNK_BYTES ((size_t)4 << 10)
#define LAST_CHUNK_BYTES  ((size_t)1 << 20)
#define MAX_ROW_BYTES     ((size_t)16 << 20)

struct table_chunk {
	struct table_chunk *next; /* owned */
	size_t used_bytes, n_bytes;
	uint64_t rows[];
};

static struct table_chunk *add_chunk(struct table *table, size_t row_bytes)
{
	size_t n_bytes = FIRST_CHUNK_BYTES;
	struct table_chunk *chunk;

	if (table->last)
		n_bytes = 4 * (table->last->n_bytes + sizeof(*chunk));
	if (n_bytes > LAST_CHUNK_BYTES)
		n_bytes = LAST_CHUNK_BYTES;
	n_bytes -= sizeof(*chunk);
	if (n_bytes < row_bytes)
		n_bytes = row_bytes;
	chunk = malloc(sizeof(*chunk) + n_bytes);
	if (!chunk)
		return NULL;
	*chunk = (struct table_chunk){.n_bytes = n_bytes};
	if (table->last)
		table->last->next = chunk;
	else
		table->first = chunk;
	table->last = chunk;
	return chunk;
}

void *table_append(struct table *table, size_t size_bytes)
{
	struct table_chunk *chunk = table->last;
	void *row;

	assert(size_bytes > 0 && size_bytes % 8 == 0 && size_bytes <= MAX_ROW_BYTES);
	if (!chunk || chunk->n_bytes - chunk->used_bytes < size_bytes) {
		chunk = add_chunk(table, size_bytes);
		if (!chunk)
			return NULL;
	}
	row = (char *)chunk->rows + chunk->used_bytes;
	chunk->used_bytes += size_bytes;
	table->n_rows++;
	return row;
}

void table_read(struct table_cursor *cursor, struct table *table, bool consumes)
{
	*cursor = (struct table_cursor){table, table->first, 0, consumes};
}

/* Steps from a chunk that is read whole to the one behind it. False: there is none. */
static bool next_chunk(struct table_cursor *cursor)
{
	struct table_chunk *chunk = cursor->chunk;

	if (!cursor->consumes && !chunk->next)
		return false;
	cursor->chunk = chunk->next;
	cursor->offset_bytes = 0;
	if (cursor->consumes) {
		cursor->table->first = chunk->next;
		if (!chunk->next) {
			cursor->table->last = NULL;
			cursor->table->n_rows = 0;
		}
		free(chunk);
	}
	return cursor->chunk;
}

void *table_next(struct table_cursor *cursor, size_t size_bytes)
{
	void *row;

	if (!cursor->chunk)
		return NULL;
	if (cursor->offset_bytes == cursor->chunk->used_bytes && !next_chunk(cursor))
		return NULL;
	row = (char *)cursor->chunk->rows + cursor->offset_bytes;
	cursor->offset_bytes += size_bytes;
	assert(cursor->offset_bytes <= cursor->chunk->used_bytes);
	return row;
}

void *table_peek(struct table_cursor *cursor)
{
	const struct table_chunk *chunk = cursor->chunk;

	if (!chunk)
		return NULL;
	if (cursor->offset_bytes < chunk->used_bytes)
		return (char *)cursor->chunk->rows + cursor->offset_bytes;
	return chunk->next ? chunk->next->rows : NULL;
}

void table_take(struct table *to, struct table *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	to->n_rows += from->n_rows;
	*from = (struct table)TABLE_INIT;
}

void table_release(struct table *table)
{
	for (struct table_chunk *chunk = table->first, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*table = (struct table)TABLE_INIT;
}
