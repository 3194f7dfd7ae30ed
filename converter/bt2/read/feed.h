/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h: messages of a babeltrace2 graph -> streams of records.
 *
 * One feed per graph thread. It finds the stream and the event class of a message, decodes events
 * and sums up what the messages say was lost. It holds references of the stream and event class
 * objects whose addresses it uses as keys, so release it in the thread of its graph.
 *
 * - Discarded counts are summed modulo 2^64: LTTng's counters fall and come back between packets.
 * - A channel that its trace's metadata declares and that has no stream was never created: counted
 *   once per trace, whoever read it, by feed_book_losses().
 */
#ifndef FLEXTRACE_BT2_FEED_H
#define FLEXTRACE_BT2_FEED_H

#include "event.h"
#include "formats/ctf/ctf_overwritten.h"
#include "engine/decode/decode.h"
#include "model/streams.h"
#include "base/map.h"

struct feed_stream {
	const bt_stream *bt;   /* owned reference */
	struct stream *stream; /* weak, of the set */
	bool has_clock;
	uint64_t frequency_hz;
};

struct feed_trace {
	uint8_t uuid[16];
	uint32_t n_channels, n_missing_channels;
	struct losses lost; /* owned: of the files it was made from */
};

struct feed {
	struct decoder decoder;   /* owned */
	struct stream_set set;    /* owned */
	struct event_words words; /* owned */
	struct feed_stream *streams;
	uint32_t n_streams;
	struct event_class **classes; /* owned */
	uint32_t n_classes;
	struct feed_trace *traces;
	uint32_t n_traces;
	struct map stream_index, class_index; /* by object address */
	const bt_stream *last_bt;             /* the last message's: most come in runs */
	uint32_t last_stream;
	struct event_class *last_class;
	char unknown[256]; /* events that a newer version recorded: "NAME, NAME, " */
	uint64_t n_messages;
	const struct ctf_fronts *fronts; /* weak: what the files tell; NULL = nobody knows */
};

int feed_init(struct feed *feed, struct string_pool *strings);
void feed_release(struct feed *feed);

/* Takes what one message says; the caller keeps the message. FLEXTRACE_E_MEMORY or 0. */
int feed_message(struct feed *feed, const bt_message *message);

/* Drops the references of babeltrace2 objects; records and books stay. No feed_message() after
 * it. */
void feed_detach(struct feed *feed);

/* Moves streams, books and traces of `from` to `to`. */
int feed_merge(struct feed *to, struct feed *from);

/* Books what the files lost that traces were made from, and the channels that were never created:
 * those that the metadata declares and that have no stream, or else the definitions' where a trace
 * has records, but no definition. Call once, when all is merged. */
int feed_book_losses(struct feed *feed);

/* Names the events that only a newer version knows, if there are any. `warn` may be NULL. */
void feed_warn(const struct feed *feed, void (*warn)(void *context, const char *text),
               void *context);

#endif
