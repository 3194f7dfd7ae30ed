/* SPDX-License-Identifier: Apache-2.0 */
#include "column_text.h"

#include <stdlib.h>

static void write_number(const struct column *column, const struct cell *cell,
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

struct csv_sink {
	struct row_sink sink;  /* first */
	struct writer *writer; /* weak */
};

void column_write_names(struct writer *writer, const struct column *columns, uint32_t n_columns)
{
	for (uint32_t i = 0; i < n_columns; i++) {
		writer_csv(writer, columns[i].name, strlen(columns[i].name));
		writer_char(writer, i + 1 < n_columns ? ',' : '\n');
	}
}

static void begin(struct row_sink *sink)
{
	column_write_names(((struct csv_sink *)sink)->writer, sink->columns, sink->n_columns);
}

void column_write_cell(const struct column *column, const void *row,
                       const struct timeline *timeline, struct writer *writer)
{
	const struct cell cell = column_read(column, row, timeline);

	if (cell.kind == CELL_TEXT)
		writer_csv(writer, cell.text, strlen(cell.text));
	else if (cell.kind != CELL_EMPTY)
		write_number(column, &cell, writer);
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

static void write_row(struct writer *writer, const struct row_sink *sink, const void *row)
{
	for (uint32_t i = 0; i < sink->n_columns; i++) {
		if (sink->instead && sink->instead[i])
			write_foreign(sink->instead[i], writer);
		else
			column_write_cell(&sink->columns[i], row, sink->timeline, writer);
		writer_char(writer, i + 1 < sink->n_columns ? ',' : '\n');
	}
}

static void put_row(struct row_sink *sink, const void *row)
{
	write_row(((struct csv_sink *)sink)->writer, sink, row);
}

void column_write_row(struct writer *writer, const struct column *columns, uint32_t n_columns,
                      const void *row)
{
	write_row(writer, &(struct row_sink){.columns = columns, .n_columns = n_columns}, row);
}

static int fill_table(const struct column_table *table, const struct findings *findings,
                      struct writer *writer, struct emit_file_count *count)
{
	struct csv_sink csv = {
		.sink = {.begin = begin,
	                 .put = put_row,
	                 .timeline = findings ? findings->timeline : NULL},
		.writer = writer,
	};
	int code;

	if (table->columns)
		row_begin(&csv.sink, table->columns, table->n_columns);
	code = table->fill(findings, &csv.sink);
	count->rows = count->expected = csv.sink.n;
	count->has_classes = table->has_classes;
	memcpy(count->by_class, csv.sink.by_class, sizeof(count->by_class));
	return code;
}

static int write_file(const struct result_file *file, const struct findings *findings,
                      struct text_sink *to, struct emit_file_count *count)
{
	int code;

	if (!file->write)
		return fill_table(&file->table, findings, &to->writer, count);
	code = file->write(findings, to);
	count->rows = count->expected = to->n;
	return code;
}

int column_save(const struct result_file *file, const struct findings *findings,
                const char *output_dir, struct emit_file_count *ret_count,
                struct flextrace_error *error)
{
	struct text_sink to = {.dir = output_dir, .error = error};
	int code;

	*ret_count = (struct emit_file_count){.file = file->name};
	FLEXTRACE_TRY(writer_open(&to.writer, output_dir, file->name, false, error));
	code = write_file(file, findings, &to, ret_count);
	if (code < 0)
		writer_abandon(&to.writer);
	if (code == FLEXTRACE_E_MEMORY)
		error_set(error, code, "Cannot write %s: no memory", file->name);
	FLEXTRACE_TRY(code);
	ret_count->replaced_bytes = to.writer.replaced_bytes;
	return writer_close(&to.writer, error);
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
			writer_json(writer, cell.text, strlen(cell.text));
		else
			write_number(column, &cell, writer);
	}
}
