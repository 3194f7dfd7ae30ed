/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/csv_reader.h"

void csv_table_release(struct csv_table *table)
{
	for (uint64_t i = 0; i < table->n_rows; i++)
		free(table->rows[i].cells);
	free(table->rows);
	free(table->summed);
	free(table->sums);
	free(table->columns);
	*table = (struct csv_table){0};
}

/* Copies the record's first `n` fields into one block; NULL = out of memory. */
static char **copy_fields(const struct csv_reader *reader, uint32_t n)
{
	size_t n_bytes = n * sizeof(char *);
	char **cells, *text;

	for (uint32_t i = 0; i < n; i++)
		n_bytes += strlen(csv_reader_text(reader, i)) + 1;
	cells = malloc(n_bytes ? n_bytes : 1);
	if (!cells)
		return NULL;
	text = (char *)(cells + n);
	for (uint32_t i = 0; i < n; i++) {
		cells[i] = text;
		text = stpcpy(text, csv_reader_text(reader, i)) + 1;
	}
	return cells;
}

bool csv_table_number(const char *text, long double *ret_number)
{
	char *end;

	/* strtold() would also take " 1", "inf" and "nan". */
	if (!strchr("+-.0123456789", text[0]) || !text[0])
		return false;
	*ret_number = strtold(text, &end);
	return *end == '\0' && end != text;
}

enum { OF_NUMBERS, OF_TEXTS, OF_NOTHING };

static int cell_class(const char *text, long double *ret_number)
{
	if (!text[0])
		return OF_NOTHING;
	return csv_table_number(text, ret_number) ? OF_NUMBERS : OF_TEXTS;
}

/* By which column rows are sorted, and how. */
struct order {
	bool is_sorted, texts_descend, numbers_ascend;
	uint32_t column;
};

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct csv_table_row *a = left, *b = right;
	const struct order *by = context;
	const char *x = a->cells[by->column], *y = b->cells[by->column];
	long double m = 0, n = 0;
	int i = cell_class(x, &m), j = cell_class(y, &n);
	int order = i - j;

	if (order == 0 && i == OF_NUMBERS)
		order = by->numbers_ascend ? (m > n) - (m < n) : (m < n) - (m > n);
	else if (order == 0)
		order = by->texts_descend ? strcmp(y, x) : strcmp(x, y);
	return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Exactly, or without its last word, the unit. */
static bool is_named(const char *column, const char *name, bool without_unit)
{
	size_t n = strlen(name);

	return strncmp(column, name, n) == 0 &&
	       column + n == (without_unit ? strrchr(column, '_') : strchr(column, '\0'));
}

int csv_table_find(const struct csv_table *table, const char *name, const char *file,
                   uint32_t *ret_column, struct flextrace_error *error)
{
	int code;

	for (uint32_t i = 0, n = table->n_columns; i < 2 * n; i++)
		if (is_named(table->columns[i % n], name, i >= n)) {
			*ret_column = i % n;
			return FLEXTRACE_OK;
		}
	code = error_set(error, FLEXTRACE_E_USAGE, "No column `%s` in %s; there are ", name, file);
	for (uint32_t i = 0; i < table->n_columns; i++)
		error_list(error, table->columns[i]);
	return code;
}

/* Reads "NAME", "-NAME" or "+NAME", by which rows are sorted. */
static int find_order(const struct csv_table *table, const char *text, const char *file,
                      struct order *ret, struct flextrace_error *error)
{
	char sign = *text == '-' || *text == '+' ? *text : '\0';

	*ret = (struct order){false, sign == '-', sign == '+', 0};
	ret->is_sorted = true;
	return csv_table_find(table, text + (sign != '\0'), file, &ret->column, error);
}

/* Keeps the first `limit` rows in sorted order. */
static void cut(struct csv_table *table, uint64_t limit, struct order *order)
{
	if (order->is_sorted && table->n_rows)
		qsort_r(table->rows, table->n_rows, sizeof(*table->rows), compare_rows, order);
	while (limit && table->n_rows > limit)
		free(table->rows[--table->n_rows].cells);
}

/* -- sums -------------------------------------------------------------------------------------- */

bool csv_table_adds_up(const char *column)
{
	size_t n = strlen(column);

	return n >= 7 && strcmp(column + n - 7, "self_ns") == 0;
}

bool csv_table_is_group(const char *column)
{
	static const char *const names[] = {"side", "window", "rank", "host", "pid"};
	size_t i = 0, n = sizeof(names) / sizeof(*names);

	while (i < n && strcmp(column, names[i]) != 0)
		i++;
	return i < n;
}

static int add_up(struct csv_table *table, const struct csv_reader *reader)
{
	long double number;

	if (!table->summed) {
		table->summed = copy_fields(reader, table->n_columns);
		table->sums = calloc(table->n_columns, sizeof(*table->sums));
	}
	if (!table->summed || !table->sums)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (csv_table_is_group(table->columns[i]) &&
		    strcmp(csv_reader_text(reader, i), table->summed[i]) != 0)
			return FLEXTRACE_OK;
	}
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (csv_table_adds_up(table->columns[i]) &&
		    csv_table_number(csv_reader_text(reader, i), &number))
			table->sums[i] += number;
	}
	return FLEXTRACE_OK;
}

static int read_rows(struct csv_reader *reader, const struct csv_table_query *query,
                     struct csv_table *table, struct flextrace_error *error)
{
	struct order order = {0};
	uint32_t rank = 0;
	bool adds_up = false;
	int code;

	for (uint32_t i = 0; i < table->n_columns; i++)
		adds_up |= csv_table_adds_up(table->columns[i]);
	table->sorted_by = UINT32_MAX;
	if (query->sort) {
		FLEXTRACE_TRY(find_order(table, query->sort, reader->name, &order, error));
		table->sorted_by = order.column;
	}
	if (query->rank)
		FLEXTRACE_TRY(csv_table_find(table, "rank", reader->name, &rank, error));
	while ((code = csv_reader_next(reader, error)) > 0) {
		char **cells;

		if (query->rank && strcmp(csv_reader_field(reader, rank), query->rank) != 0)
			continue;
		table->n_matching++;
		if (adds_up && add_up(table, reader) < 0)
			return error_memory(error);
		if (query->limit && !query->sort && table->n_rows == query->limit)
			continue;
		cells = copy_fields(reader, table->n_columns);
		if (!cells ||
		    ARRAY_RESERVE(table->rows, table->n_allocated, table->n_rows + 1) < 0) {
			free(cells);
			return error_memory(error);
		}
		table->rows[table->n_rows++] = (struct csv_table_row){table->n_matching, cells};
		if (query->limit && table->n_rows >= 2 * query->limit)
			cut(table, query->limit, &order);
	}
	if (code == 0)
		cut(table, query->limit, &order);
	return code;
}

int csv_table_read(FILE *file, const char *name, const struct csv_table_query *query,
                   struct csv_table *ret_table, struct flextrace_error *error)
{
	struct csv_reader reader;
	int code;

	*ret_table = (struct csv_table){0};
	csv_reader_init(&reader, file, name);
	code = csv_reader_next(&reader, error);
	if (code > 0) {
		ret_table->n_columns = (uint32_t)reader.n_fields;
		ret_table->columns = copy_fields(&reader, ret_table->n_columns);
		code = ret_table->columns ? read_rows(&reader, query, ret_table, error)
		                          : error_memory(error);
	} else if (code == 0) {
		code = error_set(error, FLEXTRACE_E_INPUT, "Empty file: %s", name);
	}
	csv_reader_release(&reader);
	if (code < 0)
		csv_table_release(ret_table);
	return code;
}
