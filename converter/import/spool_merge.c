/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "import/spool_impl.h"

static const struct spool_head *head_of(const struct spool_reader *reader)
{
	return (const struct spool_head *)(reader->bytes + reader->at);
}

static bool has_whole_item(const struct spool_reader *reader)
{
	size_t left = reader->end - reader->at;

	return left >= sizeof(struct spool_head) && left >= spool_stride(head_of(reader));
}

/* 1: an item is there whole, 0: the run is over. */
static int load(struct spool *spool, struct spool_reader *reader)
{
	if (!has_whole_item(reader) && reader->n_bytes) {
		size_t left = reader->end - reader->at, n = SPOOL_READ_BYTES - left;

		if (n > reader->n_bytes)
			n = (size_t)reader->n_bytes;
		memmove(reader->bytes, reader->bytes + reader->at, left);
		FLEXTRACE_TRY(spool_get_bytes(spool, reader->place, reader->bytes + left, n));
		reader->at = 0;
		reader->end = left + n;
		reader->place += n;
		reader->n_bytes -= n;
	}
	if (!has_whole_item(reader))
		return 0;
	reader->key = head_of(reader)->key;
	return 1;
}

static bool is_before(const struct spool *spool, uint32_t a, uint32_t b)
{
	const struct spool_reader *left = &spool->readers[a], *right = &spool->readers[b];

	return left->key != right->key ? left->key < right->key : a < b;
}

static void sift_down(struct spool *spool, uint32_t place)
{
	uint32_t *heap = spool->heap, reader = heap[place];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= spool->n_heap)
			break;
		if (child + 1 < spool->n_heap && is_before(spool, heap[child + 1], heap[child]))
			child++;
		if (!is_before(spool, heap[child], reader))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = reader;
}

int spool_merge_start(struct spool *spool, uint32_t first)
{
	uint32_t n = spool->n_runs - first;

	spool->readers = calloc(n, sizeof(*spool->readers));
	spool->heap = calloc(n, sizeof(*spool->heap));
	if (!spool->readers || !spool->heap)
		return FLEXTRACE_E_MEMORY;
	spool->n_readers = n;
	for (uint32_t i = 0; i < n; i++) {
		struct spool_reader *reader = &spool->readers[i];
		int code;

		reader->place = spool->runs[first + i].place;
		reader->n_bytes = spool->runs[first + i].n_bytes;
		reader->bytes = malloc(SPOOL_READ_BYTES);
		code = reader->bytes ? load(spool, reader) : FLEXTRACE_E_MEMORY;
		FLEXTRACE_TRY(code);
		if (code > 0)
			spool->heap[spool->n_heap++] = i;
	}
	for (uint32_t i = spool->n_heap / 2; i-- > 0;)
		sift_down(spool, i);
	return FLEXTRACE_OK;
}

/* The item given last stays until now. */
static int step(struct spool *spool)
{
	struct spool_reader *reader = &spool->readers[spool->heap[0]];
	int code;

	reader->at += spool_stride(head_of(reader));
	code = load(spool, reader);
	FLEXTRACE_TRY(code);
	if (!code)
		spool->heap[0] = spool->heap[--spool->n_heap];
	if (spool->n_heap)
		sift_down(spool, 0);
	return FLEXTRACE_OK;
}

int spool_merge_next(struct spool *spool, const struct spool_head **ret_head)
{
	if (spool->is_given)
		FLEXTRACE_TRY(step(spool));
	spool->is_given = spool->n_heap > 0;
	if (!spool->n_heap)
		return 0;
	*ret_head = head_of(&spool->readers[spool->heap[0]]);
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
