/* SPDX-License-Identifier: Apache-2.0 */
#include "row_sorter.h"

#include <assert.h>
#include <stdlib.h>

#include "array.h"
#include "heap.h"
#include "radix_sort.h"

#define MAX_ROW_BYTES 64

/* For each row that came another one may step back over so many; beyond that digits are faster. At
 * most so many may be saved. */
#define STEPS_PER_ROW 8
#define MAX_STEPS     4096

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

static int compare_equal_starts(const void *left, const void *right, void *context)
{
	const struct keyed_place *a = left, *b = right;
	const struct row_sorter *sorter = context;
	struct row_key key = key_of(sorter, sorter->filling + a->place * sorter->row_bytes,
	                            a->place);
	struct row_key other = key_of(sorter, sorter->filling + b->place * sorter->row_bytes,
	                              b->place);

	return is_before(&key, &other) ? -1 : 1;
}

static void sort_equal_starts(struct row_sorter *sorter, struct keyed_place *places, uint32_t n)
{
	for (uint32_t first = 0, next; first < n; first = next) {
		next = radix_end_of_key(places, n, first);
		if (next - first > 1 && sorter->has_end)
			qsort_r(places + first, next - first, sizeof(*places), compare_equal_starts,
			        sorter);
	}
}

/* Times order as numbers do once their sign bit is turned. */
static uint64_t key_of_start(int64_t start)
{
	return (uint64_t)start ^ UINT64_C(1) << 63;
}

/* What is sorted with a full run is a block, where it fits in one, and goes on to others. */
static bool is_block(const struct row_sorter *sorter, uint32_t n, size_t element_bytes)
{
	return n == sorter->n_full && n * element_bytes <= BLOCK_BYTES;
}

static void *new_memory(const struct row_sorter *sorter, uint32_t n, size_t element_bytes)
{
	return is_block(sorter, n, element_bytes) ? block_take() : malloc(n * element_bytes);
}

static void free_memory(const struct row_sorter *sorter, uint32_t n, size_t element_bytes,
                        void *memory)
{
	if (memory && is_block(sorter, n, element_bytes))
		block_give(memory);
	else
		free(memory);
}

/* Where the row at `at` belongs among those before it, which are in order; not below `lowest`. */
static uint32_t find_place(const struct row_sorter *sorter, uint32_t at, uint32_t lowest)
{
	const uint8_t *row = sorter->filling + at * sorter->row_bytes;
	struct row_key key = key_of(sorter, row, at);

	for (; at > lowest; at--) {
		struct row_key before = key_of(sorter, row -= sorter->row_bytes, at - 1);

		if (!is_before(&key, &before))
			break;
	}
	return at;
}

/* Whether a row starts later than the one before it, as most do. */
static bool is_later(const uint8_t *row, size_t n_bytes)
{
	int64_t start, before;

	memcpy(&start, row, sizeof(start));
	memcpy(&before, row - n_bytes, sizeof(before));
	return start > before;
}

/* Sorts the filled rows where they are, as few are not in order: those of a queue all are, those of
 * a thread or a core come in order of their ends. False: many are not; of equal ones the first is
 * still the first. */
static bool sort_in_place(struct row_sorter *sorter)
{
	size_t n_bytes = sorter->row_bytes;
	uint32_t n_steps = MAX_STEPS;

	for (uint32_t i = 1; i < sorter->n_filling; i++) {
		uint8_t *row = sorter->filling + i * n_bytes, *place, held[MAX_ROW_BYTES];
		uint32_t lowest = i > n_steps ? i - n_steps : 0, to;

		n_steps += n_steps < MAX_STEPS ? STEPS_PER_ROW : 0;
		if (is_later(row, n_bytes))
			continue;
		to = find_place(sorter, i, lowest);
		if (lowest && to == lowest)
			return false;
		n_steps -= i - to;
		if (to == i)
			continue;
		place = sorter->filling + to * n_bytes;
		memcpy(held, row, n_bytes);
		memmove(place + n_bytes, place, (i - to) * n_bytes);
		memcpy(place, held, n_bytes);
	}
	return true;
}

static void sort_by_digits(struct row_sorter *sorter, struct keyed_place *places, uint8_t *to)
{
	uint32_t n = sorter->n_filling;
	struct keyed_place *sorted;

	for (uint32_t i = 0; i < n; i++) {
		struct row_key key = key_of(sorter, sorter->filling + i * sorter->row_bytes, i);

		places[i] = (struct keyed_place){key_of_start(key.start), i};
	}
	sorted = radix_sort(places, places + n, n);
	sort_equal_starts(sorter, sorted, n);
	for (uint32_t i = 0; i < n; i++)
		memcpy(to + i * sorter->row_bytes,
		       sorter->filling + sorted[i].place * sorter->row_bytes, sorter->row_bytes);
}

static int sort_into_another(struct row_sorter *sorter)
{
	uint32_t n = sorter->n_filling;
	struct keyed_place *places = new_memory(sorter, n, 2 * sizeof(*places));
	uint8_t *rows = places ? block_take() : NULL;

	if (rows) {
		sort_by_digits(sorter, places, rows);
		block_give(sorter->filling);
		sorter->filling = rows;
	}
	free_memory(sorter, n, 2 * sizeof(*places), places);
	return rows ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

/* Puts the filled rows aside as a sorted run. */
static int seal(struct row_sorter *sorter)
{
	struct row_key first;

	FLEXTRACE_TRY(ARRAY_RESERVE(sorter->runs, sorter->n_allocated, sorter->n_runs + 1ull));
	if (!sort_in_place(sorter))
		FLEXTRACE_TRY(sort_into_another(sorter));
	first = key_of(sorter, sorter->filling, 0);
	sorter->runs[sorter->n_runs++] = (struct row_run){.rows = sorter->filling,
	                                                  .n_rows = sorter->n_filling,
	                                                  .start = first.start,
	                                                  .end = first.end};
	sorter->filling = NULL;
	sorter->n_filling = 0;
	return FLEXTRACE_OK;
}

static void free_run(struct row_run *run)
{
	if (run->rows)
		block_give(run->rows);
	run->rows = NULL;
}

void row_sorter_init(struct row_sorter *sorter, size_t row_bytes, bool has_end)
{
	assert(row_bytes <= MAX_ROW_BYTES);
	*sorter = (struct row_sorter){
		.row_bytes = row_bytes, .n_full = ROWS_PER_RUN(row_bytes), .has_end = has_end};
}

void row_sorter_release(struct row_sorter *sorter)
{
	for (uint32_t i = 0; i < sorter->n_runs; i++)
		free_run(&sorter->runs[i]);
	free(sorter->runs);
	if (sorter->filling)
		block_give(sorter->filling);
	row_sorter_init(sorter, sorter->row_bytes, sorter->has_end);
}

void *row_sorter_append(struct row_sorter *sorter)
{
	if (sorter->n_filling == sorter->n_full && seal(sorter) < 0)
		return NULL;
	if (!sorter->filling)
		sorter->filling = block_take();
	return sorter->filling ? sorter->filling + sorter->n_filling++ * sorter->row_bytes : NULL;
}

/* -- merging the runs ----------------------------------------------------------------------- */

HEAP_DEFINE(keys, struct row_key, is_before);

/* Steps the run of the heap's top on, or takes it out and frees it. */
static void advance(struct row_sorter *sorter, struct row_key *heap, uint32_t *n_heap)
{
	struct row_run *run = &sorter->runs[heap[0].place];

	run->next++;
	if (run->next < run->n_rows) {
		heap[0] = key_of(sorter, run->rows + run->next * sorter->row_bytes, heap[0].place);
	} else {
		free_run(run);
		heap[0] = heap[--*n_heap];
	}
	/* Nearly always the next row is of the same run. */
	if ((*n_heap > 1 && is_before(&heap[1], &heap[0])) ||
	    (*n_heap > 2 && is_before(&heap[2], &heap[0])))
		keys_sink(heap, *n_heap, 0);
}

static int visit_rest(struct row_sorter *sorter, struct row_run *run,
                      int (*visit)(void *context, void *row), void *context)
{
	int code = 0;

	for (; run->next < run->n_rows && code >= 0; run->next++)
		code = visit(context, run->rows + run->next * sorter->row_bytes);
	return code;
}

int row_sorter_merge(struct row_sorter *sorter, int (*visit)(void *context, void *row),
                     void *context)
{
	struct row_key *heap;
	uint32_t n_heap;
	int code = 0;

	if (sorter->n_filling)
		FLEXTRACE_TRY(seal(sorter));
	n_heap = sorter->n_runs;
	FLEXTRACE_TRY(ARRAY_NEW(heap, n_heap + 1ull));
	for (uint32_t i = 0; i < n_heap; i++)
		heap[i] = (struct row_key){sorter->runs[i].start, sorter->runs[i].end, i};
	keys_order(heap, n_heap);
	while (n_heap && code >= 0) {
		struct row_run *run = &sorter->runs[heap[0].place];

		if (n_heap == 1) {
			code = visit_rest(sorter, run, visit, context);
			break;
		}
		code = visit(context, run->rows + run->next * sorter->row_bytes);
		advance(sorter, heap, &n_heap);
	}
	free(heap);
	row_sorter_release(sorter);
	return code < 0 ? code : 0;
}
