/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ops report of tt-metal told of operations, see formats/tt-metal/tt_report_impl.h: a line
 * of ops.csv for each of its lines, with the cells as they stand there. Columns that ops.csv lacks
 * come last.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ops.h"

static bool is_given(const char *text)
{
	static const char begin[] = "{\"ops report\":[";

	return strncmp(text, begin, sizeof(begin) - 1) == 0;
}

cJSON *ops_parse_given(const struct ops *ops, const struct ops_line *line)
{
	const char *text = string_get(ops->timeline->strings, line->given);

	return is_given(text) ? cJSON_Parse(text) : NULL;
}

/* -- lines without a call --------------------------------------------------------------------- */

static int add_line(struct ops *ops, const struct tick_op *op, uint64_t *numbers)
{
	static const struct op_call none = {.type = 0};
	uint32_t process = ops->timeline->identity->devices[op->device].process;

	FLEXTRACE_TRY(ARRAY_RESERVE(ops->lines, ops->n_lines_allocated, ops->n_lines + 1ull));
	ops->lines[ops->n_lines++] = (struct ops_line){
		.row = {.name = op->name, .correlation = op->correlation, .status = op->status},
		.call = &none,
		.given = op->type,
		.process = process,
		.thread = FLEXTRACE_NONE,
		.number = ++numbers[process],
		.first_work = FLEXTRACE_NONE,
	};
	return FLEXTRACE_OK;
}

int ops_add_given(struct ops *ops, uint64_t *numbers)
{
	const struct timeline *timeline = ops->timeline;
	struct table_cursor cursor;
	const struct device_row *row;

	timeline_read_ops(&cursor, timeline);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		const struct tick_op *op;

		if (row->kind != ROW_EXEC)
			continue;
		op = &timeline->ops[row->source];
		if (op->type && is_given(string_get(timeline->strings, op->type)))
			FLEXTRACE_TRY(add_line(ops, op, numbers));
	}
	return FLEXTRACE_OK;
}

/* -- cells ------------------------------------------------------------------------------------ */

const cJSON *ops_given_lines(const cJSON *given)
{
	return cJSON_GetObjectItemCaseSensitive(given, "ops report");
}

static const char *find_cell(const cJSON *given, const char *column)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(given, column));
}

uint32_t ops_given_device(const cJSON *given)
{
	const char *text = find_cell(given, "DEVICE ID");
	char *end;
	unsigned long device = text ? strtoul(text, &end, 10) : 0;

	return text && end != text && !*end && device < FLEXTRACE_NONE ? (uint32_t)device
	                                                               : FLEXTRACE_NONE;
}

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return (*text == '-' || (*text >= '0' && *text <= '9')) && end != text && !*end;
}

static void write_cell(struct writer *writer, const char *cell)
{
	if (is_number(cell))
		writer_raw(writer, cell); /* a number below 0 is no formula */
	else
		writer_csv(writer, cell, strlen(cell));
}

bool ops_write_given(const struct ops_sheet *sheet, const char *column)
{
	const char *cell;

	if (!sheet->given || !cJSON_GetObjectItemCaseSensitive(sheet->ops->given_columns, column))
		return false;
	cell = find_cell(sheet->given, column);
	if (cell)
		write_cell(sheet->writer, cell);
	return true;
}

/* -- columns that only the report has -------------------------------------------------------- */

static int learn_columns(struct ops *ops, const cJSON *lines)
{
	const cJSON *line, *cell;

	cJSON_ArrayForEach(line, lines)
	{
		cJSON_ArrayForEach(cell, line)
		{
			bool is_ours;

			if (cJSON_GetObjectItemCaseSensitive(ops->given_columns, cell->string))
				continue;
			is_ours = ops_has_column(cell->string) ||
			          ops_has_tensor_column(ops, cell->string);
			if (!cJSON_AddBoolToObject(ops->given_columns, cell->string, !is_ours))
				return FLEXTRACE_E_MEMORY;
		}
	}
	return FLEXTRACE_OK;
}

int ops_learn_given(struct ops *ops)
{
	int code = FLEXTRACE_OK;

	ops->given_columns = cJSON_CreateObject();
	if (!ops->given_columns)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < ops->n_lines && code >= 0; i++) {
		cJSON *given = ops_parse_given(ops, &ops->lines[i]);

		code = learn_columns(ops, ops_given_lines(given));
		cJSON_Delete(given);
	}
	return code;
}

void ops_write_extra_names(const struct ops *ops, struct writer *writer)
{
	const cJSON *column;

	cJSON_ArrayForEach(column, ops->given_columns)
	{
		if (!cJSON_IsTrue(column))
			continue;
		writer_char(writer, ',');
		writer_csv(writer, column->string, strlen(column->string));
	}
}

void ops_write_extras(const struct ops_sheet *sheet)
{
	const cJSON *column;

	cJSON_ArrayForEach(column, sheet->ops->given_columns)
	{
		if (!cJSON_IsTrue(column))
			continue;
		writer_char(sheet->writer, ',');
		ops_write_given(sheet, column->string);
	}
}
