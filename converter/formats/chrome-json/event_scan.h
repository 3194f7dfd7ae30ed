/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_scan.h: one event of a trace, from its `{` to its `}`.
 *
 * Scanning stores where things are; event_settle() then makes texts and numbers of them, in place.
 */
#ifndef FLEXTRACE_IMPORT_EVENT_SCAN_H
#define FLEXTRACE_IMPORT_EVENT_SCAN_H

#include "base/text/json_scan.h"
#include "trace_events.h"

/* How the last events got from one value to the next: events of a file are much alike. */
#define EVENT_STEP_BYTES 32

struct event_step {
	char bytes[EVENT_STEP_BYTES]; /* all that stood between them: `","key":` */
	uint32_t mask;                /* a bit for each of these */
	uint8_t n_bytes;
	uint8_t key_at, key_length; /* where the key is in them */
	uint8_t kind;               /* what the key is */
	uint8_t was_in_args; /* before: a bool; EVENT_NO_STEP: there was nothing short enough */
	bool is_in_args;     /* behind */
};

#define EVENT_STEPS   32
#define EVENT_NO_STEP 2

struct event_scan {
	struct trace_value ph, ts, dur, name, cat, bp, pid, tid, id;
	struct trace_arg *args; /* owned; kept from event to event */
	uint32_t n_args, n_allocated;
	bool has_no_memory;                   /* what made the scan fail */
	struct event_step steps[EVENT_STEPS]; /* kept, too: up to the first values */
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
