/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h: recorded traces -> streams of records, in parallel. The border to callers without
 * babeltrace2.
 *
 * Each worker thread opens the traces itself and reads its share of their streams, some of them per
 * graph: the source maps up to 8 MiB of each. What is read does not depend on the number of
 * workers. A stream that cannot be read to its end costs the rest of that stream and a count
 * (truncated_stream), not the run; so does a trace that cannot be opened, as long as there is
 * another.
 */
#ifndef FLEXTRACE_BT2_READER_H
#define FLEXTRACE_BT2_READER_H

#include "formats/ctf/ctf_repair.h"
#include "base/error.h"
#include "model/streams.h"
#include "model/ledger/ledger.h"

struct reader_options {
	const char *const *traces; /* weak: the traces at or below these paths are read */
	uint32_t n_traces;         /* at least 1 */
	uint32_t n_workers;        /* at least 1 */
	uint32_t n_open;           /* streams that a worker has open at a time, 0 = 64 */
	struct ctf_views *views;   /* weak: gets the views of cut traces; the caller removes them */
	/* babeltrace2's reader died before: look at each stream in a process of its own first, and
	 * leave out what that dies of. Twice the work. */
	bool is_careful;
	/* Both called in the caller's thread only; NULL = not wanted. */
	void (*progress)(void *context, uint64_t n_messages);
	void (*warn)(void *context, const char *text);
	void *context;
};

/* Reads all traces into `set` and `ledger`. FLEXTRACE_E_INPUT: a path does not exist, has no trace,
 * or nothing of it can be read. */
int reader_run(const struct reader_options *options, struct string_pool *strings,
               struct stream_set *set, struct ledger *ledger, struct flextrace_error *error);

#endif
