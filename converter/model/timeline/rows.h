/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h: a table of the output, read row by row into the struct that it was written from
 * (columns.h).
 */
#ifndef FLEXTRACE_ROWS_H
#define FLEXTRACE_ROWS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text/csv_reader.h"
#include "columns.h"

struct rows {
	char path[PATH_MAX];
	FILE *file;     /* owned; NULL: it was not written */
	bool is_absent; /* so it is, where that is all */
	struct csv_reader reader;
	const struct column *columns; /* weak */
	uint32_t n_columns;
	size_t *places; /* owned: where each column stands in the file */
	int code;       /* of reading */
};

/* Opens a table of an output directory. False: it was not written, or cannot be read; nothing is to
 * be closed then. With `error` (else NULL) it has all of the columns. FLEXTRACE_E_INPUT and the
 * like in `code`. */
bool rows_open(struct rows *rows, const char *dir, const char *name, const struct column *columns,
               uint32_t n_columns, struct flextrace_error *error);

/* Stores the cells of the next row, texts until the one after it; false: there is none, or `code`
 * tells why. Members without a cell hold what an empty one means; those without a column stay as
 * they are. Who finds no memory for a row stores that in `code`, and it ends. */
bool rows_next(struct rows *rows, void *ret_row, struct flextrace_error *error);
void rows_close(struct rows *rows);

#endif
