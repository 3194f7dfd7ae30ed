/* SPDX-License-Identifier: Apache-2.0 */
#include "column_text.h"

#include <math.h>

static const void *place_of(const struct column *column, const void *row)
{
	return (const char *)row + column->offset_bytes;
}

static const char *text_at(const void *place)
{
	return *(const char *const *)place;
}

static bool is_none(const struct column *column, const void *place)
{
	switch ((enum column_type)column->type) {
	case COLUMN_TYPE_TEXT:
		return !text_at(place);
	case COLUMN_TYPE_BOOL:
	case COLUMN_TYPE_U16:
		return false;
	case COLUMN_TYPE_U32:
		return column->is_optional && *(const uint32_t *)place == COLUMN_NONE_U32;
	case COLUMN_TYPE_U64:
		return column->is_optional && *(const uint64_t *)place == COLUMN_NONE_U64;
	case COLUMN_TYPE_I64:
		return column->is_optional && *(const int64_t *)place == COLUMN_NONE_I64;
	case COLUMN_TYPE_REAL:
		return !isfinite(*(const double *)place);
	}
	return true;
}

static void write_number(const struct column *column, const void *place, struct writer *writer)
{
	if (column->type == COLUMN_TYPE_BOOL)
		writer_u64(writer, *(const bool *)place);
	else if (column->type == COLUMN_TYPE_U16)
		writer_u64(writer, *(const uint16_t *)place);
	else if (column->type == COLUMN_TYPE_U32)
		writer_u64(writer, *(const uint32_t *)place);
	else if (column->type == COLUMN_TYPE_U64)
		writer_u64(writer, *(const uint64_t *)place);
	else if (column->type == COLUMN_TYPE_I64)
		writer_i64(writer, *(const int64_t *)place);
	else if (column->n_decimals == COLUMN_SHORTEST)
		writer_double(writer, *(const double *)place);
	else
		writer_fixed(writer, *(const double *)place, column->n_decimals);
}

/* -- CSV ------------------------------------------------------------------------------------- */

struct csv_sink {
	struct row_sink sink;             /* first */
	const struct column_table *table; /* weak, both */
	struct writer *writer;
};

static void write_names(const struct column_table *table, struct writer *writer)
{
	for (uint32_t i = 0; i < table->n_columns; i++) {
		writer_raw(writer, table->columns[i].name);
		writer_char(writer, i + 1 < table->n_columns ? ',' : '\n');
	}
}

static void write_cell(const struct column *column, const void *row, struct writer *writer)
{
	const void *place = place_of(column, row);

	if (is_none(column, place))
		return;
	if (column->type == COLUMN_TYPE_TEXT)
		writer_csv(writer, text_at(place), strlen(text_at(place)));
	else
		write_number(column, place, writer);
}

static void put_row(struct row_sink *sink, const void *row)
{
	struct csv_sink *csv = (struct csv_sink *)sink;

	for (uint32_t i = 0; i < csv->table->n_columns; i++) {
		write_cell(&csv->table->columns[i], row, csv->writer);
		writer_char(csv->writer, i + 1 < csv->table->n_columns ? ',' : '\n');
	}
}

static int fill_table(const struct column_table *table, const struct findings *findings,
                      struct text_sink *to)
{
	struct csv_sink csv = {.sink = {.put = put_row}, .table = table, .writer = &to->writer};
	int code;

	write_names(table, &to->writer);
	code = table->fill(findings, &csv.sink);
	to->n = csv.sink.n;
	return code;
}

int column_save(const struct result_file *file, const struct findings *findings,
                const char *output_dir, struct column_saved *ret_saved,
                struct flextrace_error *error)
{
	struct text_sink to = {.dir = output_dir, .error = error};
	int code;

	*ret_saved = (struct column_saved){0};
	FLEXTRACE_TRY(writer_open(&to.writer, output_dir, file->name, false, error));
	code = file->write ? file->write(findings, &to) : fill_table(&file->table, findings, &to);
	if (code < 0)
		writer_abandon(&to.writer);
	if (code == FLEXTRACE_E_MEMORY)
		error_set(error, code, "Cannot write %s: no memory", file->name);
	FLEXTRACE_TRY(code);
	*ret_saved = (struct column_saved){to.n, to.writer.replaced_bytes};
	return writer_close(&to.writer, error);
}

/* -- JSON ------------------------------------------------------------------------------------ */

void column_write_json(const struct column *columns, uint32_t n_columns, const void *row,
                       struct writer *writer)
{
	for (uint32_t i = 0; i < n_columns; i++) {
		const struct column *column = &columns[i];
		const void *place = place_of(column, row);

		writer_literal(writer, ",\"");
		writer_raw(writer, column->name);
		writer_literal(writer, "\":");
		if (is_none(column, place))
			writer_literal(writer, "null");
		else if (column->type == COLUMN_TYPE_TEXT)
			writer_json(writer, text_at(place), strlen(text_at(place)));
		else
			write_number(column, place, writer);
	}
}
