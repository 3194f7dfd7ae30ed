/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_text.h: files of columns.h, tables as CSV, and their rows as members of JSON objects.
 */
#ifndef FLEXTRACE_COLUMN_TEXT_H
#define FLEXTRACE_COLUMN_TEXT_H

#include "model/timeline/columns.h"
#include "output/emit.h"

/* Where a file goes, and in which forms: what is no table is no lines of JSON. */
struct save_place {
	const char *dir; /* weak */
	bool has_csv, has_lines;
	bool keeps_empty;    /* a table without a row has a file, too */
	uint32_t n_captured; /* so many rows are kept as well, for a page */
};

/* Writes a file, of a table a header line and the rows, and counts them; as lines of JSON it ends
 * in .jsonl. On failure, and of a table without a row that nobody keeps, there is no new file;
 * what `ret_count` owns is the caller's even so. FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT or 0. */
int column_save(const struct result_file *file, const struct findings *findings,
                const struct save_place *place, struct file_count *ret_count,
                struct flextrace_error *error);

/* The name of the file of a table as lines of JSON. */
void column_lines_name(char name[64], const char *csv_name);

/* Writes the header line of a CSV file, and a line of it. */
void column_write_names(struct writer *writer, const struct column *columns, uint32_t n_columns);
void column_write_row(struct writer *writer, const struct column *columns, uint32_t n_columns,
                      const void *row);

/* What columns say of themselves, name, type and unit, as a JSON list. Owned; NULL: no memory. */
char *column_describe(const struct column *columns, uint32_t n_columns);

/* Writes a cell of a row into a CSV file. */
void column_write_cell(const struct column *column, const void *row,
                       const struct timeline *timeline, struct writer *writer);

/* Appends `,"name":value` for each column. Empty values are null. */
void column_write_json(const struct column *columns, uint32_t n_columns, const void *row,
                       struct writer *writer);

#endif
