/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/array.h"
#include "terminal/cli.h"
#include "base/text/csv_reader.h"

#define MIN_TEXT_WIDTH 12

void csv_table_release(struct csv_table *table)
{
	for (uint64_t i = 0; i < table->n_rows; i++)
		free(table->rows[i].cells);
	free(table->rows);
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

static bool parse_number(const char *text, long double *ret_number)
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
	return parse_number(text, ret_number) ? OF_NUMBERS : OF_TEXTS;
}

static int compare_rows(const void *left, const void *right, void *column)
{
	const struct csv_table_row *a = left, *b = right;
	const char *x = a->cells[*(uint32_t *)column], *y = b->cells[*(uint32_t *)column];
	long double m = 0, n = 0;
	int i = cell_class(x, &m), j = cell_class(y, &n);
	int order = i - j;

	if (order == 0 && i == OF_NUMBERS)
		order = (m < n) - (m > n);
	else if (order == 0)
		order = strcmp(x, y);
	return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int find_column(const struct csv_table *table, const char *name, const char *file,
                       uint32_t *ret_column, struct flextrace_error *error)
{
	int code;

	for (uint32_t i = 0; i < table->n_columns; i++)
		if (strcmp(table->columns[i], name) == 0) {
			*ret_column = i;
			return FLEXTRACE_OK;
		}
	code = error_set(error, FLEXTRACE_E_USAGE, "No column `%s` in %s; there are ", name, file);
	for (uint32_t i = 0; i < table->n_columns; i++)
		error_list(error, table->columns[i]);
	return code;
}

/* Keeps the first `limit` rows in sorted order. */
static void cut(struct csv_table *table, uint64_t limit, bool is_sorted, uint32_t column)
{
	if (is_sorted && table->n_rows)
		qsort_r(table->rows, table->n_rows, sizeof(*table->rows), compare_rows, &column);
	while (limit && table->n_rows > limit)
		free(table->rows[--table->n_rows].cells);
}

static int read_rows(struct csv_reader *reader, const struct csv_table_query *query,
                     struct csv_table *table, struct flextrace_error *error)
{
	uint32_t sort = 0, rank = 0;
	int code;

	if (query->sort)
		FLEXTRACE_TRY(find_column(table, query->sort, reader->name, &sort, error));
	if (query->rank)
		FLEXTRACE_TRY(find_column(table, "rank", reader->name, &rank, error));
	while ((code = csv_reader_next(reader, error)) > 0) {
		char **cells;

		if (query->rank && strcmp(csv_reader_field(reader, rank), query->rank) != 0)
			continue;
		table->n_matching++;
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
			cut(table, query->limit, query->sort, sort);
	}
	if (code == 0)
		cut(table, query->limit, query->sort, sort);
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

/* Reads one character, stores its width on the screen; 0 = end. Invalid and control characters
 * become '?'. */
static size_t next_character(const char *text, wchar_t *ret_character, uint32_t *ret_width)
{
	mbstate_t state = {0};
	size_t n = mbrtowc(ret_character, text, MB_CUR_MAX, &state);
	int width;

	if (n == 0)
		return 0;
	if (n > MB_CUR_MAX) {
		*ret_character = L'?';
		n = 1;
	}
	width = wcwidth(*ret_character);
	if (width < 0) {
		*ret_character = L'?';
		width = 1;
	}
	*ret_width = (uint32_t)width;
	return n;
}

static uint32_t text_width(const char *text)
{
	uint32_t width, sum = 0;
	wchar_t character;
	size_t n;

	for (; (n = next_character(text, &character, &width)) > 0; text += n)
		sum += width;
	return sum;
}

void csv_table_print_text(const char *text, uint32_t limit, FILE *to)
{
	bool is_cut = text_width(text) > limit;
	uint32_t room = is_cut && limit > 2 ? limit - 2 : limit, width;
	wchar_t character;
	size_t n;

	for (; (n = next_character(text, &character, &width)) > 0 && width <= room; text += n) {
		char bytes[MB_LEN_MAX];
		mbstate_t state = {0};
		size_t n_bytes = wcrtomb(bytes, character, &state);

		fwrite(bytes, 1, n_bytes, to);
		room -= width;
	}
	if (is_cut && limit > 2)
		fprintf(to, "%*s..", (int)room, "");
}

struct layout {
	uint32_t width;
	bool is_number;
};

static void measure(const struct csv_table *table, struct layout *layout)
{
	for (uint32_t c = 0; c < table->n_columns; c++) {
		layout[c] = (struct layout){text_width(table->columns[c]), true};
		for (uint64_t r = 0; r < table->n_rows; r++) {
			const char *cell = table->rows[r].cells[c];
			uint32_t width = text_width(cell);
			long double number;

			if (width > layout[c].width)
				layout[c].width = width;
			layout[c].is_number &= cell_class(cell, &number) != OF_TEXTS;
		}
	}
}

/* How wide all is if no text is wider than `cap`. */
static uint64_t sum_widths(const struct layout *layout, uint32_t n_columns, uint32_t cap)
{
	uint64_t sum = 2 * (uint64_t)n_columns;

	for (uint32_t c = 0; c < n_columns; c++)
		sum += layout[c].is_number || layout[c].width < cap ? layout[c].width : cap;
	return sum - 2;
}

/* Takes what is too much from the widest text columns. */
static void fit(struct layout *layout, uint32_t n_columns, uint32_t width)
{
	uint32_t cap = MIN_TEXT_WIDTH, most = width > cap ? width : cap;
	uint64_t sum;

	if (sum_widths(layout, n_columns, UINT32_MAX) <= width)
		return;
	while (cap < most) {
		uint32_t middle = cap + (most - cap + 1) / 2;

		if (sum_widths(layout, n_columns, middle) <= width)
			cap = middle;
		else
			most = middle - 1;
	}
	sum = sum_widths(layout, n_columns, cap);
	for (uint32_t c = n_columns; c > 0; c--) {
		if (layout[c - 1].is_number || layout[c - 1].width <= cap)
			continue;
		layout[c - 1].width = cap + (sum < width);
		sum += sum < width;
	}
}

static void print_row(char *const *cells, const struct layout *layout, uint32_t n_columns, FILE *to)
{
	for (uint32_t c = 0; c < n_columns; c++) {
		uint32_t width = text_width(cells[c]);
		int padding = width < layout[c].width ? (int)(layout[c].width - width) : 0;

		if (c)
			fputs("  ", to);
		if (layout[c].is_number)
			fprintf(to, "%*s", padding, "");
		csv_table_print_text(cells[c], layout[c].width, to);
		if (!layout[c].is_number && c + 1 < n_columns)
			fprintf(to, "%*s", padding, "");
	}
}

void csv_table_print(const struct csv_table *table, FILE *to, uint32_t width)
{
	struct layout *layout = calloc(table->n_columns + 1, sizeof(*layout));

	if (!layout)
		return;
	measure(table, layout);
	if (width)
		fit(layout, table->n_columns, width);
	fputs(cli_style(to, CLI_BOLD), to);
	print_row(table->columns, layout, table->n_columns, to);
	fprintf(to, "%s\n", cli_style(to, CLI_PLAIN));
	for (uint64_t r = 0; r < table->n_rows; r++) {
		print_row(table->rows[r].cells, layout, table->n_columns, to);
		fputc('\n', to);
	}
	free(layout);
}
