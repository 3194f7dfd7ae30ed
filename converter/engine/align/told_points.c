/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel of an all-reduce (all-gather, ...) ends on no rank before it has begun on all of them:
 * it is a part in a collective, from its begin to its end. Without a number that all ranks give it
 * nobody can say which kernels are of one collective: their files begin where they like.
 *
 * The number of a message (`send`, `recv`) is that of the collective which its group comes to next,
 * so that all messages between two collectives have one. What a rank sends, or receives, more than
 * once under one number is no evidence: the n-th of one file need not be the n-th of the other.
 */
#include "told_points.h"
#include "base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/words/sync_ops.h"
#include "model/words/told_collective.h"

struct told_points {
	const struct messages_input *input; /* weak, both */
	struct table *points;
	struct sync_point *messages; /* owned */
	uint32_t n_messages;
};

/* Groups of one name are told apart by their ranks. */
static int name_group(const struct messages_input *input, const struct tick_op *op, uint64_t who,
                      uint32_t *ret_group)
{
	char *text;
	int code;

	if (asprintf(&text, "%s %" PRIx64, string_get(input->identity->strings, op->group), who) <
	    0)
		return FLEXTRACE_E_MEMORY;
	code = string_intern(input->strings, text, ret_group);
	free(text);
	return code;
}

static int make_point(const struct messages_input *input, const struct tick_op *op,
                      const struct told_collective *told, struct sync_point *ret_point)
{
	*ret_point = (struct sync_point){
		.enter_host_ns = op->submit_host_ns,
		.exit_host_ns = op->complete_host_ns,
		.seq = told->seq,
		.bytes = op->bytes,
		.process = input->identity->devices[op->device].process,
		.thread = FLEXTRACE_NONE,
		.stream = op->stream,
		.index = op->index,
		.is_assumed = true,
	};
	FLEXTRACE_TRY(string_intern(input->strings, told->op, &ret_point->op));
	return name_group(input, op, told->who, &ret_point->group);
}

static int take_op(struct told_points *told_points, const struct tick_op *op,
                   const struct told_collective *told)
{
	struct sync_point point;

	FLEXTRACE_TRY(make_point(told_points->input, op, told, &point));
	if (sync_op_family(told->op) < OP_SEND)
		return table_put(told_points->points, &point, sizeof(point));
	return ARRAY_PUSH(told_points->messages, told_points->n_messages, point);
}

/* -- messages --------------------------------------------------------------------------------- */

ORDER_BY(compare_messages, struct sync_point, process, group, op, seq);

static int add_messages(struct told_points *told_points)
{
	const struct sync_point *messages = told_points->messages;
	uint32_t n = told_points->n_messages, end;

	ORDER_ARRAY(told_points->messages, n, compare_messages);
	for (uint32_t first = 0; first < n; first = end) {
		for (end = first + 1;
		     end < n && compare_messages(&messages[first], &messages[end]) == 0;)
			end++;
		if (end - first == 1)
			FLEXTRACE_TRY(table_put(told_points->points, &messages[first],
			                        sizeof(*messages)));
	}
	return FLEXTRACE_OK;
}

/* -- the sentence ----------------------------------------------------------------------------- */

static int take_ops(struct told_points *told_points)
{
	const struct string_pool *strings = told_points->input->identity->strings;

	TABLE_EACH(struct tick_op, op, told_points->input->ops) {
		struct told_collective told;

		if (!op->group || !op->type || op->status != TIME_GIVEN || !op->submit_host_ns ||
		    op->complete_host_ns < op->submit_host_ns)
			continue;
		if (told_collective_read(string_get(strings, op->type),
		                         string_length(strings, op->type), &told) &&
		    told.has_seq)
			FLEXTRACE_TRY(take_op(told_points, op, &told));
	}
	return add_messages(told_points);
}

int told_points_find(const struct messages_input *input, struct table *points)
{
	struct told_points told_points = {.input = input, .points = points};
	int code;

	if (input->identity->n_host_clocks < 2 || !input->with_assumed)
		return FLEXTRACE_OK;
	code = take_ops(&told_points);
	free(told_points.messages);
	return code;
}
