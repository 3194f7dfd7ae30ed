/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.h: the events of a Chrome Trace Event JSON file, one after the other.
 *
 * - Array form and object form, plain or gzip (by content). An array may lack its `]`; commas
 *   between events may be missing, doubled or trailing.
 * - A bad event (syntax, types, limits) costs that event and is counted with its byte offset; the
 *   reader goes on with the next one.
 * - Texts are unescaped, hold no NUL and have one behind them: \u0000 becomes the bytes C0 80, half
 *   a surrogate pair its three bytes. What is no UTF-8 in the file stays as it is; writers deal
 *   with it.
 * - Numbers keep their digits; nothing goes through a double but trace_value_double().
 * - Everything handed out is weak: until the next call with the same reader.
 * - Memory: a buffer of 256 KiB that grows to the largest event, whatever the file's size.
 *
 * A reader belongs to one thread.
 */
#ifndef FLEXTRACE_IMPORT_TRACE_EVENTS_H
#define FLEXTRACE_IMPORT_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/text/json_value.h"
#include "formats/kit/faults.h"
#include "formats/kit/text_window.h"

/* What is beyond costs the event (or top-level member), and is counted. */
#define TRACE_EVENT_LIMIT_BYTES TEXT_WINDOW_LIMIT_BYTES
#define TRACE_ARGS_LIMIT        ((uint32_t)1 << 16)

struct trace_arg {
	struct trace_text key;
	struct trace_value value;
	bool is_member; /* stands in the event itself, not in its `args` or `attr` */
};

struct trace_event {
	char ph; /* any one byte: the reader knows no list */
	bool has_ts, has_dur;
	int64_t ts_ns, dur_ns;  /* exact; beyond three decimals rounded, half away from 0 */
	struct trace_text name; /* absent: bytes NULL */
	struct trace_text cat, bp;
	struct trace_value pid, tid, id; /* ABSENT, TEXT or NUMBER */
	const struct trace_arg *args;    /* in file order: the members of `args` and `attr`, and
				       * those of the event that are not listed here */
	uint32_t n_args;
	uint64_t offset_bytes; /* of its `{` in the (uncompressed) text */
	uint64_t number;       /* of the element of the array, from 0, bad ones among them */
};

/* What was wrong with the file so far. */
struct trace_damage {
	uint64_t n_events;       /* elements of the array that were no good event */
	uint64_t n_over_limit;   /* those of them that were beyond a limit */
	uint64_t n_members;      /* top-level members that were left out */
	uint64_t first_bytes;    /* offset of the first of all these */
	const char *first_cause; /* "bad escape", ...; static; NULL: no damage */
	bool is_cut;             /* the text, or the gzip stream around it, stops in the middle */
};

/* Takes a top-level member other than traceEvents; such stand before and behind the events.
 * Returns 0, or a negative status that trace_events_next() then returns. */
typedef int trace_member_taker(void *context, const struct trace_text *key,
                               const struct trace_value *value);

struct trace_events; /* the reader */

/* Opens a file. NULL, with `error`: it cannot be opened, or no memory. Whether it is a trace is
 * found by the first trace_events_next(). Owned: trace_events_close(). */
struct trace_events *trace_events_open(const char *path, struct flextrace_error *error);

/* The same over any source, with a buffer that starts at `buffer_bytes` (0: the default). `name`
 * stands in messages; copied. */
struct trace_events *trace_events_open_source(const struct trace_source *source, const char *name,
                                              size_t buffer_bytes, struct flextrace_error *error);

/* Who takes the top-level members; without a taker they are passed over. `context` is weak. */
void trace_events_take_members(struct trace_events *events, trace_member_taker *taker,
                               void *context);

/* Stores the next good event. 1: there is one; 0: the end; negative: no trace at all, a read that
 * failed, no memory, or what the taker returned. After 0 or an error it stays so. */
int trace_events_next(struct trace_events *events, struct trace_event *ret_event,
                      struct flextrace_error *error);

/* Final once trace_events_next() returned 0. Weak. */
const struct trace_damage *trace_events_damage(const struct trace_events *events);

/* Ends the file for the import that read it: see import_end_events(). */
static inline int trace_events_end(const struct trace_events *events, struct import *import,
                                   const char *path)
{
	const struct trace_damage *damage = trace_events_damage(events);
	const struct faults left_out = {damage->n_events + damage->n_members, damage->first_bytes,
	                                damage->first_cause};

	return import_end_events(import, path, &left_out, damage->is_cut);
}

/* NULL is allowed. */
void trace_events_close(struct trace_events *events);

/* The last argument of this name in `args` or `attr` (of a name given twice the last holds); NULL:
 * there is none. Linear. */
const struct trace_arg *trace_event_arg(const struct trace_event *event, const char *key);

/* Its value as a number; false, and nothing is stored: it is none, or there is no such argument. */
bool trace_event_number(const struct trace_event *event, const char *key, uint64_t *ret_number);

#endif
