/* SPDX-License-Identifier: Apache-2.0 */
#include "table_view.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text/writer.h"
#include "model/timeline/columns.h"
#include "terminal/cli.h"
#include "terminal/human.h"

#define MIN_TEXT_WIDTH  12
#define NAME_TEXT_WIDTH 28 /* for which the last columns make room */

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

void table_view_print_text(const char *text, uint32_t limit, FILE *to)
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

/* -- what is shown ----------------------------------------------------------------------------- */

enum look { AS_IT_IS, AS_TIME, AS_BYTES };

struct shown_column {
	uint32_t column; /* of the table */
	uint32_t width;
	enum look look;
	bool is_number;
	bool is_same; /* in all rows, which are several, or empty */
};

/* Columns, in the order in which they are shown. */
struct layout {
	struct shown_column *shown; /* owned */
	uint32_t n;
};

/* What stands in a cell; `room` holds it where it is made. */
static const char *cell_text(const struct shown_column *shown, const char *cell,
                             char room[HUMAN_BYTES])
{
	long double number;

	if (shown->look == AS_IT_IS || !csv_table_number(cell, &number))
		return cell;
	return shown->look == AS_TIME ? human_time((double)number, room)
	                              : human_bytes((double)number, room);
}

/* Times of day are no durations. */
static enum look look_of(const char *name)
{
	static const char *const times[] = {"start_ns", "end_ns", "time_ns", "first_ns", "last_ns"};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (strcmp(name, times[i]) == 0)
			return AS_IT_IS;
	}
	if (strcmp(column_unit(name), "ns") == 0)
		return AS_TIME;
	return strcmp(column_unit(name), "bytes") == 0 ? AS_BYTES : AS_IT_IS;
}

/* Whether the first row has something there. */
static bool cell_of_first(const struct csv_table *table, const struct shown_column *shown)
{
	return *table->rows[0].cells[shown->column];
}

static void measure(const struct csv_table *table, struct shown_column *shown)
{
	char room[HUMAN_BYTES];

	shown->width = text_width(table->columns[shown->column]);
	shown->is_number = shown->is_same = true;
	for (uint64_t r = 0; r < table->n_rows; r++) {
		const char *cell = table->rows[r].cells[shown->column];
		uint32_t width = text_width(cell_text(shown, cell, room));
		long double number;

		if (width > shown->width)
			shown->width = width;
		shown->is_same &= strcmp(cell, table->rows[0].cells[shown->column]) == 0;
		shown->is_number &= !*cell || csv_table_number(cell, &number);
	}
	shown->is_same &= table->n_rows > 1 || (table->n_rows && !cell_of_first(table, shown));
}

static void show(const struct csv_table *table, const struct table_view *view,
                 struct layout *layout, uint32_t column)
{
	struct shown_column *shown = &layout->shown[layout->n];

	*shown = (struct shown_column){
		.column = column,
		.look = view->is_human ? look_of(table->columns[column]) : AS_IT_IS,
	};
	measure(table, shown);
	layout->n += view->columns || !view->width || !shown->is_same;
}

/* Those that are asked for; a name may come twice. */
static int show_named(const struct csv_table *table, const struct table_view *view,
                      struct layout *layout, struct flextrace_error *error)
{
	for (const char *at = view->columns; at;) {
		size_t n = strcspn(at, ",");
		char *name = strndup(at, n);
		uint32_t column;
		int code = name ? csv_table_find(table, name, "this table", &column, error)
		                : error_memory(error);

		free(name);
		FLEXTRACE_TRY(code);
		show(table, view, layout, column);
		at = at[n] ? at + n + 1 : NULL;
	}
	return FLEXTRACE_OK;
}

/* Release in any case. */
static int layout_init(struct layout *layout, const struct csv_table *table,
                       const struct table_view *view, struct flextrace_error *error)
{
	size_t n = view->columns ? strlen(view->columns) + 2 : table->n_columns + 1ull;

	*layout = (struct layout){calloc(n, sizeof(*layout->shown)), 0};
	if (!layout->shown)
		return error_memory(error);
	if (view->columns)
		return show_named(table, view, layout, error);
	for (uint32_t i = 0; i < table->n_columns; i++)
		show(table, view, layout, i);
	return FLEXTRACE_OK;
}

static void layout_release(struct layout *layout)
{
	free(layout->shown);
}

/* -- room -------------------------------------------------------------------------------------- */

/* How wide all is if no text is wider than `cap`. */
static uint64_t sum_widths(const struct layout *layout, uint32_t cap)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < layout->n; i++) {
		const struct shown_column *shown = &layout->shown[i];

		sum += 2 + (shown->is_number || shown->width < cap ? shown->width : cap);
	}
	return sum ? sum - 2 : 0;
}

/* Leaves out the last columns that have no room though texts are cut, all but two, and returns how
 * many. */
static uint32_t drop_last(struct layout *layout, uint32_t width)
{
	uint64_t sum = sum_widths(layout, NAME_TEXT_WIDTH);
	uint32_t n_before = layout->n;

	while (layout->n > 2 && sum > width) {
		const struct shown_column *last = &layout->shown[--layout->n];
		bool is_cut = !last->is_number && last->width > NAME_TEXT_WIDTH;

		sum -= 2 + (is_cut ? NAME_TEXT_WIDTH : last->width);
	}
	return n_before - layout->n;
}

/* Takes what is too much from the widest text columns. */
static void fit(struct layout *layout, uint32_t width)
{
	uint32_t cap = MIN_TEXT_WIDTH, most = width > cap ? width : cap;
	uint64_t sum;

	if (sum_widths(layout, UINT32_MAX) <= width)
		return;
	while (cap < most) {
		uint32_t middle = cap + (most - cap + 1) / 2;

		if (sum_widths(layout, middle) <= width)
			cap = middle;
		else
			most = middle - 1;
	}
	sum = sum_widths(layout, cap);
	for (uint32_t i = layout->n; i > 0; i--) {
		struct shown_column *shown = &layout->shown[i - 1];

		if (shown->is_number || shown->width <= cap)
			continue;
		shown->width = cap + (sum < width);
		sum += sum < width;
	}
}

/* -- printing ---------------------------------------------------------------------------------- */

/* `is_heading`: the cells are names, which have no other look. */
static void print_row(char *const *cells, const struct layout *layout, bool is_heading, FILE *to)
{
	for (uint32_t i = 0; i < layout->n; i++) {
		const struct shown_column *shown = &layout->shown[i];
		char room[HUMAN_BYTES];
		const char *text = is_heading ? cells[shown->column]
		                              : cell_text(shown, cells[shown->column], room);
		uint32_t width = text_width(text);
		int padding = width < shown->width ? (int)(shown->width - width) : 0;

		if (i)
			fputs("  ", to);
		if (shown->is_number)
			fprintf(to, "%*s", padding, "");
		table_view_print_text(text, shown->width, to);
		if (!shown->is_number && i + 1 < layout->n)
			fprintf(to, "%*s", padding, "");
	}
}

/* What a terminal's columns do not repeat in each row. */
static void print_same(const struct csv_table *table, FILE *to)
{
	bool is_first = true;

	for (uint32_t i = 0; i < table->n_columns; i++) {
		struct shown_column shown = {.column = i};

		measure(table, &shown);
		if (!shown.is_same || !cell_of_first(table, &shown))
			continue;
		fprintf(to, "%s%s%s ", cli_style(to, CLI_DIM), is_first ? "all rows: " : ", ",
		        table->columns[i]);
		table_view_print_text(table->rows[0].cells[i], NAME_TEXT_WIDTH, to);
		is_first = false;
	}
	if (!is_first)
		fprintf(to, "%s\n", cli_style(to, CLI_PLAIN));
}

int table_view_print(const struct csv_table *table, const struct table_view *view, FILE *to,
                     uint32_t *ret_n_hidden, struct flextrace_error *error)
{
	struct layout layout;
	int code = layout_init(&layout, table, view, error);

	*ret_n_hidden = 0;
	if (code == FLEXTRACE_OK) {
		if (view->width && !view->columns)
			*ret_n_hidden = drop_last(&layout, view->width);
		if (view->width)
			fit(&layout, view->width);
		if (view->width && !view->columns)
			print_same(table, to);
		fputs(cli_style(to, CLI_BOLD), to);
		print_row(table->columns, &layout, true, to);
		fprintf(to, "%s\n", cli_style(to, CLI_PLAIN));
		for (uint64_t r = 0; r < table->n_rows; r++) {
			print_row(table->rows[r].cells, &layout, false, to);
			fputc('\n', to);
		}
	}
	layout_release(&layout);
	return code;
}

/* -- JSON -------------------------------------------------------------------------------------- */

/* Whether it is a number for JSON, and stays one in the doubles that readers make of it. */
static bool is_json_number(const char *cell)
{
	const char *digits = cell + (*cell == '-');
	long double number;

	if (!csv_table_number(cell, &number) || *cell == '+' || *digits == '.')
		return false;
	if (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
		return false;
	return digits[strlen(digits) - 1] != '.' && fabsl(number) <= 9007199254740992.0L;
}

static void write_object(struct writer *writer, const struct csv_table *table,
                         const struct layout *layout, const bool *is_text, char *const *cells)
{
	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t column = layout->shown[i].column;
		const char *name = table->columns[column], *cell = cells[column];

		writer_raw(writer, i ? ", " : "{");
		writer_json(writer, name, strlen(name));
		writer_raw(writer, ": ");
		if (!*cell)
			writer_raw(writer, "null");
		else if (!(is_text && is_text[column]) && is_json_number(cell))
			writer_raw(writer, cell);
		else
			writer_json(writer, cell, strlen(cell));
	}
	writer_raw(writer, "}");
}

int table_view_print_json(const struct csv_table *table, const struct table_view *view,
                          const bool *is_text, FILE *to, struct flextrace_error *error)
{
	struct layout layout;
	struct writer writer;
	int code = layout_init(&layout, table, view, error);

	writer_open_memory(&writer);
	for (uint64_t r = 0; code == FLEXTRACE_OK && r < table->n_rows; r++) {
		writer_raw(&writer, r ? ",\n " : "[");
		write_object(&writer, table, &layout, is_text, table->rows[r].cells);
	}
	writer_raw(&writer, table->n_rows ? "]\n" : "[]\n");
	if (code == FLEXTRACE_OK && writer_failed(&writer))
		code = error_memory(error);
	if (code == FLEXTRACE_OK)
		fwrite(writer.buffer, 1, (size_t)(writer.at - writer.buffer), to);
	writer_abandon(&writer);
	layout_release(&layout);
	return code;
}
