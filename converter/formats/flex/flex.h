/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex.h: the events of Flex's JSON -> events of streams, as if our tracer had written them.
 *
 * - A pid is a rank, whatever file it stands in, and has one stream: one file of all ranks and a
 *   file of each give the same events.
 * - Events of one rank with the same name before " Cmpt Prep", " Cmpt Exec", " DmaI" or " DmaO" and
 *   the same five stamps are one control block: one device_op, at the end of the last of them. The
 *   second event of the same phase begins the next one. Jobs are numbered per rank, in order of
 *   time. Only the phases that are events become rows.
 * - Flex's host time of a control block is a host_estimate of the phase that it computes in, or
 *   else of the one there is. "AIU Roundtrip" bounds them, see flex_trips.c.
 * - Events without stamps are scopes of their thread; B and E of one name are paired per thread,
 *   the innermost first.
 * - Events may come in any order: a spool sorts them. The events of a control block find each other
 *   unless 2 MiB of others lie between them in order of time.
 * - Memory: 24 MiB at most, whatever the files' size, besides the names and ids of ranks and
 *   threads and a few times the largest event.
 *
 * Codes: FLEXTRACE_E_MEMORY, or FLEXTRACE_E_OUTPUT if the spool's file cannot be written.
 */
#ifndef FLEXTRACE_IMPORT_FLEX_H
#define FLEXTRACE_IMPORT_FLEX_H

#include "formats/kit/dialect.h"
#include "formats/kit/files.h"
#include "formats/import.h"
#include "formats/chrome-json/trace_events.h"
#include "model/ledger/ledger.h"
#include "model/model.h"

struct flex; /* opaque */
struct faults;
struct pairing;

struct flex *flex_new(void); /* NULL: no memory */
void flex_free(struct flex *flex);

/* Files of Flex and torch of one run, see pairing.h; call before the first file. While that is not
 * solved it is weak, and only flex_pair_end() tells anything; then it is taken. */
void flex_pair(struct flex *flex, struct pairing *pairing);

/* Solves it, behind the last file. */
int flex_pair_end(struct flex *flex);

/* Ranks of the torch files that will tell none: see dialect_next_rank(); weak, NULL: none. */
void flex_give_ranks(struct flex *flex, const char *ranks);

/* Begins a file. */
int flex_begin_file(struct flex *flex, enum import_dialect dialect, const char *path);

/* Takes a top-level member of the file; a trace_member_taker. */
int flex_take_member(void *flex, const struct trace_text *key, const struct trace_value *value);

/* Takes one event. Stores in `ret_fault` what is wrong with it (a static text; the event is counted
 * as lost), or NULL. */
int flex_push(struct flex *flex, const struct trace_event *event, const char **ret_fault);

/* Counts `n` of something that never became an event. */
int flex_lose(struct flex *flex, enum loss_cause cause, uint64_t n);

/* Ends a file: what is begun in it has no end. Notes what ends without a begin. */
int flex_end_file(struct flex *flex, struct faults *faults);

/* Counts a warning. */
void flex_warn(struct flex *flex, enum warning warning);

/* What became of files of two tools; NULL: there were none. Weak. */
const struct pairing *flex_pairing(const struct flex *flex);

/* What was lost. */
const struct ledger *flex_ledger(const struct flex *flex);

/* Behind the last file: those that told of nobody are of the first stream. */
int flex_end_files(struct flex *flex);

/* The files of a stream; weak. */
const struct import_files *flex_files(const struct flex *flex, uint32_t stream);

/* Streams are numbered from 0 on; weak. */
uint32_t flex_n_streams(const struct flex *flex);
const struct import_stream *flex_stream(const struct flex *flex, uint32_t stream);

/* Stores the next event: the definitions of all streams, then all else in order of time. The first
 * call ends flex_push(). 1: there is one, 0: the end. Texts are weak: until the next call. */
int flex_next(struct flex *flex, uint32_t *ret_stream, struct event *ret_event);

#endif
