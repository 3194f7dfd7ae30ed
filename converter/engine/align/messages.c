/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message that devices exchange ties the clocks of their hosts, as one between programs does: its
 * receiver has it (TS2, the end of the input DMA; TS5 where TS2 was not taken) no earlier than the
 * sender is done (TS5). Of a multicast the sender is the root of a broadcast.
 *
 * The counters' own bounds widen what is said, so that it stays certain. Stamps that are placed by
 * an assumption are taken as they stand, and the alignment is assumed, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "uses.h"
#include "base/blocks.h"
#include "base/map.h"
#include "model/words/message_name.h"

/* A name, as far as evidence goes. */
struct name {
	uint32_t sync; /* string */
	uint8_t role;  /* enum message_role */
	bool is_multicast;
};

struct message_reader {
	const struct messages_input *input; /* weak */
	struct table *points;               /* weak */
	struct map names;                   /* string -> place in `read`, or NOT_A_MESSAGE */
	struct name *read;                  /* owned */
	uint32_t n_read;
	uint32_t send, receive, broadcast; /* strings */
	struct map balances;               /* (sync; ranks) -> sends less receives, + MIDDLE */
	uint32_t n_unbalanced;             /* of them: not MIDDLE */
	struct map sent;                   /* (sync; ranks) of sends that are certain */
	bool has_repeats;                  /* one of them came again */
};

#define MIDDLE (UINT32_C(1) << 31)
#define LONELY (UINT64_C(1) << 63) /* numbers that no other use has, from there on */

#define NOT_A_MESSAGE (UINT32_MAX - 1)

static int intern_sync(struct message_reader *reader, const struct message_name *message,
                       uint32_t *ret_sync)
{
	char *text = strndup(message->sync, message->n_sync);
	int code = text ? string_intern(reader->input->strings, text, ret_sync)
	                : FLEXTRACE_E_MEMORY;

	free(text);
	return code;
}

/* Stores what a name says; NULL: nothing. */
static int read_name(struct message_reader *reader, uint32_t name, const struct name **ret)
{
	uint32_t place = map_find(&reader->names, name, 0);
	struct message_name message;
	struct name *read;

	*ret = NULL;
	if (place == NOT_A_MESSAGE)
		return FLEXTRACE_OK;
	if (place != MAP_NONE) {
		*ret = &reader->read[place];
		return FLEXTRACE_OK;
	}
	if (message_name_read(string_get(reader->input->identity->strings, name), &message) <
	    MESSAGE_SEND)
		return map_put(&reader->names, name, 0, NOT_A_MESSAGE);
	FLEXTRACE_TRY(ARRAY_ROOM(reader->read, reader->n_read));
	read = &reader->read[reader->n_read];
	*read = (struct name){.role = message.role, .is_multicast = message.is_multicast};
	FLEXTRACE_TRY(intern_sync(reader, &message, &read->sync));
	*ret = read;
	return map_put(&reader->names, name, 0, reader->n_read++);
}

/* -- points ------------------------------------------------------------------------------------ */

static uint64_t ticks_of(const struct tick_op *op, const struct name *name)
{
	if (name->role == MESSAGE_RECEIVE && op->ticks[1])
		return op->ticks[1];
	return op->ticks[4];
}

/* Places the stamp that counts; false: it says nothing, or nothing that is wanted. */
static bool place_stamp(const struct message_reader *reader, const struct tick_op *op,
                        const struct name *name, struct placed *ret_placed)
{
	uint64_t ticks = ticks_of(op, name);

	if (!ticks || op->status > TIME_ASSUMED)
		return false;
	*ret_placed = clocks_place(reader->input->clocks, op->counter, op->segment, ticks);
	if (op->status > ret_placed->status)
		ret_placed->status = (enum time_status)op->status;
	if (op->has_open_middle && ticks == op->ticks[1] && op->ticks[0] &&
	    ret_placed->status == TIME_CERTIFIED)
		ret_placed->status = TIME_ASSUMED;
	if (ret_placed->status == TIME_CERTIFIED)
		return ret_placed->err_ns != UINT32_MAX;
	if (ret_placed->err_ns == UINT32_MAX)
		ret_placed->err_ns = 0; /* nobody knows more */
	return ret_placed->status == TIME_ASSUMED && reader->input->with_assumed;
}

/* The other rank as a list of peers: a multicast's sender names nobody. */
static int name_peer(struct message_reader *reader, const struct tick_op *op,
                     const struct name *name, uint32_t *ret_peers)
{
	char text[16];

	*ret_peers = 0;
	if (op->peer < 0 || (name->is_multicast && name->role == MESSAGE_SEND))
		return FLEXTRACE_OK;
	snprintf(text, sizeof(text), "%" PRId32, op->peer);
	return string_intern(reader->input->strings, text, ret_peers);
}

static uint32_t op_of(const struct message_reader *reader, const struct name *name)
{
	if (name->is_multicast)
		return reader->broadcast;
	return name->role == MESSAGE_SEND ? reader->send : reader->receive;
}

/* Who sends to whom; false: it is not one to one, or nobody says. */
static bool ranks_of(const struct message_reader *reader, const struct tick_op *op,
                     const struct name *name, int32_t *ret_from, int32_t *ret_to)
{
	const struct identity *identity = reader->input->identity;
	int32_t self = identity->processes[identity->devices[op->device].process].rank;
	bool is_send = name->role == MESSAGE_SEND;

	*ret_from = is_send ? self : op->peer;
	*ret_to = is_send ? op->peer : self;
	return !name->is_multicast && self >= 0 && op->peer >= 0 && self != op->peer;
}

/* Notes sends that are certain, and whether one came again. */
static int note_send(struct message_reader *reader, const struct tick_op *op,
                     const struct name *name)
{
	uint64_t ranks = (uint64_t)op->device << 32 | (uint32_t)op->peer;

	if (map_find(&reader->sent, name->sync, ranks) == MAP_NONE)
		return map_put(&reader->sent, name->sync, ranks, 0);
	reader->has_repeats = true;
	return FLEXTRACE_OK;
}

/* Keeps count of the messages that one side used more often than the other. */
static int weigh(struct message_reader *reader, const struct tick_op *op, const struct name *name)
{
	int32_t from, to;
	uint64_t ranks;
	uint32_t balance;

	if (!ranks_of(reader, op, name, &from, &to))
		return FLEXTRACE_OK;
	ranks = (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
	balance = map_find(&reader->balances, name->sync, ranks);
	balance = balance == MAP_NONE ? MIDDLE : balance;
	reader->n_unbalanced -= balance != MIDDLE;
	balance += name->role == MESSAGE_SEND ? 1 : UINT32_MAX;
	reader->n_unbalanced += balance != MIDDLE;
	return map_put(&reader->balances, name->sync, ranks, balance);
}

static int add_point(struct message_reader *reader, const struct tick_op *op,
                     const struct name *name, const struct placed *placed)
{
	uint32_t process = reader->input->identity->devices[op->device].process, peers;
	bool is_send = name->role == MESSAGE_SEND;
	struct sync_point point;

	FLEXTRACE_TRY(name_peer(reader, op, name, &peers));
	/* Who receives a multicast of nobody would be taken for its root. */
	if (name->is_multicast && name->role == MESSAGE_RECEIVE && !peers)
		return FLEXTRACE_OK;
	point = (struct sync_point){
		.enter_host_ns = is_send ? placed->host_ns - placed->err_ns : INT64_MIN,
		.exit_host_ns = is_send ? INT64_MAX : placed->host_ns + placed->err_ns,
		.bytes = op->bytes,
		.process = process,
		.group = name->sync,
		.op = op_of(reader, name),
		.peers = peers,
		.thread = FLEXTRACE_NONE,
		.stream = op->stream,
		.index = op->index,
		.is_assumed = placed->status != TIME_CERTIFIED,
	};
	FLEXTRACE_TRY(table_put(reader->points, &point, sizeof(point)));
	if (is_send && !point.is_assumed)
		FLEXTRACE_TRY(note_send(reader, op, name));
	return weigh(reader, op, name);
}

static int take_op(struct message_reader *reader, const struct tick_op *op, uint64_t number)
{
	const struct name *name;
	struct placed placed;

	if (op->kind < FLEXTRACE_DEVICE_MEMCPY_HTOD || op->kind > FLEXTRACE_DEVICE_MEMCPY_PTOP)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(read_name(reader, op->name, &name));
	if (!name || clocks_refuse(reader->input->clocks, number) ||
	    !place_stamp(reader, op, name, &placed))
		return FLEXTRACE_OK;
	return add_point(reader, op, name, &placed);
}

/* -- uses -------------------------------------------------------------------------------------- */

static struct message_use use_of(const struct message_reader *reader, struct sync_point *point)
{
	const struct identity *identity = reader->input->identity;
	int32_t self = identity->processes[point->process].rank, peer = -1;
	bool is_send = point->exit_host_ns == INT64_MAX;

	if (point->peers)
		peer = (int32_t)strtol(string_get(identity->strings, point->peers), NULL, 10);
	return (struct message_use){
		.number = &point->seq,
		.host_ns = is_send ? point->enter_host_ns : point->exit_host_ns,
		.sync = point->group,
		.process = point->process,
		.from = is_send ? self : peer,
		.to = is_send ? peer : self,
		.is_send = is_send,
		.is_assumed = &point->is_assumed,
	};
}

/* Lists the uses of messages, or those of multicasts that are certain. Points never move. */
static uint32_t list_uses(struct message_reader *reader, bool is_multicast,
                          struct message_use *uses)
{
	const struct process *processes = reader->input->identity->processes;
	uint32_t n = 0;

	TABLE_CHANGE(struct sync_point, point, reader->points)
	{
		bool is_wanted = is_multicast ? !point->is_assumed : point->peers != 0;

		if (processes[point->process].rank < 0 || !is_wanted ||
		    is_multicast != (point->op == reader->broadcast))
			continue;
		uses[n] = use_of(reader, point);
		n += uses[n].from != uses[n].to;
	}
	return n;
}

/* Uses that cannot be told apart with certainty are no evidence if there is other evidence. */
static void leave_out_assumed(struct message_reader *reader)
{
	uint64_t n = 0;

	TABLE_CHANGE(struct sync_point, point, reader->points)
	{
		if (point->is_assumed)
			point->seq = LONELY + n++;
	}
}

static int match_uses(struct message_reader *reader)
{
	struct message_use *uses;
	int code;

	if ((!reader->n_unbalanced && !reader->has_repeats) ||
	    reader->points->n_rows >= FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(BLOCKS_NEW(uses, reader->points->n_rows));
	if (reader->has_repeats)
		uses_part_multicasts(uses, list_uses(reader, true, uses));
	code = uses_match(uses, list_uses(reader, false, uses));
	blocks_free(uses);
	if (!reader->input->with_assumed)
		leave_out_assumed(reader);
	return code;
}

/* -- the sentence ------------------------------------------------------------------------------ */

static int read_all(struct message_reader *reader)
{
	struct string_cache *strings = reader->input->strings;
	uint64_t n = 0;

	FLEXTRACE_TRY(string_intern(strings, "send", &reader->send));
	FLEXTRACE_TRY(string_intern(strings, "recv", &reader->receive));
	FLEXTRACE_TRY(string_intern(strings, "broadcast", &reader->broadcast));
	TABLE_EACH(struct tick_op, op, reader->input->ops)
		FLEXTRACE_TRY(take_op(reader, op, n++));
	return FLEXTRACE_OK;
}

int messages_find(const struct messages_input *input, struct table *points)
{
	struct message_reader reader = {.input = input, .points = points};
	int code;

	if (input->identity->n_host_clocks < 2)
		return FLEXTRACE_OK;
	code = read_all(&reader);
	if (code >= 0)
		code = match_uses(&reader);
	map_release(&reader.names);
	map_release(&reader.balances);
	map_release(&reader.sent);
	free(reader.read);
	return code;
}
