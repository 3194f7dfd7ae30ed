/* SPDX-License-Identifier: Apache-2.0 */
#include "dma.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

void dma_read(struct dma_reader *reader, const struct timeline *timeline)
{
	*reader = (struct dma_reader){
		.timeline = timeline,
		.cursor = table_begin(&timeline->device_rows),
	};
}

void dma_release(struct dma_reader *reader)
{
	free(reader->batch);
}

/* -- what a row moves -------------------------------------------------------------------------- */

/* Whether the output DMA of a kernel is longer than its input DMA. */
static bool is_output(const struct tick_op *op)
{
	uint64_t in = op->ticks[0] && op->ticks[1] > op->ticks[0] ? op->ticks[1] - op->ticks[0] : 0;
	uint64_t out = op->ticks[3] && op->ticks[4] > op->ticks[3] ? op->ticks[4] - op->ticks[3]
	                                                           : 0;

	return out > in;
}

static bool make_dma(const struct timeline *timeline, const struct device_row *row, struct dma *ret)
{
	static const struct {
		uint8_t kind, direction;
	} kinds[] = {{ROW_DMA_IN, DMA_IN},          {ROW_DMA_OUT, DMA_OUT},
	             {ROW_MEMCPY_HTOD, DMA_IN},     {ROW_MEMCPY_DTOH, DMA_OUT},
	             {ROW_MEMCPY_DTOD, DMA_WITHIN}, {ROW_MEMCPY_PTOP, DMA_PEER}};
	const struct tick_op *op;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (row->kind != kinds[i].kind)
			continue;
		op = &timeline->ops[row->source];
		*ret = (struct dma){row, op->bytes, op->device, kinds[i].direction, false};
		if (row->kind <= ROW_DMA_OUT && is_output(op) != (row->kind == ROW_DMA_OUT))
			return false;
		return op->bytes > 0;
	}
	return false;
}

/* -- what is told twice ------------------------------------------------------------------------ */

static uint32_t process_of(const struct timeline *timeline, const struct dma *dma)
{
	return timeline->identity->devices[dma->device].process;
}

static int compare_transfers(const struct timeline *timeline, const struct dma *a,
                             const struct dma *b)
{
	return ORDER(process_of(timeline, a), process_of(timeline, b)) ?:
	       ORDER(a->direction, b->direction) ?:
	       ORDER((uint64_t)a->row->end_time_ns, (uint64_t)b->row->end_time_ns) ?:
	       ORDER(a->bytes, b->bytes);
}

static int compare_names(const struct timeline *timeline, const struct dma *a, const struct dma *b)
{
	return ORDER(a->row->kind, b->row->kind)
	               ?: string_compare(timeline->strings, timeline->ops[a->row->source].name,
	                                 timeline->ops[b->row->source].name);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct timeline *timeline = context;
	const struct dma *a = left, *b = right;

	return compare_transfers(timeline, a, b) ?:
	       compare_names(timeline, a, b) ?: ORDER(a->row->source, b->row->source);
}

/* Marks all of `n` rows of one transfer but those of the name that stands there most often. */
static void mark(const struct timeline *timeline, struct dma *all, uint32_t n)
{
	uint32_t first, end, best = 0, n_best = 0;

	for (first = 0; first < n; first = end) {
		for (end = first + 1;
		     end < n && compare_names(timeline, &all[first], &all[end]) == 0;)
			end++;
		if (end - first > n_best) {
			best = first;
			n_best = end - first;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		all[i].is_duplicate = i < best || i >= best + n_best;
}

static void mark_duplicates(struct dma_reader *reader)
{
	uint32_t first, end;

	if (reader->n < 2)
		return;
	qsort_r(reader->batch, reader->n, sizeof(*reader->batch), compare,
	        (void *)(uintptr_t)reader->timeline);
	for (first = 0; first < reader->n; first = end) {
		for (end = first + 1;
		     end < reader->n && compare_transfers(reader->timeline, &reader->batch[first],
		                                          &reader->batch[end]) == 0;)
			end++;
		mark(reader->timeline, &reader->batch[first], end - first);
	}
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Reads all that start with the next one. */
static int read_batch(struct dma_reader *reader)
{
	const struct device_row *row;
	struct dma dma;

	reader->n = 0;
	reader->next = 0;
	while ((row = table_peek(&reader->cursor))) {
		if (reader->n && row->start_time_ns != reader->batch[0].row->start_time_ns)
			break;
		table_next(&reader->cursor, sizeof(*row));
		if (!make_dma(reader->timeline, row, &dma))
			continue;
		FLEXTRACE_TRY(ARRAY_RESERVE(reader->batch, reader->n_allocated, reader->n + 1ull));
		reader->batch[reader->n++] = dma;
	}
	mark_duplicates(reader);
	return FLEXTRACE_OK;
}

int dma_next(struct dma_reader *reader, struct dma *ret)
{
	if (reader->next == reader->n) {
		FLEXTRACE_TRY(read_batch(reader));
		if (!reader->n)
			return 0;
	}
	*ret = reader->batch[reader->next++];
	return 1;
}
