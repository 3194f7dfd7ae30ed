/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.h: records and placed cycles -> the timeline: rows, tracks, flows.
 *
 * Device rows come from tick_ops and tick_marks; host rows from TABLE_HOST in gather order. Rows
 * are collected in runs sorted by output key (start, then longer first, then gather order), and
 * derive_finish() merges the runs, freeing them behind it, into final tables whose tracks nest
 * perfectly: what crosses goes to an overflow lane. Memory: one row per row, plus what is open.
 */
#ifndef FLEXTRACE_DERIVE_H
#define FLEXTRACE_DERIVE_H

#include "engine/align/align.h"
#include "engine/calibrate/calibrate.h"
#include "base/error.h"
#include "engine/unwrap/unwrap.h"
#include "model/timeline/timeline.h"

struct derive; /* opaque */

struct derive_input {
	struct identity *identity; /* weak, all */
	const struct clocks *clocks;
	const struct alignment *alignment;
	struct ledger *ledger;
	struct string_pool *strings;
	const struct stream_set *streams;
};

struct derive *derive_new(const struct derive_input *input); /* NULL: no memory */
void derive_free(struct derive *derive);

/* Takes (empties) the operations and marks of unwrap. Call once, before the host records. */
int derive_device(struct derive *derive, struct unwrap_output *unwrapped);

/* Takes one record of TABLE_HOST in gather order and books it. */
int derive_push(struct derive *derive, const struct stream *stream, uint32_t stream_id,
                const struct record *record);

/* Ends what is open (counted), sorts, assigns tracks and links flows, and gives the timeline
 * away. */
int derive_finish(struct derive *derive, struct timeline *out, struct flextrace_error *error);
void timeline_release(struct timeline *timeline);

#endif
