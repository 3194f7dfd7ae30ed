/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.csv: a line for each operation and device, with the columns that tt-metal's report has today
 * in their order, then those of its documentation that have other names there, then ours, then
 * those of the functions. What nobody told is empty.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

/* -- tensors --------------------------------------------------------------------------------- */

#define N_DIMS   4
#define MAX_DIMS 16

struct dim {
	uint64_t padded, logical;
};

struct tensor {
	const struct op_tensor *of; /* weak; NULL: there is none */
	struct dim dims[N_DIMS];
	bool has_dims;
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
static bool read_dims(const char *text, struct dim dims[N_DIMS])
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
	for (uint32_t i = 0; i < N_DIMS; i++)
		dims[i] = (struct dim){1, 1};
	for (uint32_t i = 0; i < n; i++) {
		struct dim *dim = &dims[n - i > N_DIMS ? 0 : N_DIMS - (n - i)];

		dim->padded *= all[i].padded;
		dim->logical *= all[i].logical;
	}
	return true;
}

/* The n-th input or output of an operation. */
static struct tensor tensor_of(const struct ops_sheet *sheet, uint32_t n, uint32_t is_output)
{
	const struct timeline *timeline = sheet->ops->timeline;
	const struct op_call *call = sheet->line->call;
	struct tensor tensor = {.of = NULL};

	for (uint32_t i = 0; i < call->n_tensors; i++) {
		const struct op_tensor *of = &timeline->tensors[call->first_tensor + i];

		if (of->is_output != is_output || n--)
			continue;
		tensor.of = of;
		tensor.has_dims = read_dims(string_get(timeline->strings, of->dims), tensor.dims);
		break;
	}
	return tensor;
}

static void write_string(const struct ops_sheet *sheet, uint32_t string)
{
	const struct string_pool *strings = sheet->ops->timeline->strings;

	writer_csv(sheet->writer, string_get(strings, string), string_length(strings, string));
}

/* The columns of a tensor: as today, and those that the documentation names otherwise. */
struct tensor_form {
	const char *const *columns; /* the dims first */
	uint32_t n_columns;
	bool is_old;
};

static const char *const columns_now[] = {"W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]",
                                          "X_PAD[LOGICAL]", "LAYOUT",         "DATATYPE",
                                          "MEMORY"};
static const char *const columns_before[] = {"W", "Z", "Y", "X", "DATA TYPE"};
static const struct tensor_form form_now = {columns_now, 7, false};
static const struct tensor_form form_before = {columns_before, 5, true};

static void write_dim(const struct ops_sheet *sheet, const struct dim *dim, bool is_old)
{
	writer_u64(sheet->writer, dim->padded);
	if (is_old)
		return;
	writer_char(sheet->writer, '[');
	writer_u64(sheet->writer, dim->logical);
	writer_char(sheet->writer, ']');
}

static void write_tensor_cell(const struct ops_sheet *sheet, const struct tensor *tensor,
                              const struct tensor_form *form, uint32_t column)
{
	if (column < N_DIMS && tensor->has_dims)
		write_dim(sheet, &tensor->dims[column], form->is_old);
	if (column < N_DIMS || !tensor->of)
		return;
	if (form->is_old || column == N_DIMS + 1)
		write_string(sheet, tensor->of->dtype);
	else
		write_string(sheet, column == N_DIMS ? tensor->of->layout : tensor->of->memory);
}

#define NAME_BYTES 64

static void name_column(char name[NAME_BYTES], const struct tensor_form *form, bool is_output,
                        uint32_t tensor, uint32_t column)
{
	snprintf(name, NAME_BYTES, "%s_%u_%s", is_output ? "OUTPUT" : "INPUT", tensor,
	         form->columns[column]);
}

static void write_tensor(const struct ops_sheet *sheet, const struct tensor_form *form,
                         bool is_output, uint32_t number)
{
	const struct tensor tensor = tensor_of(sheet, number, is_output);
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < form->n_columns; i++) {
		name_column(name, form, is_output, number, i);
		if (!ops_write_given(sheet, name))
			write_tensor_cell(sheet, &tensor, form, i);
		writer_char(sheet->writer, ',');
	}
}

static void write_tensors(const struct ops_sheet *sheet, const struct tensor_form *form)
{
	for (uint32_t i = 0; i < sheet->ops->n_inputs; i++)
		write_tensor(sheet, form, false, i);
	for (uint32_t i = 0; i < sheet->ops->n_outputs; i++)
		write_tensor(sheet, form, true, i);
}

static void write_tensor_names(const struct ops *ops, const struct tensor_form *form,
                               struct writer *writer)
{
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < ops->n_inputs + ops->n_outputs; i++) {
		bool is_output = i >= ops->n_inputs;

		for (uint32_t column = 0; column < form->n_columns; column++) {
			name_column(name, form, is_output, is_output ? i - ops->n_inputs : i,
			            column);
			writer_raw(writer, name);
			writer_char(writer, ',');
		}
	}
}

static bool has_column(const struct tensor_form *form, const char *column)
{
	for (uint32_t i = 0; i < form->n_columns; i++) {
		if (strcmp(form->columns[i], column) == 0)
			return true;
	}
	return false;
}

bool ops_has_tensor_column(const struct ops *ops, const char *name)
{
	bool is_output = strncmp(name, "OUTPUT_", 7) == 0;
	unsigned int number;
	int n = 0;

	if (sscanf(name, is_output ? "OUTPUT_%u_%n" : "INPUT_%u_%n", &number, &n) != 1 || !n ||
	    number >= (is_output ? ops->n_outputs : ops->n_inputs))
		return false;
	return has_column(&form_now, name + n) || has_column(&form_before, name + n);
}

/* -- functions ------------------------------------------------------------------------------- */

static const char *const function_ends[] = {" Count", " Average", "_TT_HOST_FUNC [ns]"};

#define N_FUNCTION_ENDS (sizeof(function_ends) / sizeof(*function_ends))

/* A name may have commas and quotes. */
static void write_function_names(const struct ops *ops, struct writer *writer)
{
	const struct string_pool *strings = ops->timeline->strings;

	for (uint32_t i = 0; i < ops->n_names; i++) {
		size_t n = string_length(strings, ops->names[i]);

		for (size_t end = 0; end < N_FUNCTION_ENDS; end++) {
			size_t n_end = strlen(function_ends[end]);
			char *text = malloc(n + n_end);

			if (!text) {
				writer->failure = ENOMEM;
				return;
			}
			memcpy(text, string_get(strings, ops->names[i]), n);
			memcpy(text + n, function_ends[end], n_end);
			writer_char(writer, ',');
			writer_csv(writer, text, n + n_end);
			free(text);
		}
	}
}

static void write_functions(const struct ops_sheet *sheet)
{
	const struct ops *ops = sheet->ops;
	uint32_t line = (uint32_t)(sheet->line - ops->lines);

	for (uint32_t i = 0; i < ops->n_names; i++) {
		uint32_t found = map_find(&ops->call_index, line, ops->names[i]);
		const struct ops_call *call = found == MAP_NONE ? NULL : &ops->calls[found];

		writer_char(sheet->writer, ',');
		if (call)
			writer_u64(sheet->writer, call->n);
		writer_char(sheet->writer, ',');
		if (call)
			writer_u64(sheet->writer, call->total_ns / call->n);
		writer_char(sheet->writer, ',');
		if (call)
			writer_u64(sheet->writer, call->total_ns);
	}
}

/* -- lines ----------------------------------------------------------------------------------- */

static void write_header(const struct ops *ops, struct writer *writer)
{
	ops_write_names(writer, OPS_BEFORE_TENSORS);
	write_tensor_names(ops, &form_now, writer);
	ops_write_names(writer, OPS_BEHIND_TENSORS);
	write_tensor_names(ops, &form_before, writer);
	ops_write_names(writer, OPS_OURS);
	writer_literal(writer, "frames");
	write_function_names(ops, writer);
	ops_write_extra_names(ops, writer);
	writer_char(writer, '\n');
}

static void write_line(struct ops *ops, const struct ops_line *line, const struct ops_work *work,
                       const cJSON *given, struct writer *writer)
{
	const struct ops_sheet sheet = {
		.ops = ops,
		.line = line,
		.work = work,
		.device = work ? &ops->timeline->identity->devices[work->device] : NULL,
		.given = given,
		.writer = writer,
	};

	ops_write_cells(&sheet, OPS_BEFORE_TENSORS);
	write_tensors(&sheet, &form_now);
	ops_write_cells(&sheet, OPS_BEHIND_TENSORS);
	write_tensors(&sheet, &form_before);
	ops_write_cells(&sheet, OPS_OURS);
	write_string(&sheet, line->call->frames);
	write_functions(&sheet);
	ops_write_extras(&sheet);
	writer_char(writer, '\n');
	ops->n_rows++;
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
static bool is_told(const struct ops *ops, const cJSON *lines, const struct ops_work *work)
{
	const cJSON *line;

	cJSON_ArrayForEach(line, lines)
	{
		if (ops_given_device(line) == ops->timeline->identity->devices[work->device].device)
			return true;
	}
	return false;
}

static void write_operation(struct ops *ops, const struct ops_line *line, struct writer *writer)
{
	cJSON *given = ops_parse_given(ops, line);
	const cJSON *lines = ops_given_lines(given), *told;

	cJSON_ArrayForEach(told, lines)
		write_line(ops, line, work_on(ops, line, ops_given_device(told)), told, writer);
	for (uint32_t i = line->first_work; i != FLEXTRACE_NONE; i = ops->works[i].next) {
		if (!is_told(ops, lines, &ops->works[i]))
			write_line(ops, line, &ops->works[i], NULL, writer);
	}
	if (line->first_work == FLEXTRACE_NONE && !cJSON_GetArraySize(lines))
		write_line(ops, line, NULL, NULL, writer);
	cJSON_Delete(given);
}

void ops_write(void *context, struct writer *writer)
{
	struct ops *ops = context;

	write_header(ops, writer);
	for (uint32_t i = 0; i < ops->n_lines && !writer_failed(writer); i++)
		write_operation(ops, &ops->lines[i], writer);
}
