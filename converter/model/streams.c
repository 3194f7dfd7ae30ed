/* SPDX-License-Identifier: Apache-2.0 */
#include "streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

static int reserve(struct stream_set *set, uint32_t n_more)
{
	return ARRAY_RESERVE(set->streams, set->n_allocated, (uint64_t)set->n_streams + n_more);
}

int stream_add_file(struct stream *stream, struct string_cache *strings, const char *text)
{
	uint32_t file;

	FLEXTRACE_TRY(string_intern(strings, text, &file));
	return ARRAY_PUSH(stream->files, stream->n_files, file);
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
	return ORDER(a, b);
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
	ORDER_ARRAY(set->streams, set->n_streams, compare_streams);
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
