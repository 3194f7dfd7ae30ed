/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What is open on a thread, innermost last. */
struct open_row {
	int64_t end_time_ns;
	uint32_t line; /* the innermost operation; FLEXTRACE_NONE: none */
};

struct ops_stack {
	struct open_row *rows; /* owned */
	uint32_t n, n_allocated;
};

struct finder {
	struct ops *ops;          /* weak, all */
	struct map *launches;     /* (correlation, process) -> line */
	struct ops_stack *stacks; /* by track */
	uint64_t *numbers;        /* operations so far, by process */
	struct map calls;         /* owned: (stream, index) -> call of the timeline */
};

/* -- operations ------------------------------------------------------------------------------ */

static int index_calls(struct finder *finder)
{
	const struct timeline *timeline = finder->ops->timeline;

	for (uint32_t i = 0; i < timeline->op_calls.n_calls; i++)
		FLEXTRACE_TRY(map_put(&finder->calls, timeline->op_calls.calls[i].stream,
		                      timeline->op_calls.calls[i].index, i));
	return FLEXTRACE_OK;
}

static const struct op_call *call_of(const struct finder *finder, const struct host_row *row)
{
	uint32_t found = row->kind == FLEXTRACE_RUNTIME_OP
	                         ? map_find(&finder->calls, row->stream, row->index)
	                         : MAP_NONE;

	return found == MAP_NONE ? NULL : &finder->ops->timeline->op_calls.calls[found];
}

static void count_tensors(struct ops *ops, const struct op_call *call)
{
	uint32_t n_outputs = 0;

	for (uint32_t i = 0; i < call->n_tensors; i++)
		n_outputs += ops->timeline->op_calls.tensors[call->first_tensor + i].is_output;
	if (n_outputs > ops->n_outputs)
		ops->n_outputs = n_outputs;
	if (call->n_tensors - n_outputs > ops->n_inputs)
		ops->n_inputs = call->n_tensors - n_outputs;
}

static int add_line(struct finder *finder, const struct host_row *row, const struct op_call *call)
{
	struct ops *ops = finder->ops;
	const struct timeline *timeline = ops->timeline;
	uint32_t thread = timeline->tracks[row->track].owner;
	uint32_t process = timeline->identity->threads[thread].process;

	FLEXTRACE_TRY(ARRAY_ROOM(ops->lines, ops->n_lines));
	ops->lines[ops->n_lines] = (struct ops_line){
		.row = *row,
		.call = call,
		.given = call->args,
		.has_host = true,
		.process = process,
		.thread = thread,
		.number = ++finder->numbers[process],
		.first_work = FLEXTRACE_NONE,
	};
	count_tensors(ops, call);
	return map_put(finder->launches, row->correlation, process, ops->n_lines++);
}

/* -- what they called ------------------------------------------------------------------------ */

static bool is_function(const struct host_row *row)
{
	return row->kind != HOST_STEP && row->kind != HOST_WINDOW &&
	       row->kind != FLEXTRACE_RUNTIME_OP;
}

static int learn_name(struct ops *ops, uint32_t name)
{
	uint32_t place;

	FLEXTRACE_TRY(MAP_PLACE(&ops->name_index, name, 0, ops->names, ops->n_names, &place));
	ops->names[place] = name;
	return FLEXTRACE_OK;
}

static int count_call(struct ops *ops, uint32_t line, const struct host_row *row)
{
	uint32_t found;
	int is_new = MAP_PLACE(&ops->call_index, line, row->name, ops->calls, ops->n_calls, &found);

	FLEXTRACE_TRY(is_new);
	if (is_new)
		FLEXTRACE_TRY(learn_name(ops, row->name));
	ops->calls[found].n++;
	ops->calls[found].total_ns += interval_ns(row->start_time_ns, row->end_time_ns);
	return FLEXTRACE_OK;
}

/* Takes a row inside an operation: a call, and maybe what launches its device work. */
static int take_inner(struct finder *finder, uint32_t line, const struct host_row *row)
{
	struct ops *ops = finder->ops;
	uint32_t process = ops->lines[line].process;

	if (is_function(row))
		FLEXTRACE_TRY(count_call(ops, line, row));
	if (!row->correlation || map_find(finder->launches, row->correlation, process) != MAP_NONE)
		return FLEXTRACE_OK;
	return map_put(finder->launches, row->correlation, process, line);
}

static int open_on(struct ops_stack *stack, const struct host_row *row, uint32_t line)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(stack->rows, stack->n_allocated, stack->n + 1ull));
	stack->rows[stack->n++] = (struct open_row){row->end_time_ns, line};
	return FLEXTRACE_OK;
}

static int take_row(struct finder *finder, const struct host_row *row)
{
	const struct track *track = &finder->ops->timeline->tracks[row->track];
	struct ops_stack *stack = &finder->stacks[row->track];
	const struct op_call *call = call_of(finder, row);
	uint32_t line = FLEXTRACE_NONE;

	while (stack->n && stack->rows[stack->n - 1].end_time_ns <= row->start_time_ns)
		stack->n--;
	if (stack->n)
		line = stack->rows[stack->n - 1].line;
	if (call) {
		line = finder->ops->n_lines;
		FLEXTRACE_TRY(add_line(finder, row, call));
	} else if (line != FLEXTRACE_NONE) {
		FLEXTRACE_TRY(take_inner(finder, line, row));
	}
	if (track->kind != TRACK_THREAD || track->lane)
		return FLEXTRACE_OK;
	return open_on(stack, row, line);
}

static int take_rows(struct finder *finder)
{
	TABLE_EACH(struct host_row, row, &finder->ops->timeline->host_rows)
		FLEXTRACE_TRY(take_row(finder, row));
	return FLEXTRACE_OK;
}

/* -- all of it ------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right, void *context)
{
	const struct string_pool *strings = context;

	return string_compare(strings, *(const uint32_t *)left, *(const uint32_t *)right);
}

static int find_all(struct ops *ops, struct map *launches)
{
	const struct timeline *timeline = ops->timeline;
	struct finder finder = {
		.ops = ops,
		.launches = launches,
		.stacks = calloc(timeline->n_tracks + 1ull, sizeof(*finder.stacks)),
		.numbers = calloc(timeline->identity->n_processes + 1ull, sizeof(*finder.numbers)),
	};
	int code = finder.stacks && finder.numbers ? index_calls(&finder) : FLEXTRACE_E_MEMORY;

	if (code >= 0)
		code = take_rows(&finder);
	if (code >= 0)
		code = ops_add_given(ops, finder.numbers);
	map_release(&finder.calls);
	for (uint32_t i = 0; finder.stacks && i < timeline->n_tracks; i++)
		free(finder.stacks[i].rows);
	free(finder.stacks);
	free(finder.numbers);
	return code;
}

int ops_find(struct ops *ops, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	struct map launches = {.n_slots = 0};
	int code;

	*ops = (struct ops){.timeline = timeline, .costs = findings->costs};
	code = find_all(ops, &launches);
	if (code >= 0 && ops->n_lines)
		code = ops_add_device(ops, &launches);
	map_release(&launches);
	if (ops->n_names)
		qsort_r(ops->names, ops->n_names, sizeof(*ops->names), compare_names,
		        (void *)(uintptr_t)timeline->strings);
	return code;
}

void ops_release(struct ops *ops)
{
	free(ops->lines);
	free(ops->works);
	free(ops->cores);
	free(ops->calls);
	free(ops->names);
	for (uint32_t i = 0; i < ops->n_columns; i++)
		free((void *)(uintptr_t)ops->columns[i].name);
	free(ops->columns);
	free(ops->reports);
	map_release(&ops->work_index);
	map_release(&ops->core_index);
	map_release(&ops->call_index);
	map_release(&ops->name_index);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct ops ops;
	int code = ops_find(&ops, findings);

	if (code >= 0)
		code = ops_put(&ops, sink);
	ops_release(&ops);
	return code;
}

const struct analysis analysis_ops = {
	.name = "ops",
	.file = {.name = "ops.csv",
                 .title = "Operations",
                 .what = "Operations of a framework with their host and device times, "
                         "calls and tensors, in the columns of tt-metal's report of "
                         "operations.",
                 .table.fill = fill},
	.shape_of = IDENTITY_TT_METAL_FILE,
};
