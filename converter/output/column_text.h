/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_text.h: files of columns.h, tables as CSV, and their rows as members of JSON objects.
 */
#ifndef FLEXTRACE_COLUMN_TEXT_H
#define FLEXTRACE_COLUMN_TEXT_H

#include "model/columns.h"
#include "base/text/writer.h"

struct column_saved {
	uint64_t rows, replaced_bytes; /* bytes that were no UTF-8 */
};

/* Writes a file into `output_dir`, of a table a header line and the rows. On failure there is no
 * file. FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT or 0. */
int column_save(const struct result_file *file, const struct findings *findings,
                const char *output_dir, struct column_saved *ret_saved,
                struct flextrace_error *error);

/* Appends `,"name":value` for each column. Empty values are null. */
void column_write_json(const struct column *columns, uint32_t n_columns, const void *row,
                       struct writer *writer);

#endif
