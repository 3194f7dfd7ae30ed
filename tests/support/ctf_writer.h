/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_writer.h: traces as LTTng-UST writes them, made to measure: for tests and for the bench
 * trace.
 *
 * Same metadata, packet header, packet context, event header (large, compact and extended) and
 * fields as LTTng-UST 2.13 with per-UID buffers and the contexts vpid and vtid. All event classes
 * of model/schema.h are declared in every stream class, and two more: `other:thing` and
 * `flextrace:of_the_future`.
 *
 * - Deterministic: the same calls write the same bytes (on hosts of one byte order).
 * - Clocks of one stream must not run backwards.
 * - Functions return 0, or a negative enum flextrace_status after which the trace is of no use.
 */
#ifndef FLEXTRACE_TESTS_CTF_WRITER_H
#define FLEXTRACE_TESTS_CTF_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/model.h"

struct ctf_writer_options {
	const char *dir;      /* created; must not hold a trace yet. Weak, all */
	const char *hostname; /* NULL = no such entry */
	uint8_t uuid[16];
	int64_t clock_offset_ns;
	uint64_t clock_hz;         /* 0 = 1 GHz */
	uint32_t packet_bytes;     /* 0 = 64 KiB; larger ones are made for events that need them */
	uint32_t n_stream_classes; /* 0 = 1 */
	bool without_contexts;
	bool has_newer_members; /* behind the last one of each payload, as later versions have */
	/* Of each event class that has it; NULL = none. */
	const char *missing_member;  /* not declared and not written */
	const char *mistyped_member; /* declared and written as a string */
	const char *flipped_member;  /* an integer, declared with the other signedness */
};

struct ctf_writer;
struct ctf_stream;

/* Creates the directory and the metadata. NULL: it cannot be written. */
struct ctf_writer *ctf_writer_new(const struct ctf_writer_options *options);

/* Flushes and closes all streams and frees the writer. */
int ctf_writer_close(struct ctf_writer *writer);

/* A stream with its file `channel<class>_<instance>`; weak, owned by the writer. NULL: cannot be
 * written. */
struct ctf_stream *ctf_writer_stream(struct ctf_writer *writer, uint32_t class_id,
                                     uint64_t instance_id);

/* Appends an event; a packet that is full is flushed before. */
int ctf_stream_event(struct ctf_stream *stream, const struct event *event);

/* Appends an event of another provider, or of ours that nobody knows; no payload. */
int ctf_stream_foreign(struct ctf_stream *stream, uint64_t clock_ns);
int ctf_stream_unknown(struct ctf_stream *stream, uint64_t clock_ns);

/* Steps the counter of discarded events by `n`, modulo 2^64, as the packet in the making will
 * say. */
void ctf_stream_discard_events(struct ctf_stream *stream, uint64_t n);

/* Loses `n` packets before the one in the making. */
void ctf_stream_discard_packets(struct ctf_stream *stream, uint64_t n);

/* Ends the packet in the making. */
int ctf_stream_flush(struct ctf_stream *stream);

#endif
