/* SPDX-License-Identifier: Apache-2.0 */
#include "table_cells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Copies the cell at `at` without its quotes and returns what is behind it: ',', '\n' or '\0'. */
static const char *read_cell(const char *at, char *cell, size_t n_bytes)
{
	bool is_quoted = *at == '"';
	size_t n = 0;

	for (at += is_quoted; *at; at++) {
		if (is_quoted && *at == '"' && *++at != '"')
			break;
		if (!is_quoted && (*at == ',' || *at == '\n'))
			break;
		assert_true(n + 1 < n_bytes);
		cell[n++] = *at;
	}
	cell[n] = '\0';
	return at;
}

/* No cell of these tests has a line break. */
static const char *find_row(const char *text, uint32_t row)
{
	for (; text && row; row--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

const char *table_cell(const char *text, uint32_t row, const char *column)
{
	static char cell[256];
	const char *head = text, *at = find_row(text, row + 1);

	assert_non_null(at);
	do {
		char name[256];

		head = read_cell(head, name, sizeof(name));
		at = read_cell(at, cell, sizeof(cell));
		if (strcmp(name, column) == 0)
			return cell;
		at++;
	} while (*head++ == ',');
	fail_msg("No such column: %s", column);
	return NULL;
}

int64_t table_number(const char *text, uint32_t row, const char *column)
{
	return strtoll(table_cell(text, row, column), NULL, 10);
}

uint32_t table_n_rows(const char *text)
{
	uint32_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n - 1;
}
