/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_view.h: a table in columns for reading, or as JSON.
 *
 * - A column whose cells are numbers or empty is right-aligned.
 * - Control characters are printed as '?', so that no name can move the cursor.
 * - On a terminal, what is the same in all of several rows stands above them once, and columns
 *   without any value nowhere. Where there is little room headings are words on several lines; then
 *   shares and the last columns are left out and texts are cut. Elsewhere all is printed.
 * - Where it has units, what own times add up to stands below.
 */
#ifndef FLEXTRACE_TABLE_VIEW_H
#define FLEXTRACE_TABLE_VIEW_H

#include "csv_table.h"

struct table_view {
	const char *columns; /* weak: names with commas between; NULL = all */
	uint32_t width;      /* of the terminal; 0 = it is none */
	bool is_human;       /* durations and bytes with units, instead of as they are */
};

/* Prints with the headings in bold where `to` takes it. Stores how many columns had no room.
 * FLEXTRACE_E_USAGE: no column of a name that `view` has. FLEXTRACE_E_MEMORY or 0. */
int table_view_print(const struct csv_table *table, const struct table_view *view, FILE *to,
                     uint32_t *ret_n_hidden, struct flextrace_error *error);

/* Prints a list of objects. `is_text`: by column of the table, what never is a number, though it
 * may look like one; NULL: none. A number that a double cannot hold is a string. */
int table_view_print_json(const struct csv_table *table, const struct table_view *view,
                          const bool *is_text, FILE *to, struct flextrace_error *error);

/* Prints at most `limit` screen columns of a text; one that is longer ends in "..". */
void table_view_print_text(const char *text, uint32_t limit, FILE *to);

#endif
