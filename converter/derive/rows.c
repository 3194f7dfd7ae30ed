/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"

#define ROWS_SORTED_BY_INSERTION 16

struct row_key {
	int64_t start, end;
	uint32_t place; /* as they came; in the merge, the run */
};

static bool is_before(const struct row_key *left, const struct row_key *right)
{
	if (left->start != right->start)
		return left->start < right->start;
	if (left->end != right->end)
		return left->end > right->end;
	return left->place < right->place;
}

static struct row_key key_of(const struct row_sorter *sorter, const uint8_t *row, uint32_t place)
{
	struct row_key key = {0, 0, place};

	memcpy(&key.start, row, sizeof(key.start));
	key.end = key.start;
	if (sorter->has_end)
		memcpy(&key.end, row + sizeof(key.start), sizeof(key.end));
	return key;
}

/* -- sorting one run ------------------------------------------------------------------------ */

static void sort_by_insertion(struct row_key *keys, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct row_key key = keys[i];
		uint32_t to = i;

		for (; to > 0 && is_before(&key, &keys[to - 1]); to--)
			keys[to] = keys[to - 1];
		keys[to] = key;
	}
}

/*
 * Merge sort that touches only what is out of order: rows come nearly sorted (a child before its
 * parent), so that most halves already follow one another. `spare` has room for half of the keys.
 */
static void sort_keys(struct row_key *keys, struct row_key *spare, uint32_t n)
{
	uint32_t half = n / 2, low = 0, high = half;
	uint32_t left = 0, n_spare, right = half, to;

	if (n <= ROWS_SORTED_BY_INSERTION) {
		sort_by_insertion(keys, n);
		return;
	}
	sort_keys(keys, spare, half);
	sort_keys(keys + half, spare, n - half);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before(&keys[middle], &keys[half]))
			low = middle + 1;
		else
			high = middle;
	}
	n_spare = half - low;
	memcpy(spare, keys + low, n_spare * sizeof(*keys));
	for (to = low; left < n_spare && right < n; to++) {
		if (is_before(&keys[right], &spare[left]))
			keys[to] = keys[right++];
		else
			keys[to] = spare[left++];
	}
	memcpy(keys + to, spare + left, (n_spare - left) * sizeof(*keys));
}

static bool is_full(const struct row_sorter *sorter, uint32_t n)
{
	return n == ROWS_PER_RUN(sorter->row_bytes);
}

/* A full run is a block, which goes on to the next table once it was read. */
static uint8_t *new_run(const struct row_sorter *sorter, uint32_t n)
{
	return is_full(sorter, n) ? block_take() : malloc(n * sorter->row_bytes);
}

static void free_run(const struct row_sorter *sorter, struct row_run *run)
{
	if (run->rows && is_full(sorter, run->n_rows))
		block_give(run->rows);
	else
		free(run->rows);
	run->rows = NULL;
}

/* Sorts the filled rows and puts them aside as a run. */
static int seal(struct row_sorter *sorter)
{
	uint32_t n = sorter->n_filling;
	struct row_key *keys = NULL;
	uint8_t *rows = NULL;

	if (ARRAY_RESERVE(sorter->runs, sorter->n_allocated, sorter->n_runs + 1ull) < 0)
		return FLEXTRACE_E_MEMORY;
	rows = new_run(sorter, n);
	if (!rows)
		return FLEXTRACE_E_MEMORY;
	sorter->runs[sorter->n_runs++] = (struct row_run){rows, n, 0};
	keys = malloc((n + n / 2 + 1) * sizeof(*keys));
	if (!keys)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		keys[i] = key_of(sorter, sorter->filling + i * sorter->row_bytes, i);
	sort_keys(keys, keys + n, n);
	for (uint32_t i = 0; i < n; i++)
		memcpy(rows + i * sorter->row_bytes,
		       sorter->filling + keys[i].place * sorter->row_bytes, sorter->row_bytes);
	free(keys);
	sorter->n_filling = 0;
	return 0;
}

void row_sorter_init(struct row_sorter *sorter, size_t row_bytes, bool has_end)
{
	*sorter = (struct row_sorter){.row_bytes = row_bytes, .has_end = has_end};
}

void row_sorter_release(struct row_sorter *sorter)
{
	for (uint32_t i = 0; i < sorter->n_runs; i++)
		free_run(sorter, &sorter->runs[i]);
	free(sorter->runs);
	free(sorter->filling);
	row_sorter_init(sorter, sorter->row_bytes, sorter->has_end);
}

void *row_sorter_append(struct row_sorter *sorter)
{
	if (!sorter->filling)
		sorter->filling = malloc(BLOCK_BYTES);
	if (!sorter->filling || (is_full(sorter, sorter->n_filling) && seal(sorter) < 0))
		return NULL;
	return sorter->filling + sorter->n_filling++ * sorter->row_bytes;
}

/* -- merging the runs ----------------------------------------------------------------------- */

static void sink(struct row_key *heap, uint32_t n, uint32_t at)
{
	struct row_key key = heap[at];

	for (uint32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
		if (child + 1 < n && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &key))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = key;
}

/* Steps the run of the heap's top on, or takes it out and frees it. */
static void advance(struct row_sorter *sorter, struct row_key *heap, uint32_t *n_heap)
{
	struct row_run *run = &sorter->runs[heap[0].place];

	run->next++;
	if (run->next < run->n_rows) {
		heap[0] = key_of(sorter, run->rows + run->next * sorter->row_bytes, heap[0].place);
	} else {
		free_run(sorter, run);
		heap[0] = heap[--*n_heap];
	}
	if (*n_heap)
		sink(heap, *n_heap, 0);
}

int row_sorter_merge(struct row_sorter *sorter, int (*visit)(void *context, void *row),
                     void *context)
{
	struct row_key *heap;
	uint32_t n_heap;
	int code = 0;

	if (sorter->n_filling)
		FLEXTRACE_TRY(seal(sorter));
	free(sorter->filling);
	sorter->filling = NULL;
	n_heap = sorter->n_runs;
	heap = malloc((n_heap + 1ull) * sizeof(*heap));
	if (!heap)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n_heap; i++)
		heap[i] = key_of(sorter, sorter->runs[i].rows, i);
	for (uint32_t i = n_heap; i-- > 0;)
		sink(heap, n_heap, i);
	while (n_heap && code >= 0) {
		struct row_run *run = &sorter->runs[heap[0].place];

		code = visit(context, run->rows + run->next * sorter->row_bytes);
		advance(sorter, heap, &n_heap);
	}
	free(heap);
	row_sorter_release(sorter);
	return code < 0 ? code : 0;
}
