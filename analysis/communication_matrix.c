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

/* A window of a process. */
struct span {
	int64_t start_time_ns, end_time_ns;
	uint32_t process, name;
};

struct matrix {
	const struct timeline *timeline; /* weak, both */
	const struct owners *owners;
	struct message_side *sides; /* owned, all */
	struct span *windows;
	uint32_t *open; /* windows */
	struct matrix_row *rows;
	struct map positions; /* (window and process; peer and kind) -> row */
	uint32_t n_sides, n_windows, n_open, n_rows;
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

static int take_point(void *context, const struct sync_point *point)
{
	struct matrix *matrix = context;
	const struct timeline *timeline = matrix->timeline;
	enum op_family family = sync_op_family(string_get(timeline->strings, point->op));
	int32_t self = timeline->identity->processes[point->process].rank, peer = -1;
	bool is_receive = family == OP_RECEIVE;
	uint64_t sum;

	if (family < OP_SEND || point->enter_host_ns == INT64_MIN || !point->peers)
		return FLEXTRACE_OK;
	sync_op_peers(string_get(timeline->strings, point->peers), self, &peer, &sum);
	if (self < 0 || peer < 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_ROOM(matrix->sides, matrix->n_sides));
	matrix->sides[matrix->n_sides++] = (struct message_side){
		.time_ns = alignment_place(timeline->alignment, point->process,
	                                   point->enter_host_ns)
	                           .time_ns,
		.seq = point->seq,
		.bytes = point->bytes,
		.process = point->process,
		.group = point->group,
		.from = is_receive ? peer : self,
		.to = is_receive ? self : peer,
		.is_receive = is_receive,
		.kind = OF_PROGRAM,
	};
	return FLEXTRACE_OK;
}

static int take_end(struct matrix *matrix, const struct transfer_end *end)
{
	const struct timeline *timeline = matrix->timeline;
	const struct tick_op *op = &timeline->ops[end->source];
	uint32_t process = timeline->identity->devices[op->device].process;
	int32_t self = timeline->identity->processes[process].rank;
	bool is_receive = end->role == MESSAGE_RECEIVE;

	if (self < 0 || op->peer < 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_ROOM(matrix->sides, matrix->n_sides));
	matrix->sides[matrix->n_sides++] = (struct message_side){
		.time_ns = end->start_time_ns,
		.bytes = op->bytes,
		.process = process,
		.from = is_receive ? op->peer : self,
		.to = is_receive ? self : op->peer,
		.is_receive = is_receive,
		.kind = OF_DEVICE,
	};
	return FLEXTRACE_OK;
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

	if (n)
		qsort(sides, n, sizeof(*sides), compare_sides);
	for (uint32_t first = 0; first < n; first = end) {
		for (end = first + 1; end < n && compare_messages(&sides[first], &sides[end]) == 0;)
			end++;
		match(&sides[first], end - first);
	}
}

/* -- windows ----------------------------------------------------------------------------------- */

static int take_windows(struct matrix *matrix)
{
	const struct timeline *timeline = matrix->timeline;

	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		uint32_t thread = timeline->tracks[row->track].owner;

		if (row->kind != HOST_WINDOW)
			continue;
		FLEXTRACE_TRY(ARRAY_ROOM(matrix->windows, matrix->n_windows));
		matrix->windows[matrix->n_windows++] = (struct span){
			.start_time_ns = row->start_time_ns,
			.end_time_ns = row->end_time_ns,
			.process = timeline->identity->threads[thread].process,
			.name = row->name,
		};
	}
	return FLEXTRACE_OK;
}

static int by_time(const void *left, const void *right)
{
	const struct message_side *a = left, *b = right;

	return ORDER(a->time_ns, b->time_ns);
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

/* Counts a side in those windows of its process that are open when it begins, and lets go of those
 * that are not. */
static int count_in_windows(struct matrix *matrix, const struct message_side *side)
{
	uint32_t n = matrix->n_open;

	matrix->n_open = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct span *window = &matrix->windows[matrix->open[i]];

		if (window->end_time_ns < side->time_ns)
			continue;
		matrix->open[matrix->n_open++] = matrix->open[i];
		if (window->process == side->process)
			FLEXTRACE_TRY(count_side(matrix, side, window->name));
	}
	return FLEXTRACE_OK;
}

static int count_sides(struct matrix *matrix)
{
	uint32_t next = 0;

	if (matrix->n_sides)
		qsort(matrix->sides, matrix->n_sides, sizeof(*matrix->sides), by_time);
	for (uint32_t i = 0; i < matrix->n_sides; i++) {
		const struct message_side *side = &matrix->sides[i];

		for (; next < matrix->n_windows &&
		       matrix->windows[next].start_time_ns <= side->time_ns;
		     next++)
			FLEXTRACE_TRY(ARRAY_PUSH(matrix->open, matrix->n_open, next));
		FLEXTRACE_TRY(count_side(matrix, side, 0));
		FLEXTRACE_TRY(count_in_windows(matrix, side));
	}
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

static void release(struct matrix *matrix)
{
	map_release(&matrix->positions);
	free(matrix->sides);
	free(matrix->windows);
	free(matrix->open);
	free(matrix->rows);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct matrix matrix = {.timeline = findings->timeline, .owners = findings->owners};
	int code = take_sides(&matrix, findings->transfers);

	if (code == FLEXTRACE_OK && matrix.n_sides)
		code = take_windows(&matrix);
	if (code == FLEXTRACE_OK) {
		match_sides(&matrix);
		code = count_sides(&matrix);
	}
	if (code == FLEXTRACE_OK && matrix.n_rows)
		qsort_r(matrix.rows, matrix.n_rows, sizeof(*matrix.rows), compare_rows, &matrix);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < matrix.n_rows; i++)
		row_put(sink, &matrix.rows[i]);
	release(&matrix);
	return code;
}

const struct analysis analysis_communication_matrix = ANALYSIS_CSV("communication_matrix", columns,
                                                                   fill);
