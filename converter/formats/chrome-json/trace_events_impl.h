/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events_impl.h: what the files of the reader share.
 */
#ifndef FLEXTRACE_IMPORT_TRACE_EVENTS_IMPL_H
#define FLEXTRACE_IMPORT_TRACE_EVENTS_IMPL_H

#include <limits.h>

#include "event_scan.h"
#include "formats/kit/text_window.h"

enum trace_phase {
	PHASE_START,
	PHASE_MEMBERS,
	PHASE_EVENTS,
	PHASE_TAIL, /* behind the last bracket */
	PHASE_DONE,
	PHASE_FAILED
};

struct trace_events {
	struct trace_file *file; /* owned; NULL: the source is the caller's */
	char *name;              /* owned */
	struct text_window window;
	enum trace_phase phase;
	int failure; /* of PHASE_FAILED */
	bool is_array, has_list, has_seen_event;
	bool has_ended;      /* the bracket that ends all was there */
	bool is_in_bad;      /* the last element was bad */
	uint64_t n_elements; /* that began */
	struct trace_damage damage;

	struct event_scan event;

	struct trace_text key; /* of the member that was scanned last */
	struct trace_value member;
	bool opens_list; /* it is traceEvents */
	trace_member_taker *taker;
	void *taker_context; /* weak */
};

/* Scans something that must be seen whole, from the window's begin. */
typedef enum scan_result whole_scanner(struct trace_events *events, struct json_scan *scan);

/* Scans with as much text as that takes. An enum scan_result (MORE: the text ends within it), or
 * negative. Does not step. */
int events_scan(struct trace_events *events, whole_scanner *scanner, struct json_scan *ret_scan,
                struct flextrace_error *error);

#define PEEK_END INT_MIN

/* Steps over spaces and commas, and returns the byte that is there, PEEK_END, or negative. */
int events_peek(struct trace_events *events, struct flextrace_error *error);

/* Counts in `n` something bad at `offset_bytes`; `cause` is static. */
void events_note_damage(struct trace_events *events, uint64_t *n, uint64_t offset_bytes,
                        const char *cause);

/* Reads on within traceEvents. 1: an event; 0: look at the phase again; negative. */
int events_step(struct trace_events *events, struct trace_event *ret_event,
                struct flextrace_error *error);

/* Steps over the broken member at the window's begin, by brackets and quotes, up to the comma or
 * bracket that ends it, or to the name of the list of events. 0 or negative. */
int events_skip(struct trace_events *events, struct flextrace_error *error);

#endif
