/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "table.h"

/* -- the streams ------------------------------------------------------------------------------- */

static int reserve(struct stream_set *set, uint32_t n_more)
{
	return ARRAY_RESERVE(set->streams, set->n_allocated, (uint64_t)set->n_streams + n_more);
}

struct stream *stream_set_add(struct stream_set *set)
{
	struct stream *stream;

	if (reserve(set, 1))
		return NULL;
	stream = calloc(1, sizeof(*stream));
	if (stream)
		set->streams[set->n_streams++] = stream;
	return stream;
}

void stream_set_release(struct stream_set *set)
{
	for (uint32_t i = 0; i < set->n_streams; i++) {
		for (int table = 0; table < RECORD_TABLE_COUNT; table++)
			table_release(&set->streams[i]->tables[table]);
		free(set->streams[i]);
	}
	free(set->streams);
	*set = (struct stream_set){0};
}

int stream_set_take(struct stream_set *to, struct stream_set *from)
{
	FLEXTRACE_TRY(reserve(to, from->n_streams));
	if (from->n_streams)
		memcpy(to->streams + to->n_streams, from->streams,
		       from->n_streams * sizeof(*from->streams));
	to->n_streams += from->n_streams;
	free(from->streams);
	*from = (struct stream_set){0};
	return FLEXTRACE_OK;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The key, then what tells streams of equal key apart whoever read them. */
static int compare_streams(const void *left, const void *right)
{
	const struct stream *a = *(struct stream *const *)left;
	const struct stream *b = *(struct stream *const *)right;
	int order = memcmp(a->trace_uuid, b->trace_uuid, sizeof(a->trace_uuid));

	if (!order)
		order = compare_u64(a->class_id, b->class_id);
	if (!order)
		order = compare_u64(a->instance_id, b->instance_id);
	if (!order)
		order = compare_u64((uint64_t)a->clock_offset_ns, (uint64_t)b->clock_offset_ns);
	if (!order)
		order = compare_u64(a->n_events, b->n_events);
	return order;
}

void stream_set_sort(struct stream_set *set)
{
	uint32_t trace = 0;

	if (!set->n_streams)
		return;
	qsort(set->streams, set->n_streams, sizeof(*set->streams), compare_streams);
	for (uint32_t i = 0; i < set->n_streams; i++) {
		if (i > 0 && memcmp(set->streams[i - 1]->trace_uuid, set->streams[i]->trace_uuid,
		                    sizeof(set->streams[i]->trace_uuid)))
			trace++;
		set->streams[i]->trace = trace;
	}
}

void stream_uuid_text(const struct stream *stream, char text[STREAM_UUID_SIZE])
{
	for (int i = 0; i < 16; i++)
		text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
		                stream->trace_uuid[i]);
}

/* -- the merge --------------------------------------------------------------------------------- */

struct gather_lane {
	struct table_cursor cursor;
	const struct record
		*record;   /* weak; the next one of this stream, stays valid while it is */
	uint64_t clock_ns; /* of the record */
};

static void load_lane(struct gather_lane *lane)
{
	lane->record = table_peek(&lane->cursor);
	if (lane->record)
		lane->clock_ns = lane->record->clock_ns;
}

static bool is_before(const struct gather *gather, uint32_t a, uint32_t b)
{
	uint64_t clock_a = gather->lanes[a].clock_ns, clock_b = gather->lanes[b].clock_ns;

	return clock_a != clock_b ? clock_a < clock_b : a < b;
}

static void sift_down(struct gather *gather, uint32_t place)
{
	uint32_t lane = gather->heap[place];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= gather->n_heap)
			break;
		if (child + 1 < gather->n_heap &&
		    is_before(gather, gather->heap[child + 1], gather->heap[child]))
			child++;
		if (!is_before(gather, gather->heap[child], lane))
			break;
		gather->heap[place] = gather->heap[child];
		place = child;
	}
	gather->heap[place] = lane;
}

int gather_init(struct gather *gather, struct stream_set *set, enum record_table table,
                bool consumes)
{
	*gather = (struct gather){0};
	gather->lanes = calloc(set->n_streams + 1, sizeof(*gather->lanes));
	gather->heap = calloc(set->n_streams + 1, sizeof(*gather->heap));
	if (!gather->lanes || !gather->heap) {
		gather_release(gather);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t i = 0; i < set->n_streams; i++) {
		struct gather_lane *lane = &gather->lanes[i];

		table_read(&lane->cursor, &set->streams[i]->tables[table], consumes);
		load_lane(lane);
		if (lane->record)
			gather->heap[gather->n_heap++] = i;
	}
	for (uint32_t i = gather->n_heap / 2; i-- > 0;)
		sift_down(gather, i);
	return FLEXTRACE_OK;
}

void gather_release(struct gather *gather)
{
	free(gather->lanes);
	free(gather->heap);
	*gather = (struct gather){0};
}

int gather_next(struct gather *gather, const struct record **ret_record, uint32_t *ret_stream)
{
	struct gather_lane *lane;

	/* The record given out last stays until now: only here its lane moves on. */
	if (gather->is_started) {
		lane = &gather->lanes[gather->heap[0]];
		load_lane(lane);
		if (!lane->record) {
			table_next(&lane->cursor, 0); /* frees the last chunk */
			gather->heap[0] = gather->heap[--gather->n_heap];
		}
		if (gather->n_heap)
			sift_down(gather, 0);
	}
	gather->is_started = gather->n_heap > 0;
	if (!gather->n_heap)
		return 0;
	lane = &gather->lanes[gather->heap[0]];
	*ret_record = table_next(&lane->cursor, lane->record->size_bytes);
	*ret_stream = gather->heap[0];
	return 1;
}
