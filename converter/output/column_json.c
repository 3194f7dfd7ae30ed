/* SPDX-License-Identifier: Apache-2.0 */
#include "column_json.h"

#include <math.h>

#include "base/text/json_scan.h"

#define MOST_EXACT (UINT64_C(1) << 53)

/* Points in time, stamps and ids, which may be beyond it: their columns are all strings. */
static bool is_wide(const struct column *column)
{
	static const char *const names[] = {
		"start_ns", "end_ns", "time_ns", "first_ns", "last_ns", "ts1",        "ts2",
		"ts3",      "ts4",    "ts5",     "address",  "job",     "correlation"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(column->name, names[i]) == 0)
			return true;
	}
	return column->type == COLUMN_TYPE_TIME;
}

static void note_wide(struct json_rows *json)
{
	if (json->wide_of == json->columns)
		return;
	json->wide_of = json->columns;
	json->wide = 0;
	for (uint32_t i = 0; i < json->n_columns && i < COLUMN_JSON_MAX; i++)
		json->wide |= (uint64_t)is_wide(&json->columns[i]) << i;
}

/* -- values ----------------------------------------------------------------------------------- */

static void write_integer(struct writer *writer, uint64_t magnitude, bool is_negative, bool is_wide)
{
	bool is_text = is_wide || magnitude > MOST_EXACT;

	if (is_text)
		writer_char(writer, '"');
	if (is_negative)
		writer_char(writer, '-');
	writer_u64(writer, magnitude);
	if (is_text)
		writer_char(writer, '"');
}

static void write_real(struct writer *writer, double real, int8_t n_decimals)
{
	bool is_text = !isfinite(real) || (n_decimals == 0 && fabs(real) > (double)MOST_EXACT);

	if (is_text)
		writer_char(writer, '"');
	if (n_decimals < 0)
		writer_double(writer, real);
	else
		writer_fixed(writer, real, n_decimals);
	if (is_text)
		writer_char(writer, '"');
}

static void write_cell(const struct column *column, const struct cell *cell, bool is_wide,
                       struct writer *writer)
{
	int64_t number = cell->signed_number;

	if (cell->kind == CELL_EMPTY || (cell->kind == CELL_TEXT && !cell->n_bytes))
		writer_literal(writer, "null");
	else if (cell->kind == CELL_TEXT)
		writer_json(writer, cell->text, cell->n_bytes);
	else if (cell->kind == CELL_NUMBER)
		write_integer(writer, cell->number, false, is_wide);
	else if (cell->kind == CELL_SIGNED)
		write_integer(writer, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0,
		              is_wide);
	else
		write_real(writer, cell->real, column->n_decimals);
}

/* Whether it is a number as JSON has it, and one that every reader keeps. */
static bool is_number(const char *text, const char *end, bool *ret_is_exact)
{
	const char *start = text + (*text == '-'), *at = json_skip_digits(start, end), *from;
	size_t n_digits = (size_t)(at - start);

	*ret_is_exact = n_digits < 16 || *at == '.';
	if (!n_digits || (*start == '0' && n_digits > 1))
		return false;
	if (*at == '.') {
		from = ++at;
		at = json_skip_digits(at, end);
		if (at == from)
			return false;
	}
	if (at < end && (*at | 0x20) == 'e') {
		at += 1 + (at[1] == '-' || at[1] == '+');
		from = at;
		at = json_skip_digits(at, end);
		*ret_is_exact = true;
		if (at == from)
			return false;
	}
	return at == end;
}

static bool is_of_text(const struct column *column)
{
	return strcmp(column_type_name(column), "text") == 0;
}

static void write_text(const struct column *column, const char *text, bool is_wide,
                       struct writer *writer)
{
	size_t n = strlen(text);
	bool is_exact;

	if (!n)
		writer_literal(writer, "null");
	else if (!is_wide && !is_of_text(column) && is_number(text, text + n, &is_exact) &&
	         is_exact)
		writer_append(writer, text, n);
	else
		writer_json(writer, text, n);
}

/* -- rows ------------------------------------------------------------------------------------- */

struct source {
	const void *row;
	const struct timeline *timeline;
	const char *const *instead;
};

static void write_value(const struct column *column, const char *instead, bool is_wide,
                        const struct source *source, struct writer *writer)
{
	struct cell cell;

	if (instead) {
		write_text(column, instead, is_wide, writer);
		return;
	}
	cell = column_read(column, source->row, source->timeline);
	write_cell(column, &cell, is_wide, writer);
}

/* An object with the names of the columns, or a list. */
static void write_row(struct json_rows *json, const struct source *source, bool is_object,
                      struct writer *writer)
{
	note_wide(json);
	writer_char(writer, is_object ? '{' : '[');
	for (uint32_t i = 0; i < json->n_columns; i++) {
		const struct column *column = &json->columns[i];

		if (i)
			writer_char(writer, ',');
		if (is_object) {
			writer_json(writer, column->name, strlen(column->name));
			writer_char(writer, ':');
		}
		write_value(column, source->instead ? source->instead[i] : NULL,
		            is_object && i < COLUMN_JSON_MAX && json->wide >> i & 1, source,
		            writer);
	}
	writer_char(writer, is_object ? '}' : ']');
	writer_char(writer, is_object ? '\n' : ',');
}

static bool is_of_window(const struct json_rows *json, const struct source *source)
{
	uint32_t i = 0;
	struct cell cell;

	while (i < json->n_columns && strcmp(json->columns[i].name, "window") != 0)
		i++;
	if (i == json->n_columns)
		return false;
	if (source->instead)
		return *source->instead[i] != '\0';
	cell = column_read(&json->columns[i], source->row, source->timeline);
	return cell.kind == CELL_TEXT ? cell.n_bytes > 0 : cell.kind != CELL_EMPTY;
}

/* A table that begins with the whole has many more rows of single windows. */
static void capture(struct json_rows *json, const struct source *source)
{
	struct writer *captured = &json->captured;
	size_t n_bytes = (size_t)(captured->at - captured->buffer);
	bool is_of_one = is_of_window(json, source);

	if (!n_bytes)
		json->shows_whole = !is_of_one;
	if (is_of_one && json->shows_whole)
		return;
	json->n_to_capture--;
	write_row(json, source, false, captured);
	if ((size_t)(captured->at - captured->buffer) <= json->limit_bytes)
		return;
	captured->at = captured->buffer + n_bytes;
	json->n_to_capture = 0;
}

void json_rows_put(struct json_rows *json, const void *row, const struct timeline *timeline,
                   const char *const *instead)
{
	const struct source source = {row, timeline, instead};

	if (json->lines)
		write_row(json, &source, true, json->lines);
	if (json->n_to_capture)
		capture(json, &source);
}

/* -- lines of CSV ------------------------------------------------------------------------------ */

/* Ends the cell at `at` with a NUL, its quotes taken off; returns where the next one begins. */
static char *take_quoted(char *at)
{
	char *to = at;

	for (; *at; at++) {
		if (*at == '"' && *++at != '"')
			break;
		*to++ = *at;
	}
	*to = '\0';
	return at + (*at != '\0');
}

static char *take_plain(char *at)
{
	at += strcspn(at, ",\n");
	if (!*at)
		return at;
	*at = '\0';
	return at + 1;
}

/* Without the apostrophe that stands before what a spreadsheet would take for a formula. */
static const char *without_guard(const char *text)
{
	const char *at = text + strspn(text, "'");

	return at > text && *at && strchr("=+-@\t\r\n", *at) ? text + 1 : text;
}

void json_rows_put_line(struct json_rows *json, char *line)
{
	const char *texts[COLUMN_JSON_MAX];

	for (uint32_t i = 0; i < json->n_columns; i++) {
		bool is_quoted = *line == '"';

		texts[i] = line + is_quoted;
		line = is_quoted ? take_quoted(line + 1) : take_plain(line);
		if (is_of_text(&json->columns[i]))
			texts[i] = without_guard(texts[i]);
	}
	json_rows_put(json, NULL, NULL, texts);
}
