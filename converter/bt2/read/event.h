/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h: babeltrace2 event -> struct event, by member indexes that were resolved once per event
 * class.
 *
 * An event class is matched by its name and its members by theirs: ids and member indexes differ
 * between traces (LTTng puts a hidden length before each sequence). Types are checked here, once,
 * because babeltrace2's hot path does not check; what is read per event is index, type and offset.
 */
#ifndef FLEXTRACE_BT2_EVENT_H
#define FLEXTRACE_BT2_EVENT_H

#include <babeltrace2/babeltrace.h>

#include "model/schema.h"

#define EVENT_MAX_FIELDS 30
#define EVENT_UNKNOWN    (-2) /* of ours, and of a newer version */

struct event_field {
	uint16_t member; /* index in its structure */
	uint16_t offset; /* in struct event */
	uint8_t type;    /* enum schema_type */
	bool is_signed;  /* the trace's integer is */
};

struct event_class {
	const bt_event_class *bt; /* owned reference: its address stays ours */
	int class;                /* enum record_class; EVENT_UNKNOWN; -1: foreign */
	bool is_malformed;        /* members missing or of a wrong type */
	uint32_t n_payload, n_context;
	struct event_field payload[EVENT_MAX_FIELDS];
	struct event_field context[3]; /* vpid, vtid, status of the common context */
	int origins;                   /* index of a member there; -1: there is none */
	struct event event; /* the last one read; defaults where the trace has no such member */
};

/* Whether the tracer of these events is one whose processes tell their dialect: that of 0.1 is not.
 * Where it has no event for a process, its scopes tell its version. */
bool event_classes_have_dialects(const bt_trace_class *trace);

/* Resolves an event class. Takes a reference of `bt`. */
void event_class_init(struct event_class *class, const bt_event_class *bt);
void event_class_release(struct event_class *class);

/* Scratch for the arrays of one event. */
struct event_words {
	uint64_t *words; /* owned */
	uint32_t n_allocated;
};

/* Fills `class->event` except its clock. Strings and words are weak: while the message lives and
 * until the next call. 0; FLEXTRACE_E_INPUT: a value is out of its range; FLEXTRACE_E_MEMORY. */
int event_read(struct event_class *class, const bt_event *event, struct event_words *words);

#endif
