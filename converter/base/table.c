/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks start small, because a conversion has three tables for each of possibly hundreds of
 * streams, and those of such a table are never more than a quarter of it, because a reader that
 * merges all these tables holds one chunk of each. They grow up to a huge page, because touching
 * fresh memory is what filling a table costs most: a small page takes a fault of its own for some
 * 70 records, a huge one for 37000. Other tables have huge pages as soon as one is not much to
 * them.
 *
 * All but the smallest are mapped, not allocated, and given to blocks.h when they are read: a huge
 * page as it is, the pages of a smaller chunk as part of one, for the table that grows meanwhile.
 */
#include "table.h"

#include <assert.h>
#include <stdlib.h>

#include "blocks.h"
#include "spill.h"

#define FIRST_CHUNK_BYTES ((size_t)4 << 10)
#define MAPPED_BYTES      ((size_t)8 << 10)   /* chunks of at least this are mapped */
#define SPARE_BYTES       ((size_t)64 << 10)  /* of a table that may have a spare block */
#define LARGE_BYTES       ((size_t)512 << 10) /* of one that may have a fresh one */
#define MAX_ROW_BYTES     ((size_t)16 << 20)

/* `n_bytes` counts the chunk's head, too. */
static struct table_chunk *new_chunk(size_t n_bytes)
{
	struct table_chunk *chunk;

	if (n_bytes == BLOCK_BYTES)
		chunk = block_take();
	else
		chunk = n_bytes >= MAPPED_BYTES ? pages_take(n_bytes) : malloc(n_bytes);
	if (chunk)
		*chunk = (struct table_chunk){.n_bytes = n_bytes - sizeof(*chunk)};
	return chunk;
}

static void free_chunk(struct table_chunk *chunk)
{
	size_t n_bytes = sizeof(*chunk) + chunk->n_bytes;

	if (n_bytes == BLOCK_BYTES)
		block_give(chunk);
	else if (n_bytes >= MAPPED_BYTES)
		pages_give(chunk, n_bytes);
	else
		free(chunk);
}

static size_t next_chunk_bytes(const struct table *table, size_t row_bytes)
{
	size_t n_bytes = FIRST_CHUNK_BYTES;

	if (!table->is_of_many && table->n_bytes >= LARGE_BYTES && row_bytes < BLOCK_BYTES / 2)
		return BLOCK_BYTES;
	while (n_bytes < BLOCK_BYTES && n_bytes < table->n_bytes / 4)
		n_bytes *= 2;
	if (n_bytes < row_bytes + sizeof(struct table_chunk))
		n_bytes = row_bytes + sizeof(struct table_chunk);
	return n_bytes;
}

/* Instead of a smaller chunk, a block that others have done with: touching fresh memory costs more.
 * NULL: there is none, or the table is too small for one. */
static struct table_chunk *spare_chunk(const struct table *table, size_t *n_bytes)
{
	struct table_chunk *chunk = NULL;

	if (table->n_bytes >= SPARE_BYTES && *n_bytes < BLOCK_BYTES)
		chunk = block_take_spare();
	if (!chunk)
		return NULL;
	*n_bytes = BLOCK_BYTES;
	*chunk = (struct table_chunk){.n_bytes = BLOCK_BYTES - sizeof(*chunk)};
	return chunk;
}

bool table_make_room(struct table *table, size_t size_bytes)
{
	size_t n_bytes = next_chunk_bytes(table, size_bytes);
	struct table_chunk *chunk = spare_chunk(table, &n_bytes);

	if (!chunk)
		chunk = new_chunk(n_bytes);
	assert(size_bytes > 0 && size_bytes % 8 == 0 && size_bytes <= MAX_ROW_BYTES);
	if (!chunk)
		return false;
	table->n_bytes += n_bytes;
	if (table->last)
		table->last->next = chunk;
	else
		table->first = chunk;
	table->last = chunk;
	return true;
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
			cursor->table->n_bytes = 0;
		}
		free_chunk(chunk);
	}
	return cursor->chunk;
}

void *table_next_chunk(struct table_cursor *cursor, size_t size_bytes)
{
	if (!cursor->chunk || !next_chunk(cursor))
		return NULL;
	cursor->offset_bytes = size_bytes;
	if (spill_is_on())
		spill_touch(cursor->chunk->used_bytes);
	return cursor->chunk->rows;
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
	to->n_bytes += from->n_bytes;
	*from = (struct table)TABLE_INIT;
}

void table_release(struct table *table)
{
	for (struct table_chunk *chunk = table->first, *next; chunk; chunk = next) {
		next = chunk->next;
		free_chunk(chunk);
	}
	*table = (struct table)TABLE_INIT;
}

int table_index_init(struct table_index *index, const struct table *table, size_t row_bytes)
{
	uint64_t n_rows = 0;
	uint32_t n = 0;

	for (const struct table_chunk *chunk = table->first; chunk; chunk = chunk->next)
		n++;
	*index = (struct table_index){
		.chunks = malloc((n + 1) * sizeof(*index->chunks)),
		.first_rows = malloc((n + 1) * sizeof(*index->first_rows)),
		.n = n,
	};
	if (!index->chunks || !index->first_rows) {
		table_index_release(index);
		return FLEXTRACE_E_MEMORY;
	}
	n = 0;
	for (const struct table_chunk *chunk = table->first; chunk; chunk = chunk->next) {
		index->chunks[n] = chunk;
		index->first_rows[n++] = n_rows;
		n_rows += chunk->used_bytes / row_bytes;
	}
	return FLEXTRACE_OK;
}

void table_index_release(struct table_index *index)
{
	free(index->chunks);
	free(index->first_rows);
	*index = (struct table_index){.n = 0};
}

const void *table_index_get(const struct table_index *index, uint64_t i, size_t row_bytes)
{
	uint32_t low = 0, high = index->n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (index->first_rows[middle] <= i)
			low = middle;
		else
			high = middle;
	}
	return (const char *)index->chunks[low]->rows + (i - index->first_rows[low]) * row_bytes;
}
