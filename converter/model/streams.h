/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.h: the streams of a conversion, each with the tables of its records, in the order of
 * their keys: (trace UUID, stream class, stream instance).
 */
#ifndef FLEXTRACE_STREAMS_H
#define FLEXTRACE_STREAMS_H

#include "base/text/strings.h"
#include "model.h"

/* All streams of a conversion. stream_set_sort() puts them in key order: a stream's place is its
 * id. */
struct stream_set {
	struct stream **streams; /* owned, each owned */
	uint32_t n_streams, n_allocated;
};

/* Adds a zeroed stream and returns it (owned by the set); NULL: no memory. */
struct stream *stream_set_add(struct stream_set *set);
void stream_set_release(struct stream_set *set);

/* Adds a file that a stream is made of: "<tool> <path>". FLEXTRACE_E_MEMORY or 0. */
int stream_add_file(struct stream *stream, struct string_cache *strings, const char *text);

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

#endif
