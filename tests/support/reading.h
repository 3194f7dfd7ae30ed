/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h: reads traces as `flextrace convert` does and looks at what arrived.
 */
#ifndef FLEXTRACE_TESTS_READING_H
#define FLEXTRACE_TESTS_READING_H

#include "bt2/read/reader.h"
#include "ctf_writer.h"
#include "engine/decode/decode.h"

/* What reader_run() gives, with its pool. */
struct reading {
	struct string_pool *strings;
	struct stream_set set; /* sorted */
	struct ledger ledger;
	struct ctf_views views;
	struct flextrace_error error;
	int n_warnings;
	char warning[512]; /* the last */
};

/* Both initialise `reading` and return reader_run()'s code; release it whatever it is. */
int read_paths(struct reading *reading, const char *const *paths, uint32_t n_paths,
               uint32_t n_workers);
int read_path(struct reading *reading, const char *path, uint32_t n_workers);
void reading_release(struct reading *reading);

uint64_t lost(const struct reading *reading, enum loss_cause cause);

/* The n-th record of a stream's table, or NULL. */
const struct record *record_at(struct stream *stream, enum record_table table, int n);
uint64_t count_records(const struct stream *stream);

/* Byte for byte; both streams' strings must be of one pool. */
void assert_same_tables(struct stream *a, struct stream *b);

/* `dir`/`name`, owned. */
char *path_in(const char *dir, const char *name);

struct ctf_writer *open_writer(const struct ctf_writer_options *options);

/* Every class `n_rounds` times, with a gap of more than 32 bits of ns in each round. */
void write_samples(struct ctf_stream *stream, uint32_t n_rounds);

/* The same events straight into the decoder. */
void decode_samples(struct string_pool *strings, struct stream *stream, uint32_t n_rounds);

/* A trace of streams 0.. of class 0 with the samples each. */
void write_trace(const struct ctf_writer_options *options, uint32_t n_streams, uint32_t n_rounds);

#endif
