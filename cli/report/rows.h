/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h: a table of the output, read row by row into the struct that it was written from
 * (columns.h).
 */
#ifndef FLEXTRACE_ROWS_H
#define FLEXTRACE_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text/csv_reader.h"
#include "model/columns.h"

struct rows {
	FILE *file;
	struct csv_reader reader;
	const struct column *columns; /* weak */
	uint32_t n_columns;
	size_t *places; /* owned: where each column stands in the file */
};

/* NULL: there is no such file. */
FILE *rows_open_file(const char *dir, const char *name);

/* Opens a table; false: it was not written. */
bool rows_open(struct rows *rows, const char *dir, const char *name, const struct column *columns,
               uint32_t n_columns);
void rows_close(struct rows *rows);

/* Stores the cells of the next row, texts until the one after it; false: there is none. Members
 * without a cell hold what an empty one means; those without a column stay as they are. */
bool rows_next(struct rows *rows, void *ret_row);

#endif
