/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_source.h: events from text, so that tests run the converter from literals, without
 * babeltrace2.
 *
 * A line is one of:
 *
 *   # comment
 *   stream class=0 instance=1 uuid=01 offset=1000 host=node0 recording=ID hz=1000000000 ...
 *   lost CAUSE COUNT [FIRST_NS LAST_NS]
 *   CLOCK_NS VPID VTID CLASS member=value ...
 *   CLOCK_NS VPID VTID foreign
 *   CLOCK_NS VPID VTID unknown
 *
 * - `stream` says where the events behind it belong; one of an earlier key continues that stream.
 *   All is optional.
 * - `lost` says what LTTng lost of that stream: a cause of losses.csv.
 * - VPID and VTID are numbers, or - where the trace has no such context.
 * - CLASS and members are those of model/schema.h. Numbers are C literals, strings stand in double
 *   quotes if they have blanks (\n, \" and \\ are known), ts is a,b,c,d,e and words is
 *   kind:id:ticks,... with the kinds mark, begin, end, value, data, run, slot, queue, anchor_lo,
 *   anchor_hi, stamp.
 * - A required member that is missing makes the event malformed, as for any reader. Anything else
 *   that cannot be understood is a mistake of the test: FLEXTRACE_E_INPUT with the line.
 */
#ifndef FLEXTRACE_TEXT_SOURCE_H
#define FLEXTRACE_TEXT_SOURCE_H

#include "engine/decode/decode.h"
#include "base/error.h"
#include "engine/gather.h"
#include "base/text/strings.h"

/* Where events go. `stream` tells by its key and is of the set. */
struct text_target {
	int (*event)(void *self, struct stream *stream, const struct event *event);
	/* An event that cannot be taken; class < 0: none of ours. */
	int (*skip)(void *self, struct stream *stream, enum loss_cause cause, int class,
	            uint64_t clock_ns);
	int (*lost)(void *self, struct stream *stream, enum loss_cause cause,
	            const struct loss_span *span);
};

struct text_source {
	const struct text_target *target; /* weak; the decoder, if not set to another one */
	void *target_self;                /* weak */
	struct stream_set set;
	struct decoder decoder;
	struct string_pool *strings;
	bool owns_strings;
	struct stream *stream; /* weak: of the next event */
	uint32_t part, n_parts;
	bool is_skipping; /* the next event belongs to another part */
};

int text_source_init(struct text_source *source);

/* The same for one of `n_parts` workers, each of which reads some of the streams; they share a pool
 * (weak). */
int text_source_init_part(struct text_source *source, struct string_pool *strings, uint32_t part,
                          uint32_t n_parts);
void text_source_release(struct text_source *source);

/* Reads lines into the streams. Text may come in several calls of whole lines. */
int text_source_read(struct text_source *source, const char *text, struct flextrace_error *error);

#endif
