/* SPDX-License-Identifier: Apache-2.0 */
/* table_cells.h: single cells of a table's text, by row (from 0) and column. */
#ifndef FLEXTRACE_TESTS_TABLE_CELLS_H
#define FLEXTRACE_TESTS_TABLE_CELLS_H

#include <stdint.h>

/* The cell, without quotes; the test fails where there is none. Valid until the next call. */
const char *table_cell(const char *text, uint32_t row, const char *column);
int64_t table_number(const char *text, uint32_t row, const char *column);

/* How many rows there are behind the header. */
uint32_t table_n_rows(const char *text);

#endif
