/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_text.h: tables of columns.h as CSV files, and rows of them as members of JSON objects.
 */
#ifndef FLEXTRACE_COLUMN_TEXT_H
#define FLEXTRACE_COLUMN_TEXT_H

#include "model/columns.h"
#include "base/text/writer.h"

struct column_saved {
	uint64_t rows, replaced_bytes; /* bytes that were no UTF-8 */
};

/* Writes `output_dir`/`file` with a header line and the rows. On failure there is no file.
 * FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT or 0. */
int column_save_csv(const struct column_table *table, const struct findings *findings,
                    const char *output_dir, const char *file, struct column_saved *ret_saved,
                    struct flextrace_error *error);

/* Appends `,"name":value` for each column. Empty values are null. */
void column_write_json(const struct column *columns, uint32_t n_columns, const void *row,
                       struct writer *writer);

#endif
