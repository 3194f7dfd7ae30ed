/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h: events -> records, in the three tables of their stream.
 *
 * One decoder per reader thread: it interns strings through its own cache and books into its own
 * ledger. A record gets its index from its stream's `n_events`, which the reader steps for *every*
 * event it sees (decode_push and decode_skip do), so that a record's index is the same whatever
 * the reader was.
 */
#ifndef FLEXTRACE_DECODE_H
#define FLEXTRACE_DECODE_H

#include "args.h"
#include "base/error.h"
#include "model/ledger/ledger.h"
#include "model/model.h"
#include "base/text/strings.h"

struct decoder {
	struct string_cache cache;         /* owned */
	struct ledger ledger;              /* owned */
	struct args_reader args;           /* owned */
	uint32_t last[RECORD_CLASS_COUNT]; /* strings: of the newest event, those that repeat */
};

int decoder_init(struct decoder *decoder, struct string_pool *pool);
void decoder_release(struct decoder *decoder);

/* Appends the record of one event to its stream, or books why not: kinds out of range and times of
 * 2^62 ns and more are MALFORMED; so are host stamps in payloads where the stream's clock does not
 * count ns, which is warned of (CLOCK_NOT_1GHZ). FLEXTRACE_E_MEMORY or 0. */
int decode_push(struct decoder *decoder, struct stream *stream, const struct event *event);

/* Counts an event that made no record: cause FOREIGN_EVENT, UNKNOWN_EVENT or MALFORMED (`class` >=
 * 0 when it is one of ours that cannot be understood, so that the balance sees it). */
int decode_skip(struct decoder *decoder, struct stream *stream, enum loss_cause cause, int class,
                uint64_t clock_ns);

#endif
