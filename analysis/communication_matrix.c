/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communication_matrix.csv: how much each rank sent to each other one and received of it: in all,
 * and in each window of its own that it begins in. Messages of programs (FLEXTRACE_COLLECTIVE_* of
 * `send` and `recv`, MPI) and those of devices have lines of their own.
 *
 * A send and a receive are one message if group, number and both ranks agree, the n-th of one side
 * with the n-th of the other.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis_impl.h"
#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "findings/collectives/collectives.h"
#include "model/alignment.h"
#include "model/timeline/transfer_ends.h"
#include "model/words/sync_ops.h"

enum message_kind { OF_PROGRAM, OF_DEVICE };

/* One side of a message. */
struct message_side {
	int64_t time_ns; /* its begin */
	uint64_t seq, bytes;
	uint32_t process, group;
	int32_t from, to; /* ranks */
	bool is_receive, is_matched;
	uint8_t kind; /* enum message_kind */
};

struct matrix_row {
	uint32_t window; /* string; 0: the whole recording */
	uint32_t process;
	int64_t peer; /* rank */
	uint8_t kind;
	uint64_t sent, sent_bytes, received, received_bytes, matched;
};

struct matrix {
	const struct timeline *timeline; /* weak, both */
	const struct owners *owners;
	struct message_side *sides; /* owned, all */
	struct matrix_row *rows;
	struct map positions; /* (window and process; peer and kind) -> row */
	uint32_t n_sides, n_rows;
};

static const char *name_of_kind(uint8_t kind)
{
	static const char *const names[] = {"program", "device"};

	return names[kind];
}

static const struct column columns[] = {
	COLUMN_STRING("window", struct matrix_row, window),
	COLUMNS_PROCESS(struct matrix_row, process),
	COLUMN(struct matrix_row, peer),
	COLUMN_NAMED("of", struct matrix_row, kind, name_of_kind),
	COLUMN(struct matrix_row, sent),
	COLUMN(struct matrix_row, sent_bytes),
	COLUMN(struct matrix_row, received),
	COLUMN(struct matrix_row, received_bytes),
	COLUMN_OPTIONAL(struct matrix_row, matched),
};

/* -- sides ------------------------------------------------------------------------------------- */

/* Adds one, with the ranks of both, if they are known. */
static int add_side(struct matrix *matrix, const struct message_side *side, int32_t peer)
{
	int32_t self = matrix->timeline->identity->processes[side->process].rank;

	if (self < 0 || peer < 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_PUSH(matrix->sides, matrix->n_sides, *side));
	matrix->sides[matrix->n_sides - 1].from = side->is_receive ? peer : self;
	matrix->sides[matrix->n_sides - 1].to = side->is_receive ? self : peer;
	return FLEXTRACE_OK;
}

static int take_point(void *context, const struct sync_point *point)
{
	struct matrix *matrix = context;
	const struct timeline *timeline = matrix->timeline;
	enum op_family family = sync_op_family(string_get(timeline->strings, point->op));
	struct message_side side = {
		.seq = point->seq,
		.bytes = point->bytes,
		.process = point->process,
		.group = point->group,
		.is_receive = family == OP_RECEIVE,
		.kind = OF_PROGRAM,
	};
	int32_t peer;
	uint64_t sum;

	if (family < OP_SEND || point->enter_host_ns == INT64_MIN || !point->peers)
		return FLEXTRACE_OK;
	sync_op_peers(string_get(timeline->strings, point->peers), -1, &peer, &sum);
	side.time_ns =
		alignment_place(timeline->alignment, point->process, point->enter_host_ns).time_ns;
	return add_side(matrix, &side, peer);
}

static int take_end(struct matrix *matrix, const struct transfer_end *end)
{
	const struct tick_op *op = &matrix->timeline->ops[end->source];
	struct message_side side = {
		.time_ns = end->start_time_ns,
		.bytes = op->bytes,
		.process = matrix->timeline->identity->devices[op->device].process,
		.is_receive = end->role == MESSAGE_RECEIVE,
		.kind = OF_DEVICE,
	};

	return add_side(matrix, &side, op->peer);
}

static int take_sides(struct matrix *matrix, const struct transfers *transfers)
{
	FLEXTRACE_TRY(each_sync_point(matrix->timeline, take_point, matrix));
	for (uint32_t i = 0; transfers && i < transfers->n_ends; i++)
		FLEXTRACE_TRY(take_end(matrix, &transfers->ends[i]));
	return FLEXTRACE_OK;
}

/* -- messages ---------------------------------------------------------------------------------- */

static int compare_messages(const struct message_side *a, const struct message_side *b)
{
	return ORDER(a->kind, b->kind) ?: ORDER(a->group, b->group) ?: ORDER(a->from, b->from) ?:
	       ORDER(a->to, b->to) ?: ORDER(a->seq, b->seq);
}

static int compare_sides(const void *left, const void *right)
{
	const struct message_side *a = left, *b = right;

	return compare_messages(a, b) ?: ORDER(a->is_receive, b->is_receive) ?:
	       ORDER(a->time_ns, b->time_ns);
}

static void match(struct message_side *sides, uint32_t n)
{
	uint32_t n_sends = 0;

	while (n_sends < n && !sides[n_sends].is_receive)
		n_sends++;
	for (uint32_t i = 0; i < n_sends && i < n - n_sends; i++)
		sides[i].is_matched = sides[n_sends + i].is_matched = true;
}

static void match_sides(struct matrix *matrix)
{
	struct message_side *sides = matrix->sides;
	uint32_t n = matrix->n_sides, end;

	qsort(sides, n, sizeof(*sides), compare_sides);
	for (uint32_t first = 0; first < n; first = end) {
		for (end = first + 1; end < n && compare_messages(&sides[first], &sides[end]) == 0;)
			end++;
		match(&sides[first], end - first);
	}
}

/* -- counting ---------------------------------------------------------------------------------- */

ORDER_BY(by_time, struct message_side, process, time_ns);

static bool is_before(const void *side, const void *first)
{
	return by_time(side, first) < 0;
}

static int count_side(struct matrix *matrix, const struct message_side *side, uint32_t window)
{
	int32_t peer = side->is_receive ? side->from : side->to;
	uint64_t a = (uint64_t)window << 32 | side->process;
	uint64_t b = (uint64_t)(uint32_t)peer << 32 | side->kind;
	struct matrix_row *row;
	uint32_t position;
	int is_new = MAP_PLACE(&matrix->positions, a, b, matrix->rows, matrix->n_rows, &position);

	if (is_new < 0)
		return is_new;
	row = &matrix->rows[position];
	if (is_new)
		*row = (struct matrix_row){
			.window = window,
			.process = side->process,
			.peer = peer,
			.kind = side->kind,
			.matched = side->kind == OF_DEVICE ? COLUMN_NONE_U64 : 0,
		};
	*(side->is_receive ? &row->received : &row->sent) += 1;
	*(side->is_receive ? &row->received_bytes : &row->sent_bytes) += side->bytes;
	if (side->kind == OF_PROGRAM)
		row->matched += side->is_matched;
	return FLEXTRACE_OK;
}

/* Counts what begins in a window of its process. */
static int count_in_window(struct matrix *matrix, const struct host_row *window)
{
	const struct timeline *timeline = matrix->timeline;
	uint32_t thread = timeline->tracks[window->track].owner;
	struct message_side first = {.time_ns = window->start_time_ns,
	                             .process = timeline->identity->threads[thread].process};
	uint32_t i = array_count_before(matrix->sides, matrix->n_sides, sizeof(first), is_before,
	                                &first);

	for (; i < matrix->n_sides && matrix->sides[i].process == first.process &&
	       matrix->sides[i].time_ns <= window->end_time_ns;
	     i++)
		FLEXTRACE_TRY(count_side(matrix, &matrix->sides[i], window->name));
	return FLEXTRACE_OK;
}

static int count_sides(struct matrix *matrix)
{
	qsort(matrix->sides, matrix->n_sides, sizeof(*matrix->sides), by_time);
	for (uint32_t i = 0; i < matrix->n_sides; i++)
		FLEXTRACE_TRY(count_side(matrix, &matrix->sides[i], 0));
	TABLE_EACH(struct host_row, row, &matrix->timeline->host_rows)
		if (row->kind == HOST_WINDOW)
			FLEXTRACE_TRY(count_in_window(matrix, row));
	return FLEXTRACE_OK;
}

/* -- the table --------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct matrix *matrix = context;
	const struct string_pool *strings = matrix->timeline->strings;
	const uint32_t *positions = matrix->owners->positions;
	const struct matrix_row *a = left, *b = right;

	return strcmp(string_get(strings, a->window), string_get(strings, b->window)) ?:
	       ORDER(positions[a->process], positions[b->process]) ?:
	       ORDER(a->peer, b->peer) ?: ORDER(a->kind, b->kind);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct matrix matrix = {.timeline = findings->timeline, .owners = findings->owners};
	int code = take_sides(&matrix, findings->transfers);

	if (code == FLEXTRACE_OK && matrix.n_sides) {
		match_sides(&matrix);
		code = count_sides(&matrix);
	}
	if (code == FLEXTRACE_OK && matrix.n_rows)
		qsort_r(matrix.rows, matrix.n_rows, sizeof(*matrix.rows), compare_rows, &matrix);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < matrix.n_rows; i++)
		row_put(sink, &matrix.rows[i]);
	map_release(&matrix.positions);
	free(matrix.sides);
	free(matrix.rows);
	return code;
}

const struct analysis analysis_communication_matrix =
	ANALYSIS_CSV("communication_matrix", columns, fill, .title = "Who sent to whom",
                     .what = "Messages and bytes that each rank sent to each other one and "
                             "received of it, in all and in each window.");
