/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h: the fields of every event class, once, for all readers and writers of events.
 *
 * A reader resolves the members it finds against these descriptors once per event class and then
 * fills `struct event` in a loop; decode makes the record of it, and a source component declares
 * its event classes, from the same lists (schema_fields.h). A member that may be missing and is
 * reads as 0 or "", as SCHEMA_I32 (a rank) as -1.
 */
#ifndef FLEXTRACE_SCHEMA_H
#define FLEXTRACE_SCHEMA_H

#include "model.h"

enum schema_type {
	SCHEMA_U32,
	SCHEMA_I32,
	SCHEMA_U64,
	SCHEMA_DOUBLE,
	SCHEMA_STRING,
	SCHEMA_TS,   /* fixed array of FLEXTRACE_N_STAMPS u32 */
	SCHEMA_TS64, /* sequence of u64, of FLEXTRACE_N_STAMPS or none */
	SCHEMA_WORDS /* sequence of u64: sets `words` and `n_words` of a marker_batch */
};

struct schema_field {
	const char *name; /* member name in the trace = in events.h */
	enum schema_type type;
	uint16_t offset;   /* in the payload struct, which starts the union of struct event */
	uint16_t to;       /* in the record; but for words, the same or the id of the string */
	bool is_required;  /* without it the record says nothing: the event is malformed */
	bool is_host_time; /* means nothing where the clock of the trace does not count ns */
	bool is_repeated;  /* a string that is most likely that of the last event of its class */
	bool is_args;      /* a string as args.h has it; in the record it is JSON */
	uint8_t n_kinds;   /* it is the kind of the record's head, and below that; 0: it is none */
	bool may_be_newer; /* there is a row for a kind that only a newer version knows */
};

struct schema_class {
	const char *name; /* "scope": the event is "flextrace:scope" */
	enum record_table table;
	const struct schema_field *fields;
	uint32_t n_fields;
	uint32_t payload_bytes, record_bytes; /* without marker words */
};

/* The schema of a class. Never NULL. */
const struct schema_class *schema_of(enum record_class class);

/* The class of an event name such as "flextrace:scope"; -1: not ours; -2: ours by its provider, but
 * unknown. */
int schema_find(const char *event_name);

#endif
