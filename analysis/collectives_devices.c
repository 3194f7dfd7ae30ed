/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "array.h"
#include "collectives.h"
#include "map.h"
#include "transfer_ends.h"

/* When a device was done with something: kernels of its own, collectives. */
struct work {
	int64_t *ends_ns; /* owned */
	uint32_t n, n_allocated;
	uint32_t n_kernels; /* without a group */
};

struct counting {
	struct collectives *out; /* weak */
	const struct timeline *timeline;
	const struct transfers *transfers;
	struct work *works;      /* owned, by struct device; all from here */
	struct map has_messages; /* group */
	struct map uses;         /* (device, group; name) -> how often */
	struct map last_kernels; /* (device, group) -> n_kernels + 1 at its last control block */
	struct map last_numbers; /* (device, group) -> number */
	struct map places;       /* (device, group; number) -> part */
	uint32_t *part_of;       /* of each end of a transfer */
	uint32_t n_ends;         /* seen */
};

/* -- parts of devices -------------------------------------------------------------------------- */

static int add_work(struct work *work, int64_t end_ns)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(work->ends_ns, work->n_allocated, work->n + 1ull));
	work->ends_ns[work->n++] = end_ns;
	return FLEXTRACE_OK;
}

static int find_groups(struct counting *counting)
{
	const struct transfers *transfers = counting->transfers;

	counting->part_of = array_allocate(transfers->n_ends + 1ull, sizeof(uint32_t));
	if (!counting->part_of)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < transfers->n_ends; i++) {
		uint32_t group = counting->timeline->ops[transfers->ends[i].source].group;

		counting->part_of[i] = FLEXTRACE_NONE;
		FLEXTRACE_TRY(map_put(&counting->has_messages, group, 0, 1));
	}
	return FLEXTRACE_OK;
}

/* Stores which of the group's collectives a control block belongs to. */
static int find_number(struct counting *counting, const struct tick_op *op, uint32_t *ret_number)
{
	uint64_t key = (uint64_t)op->device << 32 | op->group;
	uint32_t n_kernels = counting->works[op->device].n_kernels + 1, last, n;

	if (map_find(&counting->has_messages, op->group, 0) != MAP_NONE) {
		n = map_find(&counting->uses, key, op->name);
		*ret_number = n == MAP_NONE ? 0 : n;
		return map_put(&counting->uses, key, op->name, *ret_number + 1);
	}
	n = map_find(&counting->last_numbers, key, 0);
	last = map_find(&counting->last_kernels, key, 0);
	*ret_number = n == MAP_NONE ? 0 : n + (last != n_kernels);
	FLEXTRACE_TRY(map_put(&counting->last_kernels, key, 0, n_kernels));
	return map_put(&counting->last_numbers, key, 0, *ret_number);
}

static int find_part(struct counting *counting, const struct device_row *row, uint32_t *ret_part)
{
	struct collectives *out = counting->out;
	const struct tick_op *op = &counting->timeline->ops[row->source];
	uint64_t key = (uint64_t)op->device << 32 | op->group;
	uint32_t number;

	FLEXTRACE_TRY(find_number(counting, op, &number));
	*ret_part = map_find(&counting->places, key, number);
	if (*ret_part != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_RESERVE(out->parts, out->n_allocated, out->n_parts + 1ull));
	*ret_part = out->n_parts++;
	out->parts[*ret_part] = (struct collective_part){
		.first_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.through_time_ns = INT64_MAX,
		.number = number,
		.process = counting->timeline->identity->devices[op->device].process,
		.device = op->device,
		.group = op->group,
	};
	return map_put(&counting->places, key, number, *ret_part);
}

/* The end of a transfer that a row is; NULL: it is none. Rows come in the order of the ends. */
static const struct transfer_end *next_end(struct counting *counting, const struct device_row *row,
                                           uint32_t part)
{
	const struct transfers *transfers = counting->transfers;

	if (counting->n_ends == transfers->n_ends ||
	    transfers->ends[counting->n_ends].source != row->source)
		return NULL;
	counting->part_of[counting->n_ends] = part;
	return &transfers->ends[counting->n_ends++];
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

static int take_row(struct counting *counting, const struct device_row *row)
{
	const struct tick_op *op;
	uint32_t part;

	if (row->kind != ROW_EXEC && (row->kind < ROW_MEMCPY_HTOD || row->kind > ROW_RELEASE))
		return FLEXTRACE_OK;
	op = &counting->timeline->ops[row->source];
	if (!op->group) {
		/* A message of no group is none of a collective. */
		next_end(counting, row, FLEXTRACE_NONE);
		if (row->kind != ROW_EXEC)
			return FLEXTRACE_OK;
		counting->works[op->device].n_kernels++;
		return add_work(&counting->works[op->device], row->end_time_ns);
	}
	FLEXTRACE_TRY(find_part(counting, row, &part));
	count_row(&counting->out->parts[part], row, op, next_end(counting, row, part));
	return FLEXTRACE_OK;
}

static int take_rows(struct counting *counting)
{
	struct table_cursor cursor;
	const struct device_row *row;

	FLEXTRACE_TRY(find_groups(counting));
	analysis_read(&cursor, &counting->timeline->device_rows);
	while ((row = table_next(&cursor, sizeof(*row))))
		FLEXTRACE_TRY(take_row(counting, row));
	return FLEXTRACE_OK;
}

/* -- chain or tree ----------------------------------------------------------------------------- */

static int compare_ends(const void *left, const void *right, void *context)
{
	const struct transfer_end *ends = context;
	const struct transfer_end *a = &ends[*(const uint32_t *)left];
	const struct transfer_end *b = &ends[*(const uint32_t *)right];

	if (a->end_time_ns != b->end_time_ns)
		return a->end_time_ns < b->end_time_ns ? -1 : 1;
	return (a > b) - (a < b);
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
	is_tree = part->last_peer && part->last_role == end->role &&
	          part->last_peer != (uint32_t)peer + 1;
	if (is_tree)
		part->algorithm = COLLECTIVE_TREE;
	else if (part->algorithm < COLLECTIVE_CHAIN)
		part->algorithm = COLLECTIVE_CHAIN;
	part->last_role = end->role;
	part->last_peer = (uint32_t)peer + 1;
}

static int find_algorithms(struct counting *counting)
{
	const struct transfers *transfers = counting->transfers;
	uint32_t *order = array_allocate(transfers->n_ends + 1ull, sizeof(*order));

	if (!order)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < transfers->n_ends; i++)
		order[i] = i;
	qsort_r(order, transfers->n_ends, sizeof(*order), compare_ends, transfers->ends);
	for (uint32_t i = 0; i < transfers->n_ends; i++) {
		const struct transfer_end *end = &transfers->ends[order[i]];

		if (counting->part_of[order[i]] != FLEXTRACE_NONE)
			see_end(&counting->out->parts[counting->part_of[order[i]]], end,
			        counting->timeline->ops[end->source].peer);
	}
	free(order);
	return FLEXTRACE_OK;
}

/* -- when a device was ready ------------------------------------------------------------------- */

static int compare_times(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The last end before `time_ns`, INT64_MIN: there is none. */
static int64_t last_end_before(const struct work *work, int64_t time_ns)
{
	uint32_t low = 0, high = work->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (work->ends_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? work->ends_ns[low - 1] : INT64_MIN;
}

static int find_starts(struct counting *counting)
{
	struct collectives *out = counting->out;

	for (uint32_t i = 0; i < out->n_parts; i++)
		FLEXTRACE_TRY(add_work(&counting->works[out->parts[i].device],
		                       out->parts[i].end_time_ns));
	for (uint32_t i = 0; i < counting->timeline->identity->n_devices; i++) {
		struct work *work = &counting->works[i];

		if (work->n)
			qsort(work->ends_ns, work->n, sizeof(*work->ends_ns), compare_times);
	}
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
	counting->works = calloc(counting->timeline->identity->n_devices + 1ull,
	                         sizeof(*counting->works));
	if (!counting->works)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(take_rows(counting));
	FLEXTRACE_TRY(find_algorithms(counting));
	return find_starts(counting);
}

static void release(struct counting *counting)
{
	for (uint32_t i = 0; counting->works && i < counting->timeline->identity->n_devices; i++)
		free(counting->works[i].ends_ns);
	free(counting->works);
	free(counting->part_of);
	map_release(&counting->has_messages);
	map_release(&counting->uses);
	map_release(&counting->last_kernels);
	map_release(&counting->last_numbers);
	map_release(&counting->places);
}

int collectives_take_devices(struct collectives *collectives)
{
	static const struct transfers no_transfers;
	const struct timeline *timeline = collectives->timeline;
	struct counting counting = {
		.out = collectives,
		.timeline = timeline,
		.transfers = timeline->transfers ? timeline->transfers : &no_transfers,
	};
	int code;

	if (!timeline->has_groups)
		return FLEXTRACE_OK;
	code = take_all(&counting);
	release(&counting);
	return code;
}
