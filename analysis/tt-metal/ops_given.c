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

	FLEXTRACE_TRY(ARRAY_ROOM(ops->lines, ops->n_lines));
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

	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
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

void ops_list_given(const struct ops *ops, const cJSON *given, bool is_logged, const char **ret)
{
	for (uint32_t i = 0; i < ops->n_columns; i++) {
		const struct column *column = &ops->columns[i];

		ret[i] = NULL;
		if (!given || ops->reports[i] != REPORT_HAS ||
		    (is_logged && ops_is_of_work(column)))
			continue;
		ret[i] = find_cell(given, column->name);
		if (!ret[i])
			ret[i] = "";
	}
}

/* -- columns that a report has ---------------------------------------------------------------- */

static int learn_column(struct ops *ops, const char *name)
{
	for (uint32_t i = 0; i < ops->n_columns; i++) {
		if (ops->reports[i] == REPORT_CANNOT_HAVE || strcmp(ops->columns[i].name, name))
			continue;
		ops->reports[i] = REPORT_HAS;
		return FLEXTRACE_OK;
	}
	return ops_add_extra(ops, name);
}

static int learn_columns(struct ops *ops, const cJSON *lines)
{
	const cJSON *line, *cell;

	cJSON_ArrayForEach(line, lines)
	{
		cJSON_ArrayForEach(cell, line) FLEXTRACE_TRY(learn_column(ops, cell->string));
	}
	return FLEXTRACE_OK;
}

int ops_learn_given(struct ops *ops)
{
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < ops->n_lines && code >= 0; i++) {
		cJSON *given = ops_parse_given(ops, &ops->lines[i]);

		code = learn_columns(ops, ops_given_lines(given));
		cJSON_Delete(given);
	}
	return code;
}
