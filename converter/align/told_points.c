/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel of an all-reduce (all-gather, ...) ends on no rank before it has begun on all of them:
 * it is a part in a collective, from its begin to its end. Without a number that all ranks give it
 * nobody can say which kernels are of one collective: their files begin where they like.
 */
#include "align/told_points.h"

#include "import/told_collective.h"

static int add_point(const struct messages_input *input, const struct tick_op *op,
                     const struct told_collective *told, struct table *points)
{
	struct sync_point *point;
	uint32_t name, peers;

	FLEXTRACE_TRY(string_intern(input->strings, told->op, &name));
	FLEXTRACE_TRY(string_intern(input->strings, told->ranks, &peers));
	point = table_append(points, sizeof(*point));
	if (!point)
		return FLEXTRACE_E_MEMORY;
	*point = (struct sync_point){
		.enter_host_ns = op->submit_host_ns,
		.exit_host_ns = op->complete_host_ns,
		.seq = told->seq,
		.bytes = op->bytes,
		.process = input->identity->devices[op->device].process,
		.group = op->group,
		.op = name,
		.peers = peers,
		.thread = FLEXTRACE_NONE,
		.stream = op->stream,
		.index = op->index,
		.is_assumed = true,
	};
	return FLEXTRACE_OK;
}

int told_points_find(const struct messages_input *input, struct table *points)
{
	const struct string_pool *strings = input->identity->strings;
	struct table_cursor cursor;
	const struct tick_op *op;

	if (input->identity->n_host_clocks < 2 || !input->with_assumed)
		return FLEXTRACE_OK;
	table_read(&cursor, input->ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
		struct told_collective told;

		if (!op->group || !op->type || op->status != TIME_GIVEN || !op->submit_host_ns ||
		    op->complete_host_ns < op->submit_host_ns)
			continue;
		if (told_collective_read(string_get(strings, op->type),
		                         string_length(strings, op->type), &told) &&
		    told.has_seq)
			FLEXTRACE_TRY(add_point(input, op, &told, points));
	}
	return FLEXTRACE_OK;
}
