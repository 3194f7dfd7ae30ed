/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "base/blocks.h"
#include "collectives.h"
#include "collectives_sets.h"
#include "base/map.h"
#include "model/timeline/transfer_ends.h"

/* When a device was done with something: kernels of its own, collectives. */
struct work {
	int64_t *ends_ns; /* owned */
	uint32_t n;
};

/* A row that is of a group, or a kernel that is of none. */
struct item {
	struct device_row row;
	uint32_t end; /* of a transfer; FLEXTRACE_NONE = it is none */
};

/* A group on a device, as its rows end one after the other. */
struct group_state {
	uint32_t number;
	uint32_t max_step;  /* of its messages, in this number */
	uint32_t n_kernels; /* of the device without a group, when its last row ended */
};

struct counting {
	struct collectives *out; /* weak, all three */
	const struct timeline *timeline;
	const struct transfers *transfers;
	struct item *items; /* owned, all from here; by their ends */
	uint32_t n_items;
	struct work *works;      /* by struct device */
	uint32_t *n_kernels;     /* by struct device: without a group, so far */
	struct map has_messages; /* group */
	struct map states;       /* (device, group) -> state */
	struct group_state *group_states;
	uint32_t n_states;
	struct map uses;       /* (device, group; name) -> number that it was last used in */
	struct map part_index; /* (device, group; number) -> part */
	struct rank_sets sets;
	uint32_t *part_of; /* of each end of a transfer */
};

/* -- rows in the order of their ends ----------------------------------------------------------- */

ORDER_BY(compare_items, struct item, row.end_time_ns, row.source);

/* Ends of transfers stand in the order of rows. */
static int list_items(struct counting *counting)
{
	const struct timeline *timeline = counting->timeline;
	const struct transfers *transfers = counting->transfers;
	struct told_collective told;
	uint32_t n_ends = 0;

	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		bool is_end = n_ends < transfers->n_ends &&
		              transfers->ends[n_ends].source == row->source;

		if (row->kind != ROW_EXEC &&
		    (row->kind < ROW_MEMCPY_HTOD || row->kind > ROW_RELEASE))
			continue;
		n_ends += is_end;
		if (collectives_told(timeline, row, &told))
			continue;
		if (timeline->ops[row->source].group || row->kind == ROW_EXEC)
			FLEXTRACE_TRY(ARRAY_PUSH(
				counting->items, counting->n_items,
				(struct item){*row, is_end ? n_ends - 1 : FLEXTRACE_NONE}));
	}
	ORDER_ARRAY(counting->items, counting->n_items, compare_items);
	return FLEXTRACE_OK;
}

/* -- parts of devices -------------------------------------------------------------------------- */

static int add_work(struct work *work, int64_t end_ns)
{
	return ARRAY_PUSH(work->ends_ns, work->n, end_ns);
}

static int find_groups(struct counting *counting)
{
	const struct transfers *transfers = counting->transfers;

	FLEXTRACE_TRY(BLOCKS_NEW(counting->part_of, transfers->n_ends + 1ull));
	for (uint32_t i = 0; i < transfers->n_ends; i++) {
		uint32_t group = counting->timeline->ops[transfers->ends[i].source].group;

		counting->part_of[i] = FLEXTRACE_NONE;
		FLEXTRACE_TRY(map_put(&counting->has_messages, group, 0, 1));
	}
	return FLEXTRACE_OK;
}

/* Stores the state of a group on a device; 1: it was not met before. */
static int find_state(struct counting *counting, const struct tick_op *op,
                      struct group_state **ret_state)
{
	uint64_t key = (uint64_t)op->device << 32 | op->group;
	uint32_t place;
	int is_new = MAP_PLACE(&counting->states, key, 0, counting->group_states,
	                       counting->n_states, &place);

	FLEXTRACE_TRY(is_new);
	*ret_state = &counting->group_states[place];
	return is_new;
}

/* Whether a row is the first of the next collective of its group. */
static bool begins_next(const struct counting *counting, const struct item *item,
                        const struct tick_op *op, const struct group_state *state)
{
	uint64_t key = (uint64_t)op->device << 32 | op->group;
	bool had_kernel = state->n_kernels != counting->n_kernels[op->device];
	uint32_t step;

	if (map_find(&counting->has_messages, op->group, 0) == MAP_NONE)
		return had_kernel;
	if (item->end == FLEXTRACE_NONE)
		return false; /* a kernel between messages */
	if (map_find(&counting->uses, key, op->name) == state->number)
		return true;
	step = counting->transfers->ends[item->end].step;
	return had_kernel && step != MESSAGE_NO_STEP && step < state->max_step;
}

/* Stores which of the group's collectives a control block belongs to. */
static int find_number(struct counting *counting, const struct item *item, uint32_t *ret_number)
{
	const struct tick_op *op = &counting->timeline->ops[item->row.source];
	struct group_state *state;
	int is_new = find_state(counting, op, &state);

	FLEXTRACE_TRY(is_new);
	if (!is_new && begins_next(counting, item, op, state)) {
		state->number++;
		state->max_step = 0;
	}
	state->n_kernels = counting->n_kernels[op->device];
	*ret_number = state->number;
	if (item->end == FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	if (counting->transfers->ends[item->end].step != MESSAGE_NO_STEP &&
	    counting->transfers->ends[item->end].step > state->max_step)
		state->max_step = counting->transfers->ends[item->end].step;
	return map_put(&counting->uses, (uint64_t)op->device << 32 | op->group, op->name,
	               state->number);
}

static int find_part(struct counting *counting, const struct item *item, uint32_t *ret_part)
{
	struct collectives *out = counting->out;
	const struct device_row *row = &item->row;
	const struct tick_op *op = &counting->timeline->ops[row->source];
	uint64_t key = (uint64_t)op->device << 32 | op->group;
	uint32_t number;
	int is_new;

	FLEXTRACE_TRY(find_number(counting, item, &number));
	is_new = MAP_PLACE(&counting->part_index, key, number, out->parts, out->n_parts, ret_part);
	if (is_new <= 0)
		return is_new;
	out->parts[*ret_part] = (struct collective_part){
		.first_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.through_time_ns = INT64_MAX,
		.number = number,
		.process = counting->timeline->identity->devices[op->device].process,
		.device = op->device,
		.group = op->group,
	};
	return FLEXTRACE_OK;
}

static void count_row(struct collective_part *part, const struct device_row *row,
                      const struct tick_op *op, const struct transfer_end *end)
{
	bool is_message = end ? end->role >= MESSAGE_SEND : row->kind != ROW_EXEC;

	if (row->start_time_ns < part->first_time_ns)
		part->first_time_ns = row->start_time_ns;
	if (row->end_time_ns > part->end_time_ns)
		part->end_time_ns = row->end_time_ns;
	if (is_message && row->end_time_ns < part->through_time_ns)
		part->through_time_ns = row->end_time_ns;
	if (op->bytes > part->bytes)
		part->bytes = op->bytes;
	part->status = row->status > part->status ? row->status : part->status;
	part->err_ns = row->err_ns > part->err_ns ? row->err_ns : part->err_ns;
	part->sent += end && end->role == MESSAGE_SEND;
	part->received += end && end->role == MESSAGE_RECEIVE;
}

static int32_t rank_of(const struct counting *counting, uint32_t device)
{
	const struct identity *identity = counting->timeline->identity;

	return identity->processes[identity->devices[device].process].rank;
}

static int take_item(struct counting *counting, const struct item *item)
{
	const struct tick_op *op = &counting->timeline->ops[item->row.source];
	const struct transfer_end *end = NULL;
	uint32_t part;

	if (!op->group) {
		counting->n_kernels[op->device]++;
		return add_work(&counting->works[op->device], item->row.end_time_ns);
	}
	FLEXTRACE_TRY(find_part(counting, item, &part));
	if (item->end != FLEXTRACE_NONE) {
		counting->part_of[item->end] = part;
		end = &counting->transfers->ends[item->end];
	}
	count_row(&counting->out->parts[part], &item->row, op, end);
	return rank_sets_link(&counting->sets, &counting->out->parts[part],
	                      rank_of(counting, op->device), op->peer);
}

static int take_items(struct counting *counting)
{
	FLEXTRACE_TRY(find_groups(counting));
	FLEXTRACE_TRY(list_items(counting));
	for (uint32_t i = 0; i < counting->n_items; i++)
		FLEXTRACE_TRY(take_item(counting, &counting->items[i]));
	return FLEXTRACE_OK;
}

/* -- chain or tree ----------------------------------------------------------------------------- */

static int compare_ends(const void *left, const void *right, void *context)
{
	const struct transfer_end *ends = context;
	const struct transfer_end *a = &ends[*(const uint32_t *)left];
	const struct transfer_end *b = &ends[*(const uint32_t *)right];

	return ORDER(a->end_time_ns, b->end_time_ns) ?: ORDER(a, b);
}

static void see_end(struct collective_part *part, const struct transfer_end *end, int32_t peer)
{
	bool is_tree;

	if (end->role < MESSAGE_SEND)
		return;
	if (end->is_multicast || peer < 0) {
		if (part->algorithm == COLLECTIVE_UNKNOWN && end->is_multicast)
			part->algorithm = COLLECTIVE_MULTICAST;
		return;
	}
	is_tree = part->last.peer && part->last.role == end->role &&
	          part->last.peer != (uint32_t)peer + 1;
	if (is_tree)
		part->algorithm = COLLECTIVE_TREE;
	else if (part->algorithm < COLLECTIVE_CHAIN)
		part->algorithm = COLLECTIVE_CHAIN;
	part->last.role = end->role;
	part->last.peer = (uint32_t)peer + 1;
}

static int find_algorithms(struct counting *counting)
{
	const struct transfers *transfers = counting->transfers;
	uint32_t *order;

	FLEXTRACE_TRY(BLOCKS_NEW(order, transfers->n_ends + 1ull));
	for (uint32_t i = 0; i < transfers->n_ends; i++)
		order[i] = i;
	qsort_r(order, transfers->n_ends, sizeof(*order), compare_ends, transfers->ends);
	for (uint32_t i = 0; i < transfers->n_ends; i++) {
		const struct transfer_end *end = &transfers->ends[order[i]];

		if (counting->part_of[order[i]] != FLEXTRACE_NONE)
			see_end(&counting->out->parts[counting->part_of[order[i]]], end,
			        counting->timeline->ops[end->source].peer);
	}
	blocks_free(order);
	return FLEXTRACE_OK;
}

/* -- when a device was ready ------------------------------------------------------------------- */

static bool is_before(const void *end_ns, const void *time_ns)
{
	return *(const int64_t *)end_ns < *(const int64_t *)time_ns;
}

/* The last end before `time_ns`, INT64_MIN: there is none. */
static int64_t last_end_before(const struct work *work, int64_t time_ns)
{
	uint32_t n = array_count_before(work->ends_ns, work->n, sizeof(*work->ends_ns), is_before,
	                                &time_ns);

	return n ? work->ends_ns[n - 1] : INT64_MIN;
}

static int find_starts(struct counting *counting)
{
	struct collectives *out = counting->out;

	for (uint32_t i = 0; i < out->n_parts; i++)
		FLEXTRACE_TRY(add_work(&counting->works[out->parts[i].device],
		                       out->parts[i].end_time_ns));
	for (uint32_t i = 0; i < counting->timeline->identity->n_devices; i++)
		order_numbers(counting->works[i].ends_ns, counting->works[i].n);
	for (uint32_t i = 0; i < out->n_parts; i++) {
		struct collective_part *part = &out->parts[i];
		int64_t ready_ns = last_end_before(&counting->works[part->device],
		                                   part->through_time_ns);

		part->start_time_ns = part->first_time_ns;
		if (part->through_time_ns != INT64_MAX && ready_ns > part->first_time_ns)
			part->start_time_ns = ready_ns;
	}
	return FLEXTRACE_OK;
}

static int take_all(struct counting *counting)
{
	FLEXTRACE_TRY(ARRAY_NEW(counting->works, counting->timeline->identity->n_devices + 1ull));
	FLEXTRACE_TRY(
		ARRAY_NEW(counting->n_kernels, counting->timeline->identity->n_devices + 1ull));
	FLEXTRACE_TRY(take_items(counting));
	FLEXTRACE_TRY(rank_sets_fill(&counting->sets, counting->timeline->identity,
	                             counting->out->parts, counting->out->n_parts));
	FLEXTRACE_TRY(find_algorithms(counting));
	return find_starts(counting);
}

static void release(struct counting *counting)
{
	for (uint32_t i = 0; counting->works && i < counting->timeline->identity->n_devices; i++)
		free(counting->works[i].ends_ns);
	free(counting->works);
	blocks_free(counting->part_of);
	map_release(&counting->has_messages);
	map_release(&counting->uses);
	map_release(&counting->states);
	free(counting->group_states);
	free(counting->n_kernels);
	free(counting->items);
	map_release(&counting->part_index);
	rank_sets_release(&counting->sets);
}

int collectives_take_devices(struct collectives *collectives, const struct transfers *transfers)
{
	const struct timeline *timeline = collectives->timeline;
	struct counting counting = {
		.out = collectives,
		.timeline = timeline,
		.transfers = transfers,
	};
	int code;

	if (!timeline->has.groups)
		return FLEXTRACE_OK;
	code = take_all(&counting);
	release(&counting);
	return code;
}
