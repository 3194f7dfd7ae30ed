/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.csv: a line for each operation and device, with the columns that tt-metal's report has today
 * in their order, then those of its documentation that have other names there, then ours, then
 * those of the functions, then those that only a report has. What nobody told is empty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ops.h"

/* A row: the struct, then those of all tensors, inputs first, then those of all functions. */
struct row_block {
	struct ops_row row;
	struct ops_tensor tensors[];
};

static size_t functions_offset(const struct ops *ops)
{
	return sizeof(struct row_block) +
	       ((size_t)ops->n_inputs + ops->n_outputs) * sizeof(struct ops_tensor);
}

/* -- tensors --------------------------------------------------------------------------------- */

#define MAX_DIMS 16

struct dim {
	uint64_t padded, logical;
};

/* Reads "32" or "32[19]" and what parts it from the next; NULL: it is neither. */
static const char *read_dim(const char *text, struct dim *ret_dim)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	ret_dim->padded = ret_dim->logical = strtoull(text, &end, 10);
	if (*end == '[') {
		ret_dim->logical = strtoull(end + 1, &end, 10);
		if (*end++ != ']')
			return NULL;
	}
	return *end == 'x' || *end == ',' ? end + 1 : end;
}

/* Reads "2x3x4" into the last dims, with 1 in front; what is more multiplies the first. */
static bool read_dims(const char *text, struct dim dims[OPS_N_DIMS])
{
	struct dim all[MAX_DIMS];
	uint32_t n = 0;

	for (; *text && n < MAX_DIMS; n++) {
		text = read_dim(text, &all[n]);
		if (!text)
			return false;
	}
	if (n == 0 || *text)
		return false;
	for (uint32_t i = 0; i < OPS_N_DIMS; i++)
		dims[i] = (struct dim){1, 1};
	for (uint32_t i = 0; i < n; i++) {
		struct dim *dim = &dims[n - i > OPS_N_DIMS ? 0 : OPS_N_DIMS - (n - i)];

		dim->padded *= all[i].padded;
		dim->logical *= all[i].logical;
	}
	return true;
}

static void fill_tensor(const struct ops *ops, const struct op_tensor *of, struct ops_tensor *ret)
{
	const struct string_pool *strings = ops->timeline->strings;
	struct dim dims[OPS_N_DIMS];

	ret->layout = string_get(strings, of->layout);
	ret->dtype = string_get(strings, of->dtype);
	ret->memory = string_get(strings, of->memory);
	if (!read_dims(string_get(strings, of->dims), dims))
		return;
	for (uint32_t i = 0; i < OPS_N_DIMS; i++) {
		ret->padded[i] = dims[i].padded;
		snprintf(ret->texts[i], sizeof(ret->texts[i]), "%llu[%llu]",
		         (unsigned long long)dims[i].padded, (unsigned long long)dims[i].logical);
		ret->dims[i] = ret->texts[i];
	}
}

static void fill_tensors(const struct ops *ops, const struct op_call *call,
                         struct ops_tensor *tensors)
{
	uint32_t n_inputs = 0, n_outputs = 0;

	for (uint32_t i = 0; i < ops->n_inputs + ops->n_outputs; i++)
		tensors[i] = (struct ops_tensor){.padded = {COLUMN_NONE_U64, COLUMN_NONE_U64,
		                                            COLUMN_NONE_U64, COLUMN_NONE_U64}};
	for (uint32_t i = 0; i < call->n_tensors; i++) {
		const struct op_tensor *of =
			&ops->timeline->op_calls.tensors[call->first_tensor + i];

		fill_tensor(ops, of,
		            &tensors[of->is_output ? ops->n_inputs + n_outputs++ : n_inputs++]);
	}
}

/* -- functions ------------------------------------------------------------------------------- */

static void fill_functions(const struct ops *ops, const struct ops_line *line,
                           struct row_block *block)
{
	struct ops_function *functions = (void *)((char *)block + functions_offset(ops));

	for (uint32_t i = 0; i < ops->n_names; i++) {
		uint32_t found = map_find(&ops->call_index, (uint64_t)(line - ops->lines),
		                          ops->names[i]);
		const struct ops_call *call = found == MAP_NONE ? NULL : &ops->calls[found];

		functions[i] = (struct ops_function){COLUMN_NONE_U64, COLUMN_NONE_U64,
		                                     COLUMN_NONE_U64};
		if (call)
			functions[i] = (struct ops_function){call->n, call->total_ns / call->n,
			                                     call->total_ns};
	}
}

/* -- columns --------------------------------------------------------------------------------- */

/* Makes a column whose name has `which` where that of `of` has a star. */
static int add_column(struct ops *ops, const struct column *of, const char *which,
                      size_t offset_bytes, enum ops_report report)
{
	const char *star = strchr(of->name, '*');
	char *name;

	FLEXTRACE_TRY(ARRAY_ROOM(ops->columns, ops->n_columns));
	FLEXTRACE_TRY(ARRAY_ROOM(ops->reports, ops->n_columns));
	name = star ? NULL : strdup(of->name);
	if (star &&
	    asprintf(&name, "%.*s%s%s", (int)(star - of->name), of->name, which, star + 1) < 0)
		name = NULL;
	if (!name)
		return FLEXTRACE_E_MEMORY;
	ops->reports[ops->n_columns] = report;
	ops->columns[ops->n_columns] = *of;
	ops->columns[ops->n_columns].name = name;
	ops->columns[ops->n_columns++].offset_bytes += (uint32_t)offset_bytes;
	return FLEXTRACE_OK;
}

static const struct column extra = COLUMN_AS("*", struct ops_row, unknown);

int ops_add_extra(struct ops *ops, const char *name)
{
	return add_column(ops, &extra, name, 0, REPORT_HAS);
}

/* The columns of a group for one thing that it is about. */
static int add_columns(struct ops *ops, const struct ops_group *group, const char *which,
                       size_t offset_bytes)
{
	enum ops_report report = group->may_be_reported ? REPORT_MAY_HAVE : REPORT_CANNOT_HAVE;

	for (uint32_t i = 0; i < group->n; i++)
		FLEXTRACE_TRY(add_column(ops, &group->columns[i], which, offset_bytes, report));
	return FLEXTRACE_OK;
}

static int add_tensors(struct ops *ops, const struct ops_group *group)
{
	bool are_outputs = group->each == OPS_EACH_OUTPUT;
	size_t first = are_outputs ? ops->n_inputs : 0;
	char number[16];

	for (uint32_t i = 0; i < (are_outputs ? ops->n_outputs : ops->n_inputs); i++) {
		snprintf(number, sizeof(number), "%u", i);
		FLEXTRACE_TRY(add_columns(ops, group, number,
		                          sizeof(struct row_block) +
		                                  (first + i) * sizeof(struct ops_tensor)));
	}
	return FLEXTRACE_OK;
}

static int add_functions(struct ops *ops, const struct ops_group *group)
{
	size_t offset_bytes = functions_offset(ops);

	for (uint32_t i = 0; i < ops->n_names; i++, offset_bytes += sizeof(struct ops_function))
		FLEXTRACE_TRY(add_columns(ops, group,
		                          string_get(ops->timeline->strings, ops->names[i]),
		                          offset_bytes));
	return FLEXTRACE_OK;
}

static int add_group(struct ops *ops, const struct ops_group *group)
{
	if (group->each == OPS_ONCE)
		return add_columns(ops, group, "", 0);
	return group->each == OPS_EACH_FUNCTION ? add_functions(ops, group)
	                                        : add_tensors(ops, group);
}

/* -- lines ----------------------------------------------------------------------------------- */

struct lines {
	struct ops *ops; /* weak, both */
	struct row_sink *sink;
	struct row_block *block; /* owned, both */
	const char **given;      /* by column */
};

static void put_line(const struct lines *to, const struct ops_line *line,
                     const struct ops_work *work, const cJSON *given)
{
	to->block->row = ops_row_of(to->ops, line, work);
	fill_tensors(to->ops, line->call, to->block->tensors);
	fill_functions(to->ops, line, to->block);
	ops_list_given(to->ops, given, work && work->firmware.n, to->given);
	row_put(to->sink, to->block);
}

/* What an operation did on the device with a number; NULL: nothing. */
static const struct ops_work *work_on(const struct ops *ops, const struct ops_line *line,
                                      uint32_t number)
{
	for (uint32_t i = line->first_work; i != FLEXTRACE_NONE; i = ops->works[i].next) {
		if (ops->timeline->identity->devices[ops->works[i].device].device == number)
			return &ops->works[i];
	}
	return NULL;
}

/* Whether a line of the report is about the device. */
static bool is_reported(const struct ops *ops, const cJSON *lines, const struct ops_work *work)
{
	const cJSON *line;

	cJSON_ArrayForEach(line, lines)
	{
		if (ops_given_device(line) == ops->timeline->identity->devices[work->device].device)
			return true;
	}
	return false;
}

static void put_operation(const struct lines *to, const struct ops_line *line)
{
	const struct ops *ops = to->ops;
	cJSON *given = ops_parse_given(ops, line);
	const cJSON *lines = ops_given_lines(given), *told;

	cJSON_ArrayForEach(told, lines)
		put_line(to, line, work_on(ops, line, ops_given_device(told)), told);
	for (uint32_t i = line->first_work; i != FLEXTRACE_NONE; i = ops->works[i].next) {
		if (!is_reported(ops, lines, &ops->works[i]))
			put_line(to, line, &ops->works[i], NULL);
	}
	if (line->first_work == FLEXTRACE_NONE && !cJSON_GetArraySize(lines))
		put_line(to, line, NULL, NULL);
	cJSON_Delete(given);
}

int ops_put(struct ops *ops, struct row_sink *sink)
{
	struct lines to = {.ops = ops, .sink = sink};
	int code = FLEXTRACE_OK;

	for (int i = 0; i < OPS_N_GROUPS && code == FLEXTRACE_OK; i++)
		code = add_group(ops, &ops_groups[i]);
	if (code == FLEXTRACE_OK)
		code = ops_learn_given(ops);
	to.block = malloc(functions_offset(ops) + ops->n_names * sizeof(struct ops_function));
	to.given = calloc(ops->n_columns + 1ull, sizeof(*to.given));
	if (!to.block || !to.given)
		code = FLEXTRACE_E_MEMORY;
	if (code == FLEXTRACE_OK) {
		row_begin(sink, ops->columns, ops->n_columns);
		sink->instead = to.given;
		for (uint32_t i = 0; i < ops->n_lines; i++)
			put_operation(&to, &ops->lines[i]);
	}
	free(to.block);
	free(to.given);
	return code;
}
