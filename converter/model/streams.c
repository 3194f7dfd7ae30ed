/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

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
	if (!stream)
		return NULL;
	for (int table = 0; table < RECORD_TABLE_COUNT; table++)
		stream->tables[table].is_of_many = true;
	set->streams[set->n_streams++] = stream;
	return stream;
}

void stream_release(struct stream *stream)
{
	for (int table = 0; table < RECORD_TABLE_COUNT; table++)
		table_release(&stream->tables[table]);
	map_release(&stream->process_index);
	free(stream->processes);
	free(stream->files);
	origins_free(stream->origins);
	losses_release(&stream->losses);
}

void stream_set_release(struct stream_set *set)
{
	for (uint32_t i = 0; i < set->n_streams; i++) {
		stream_release(set->streams[i]);
		free(set->streams[i]);
	}
	free(set->streams);
	*set = (struct stream_set){0};
}

uint64_t stream_set_count_read(const struct stream_set *set)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < set->n_streams; i++)
		for (uint32_t k = 0; k < set->streams[i]->n_processes; k++)
			for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
				n += set->streams[i]->processes[k].n_read[class];
	return n;
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

static void sift_down(struct gather *gather, uint32_t place)
{
	struct gather_head *heap = gather->heap;
	struct gather_head head = heap[place];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= gather->n_heap)
			break;
		if (child + 1 < gather->n_heap && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &head))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = head;
}

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
	for (uint32_t i = gather->n_heap / 2; i-- > 0;)
		sift_down(gather, i);
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
			sift_down(gather, 0);
	}
	gather->is_started = gather->n_heap > 0;
	if (!gather->n_heap)
		return 0;
	*ret_record = table_next(&gather->cursors[head->stream], head->record->size_bytes);
	*ret_stream = head->stream;
	return 1;
}
