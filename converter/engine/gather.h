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

#include "model/streams.h"
#include "base/table.h"

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
