/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h: one order for all: k-way merge of one table of every stream.
 *
 * Key: (clock value, trace UUID, stream class, stream instance, index in stream), so that every
 * stage behind sees the same order whatever the reader was and whoever read which stream. Records
 * of one stream are in the order of their index; their clock never runs backwards (LTTng's per-CPU
 * buffers), and where a malformed trace's does, the merge stays deterministic.
 */
#ifndef FLEXTRACE_GATHER_H
#define FLEXTRACE_GATHER_H

#include "error.h"
#include "model.h"
#include "table.h"

/* All streams of a conversion. stream_set_sort() puts them in key order: a stream's place is its
 * id. */
struct stream_set {
	struct stream **streams; /* owned, each owned */
	uint32_t n_streams, n_allocated;
};

/* Adds a zeroed stream and returns it (owned by the set); NULL: no memory. */
struct stream *stream_set_add(struct stream_set *set);
void stream_set_release(struct stream_set *set);

/* Frees what a stream owns. */
void stream_release(struct stream *stream);

/* Moves the streams of `from` to `to`. Streams of equal key (two graphs read parts of one) stay
 * apart. */
int stream_set_take(struct stream_set *to, struct stream_set *from);

/* Sorts by key and numbers the traces (stream.trace) in order of their uuid. Call once, when all
 * streams are read and before gather. */
void stream_set_sort(struct stream_set *set);

/* Records that were read of any process. */
uint64_t stream_set_count_read(const struct stream_set *set);

#define STREAM_UUID_SIZE 37

/* Writes the trace's uuid as babeltrace2 shows it: xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx. */
void stream_uuid_text(const struct stream *stream, char text[STREAM_UUID_SIZE]);

/* The next record of a stream, with its key. */
struct gather_head {
	uint64_t clock_ns;
	const struct record *record; /* weak; stays valid while it is the next */
	uint32_t stream;
};

struct gather {
	struct table_cursor *cursors; /* owned: one per stream */
	struct gather_head *heap;     /* owned: streams that have a record, the next one first */
	uint32_t n_heap;
	bool is_started; /* the first one's record was given out */
};

/* Starts merging `table` of every stream; with `consumes` the tables are freed as they are read. */
int gather_init(struct gather *gather, struct stream_set *set, enum record_table table,
                bool consumes);
void gather_release(struct gather *gather);

/* Stores the next record and its stream's place in the set. 1: stored, 0: end. The record is weak
 * and valid until the next call. */
int gather_next(struct gather *gather, const struct record **ret_record, uint32_t *ret_stream);

#endif
