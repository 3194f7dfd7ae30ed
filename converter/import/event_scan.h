/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_scan.h: one event of a trace, from its `{` to its `}`.
 *
 * Scanning stores where things are; event_settle() then makes texts and numbers of them, in place.
 */
#ifndef FLEXTRACE_IMPORT_EVENT_SCAN_H
#define FLEXTRACE_IMPORT_EVENT_SCAN_H

#include "import/json_scan.h"

/* What stood at a place of the last events: events of a file are much alike. */
struct key_memo {
	uint64_t words[2], masks[2]; /* of `"key":` */
	uint8_t n_bytes;
	uint8_t kind;  /* what the key is */
	uint8_t level; /* 1: of `args`, 2: of the event, 0: there was nothing short enough */
};

#define EVENT_MEMOS 32 /* a power of two */

struct event_scan {
	struct trace_value ph, ts, dur, name, cat, bp, pid, tid, id;
	struct trace_arg *args; /* owned; kept from event to event */
	uint32_t n_args, n_allocated;
	bool has_no_memory; /* what made the scan fail */
	uint32_t n_keys;
	struct key_memo memos[EVENT_MEMOS]; /* kept, too */
};

/* The scan stands on `{`; whatever the last event left is forgotten. */
enum scan_result event_scan(struct event_scan *event, struct json_scan *scan);

/* Stores the event that was scanned without a flaw. Returns what is wrong with it; NULL: it is
 * good. */
const char *event_settle(struct event_scan *event, bool has_escapes, struct trace_event *ret_event);

/* Undoes escapes if `has_escapes`, and puts a NUL behind. The byte behind must be free. */
void value_settle(struct trace_value *value, bool has_escapes);

void event_scan_release(struct event_scan *event);

#endif
