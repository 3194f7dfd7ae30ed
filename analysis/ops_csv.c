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

static const char dim_names[N_DIMS] = {'W', 'Z', 'Y', 'X'};

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

/* As today: padded and logical sizes. */
static void write_tensor(const struct ops_sheet *sheet, const struct tensor *tensor)
{
	for (int i = 0; i < N_DIMS; i++) {
		if (tensor->has_dims) {
			writer_u64(sheet->writer, tensor->dims[i].padded);
			writer_char(sheet->writer, '[');
			writer_u64(sheet->writer, tensor->dims[i].logical);
			writer_char(sheet->writer, ']');
		}
		writer_char(sheet->writer, ',');
	}
	if (tensor->of)
		write_string(sheet, tensor->of->layout);
	writer_char(sheet->writer, ',');
	if (tensor->of)
		write_string(sheet, tensor->of->dtype);
	writer_char(sheet->writer, ',');
	if (tensor->of)
		write_string(sheet, tensor->of->memory);
	writer_char(sheet->writer, ',');
}

/* As the documentation has it, where that differs. */
static void write_old_tensor(const struct ops_sheet *sheet, const struct tensor *tensor)
{
	for (int i = 0; i < N_DIMS; i++) {
		if (tensor->has_dims)
			writer_u64(sheet->writer, tensor->dims[i].padded);
		writer_char(sheet->writer, ',');
	}
	if (tensor->of)
		write_string(sheet, tensor->of->dtype);
	writer_char(sheet->writer, ',');
}

static void write_tensors(const struct ops_sheet *sheet,
                          void (*write)(const struct ops_sheet *sheet, const struct tensor *tensor))
{
	for (uint32_t is_output = 0; is_output < 2; is_output++) {
		uint32_t n = is_output ? sheet->ops->n_outputs : sheet->ops->n_inputs;

		for (uint32_t i = 0; i < n; i++) {
			const struct tensor tensor = tensor_of(sheet, i, is_output);

			write(sheet, &tensor);
		}
	}
}

static void write_tensor_names(const struct ops *ops, const char *dim_end,
                               const char *const *others, struct writer *writer)
{
	for (uint32_t is_output = 0; is_output < 2; is_output++) {
		const char *kind = is_output ? "OUTPUT" : "INPUT";
		char text[64];

		for (uint32_t i = 0; i < (is_output ? ops->n_outputs : ops->n_inputs); i++) {
			for (int dim = 0; dim < N_DIMS; dim++) {
				snprintf(text, sizeof(text), "%s_%u_%c%s,", kind, i, dim_names[dim],
				         dim_end);
				writer_raw(writer, text);
			}
			for (int other = 0; others[other]; other++) {
				snprintf(text, sizeof(text), "%s_%u_%s,", kind, i, others[other]);
				writer_raw(writer, text);
			}
		}
	}
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
	static const char *const others[] = {"LAYOUT", "DATATYPE", "MEMORY", NULL};
	static const char *const old_others[] = {"DATA TYPE", NULL};

	ops_write_names(writer, OPS_BEFORE_TENSORS);
	write_tensor_names(ops, "_PAD[LOGICAL]", others, writer);
	ops_write_names(writer, OPS_BEHIND_TENSORS);
	write_tensor_names(ops, "", old_others, writer);
	ops_write_names(writer, OPS_OURS);
	writer_literal(writer, "frames");
	write_function_names(ops, writer);
	writer_char(writer, '\n');
}

static void write_line(struct ops *ops, const struct ops_line *line, const struct ops_work *work,
                       struct writer *writer)
{
	const struct ops_sheet sheet = {
		.ops = ops,
		.line = line,
		.work = work,
		.device = work ? &ops->timeline->identity->devices[work->device] : NULL,
		.writer = writer,
	};

	ops_write_cells(&sheet, OPS_BEFORE_TENSORS);
	write_tensors(&sheet, write_tensor);
	ops_write_cells(&sheet, OPS_BEHIND_TENSORS);
	write_tensors(&sheet, write_old_tensor);
	ops_write_cells(&sheet, OPS_OURS);
	write_string(&sheet, line->call->frames);
	write_functions(&sheet);
	writer_char(writer, '\n');
	ops->n_rows++;
}

void ops_write(void *context, struct writer *writer)
{
	struct ops *ops = context;

	write_header(ops, writer);
	for (uint32_t i = 0; i < ops->n_lines && !writer_failed(writer); i++) {
		const struct ops_line *line = &ops->lines[i];
		uint32_t work = line->first_work;

		if (work == FLEXTRACE_NONE)
			write_line(ops, line, NULL, writer);
		for (; work != FLEXTRACE_NONE; work = ops->works[work].next)
			write_line(ops, line, &ops->works[work], writer);
	}
}
