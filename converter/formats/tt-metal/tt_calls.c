/* SPDX-License-Identifier: Apache-2.0 */
/* What the lines of an ops report tell of their host calls: attributes, tensors, cells. */
#include <stdio.h>
#include <string.h>

#include "tt_report_impl.h"

#define MAX_DIM_CHARS 42 /* two numbers of 64 bits */
#define DIMS_BYTES    (4 * (MAX_DIM_CHARS + 1))
#define TOLD_BY_WORK  2 /* of its cells: name and number */
#define TOLD_BY_CALL  4 /* type and attributes, too */

/* -- tensors --------------------------------------------------------------------------------- */

static const char *tensor_field(const struct report *report, const int16_t *columns, int part)
{
	return columns[part] < 0 ? "" : csv_reader_field(&report->csv, (size_t)columns[part]);
}

/* Without the brackets of "64[64]", which say nothing. */
static size_t dim_length(const char *text)
{
	size_t n = strcspn(text, "[");

	/* What is equal to the first n characters has as many. */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	if (text[n] && strncmp(text, text + n + 1, n) == 0 && text[2 * n + 1] == ']')
		return n;
	return strlen(text);
}

/* Each is a number, or "32[19]": padded and logical. */
static bool join_dims(const struct report *report, const int16_t *columns, char dims[DIMS_BYTES])
{
	size_t n = 0;

	for (int i = TENSOR_W; i <= TENSOR_X; i++) {
		const char *text = tensor_field(report, columns, i);
		size_t length = dim_length(text);

		if (!length || length > MAX_DIM_CHARS)
			return false;
		n += (size_t)sprintf(dims + n, "%s%.*s", n ? "x" : "", (int)length, text);
	}
	return true;
}

static int add_tensors(struct report *report, const struct line *line)
{
	char dims[DIMS_BYTES];

	for (int i = 0; i < 2 * N_TENSORS; i++) {
		const int16_t *columns = report->tensor[i / N_TENSORS][i % N_TENSORS];
		struct event event = {.class = RECORD_TENSOR, .clock_ns = line->host_end_ns};

		if (!join_dims(report, columns, dims))
			continue;
		event.payload.tensor = (struct flextrace_tensor){
			.correlation = line->call,
			.is_output = i >= N_TENSORS,
			.dims = dims,
			.layout = tensor_field(report, columns, TENSOR_LAYOUT),
			.dtype = tensor_field(report, columns, TENSOR_DTYPE),
			.memory = tensor_field(report, columns, TENSOR_MEMORY),
		};
		FLEXTRACE_TRY(report_add(report, &event));
	}
	return FLEXTRACE_OK;
}

/* -- the call -------------------------------------------------------------------------------- */

static int add_op(struct report *report, const struct line *line)
{
	struct event op = {.class = RECORD_OP, .clock_ns = line->host_end_ns};
	uint64_t n_cores;

	report_number(report, CORE_COUNT, &n_cores);
	op.payload.op = (struct flextrace_op){
		.correlation = line->call,
		.type = report_field(report, OP_TYPE),
		.attributes = report_field(report, ATTRIBUTES),
		.n_cores = (uint32_t)n_cores,
	};
	return report_add(report, &op);
}

/* The first line of a call that tells when it was. */
static int begin_call(struct report *report, struct tt_call *call, const struct line *line)
{
	FLEXTRACE_TRY(string_intern(&report->tt->import.cache, report_field(report, OP_CODE),
	                            &call->name));
	call->begin_ns = line->host_start_ns ? line->host_start_ns : 1;
	call->end_ns = line->host_end_ns;
	call->has_host = true;
	call->origin = report_origin(report);
	FLEXTRACE_TRY(add_op(report, line));
	return add_tensors(report, line);
}

/* What the operation itself tells is not told again. */
static bool is_told(const struct report *report, uint32_t column, size_t n)
{
	static const enum column told[] = {OP_CODE, CALL_COUNT, OP_TYPE, ATTRIBUTES};

	for (size_t i = 0; i < n; i++) {
		if (report->column[told[i]] == (int)column)
			return true;
	}
	return false;
}

static void add_cells(const struct report *report, struct json_text *cells, size_t n_told)
{
	json_text_open(cells, '{');
	for (uint32_t i = 0; i < report->headings.n; i++) {
		const char *cell = csv_reader_field(&report->csv, i);

		if (*cell && *report->headings.texts[i] && !is_told(report, i, n_told))
			json_text_string(cells, report->headings.texts[i], cell);
	}
	json_text_close(cells, '}');
}

static void open_lines(struct json_text *cells)
{
	json_text_open(cells, '{');
	json_text_member(cells, "ops report");
	json_text_open(cells, '[');
}

static void close_lines(struct json_text *cells)
{
	json_text_close(cells, ']');
	json_text_close(cells, '}');
}

int report_write_cells(struct report *report, const struct line *line, struct json_text *cells)
{
	uint32_t found = map_find(&report->tt->call_index, line->call, 0);
	const char *text;
	size_t n_bytes;

	if (found == MAP_NONE || report->tt->calls[found].will_tell)
		return 0;
	open_lines(cells);
	add_cells(report, cells, TOLD_BY_WORK);
	close_lines(cells);
	FLEXTRACE_TRY(json_text_get(cells, &text, &n_bytes));
	return 1;
}

/* Its cells stand right before the scope that has them. */
static int end_call(struct report *report, struct tt_call *call, uint64_t number)
{
	struct event args = {.class = RECORD_SCOPE_ARGS, .clock_ns = call->end_ns};
	struct event scope = {
		.class = RECORD_SCOPE,
		.clock_ns = call->end_ns,
		.n_origins = 1,
		.origins[0] = call->origin,
	};
	const char *text;
	size_t n_bytes;

	close_lines(&call->cells);
	FLEXTRACE_TRY(json_text_get(&call->cells, &text, &n_bytes));
	args.payload.scope_args = (struct flextrace_scope_args){.correlation = number,
	                                                        .args = text};
	scope.payload.scope = (struct flextrace_scope){
		.begin_ns = call->begin_ns,
		.kind = FLEXTRACE_RUNTIME_OP,
		.name = string_get(report->tt->import.strings, call->name),
		.correlation = number,
	};
	FLEXTRACE_TRY(report_add(report, &args));
	return report_add(report, &scope);
}

static int find_call(struct tt *tt, uint64_t number, struct tt_call **ret_call)
{
	uint32_t place;
	int code = MAP_PLACE(&tt->call_index, number, 0, tt->calls, tt->n_calls, &place);

	FLEXTRACE_TRY(code);
	*ret_call = &tt->calls[place];
	if (code)
		(*ret_call)->cells = (struct json_text)JSON_TEXT_INIT;
	return FLEXTRACE_OK;
}

int report_count_call(struct report *report, const struct line *line)
{
	struct tt_call *call;

	if (!line->call)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_call(report->tt, line->call, &call));
	call->n_lines++;
	call->will_tell |= line->has_host;
	return FLEXTRACE_OK;
}

int report_take_call(struct report *report, const struct line *line)
{
	struct tt_call *call;
	int code = FLEXTRACE_OK;

	FLEXTRACE_TRY(find_call(report->tt, line->call, &call));
	if (line->has_host && !call->has_host)
		FLEXTRACE_TRY(begin_call(report, call, line));
	if (!call->will_tell) /* they go with its work */
		return FLEXTRACE_OK;
	if (!call->n_seen)
		open_lines(&call->cells);
	add_cells(report, &call->cells, TOLD_BY_CALL);
	if (++call->n_seen != call->n_lines)
		return FLEXTRACE_OK;
	if (call->has_host)
		code = end_call(report, call, line->call);
	json_text_release(&call->cells);
	return code;
}
