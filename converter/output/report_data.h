/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_data.h: what the report page shows, as one JSON document: run.json, and the first rows of
 * each table. docs/formats.md describes it.
 */
#ifndef FLEXTRACE_REPORT_DATA_H
#define FLEXTRACE_REPORT_DATA_H

#include "output/emit.h"

/* Appends the document, in which no `<` stands. Without memory the writer fails. */
void report_data_write(struct writer *writer, const struct findings *findings,
                       const struct emit_options *options, const struct file_count *counts,
                       uint32_t n_counts);

#define REPORT_ROWS_MAX       2000u
#define REPORT_ROWS_MAX_BYTES (REPORT_ROWS_MAX * 512)

/* A table that is not of a conversion. All weak. */
struct report_rows {
	const char *name, *title;
	const struct column *columns;
	uint32_t n_columns, n;
	const void *rows;
	size_t row_bytes;
};

/* Appends it as a member of `tables`, with its first rows. */
void report_data_rows(struct writer *writer, const struct report_rows *of);

#endif
