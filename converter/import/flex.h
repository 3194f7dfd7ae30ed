/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex.h: the events of Flex's JSON -> records in streams, as if our tracer had written them.
 *
 * - A pid is a rank, whatever file it stands in, and has one stream: one file of all ranks and a
 *   file of each give the same records.
 * - All events of one rank with the same name before " Cmpt Prep", " Cmpt Exec", " DmaI" or
 *   " DmaO" and the same five stamps are one control block: one device_op. The second event of the
 *   same phase begins the next one. Jobs are numbered per rank, as they appear.
 * - Flex's host time of a control block is a host_estimate of the phase that it computes in, or
 *   else of the one there is.
 * - Events without stamps are scopes of their thread; B and E of one name are paired per thread,
 *   the innermost first.
 * - Events may come in any order. Held until the end: 80 bytes for each control block and twice
 *   that for finding it, what is begun and not ended, and every distinct name.
 */
#ifndef FLEXTRACE_IMPORT_FLEX_H
#define FLEXTRACE_IMPORT_FLEX_H

#include "gather.h"
#include "import/dialect.h"
#include "import/trace_events.h"
#include "ledger.h"
#include "strings.h"

struct flex; /* opaque */

struct flex *flex_new(struct string_pool *strings); /* weak; NULL: no memory */
void flex_free(struct flex *flex);

/* Begins a file. FLEXTRACE_E_MEMORY or 0. */
int flex_begin_file(struct flex *flex, enum import_dialect dialect);

/* Takes a top-level member of the file; a trace_member_taker. */
int flex_take_member(void *flex, const struct trace_text *key, const struct trace_value *value);

/* Takes one event. Stores in `ret_fault` what is wrong with it (a static text; the event is counted
 * as lost), or NULL. FLEXTRACE_E_MEMORY or 0. */
int flex_push(struct flex *flex, const struct trace_event *event, const char **ret_fault);

/* Counts `n` of something that never became an event. FLEXTRACE_E_MEMORY or 0. */
int flex_lose(struct flex *flex, enum loss_cause cause, uint64_t n);

/* Ends a file: what is begun in it has no end. FLEXTRACE_E_MEMORY or 0. */
int flex_end_file(struct flex *flex);

/* Whether no event told of anything. */
bool flex_is_empty(const struct flex *flex);

/* Writes what was held back and moves all streams to `set`, all books to `ledger`. Call once. */
int flex_finish(struct flex *flex, struct stream_set *set, struct ledger *ledger);

#endif
