/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "spool_impl.h"

static const struct spool_head *head_of(const struct spool *spool,
                                        const struct spool_reader *reader)
{
	if (!reader->bytes)
		return spool_entry_head(spool, spool->n_read);
	return (const struct spool_head *)(reader->bytes + reader->at);
}

static bool has_whole_item(const struct spool *spool, const struct spool_reader *reader)
{
	size_t left = reader->end - reader->at;

	if (!reader->bytes)
		return spool->n_read < spool->n_entries;
	return left >= sizeof(struct spool_head) && left >= spool_stride(head_of(spool, reader));
}

/* 1: an item is there whole, 0: the run is over. */
static int load(struct spool *spool, struct spool_reader *reader)
{
	if (!has_whole_item(spool, reader) && reader->n_bytes) {
		size_t left = reader->end - reader->at, n = SPOOL_READ_BYTES - left;

		if (n > reader->n_bytes)
			n = (size_t)reader->n_bytes;
		assert(reader->bytes);
		memmove(reader->bytes, reader->bytes + reader->at, left);
		FLEXTRACE_TRY(spool_get_bytes(spool, reader->place, reader->bytes + left, n));
		reader->at = 0;
		reader->end = left + n;
		reader->place += n;
		reader->n_bytes -= n;
	}
	return has_whole_item(spool, reader);
}

static bool is_before(const struct spool_turn *left, const struct spool_turn *right)
{
	return left->key != right->key ? left->key < right->key : left->reader < right->reader;
}

HEAP_DEFINE(turns, struct spool_turn, is_before);

static int open_reader(struct spool *spool, uint32_t i, const struct spool_run *run)
{
	struct spool_reader *reader = &spool->readers[i];
	int code;

	if (run) {
		*reader = (struct spool_reader){.place = run->place, .n_bytes = run->n_bytes};
		reader->bytes = malloc(SPOOL_READ_BYTES);
		if (!reader->bytes)
			return FLEXTRACE_E_MEMORY;
	}
	code = load(spool, reader);
	if (code > 0)
		spool->heap[spool->n_heap++] = (struct spool_turn){head_of(spool, reader)->key, i};
	return code;
}

int spool_merge_start(struct spool *spool, uint32_t first)
{
	uint32_t n = spool->n_runs - first;

	FLEXTRACE_TRY(ARRAY_NEW(spool->readers, n + 1));
	FLEXTRACE_TRY(ARRAY_NEW(spool->heap, n + 1));
	spool->n_readers = n + 1;
	for (uint32_t i = 0; i <= n; i++)
		FLEXTRACE_TRY(open_reader(spool, i, i < n ? &spool->runs[first + i] : NULL));
	turns_order(spool->heap, spool->n_heap);
	return FLEXTRACE_OK;
}

/* The item given last stays until now. */
static int step(struct spool *spool)
{
	struct spool_reader *reader = &spool->readers[spool->heap[0].reader];
	int code;

	if (reader->bytes)
		reader->at += spool_stride(head_of(spool, reader));
	else
		spool->n_read++;
	code = load(spool, reader);
	FLEXTRACE_TRY(code);
	if (code)
		spool->heap[0].key = head_of(spool, reader)->key;
	else
		spool->heap[0] = spool->heap[--spool->n_heap];
	if (spool->n_heap)
		turns_sink(spool->heap, spool->n_heap, 0);
	return FLEXTRACE_OK;
}

int spool_merge_next(struct spool *spool, const struct spool_head **ret_head)
{
	if (spool->is_given)
		FLEXTRACE_TRY(step(spool));
	spool->is_given = spool->n_heap > 0;
	if (!spool->n_heap)
		return 0;
	*ret_head = head_of(spool, &spool->readers[spool->heap[0].reader]);
	return 1;
}

void spool_merge_end(struct spool *spool)
{
	for (uint32_t i = 0; i < spool->n_readers; i++)
		free(spool->readers[i].bytes);
	free(spool->readers);
	free(spool->heap);
	spool->readers = NULL;
	spool->heap = NULL;
	spool->n_readers = spool->n_heap = 0;
	spool->is_given = false;
}
