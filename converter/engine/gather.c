/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include <stdlib.h>

#include "base/heap.h"

/* Stores what comes next in a stream; false: nothing. By the time a stream has its next turn, the
 * others may have used up the cache: asks for what will be read then. */
static bool load_head(struct gather *gather, uint32_t stream, struct gather_head *ret_head)
{
	const struct record *record = table_peek(&gather->cursors[stream]);

	if (!record)
		return false;
	*ret_head = (struct gather_head){record->clock_ns, record, stream};
	__builtin_prefetch((const char *)record + record->size_bytes);
	__builtin_prefetch((const char *)record + record->size_bytes + 64);
	return true;
}

static bool is_before(const struct gather_head *a, const struct gather_head *b)
{
	return a->clock_ns != b->clock_ns ? a->clock_ns < b->clock_ns : a->stream < b->stream;
}

HEAP_DEFINE(heads, struct gather_head, is_before);

int gather_init(struct gather *gather, struct stream_set *set, enum record_table table,
                bool consumes)
{
	*gather = (struct gather){0};
	gather->cursors = calloc(set->n_streams + 1, sizeof(*gather->cursors));
	gather->heap = calloc(set->n_streams + 1, sizeof(*gather->heap));
	if (!gather->cursors || !gather->heap) {
		gather_release(gather);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t i = 0; i < set->n_streams; i++) {
		table_read(&gather->cursors[i], &set->streams[i]->tables[table], consumes);
		gather->n_heap += load_head(gather, i, &gather->heap[gather->n_heap]);
	}
	heads_order(gather->heap, gather->n_heap);
	return FLEXTRACE_OK;
}

void gather_release(struct gather *gather)
{
	free(gather->cursors);
	free(gather->heap);
	*gather = (struct gather){0};
}

int gather_next(struct gather *gather, const struct record **ret_record, uint32_t *ret_stream)
{
	struct gather_head *head = gather->heap;

	/* The record given out last stays until now: only here its stream moves on. */
	if (gather->is_started) {
		if (!load_head(gather, head->stream, head)) {
			/* frees the last chunk */
			table_next(&gather->cursors[head->stream], 0);
			*head = gather->heap[--gather->n_heap];
		}
		if ((gather->n_heap > 1 && is_before(&head[1], head)) ||
		    (gather->n_heap > 2 && is_before(&head[2], head)))
			heads_sink(gather->heap, gather->n_heap, 0);
	}
	gather->is_started = gather->n_heap > 0;
	if (!gather->n_heap)
		return 0;
	*ret_record = table_next(&gather->cursors[head->stream], head->record->size_bytes);
	*ret_stream = head->stream;
	return 1;
}
