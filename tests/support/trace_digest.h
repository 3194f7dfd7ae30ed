/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_digest.h: what the reader of converter/import makes of a text, as one line to compare.
 *
 * An event is its ph, then `:name` where it has one, then cat= bp= pid= tid= id= (as written), ts=
 * dur= (ns), and its arguments as key=value with a dot before those that are members; texts in <>,
 * JSON in ``; ended by ';'. A top-level member is #key=value;. At the end "!message" of an error,
 * "|events/members@offset cause" of damage, "|cut".
 */
#ifndef FLEXTRACE_TESTS_TRACE_DIGEST_H
#define FLEXTRACE_TESTS_TRACE_DIGEST_H

#include <stddef.h>

#include "formats/chrome-json/trace_events.h"

/* A text in memory as a source; gives at most `step_bytes` at once (0: as many as asked for), and
 * FLEXTRACE_E_SYSTEM from `fails_at` on if that is not 0. */
struct text_bytes {
	const char *bytes; /* weak */
	size_t n_bytes, at, step_bytes, fails_at;
};

struct trace_source text_bytes_source(struct text_bytes *text);

/* The reader's digest of a text; owned. `buffer_bytes` as in trace_events_open_source(). */
char *digest_text(const char *bytes, size_t n_bytes, size_t buffer_bytes);

/* The digest of what an open reader gives; closes it. */
char *digest_events(struct trace_events *events);

#endif
