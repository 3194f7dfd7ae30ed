/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_shown.h: which rows of which tables a trace has: all of them, or those of some phases
 * (--types), or of one process; of samples of counters those that change something.
 */
#ifndef FLEXTRACE_CHROME_SHOWN_H
#define FLEXTRACE_CHROME_SHOWN_H

#include "chrome.h"
#include "model/timeline/any_row.h"

/* Where the next event may come from; the first wins among equal times. */
enum chrome_source {
	FROM_EXTRA, /* losses, or rows that only the file of a rank has */
	FROM_HOST,
	FROM_DEVICE,
	FROM_FLOWS, /* arrows that leave */
	FROM_LATER, /* what waited */
	FROM_INSTANTS,
	FROM_COUNTERS,
	FROM_MEMORY,
	N_SOURCES
};

/* NULL, 0: not from a table. */
const struct table *chrome_table(const struct findings *findings, enum chrome_source source);
size_t chrome_row_bytes(enum chrome_source source);

bool chrome_is_shown(const struct chrome *chrome, enum chrome_source source);

/* Whether a row is of the process that is shown. */
bool chrome_is_of_process(const struct chrome *chrome, enum chrome_source source, const void *row);

/* Whether a sample of a counter changes its line, which stays as it is until the next one. 1, 0 or
 * FLEXTRACE_E_MEMORY. */
int chrome_changes_counter(struct chrome_counters *counters, const struct counter_row *row);
void chrome_counters_release(struct chrome_counters *counters);

/* Books a row that is not written. */
void chrome_leave_out(struct file_count *count, enum record_class class);

/* Books the rows of tables that are not shown. */
void chrome_count_hidden(struct chrome *chrome);

/* Expects the rows of all tables of the process that is shown. */
void chrome_expect(struct chrome *chrome);

/* Whether the process that is shown recorded an operation. */
bool chrome_has_ops(const struct chrome *chrome);

#endif
