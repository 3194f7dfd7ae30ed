/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_table.h: a CSV file as rows to sort, filter and print in columns.
 *
 * Holds only what will be printed: with a limit of n rows, never more than 2 n of a file of any
 * length.
 *
 * - Sorting puts numbers first, largest first, then texts from A to Z, then empty cells; equals
 *   stay as in the file.
 * - A column whose cells are numbers or empty is right-aligned.
 * - Control characters are printed as '?', so that no name can move the cursor.
 */
#ifndef FLEXTRACE_CSV_TABLE_H
#define FLEXTRACE_CSV_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct csv_table_query {
	const char *sort; /* weak: column; NULL = as in the file */
	const char *rank; /* weak: only rows whose `rank` is this; NULL = all */
	uint64_t limit;   /* 0 = all */
};

struct csv_table_row {
	uint64_t index; /* in the file */
	char **cells;   /* owned: one block with the texts behind the pointers */
};

struct csv_table {
	char **columns; /* owned, as a row's cells */
	uint32_t n_columns;
	struct csv_table_row *rows; /* owned */
	uint64_t n_rows;
	uint32_t n_allocated;
	uint64_t n_matching; /* rows that the query selects, printed or not */
};

/*
 * Reads `file`; `name` for messages, weak. FLEXTRACE_E_USAGE: no column of that name, the
 * message lists them. FLEXTRACE_E_INPUT: malformed.
 */
int csv_table_read(FILE *file, const char *name, const struct csv_table_query *query,
                   struct csv_table *ret_table, struct flextrace_error *error);

/* Prints with the headings in bold where `to` takes it; `width` columns at most, 0 = as wide as it
 * is. */
void csv_table_print(const struct csv_table *table, FILE *to, uint32_t width);

/* Prints at most `limit` screen columns of a text; one that is longer ends in "..". */
void csv_table_print_text(const char *text, uint32_t limit, FILE *to);

void csv_table_release(struct csv_table *table);

#endif
