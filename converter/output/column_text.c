/* SPDX-License-Identifier: Apache-2.0 */
#include "column_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/timeline/column_cell.h"
#include "output/column_json.h"

static inline void write_number(const struct column *column, const struct cell *cell,
                                struct writer *writer)
{
	if (cell->kind == CELL_NUMBER)
		writer_u64(writer, cell->number);
	else if (cell->kind == CELL_SIGNED)
		writer_i64(writer, cell->signed_number);
	else if (column->n_decimals < 0)
		writer_double(writer, cell->real);
	else
		writer_fixed(writer, cell->real, column->n_decimals);
}

/* -- CSV ------------------------------------------------------------------------------------- */

#define MAX_HEADS 8u

/* Whose a row is: what its first columns tell, as the row before told it. */
struct heads {
	struct writer cells; /* memory */
	uint32_t n;          /* columns */
	uint32_t n_offsets;  /* in the row, of their indexes */
	uint32_t offsets[MAX_HEADS], indexes[MAX_HEADS];
};

struct csv_sink {
	struct row_sink sink;   /* first */
	struct writer *writer;  /* weak; NULL: no CSV */
	struct writer *file;    /* weak: told of a failure in any case */
	struct json_rows *json; /* weak */
	struct heads heads;
	struct writer_high_digits times; /* of the time before */
};

void column_write_names(struct writer *writer, const struct column *columns, uint32_t n_columns)
{
	for (uint32_t i = 0; i < n_columns; i++) {
		writer_csv(writer, columns[i].name, strlen(columns[i].name));
		writer_char(writer, i + 1 < n_columns ? ',' : '\n');
	}
}

char *column_describe(const struct column *columns, uint32_t n_columns)
{
	struct writer writer;
	char *text;

	writer_open_memory(&writer);
	for (uint32_t i = 0; i < n_columns; i++) {
		const char *unit = column_unit(columns[i].name);

		writer_raw(&writer, i ? ", {\"name\": " : "[{\"name\": ");
		writer_json(&writer, columns[i].name, strlen(columns[i].name));
		writer_raw(&writer, ", \"type\": \"");
		writer_raw(&writer, column_type_name(&columns[i]));
		if (*unit) {
			writer_raw(&writer, "\", \"unit\": \"");
			writer_raw(&writer, unit);
		}
		writer_raw(&writer, "\"}");
	}
	writer_raw(&writer, "]");
	writer_char(&writer, '\0');
	text = writer_failed(&writer) ? NULL : strdup(writer.buffer);
	writer_abandon(&writer);
	return text;
}

/* Tells run.json of the columns of the file. */
static void describe(struct file_count *count, const struct column *columns, uint32_t n_columns,
                     struct writer *of_file)
{
	count->columns = column_describe(columns, n_columns);
	if (!count->columns)
		of_file->failure = ENOMEM;
}

/* Whether 32 bits of the row tell all that stands in a column. */
static bool is_index(const struct column *column)
{
	return column->type >= COLUMN_TYPE_STRING || column->type == COLUMN_TYPE_U32;
}

static void find_heads(struct heads *heads, const struct row_sink *sink)
{
	for (; heads->n < sink->n_columns && is_index(&sink->columns[heads->n]); heads->n++) {
		uint32_t offset_bytes = sink->columns[heads->n].offset_bytes;

		if (heads->n_offsets && heads->offsets[heads->n_offsets - 1] == offset_bytes)
			continue;
		if (heads->n_offsets == MAX_HEADS)
			return;
		heads->offsets[heads->n_offsets++] = offset_bytes;
	}
}

static void begin(struct row_sink *sink)
{
	struct csv_sink *csv = (struct csv_sink *)sink;

	csv->json->columns = sink->columns;
	csv->json->n_columns = sink->n_columns;
	describe(sink->count, sink->columns, sink->n_columns, csv->file);
	if (!csv->writer)
		return;
	column_write_names(csv->writer, sink->columns, sink->n_columns);
	find_heads(&csv->heads, sink);
}

static inline void write_cell(const struct column *column, const struct cell *cell,
                              struct writer *writer)
{
	if (cell->kind == CELL_TEXT && cell->is_plain)
		writer_append(writer, cell->text, cell->n_bytes);
	else if (cell->kind == CELL_TEXT)
		writer_csv(writer, cell->text, cell->n_bytes);
	else if (cell->kind != CELL_EMPTY)
		write_number(column, cell, writer);
}

void column_write_cell(const struct column *column, const void *row,
                       const struct timeline *timeline, struct writer *writer)
{
	const struct cell cell = column_read(column, row, timeline);

	write_cell(column, &cell, writer);
}

static inline void write_digits(struct writer *writer, uint64_t number)
{
	char *at = writer_room(writer, WRITER_NUMBER_BYTES + 1);

	if (!at)
		return;
	at = put_u64(at, number);
	*at = ',';
	writer->at = at + 1;
}

static void write_time(struct csv_sink *csv, int64_t time_ns)
{
	if (time_ns < 0)
		writer_i64(csv->writer, time_ns);
	else
		writer_near(csv->writer, &csv->times, (uint64_t)time_ns);
}

/* Writes some cells, and a comma behind each: of many rows, which tell numbers most of all. */
static void write_cells(struct csv_sink *csv, uint32_t first, uint32_t end, const void *row)
{
	const struct column *column = csv->sink.columns + first;
	struct writer *writer = csv->writer;

	for (; column < csv->sink.columns + end; column++) {
		const struct cell cell = column_cell(column, row, csv->sink.timeline);

		if (cell.kind == CELL_NUMBER) {
			write_digits(writer, cell.number);
			continue;
		}
		if (cell.kind == CELL_SIGNED && column->type == COLUMN_TYPE_TIME)
			write_time(csv, cell.signed_number);
		else
			write_cell(column, &cell, writer);
		writer_char(writer, ',');
	}
}

/* In the place of the last comma. */
static void end_line(struct writer *writer)
{
	if (!writer_failed(writer))
		writer->at[-1] = '\n';
}

void column_write_row(struct writer *writer, const struct column *columns, uint32_t n_columns,
                      const void *row)
{
	struct csv_sink csv = {.sink = {.columns = columns}, .writer = writer};

	write_cells(&csv, 0, n_columns, row);
	end_line(writer);
}

static void write_heads(struct csv_sink *csv, const void *row)
{
	struct heads *heads = &csv->heads;
	struct writer *writer = csv->writer;
	bool is_same = heads->cells.at != heads->cells.buffer;

	for (uint32_t i = 0; i < heads->n_offsets; i++) {
		uint32_t index = *(const uint32_t *)((const char *)row + heads->offsets[i]);

		is_same &= heads->indexes[i] == index;
		heads->indexes[i] = index;
	}
	if (!is_same) {
		heads->cells.at = heads->cells.buffer;
		heads->cells.replaced_bytes = 0;
		csv->writer = &heads->cells;
		write_cells(csv, 0, heads->n, row);
		csv->writer = writer;
	}
	if (writer_failed(&heads->cells)) {
		writer->failure = heads->cells.failure;
		return;
	}
	writer_append(writer, heads->cells.buffer, (size_t)(heads->cells.at - heads->cells.buffer));
	writer->replaced_bytes += heads->cells.replaced_bytes;
}

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return (*text == '-' || (*text >= '0' && *text <= '9')) && end != text && !*end;
}

/* As another tool wrote it: a number below 0 is no formula. */
static void write_foreign(const char *text, struct writer *writer)
{
	if (is_number(text))
		writer_raw(writer, text);
	else
		writer_csv(writer, text, strlen(text));
}

static void put_foreign(struct csv_sink *csv, const void *row)
{
	for (uint32_t i = 0; i < csv->sink.n_columns; i++) {
		if (csv->sink.instead[i])
			write_foreign(csv->sink.instead[i], csv->writer);
		else
			column_write_cell(&csv->sink.columns[i], row, csv->sink.timeline,
			                  csv->writer);
		writer_char(csv->writer, ',');
	}
}

static void put_row(struct row_sink *sink, const void *row)
{
	struct csv_sink *csv = (struct csv_sink *)sink;
	uint32_t n = csv->heads.n;

	if (json_rows_wants(csv->json))
		json_rows_put(csv->json, row, sink->timeline, sink->instead);
	if (!csv->writer)
		return;
	if (sink->instead) {
		put_foreign(csv, row);
	} else {
		if (n)
			write_heads(csv, row);
		write_cells(csv, n, sink->n_columns, row);
	}
	end_line(csv->writer);
}

/* -- files ----------------------------------------------------------------------------------- */

/* A file in all of its forms. */
struct forms {
	struct text_sink to; /* first */
	struct writer lines_file;
	struct line_sink lines;
	struct json_rows json;
	bool has_csv;
};

void column_lines_name(char name[64], const char *csv_name)
{
	const char *dot = strrchr(csv_name, '.');

	snprintf(name, 64, "%.*s.jsonl", (int)(dot ? dot - csv_name : 50), csv_name);
}

static int fill_table(const struct column_table *table, const struct findings *findings,
                      struct forms *forms)
{
	struct csv_sink csv = {
		.sink = {.begin = begin,
	                 .put = put_row,
	                 .timeline = findings ? findings->timeline : NULL,
	                 .count = forms->to.count},
		.writer = forms->has_csv ? &forms->to.writer : NULL,
		.file = &forms->to.writer,
		.json = &forms->json,
	};
	int code;

	writer_open_memory(&csv.heads.cells);
	if (table->columns)
		row_begin(&csv.sink, table->columns, table->n_columns);
	code = table->fill(findings, &csv.sink);
	writer_abandon(&csv.heads.cells);
	return code;
}

/* Lines go past here only while somebody wants them as JSON. */
static void take_line(struct text_sink *to)
{
	struct forms *forms = (struct forms *)to;
	struct writer *line = &forms->lines.line;

	if (forms->has_csv)
		writer_append(&to->writer, line->buffer, (size_t)(line->at - line->buffer));
	to->writer.replaced_bytes += line->replaced_bytes;
	line->replaced_bytes = 0;
	writer_char(line, '\0');
	if (writer_failed(line))
		to->writer.failure = line->failure;
	else
		json_rows_put_line(&forms->json, line->buffer);
	line->at = line->buffer;
	if (forms->has_csv && !json_rows_wants(&forms->json))
		to->lines = NULL;
}

static int write_file(const struct result_file *file, const struct findings *findings,
                      struct forms *forms)
{
	const struct column_table *table = &file->table;

	if (!file->write)
		return fill_table(table, findings, forms);
	if (table->columns) {
		if (forms->has_csv)
			column_write_names(&forms->to.writer, table->columns, table->n_columns);
		describe(forms->to.count, table->columns, table->n_columns, &forms->to.writer);
		forms->json.columns = table->columns;
		forms->json.n_columns = table->n_columns;
		forms->lines.take = take_line;
		if (!forms->has_csv || json_rows_wants(&forms->json))
			forms->to.lines = &forms->lines;
	}
	return file->write(findings, &forms->to);
}

static bool is_table(const struct result_file *file)
{
	return file->table.columns || file->table.fill;
}

/* What is no table has one form. */
static bool is_wanted(const struct result_file *file, const struct save_place *place)
{
	return file->is_on_top || place->has_csv || is_table(file);
}

/* On failure nothing is open. */
static int open_forms(struct forms *forms, const struct result_file *file,
                      const struct save_place *place, struct flextrace_error *error)
{
	char name[64];
	int code;

	forms->has_csv = place->has_csv || file->is_on_top;
	forms->json.n_to_capture = is_table(file) ? place->n_captured : 0;
	forms->json.limit_bytes = place->n_captured * COLUMN_JSON_ROW_BYTES +
	                          COLUMN_JSON_LEAST_BYTES;
	writer_open_memory(&forms->lines.line);
	writer_open_memory(&forms->json.captured);
	writer_open_memory(&forms->lines_file);
	writer_open_memory(&forms->to.writer);
	if (forms->has_csv)
		FLEXTRACE_TRY(writer_open(&forms->to.writer, place->dir, file->name, false, error));
	if (!is_table(file) || !place->has_lines)
		return FLEXTRACE_OK;
	column_lines_name(name, file->name);
	code = writer_open(&forms->lines_file, place->dir, name, false, error);
	if (code < 0) {
		writer_abandon(&forms->to.writer);
		return code;
	}
	forms->json.lines = &forms->lines_file;
	forms->to.count->has_lines = true;
	return FLEXTRACE_OK;
}

static int keep_captured(struct writer *captured, struct file_count *count)
{
	bool has_failed = writer_failed(captured);

	if (!has_failed && captured->at != captured->buffer) {
		captured->at[-1] = '\0'; /* the last comma */
		count->captured = strdup(captured->buffer);
		has_failed = !count->captured;
	}
	writer_abandon(captured);
	return has_failed ? FLEXTRACE_E_MEMORY : FLEXTRACE_OK;
}

/* Of a table that is absent, and on failure, nothing stays. */
static int close_forms(struct forms *forms, int code, struct flextrace_error *error)
{
	struct file_count *count = forms->to.count;
	bool has_csv = forms->has_csv && !count->is_absent;
	bool has_lines = forms->json.lines && !count->is_absent;

	count->replaced_bytes = forms->has_csv ? forms->to.writer.replaced_bytes
	                                       : forms->lines_file.replaced_bytes;
	writer_abandon(&forms->lines.line);
	if (code >= 0 && has_lines)
		code = writer_close(&forms->lines_file, error);
	if (code >= 0 && has_csv)
		code = writer_close(&forms->to.writer, error);
	writer_abandon(&forms->lines_file);
	writer_abandon(&forms->to.writer);
	return code;
}

int column_save(const struct result_file *file, const struct findings *findings,
                const struct save_place *place, struct file_count *ret_count,
                struct flextrace_error *error)
{
	struct forms forms = {.to = {.dir = place->dir, .error = error, .count = ret_count}};
	int code;

	*ret_count =
		(struct file_count){.file = file->name, .title = file->title, .what = file->what};
	ret_count->is_absent = !is_wanted(file, place);
	if (ret_count->is_absent)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(open_forms(&forms, file, place, error));
	code = write_file(file, findings, &forms);
	if (keep_captured(&forms.json.captured, ret_count) < 0 ||
	    (!forms.has_csv && writer_failed(&forms.to.writer)))
		code = FLEXTRACE_E_MEMORY;
	if (code == FLEXTRACE_E_MEMORY)
		error_set(error, code, "Cannot write %s: no memory", file->name);
	if (code >= 0 && !ret_count->has_classes) /* what was found is all there is */
		ret_count->expected = ret_count->rows + ret_count->left_out;
	ret_count->is_absent = !ret_count->rows && !file->is_on_top && !place->keeps_empty &&
	                       !writer_failed(&forms.to.writer);
	return close_forms(&forms, code, error);
}

/* -- JSON ------------------------------------------------------------------------------------ */

void column_write_json(const struct column *columns, uint32_t n_columns, const void *row,
                       struct writer *writer)
{
	for (uint32_t i = 0; i < n_columns; i++) {
		const struct column *column = &columns[i];
		const struct cell cell = column_read(column, row, NULL);

		writer_literal(writer, ",\"");
		writer_raw(writer, column->name);
		writer_literal(writer, "\":");
		if (cell.kind == CELL_EMPTY)
			writer_literal(writer, "null");
		else if (cell.kind == CELL_TEXT)
			writer_json(writer, cell.text, cell.n_bytes);
		else
			write_number(column, &cell, writer);
	}
}
