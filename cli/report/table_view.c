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
	uint32_t cells_width, width;
	enum look look;
	bool is_number;
	bool is_same;     /* in all rows, which are several, or empty */
	bool is_share;    /* in percent */
	char *heading;    /* owned: its lines, with a NUL behind each */
	uint32_t n_lines; /* of these */
};

/* Columns, in the order in which they are shown. */
struct layout {
	struct shown_column *shown; /* owned */
	uint32_t n;
	uint32_t n_lines; /* of the longest heading */
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

	shown->cells_width = 0;
	shown->is_number = shown->is_same = true;
	for (uint64_t r = 0; r < table->n_rows; r++) {
		const char *cell = table->rows[r].cells[shown->column];
		uint32_t width = text_width(cell_text(shown, cell, room));
		long double number;

		if (width > shown->cells_width)
			shown->cells_width = width;
		shown->is_same &= strcmp(cell, table->rows[0].cells[shown->column]) == 0;
		shown->is_number &= !*cell || csv_table_number(cell, &number);
	}
	shown->is_same &= table->n_rows > 1 || (table->n_rows && !cell_of_first(table, shown));
}

static int show(const struct csv_table *table, const struct table_view *view, struct layout *layout,
                uint32_t column)
{
	struct shown_column *shown = &layout->shown[layout->n];
	const char *name = table->columns[column];

	*shown = (struct shown_column){
		.column = column,
		.look = view->is_human ? look_of(name) : AS_IT_IS,
		.is_share = strcmp(column_unit(name), "%") == 0,
		.n_lines = 1,
	};
	measure(table, shown);
	if (!view->columns && view->width && shown->is_same)
		return FLEXTRACE_OK;
	shown->heading = strdup(name);
	shown->width = text_width(name);
	if (shown->width < shown->cells_width)
		shown->width = shown->cells_width;
	layout->n++;
	return shown->heading ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
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
		if (show(table, view, layout, column) < 0)
			return error_memory(error);
		at = at[n] ? at + n + 1 : NULL;
	}
	return FLEXTRACE_OK;
}

/* Release in any case. */
static int layout_init(struct layout *layout, const struct csv_table *table,
                       const struct table_view *view, struct flextrace_error *error)
{
	size_t n = view->columns ? strlen(view->columns) + 2 : table->n_columns + 1ull;

	*layout = (struct layout){calloc(n, sizeof(*layout->shown)), 0, 1};
	if (!layout->shown)
		return error_memory(error);
	if (view->columns)
		return show_named(table, view, layout, error);
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (show(table, view, layout, i) < 0)
			return error_memory(error);
	}
	return FLEXTRACE_OK;
}

static void layout_release(struct layout *layout)
{
	for (uint32_t i = 0; layout->shown && i < layout->n; i++)
		free(layout->shown[i].heading);
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

/* Ends a heading before the unit that stands in the cells; "percent" is a sign. */
static void shorten(struct shown_column *shown)
{
	size_t n = strlen(shown->heading);
	const char *unit = shown->look == AS_TIME ? "_ns" : shown->look == AS_BYTES ? "_bytes" : "";

	if (n > 8 && strcmp(shown->heading + n - 8, "_percent") == 0)
		stpcpy(shown->heading + n - 8, " %");
	else if (n > strlen(unit) && strcmp(shown->heading + n - strlen(unit), unit) == 0)
		shown->heading[n - strlen(unit)] = '\0';
}

/* Puts the words of a heading on lines, none wider than its longest word and the cells need. */
static void wrap(struct shown_column *shown)
{
	char *line = shown->heading, *word = line;

	shorten(shown);
	shown->width = shown->cells_width;
	for (size_t at = 0, n; line[at]; at += n + (line[at + n] != '\0')) {
		n = strcspn(line + at, "_");
		shown->width = n > shown->width ? (uint32_t)n : shown->width;
	}
	while (*(word += strcspn(word, "_"))) {
		*word++ = ' ';
		if ((size_t)(word - line) + strcspn(word, "_") <= shown->width)
			continue;
		word[-1] = '\0';
		line = word;
		shown->n_lines++;
	}
}

/* Which column goes first where there is no room: the last share, else the last one, but
 * not that by which rows are sorted. */
static uint32_t least(const struct layout *layout, uint32_t sorted_by)
{
	uint32_t i = layout->n, last = layout->n - 1;

	while (i > 0 &&
	       (!layout->shown[i - 1].is_share || layout->shown[i - 1].column == sorted_by))
		i--;
	return i > 0 ? i - 1 : last - (layout->shown[last].column == sorted_by);
}

/* Makes room: headings on several lines, then columns left out, all but two, though texts are cut;
 * returns how many. */
static uint32_t make_room(struct layout *layout, const struct table_view *view, uint32_t sorted_by)
{
	uint32_t n_before = layout->n;

	if (sum_widths(layout, NAME_TEXT_WIDTH) <= view->width)
		return 0;
	for (uint32_t i = 0; i < layout->n; i++)
		wrap(&layout->shown[i]);
	while (!view->columns && layout->n > 2 &&
	       sum_widths(layout, NAME_TEXT_WIDTH) > view->width) {
		uint32_t i = least(layout, sorted_by);

		free(layout->shown[i].heading);
		memmove(&layout->shown[i], &layout->shown[i + 1],
		        (--layout->n - i) * sizeof(*layout->shown));
	}
	for (uint32_t i = 0; i < layout->n; i++) {
		if (layout->shown[i].n_lines > layout->n_lines)
			layout->n_lines = layout->shown[i].n_lines;
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

static void print_cell(const struct layout *layout, uint32_t i, const char *text, FILE *to)
{
	const struct shown_column *shown = &layout->shown[i];
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

/* Headings stand on the lowest of their lines. */
static void print_headings(const struct layout *layout, FILE *to)
{
	for (uint32_t line = layout->n_lines; line > 0; line--) {
		fputs(cli_style(to, CLI_BOLD), to);
		for (uint32_t i = 0; i < layout->n; i++) {
			const struct shown_column *shown = &layout->shown[i];
			const char *text = shown->heading;

			for (uint32_t n = shown->n_lines; n > line; n--)
				text += strlen(text) + 1;
			print_cell(layout, i, shown->n_lines < line ? "" : text, to);
		}
		fprintf(to, "%s\n", cli_style(to, CLI_PLAIN));
	}
}

static void print_row(char *const *cells, const struct layout *layout, FILE *to)
{
	for (uint32_t i = 0; i < layout->n; i++) {
		const struct shown_column *shown = &layout->shown[i];
		char room[HUMAN_BYTES];

		print_cell(layout, i, cell_text(shown, cells[shown->column], room), to);
	}
	fputc('\n', to);
}

/* What own times add up to, and of which rows. */
static void print_sums(const struct csv_table *table, FILE *to)
{
	const char *before = ": ";
	char room[HUMAN_BYTES];

	if (!table->summed)
		return;
	fputs("in all", to);
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (csv_table_is_group(table->columns[i]) && *table->summed[i])
			cli_print(to, ", %s %s", table->columns[i], table->summed[i]);
	}
	for (uint32_t i = 0; i < table->n_columns; i++) {
		const char *name = table->columns[i];

		if (!csv_table_adds_up(name))
			continue;
		cli_print(to, "%s%.*s %s", before, (int)strlen(name) - 3, name,
		          human_time((double)table->sums[i], room));
		before = ", ";
	}
	fputc('\n', to);
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
		if (view->width) {
			*ret_n_hidden = make_room(&layout, view, table->sorted_by);
			fit(&layout, view->width);
		}
		if (view->width && !view->columns)
			print_same(table, to);
		print_headings(&layout, to);
		for (uint64_t r = 0; r < table->n_rows; r++)
			print_row(table->rows[r].cells, &layout, to);
		if (view->is_human)
			print_sums(table, to);
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
	if (code < 0)
		writer_abandon(&writer);
	else if (writer_print(&writer, to) < 0)
		code = error_memory(error);
	layout_release(&layout);
	return code;
}
