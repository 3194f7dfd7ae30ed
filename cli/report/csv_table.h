/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_table.h: a CSV file as rows, sorted and filtered. table_view.h prints them.
 *
 * Holds only what will be printed: with a limit of n rows, never more than 2 n of a file of any
 * length.
 *
 * Sorting puts numbers first, then texts, then empty cells; equals stay as in the file. By "NAME"
 * numbers begin with the largest and texts with A; by "-NAME" both descend, by "+NAME" both ascend.
 */
#ifndef FLEXTRACE_CSV_TABLE_H
#define FLEXTRACE_CSV_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct csv_table_query {
	const char *sort; /* weak: column, see above; NULL = as in the file */
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
	uint32_t sorted_by;  /* column; UINT32_MAX: none */
	/* What adds up, over rows that are in csv_table_is_group() as the first one selected. */
	char **summed;     /* owned: that row; NULL: nothing adds up */
	long double *sums; /* owned, by column */
};

/* Whether a column is of own times, which add up; or tells what they add up over. */
bool csv_table_adds_up(const char *column);
bool csv_table_is_group(const char *column);

/*
 * Reads `file`; `name` for messages, weak. FLEXTRACE_E_USAGE: no column of that name, the
 * message lists them. FLEXTRACE_E_INPUT: malformed.
 */
int csv_table_read(FILE *file, const char *name, const struct csv_table_query *query,
                   struct csv_table *ret_table, struct flextrace_error *error);

/* Stores the place of a column, whose unit may be left out. FLEXTRACE_E_USAGE, with the names
 * that there are. */
int csv_table_find(const struct csv_table *table, const char *column, const char *file,
                   uint32_t *ret_column, struct flextrace_error *error);

/* Whether a cell is a number; stores it. */
bool csv_table_number(const char *cell, long double *ret_number);

void csv_table_release(struct csv_table *table);

#endif
