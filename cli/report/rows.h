/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h: a table of the output, read row by row, its fields by their headings.
 */
#ifndef FLEXTRACE_ROWS_H
#define FLEXTRACE_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text/csv_reader.h"

struct rows {
	FILE *file;
	struct csv_reader reader;
	char *heading; /* owned: ",a,b,c," */
};

/* NULL: there is no such file. */
FILE *rows_open_file(const char *dir, const char *name);

/* Opens a table; false: it was not written. */
bool rows_open(struct rows *rows, const char *dir, const char *name);
void rows_close(struct rows *rows);

/* The field under a heading in the current row, "" where there is none. */
const char *rows_field(const struct rows *rows, const char *column);
double rows_number(const struct rows *rows, const char *column);

#endif
