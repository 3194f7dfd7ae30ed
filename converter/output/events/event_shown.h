/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_shown.h: which rows of which tables a trace has: all of them, or those of some phases
 * (--types), or of one process; of samples of counters those that change something.
 */
#ifndef FLEXTRACE_EVENT_SHOWN_H
#define FLEXTRACE_EVENT_SHOWN_H

#include "events.h"
#include "model/timeline/any_row.h"

/* NULL, 0: not from a table. */
const struct table *event_table(const struct findings *findings, enum event_source source);
size_t event_row_bytes(enum event_source source);

bool event_is_shown(const struct events *events, enum event_source source);

/* Whether a row is of the process that is shown. */
bool event_is_of_process(const struct events *events, enum event_source source, const void *row);

/* Whether an end of an arrow is of it. */
bool event_leaves_process(const struct events *events, const void *flow);

/* Whether a sample of a counter changes its line, which stays as it is until the next one. 1, 0 or
 * FLEXTRACE_E_MEMORY. */
int event_changes_counter(struct events *events, const struct counter_row *row,
                          const char **ret_unit);

/* Books a row that is not written. */
void event_leave_out(struct file_count *count, enum record_class class);

/* Books the rows of tables that are not shown, and arrows likewise. */
void event_count_hidden(struct events *events);

/* Expects the rows of all tables of the process that is shown. */
void event_expect(struct events *events);

/* Finds which processes and devices have anything: a track, which has rows, a counter, a loss. */
void event_find_used(struct events *events);

/* Whether the process that is shown recorded an operation. */
bool event_has_ops(const struct events *events);

/* Finds the row that the file of the process that is shown began with, if it began with one. */
void event_find_first(struct events *events);

#endif
