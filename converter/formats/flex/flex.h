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

#include "formats/chrome-json/trace_events.h"
#include "formats/kit/format.h"

struct flex; /* opaque, but that it begins with a struct import */
struct event_reader;

/* Begins a file of a reader, which has a state of its own. */
int flex_begin_file(struct flex *flex, const struct event_reader *reader, void *own,
                    const char *path);

/* Takes a top-level member of the file; a trace_member_taker. */
int flex_take_member(void *flex, const struct trace_text *key, const struct trace_value *value);

/* Takes one event. Stores in `ret_fault` what is wrong with it (a static text; the event is counted
 * as lost), or NULL. */
int flex_push(struct flex *flex, const struct trace_event *event, const char **ret_fault);

/* Ends a file: what is begun in it has no end. Notes what ends without a begin. */
int flex_end_file(struct flex *flex);

/* Behind the last file: writes definitions; files that told of nobody are of the first stream. */
int flex_end_files(struct flex *flex);

/* As import_next(): joins what belongs together. */
int flex_next(struct import *import, uint32_t *ret_stream, struct event *ret_event);

void flex_release(struct flex *flex);

#endif
