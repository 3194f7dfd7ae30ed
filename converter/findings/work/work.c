/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "call_tree.h"

int work_read(struct work_reader *reader, const struct timeline *timeline)
{
	*reader = (struct work_reader){
		.timeline = timeline,
		.cursor = table_begin(&timeline->device_rows),
		.has_ops = calloc(timeline->identity->n_devices + 1ull, 1),
	};
	if (!reader->has_ops)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < WORK_NAMES; i++)
		reader->names[i].name = FLEXTRACE_NONE;
	for (uint64_t i = 0; timeline->marks.n_zones && i < timeline->n_ops; i++) {
		blocks_pass(i, sizeof(*timeline->ops));
		reader->has_ops[timeline->ops[i].device] = true;
	}
	return FLEXTRACE_OK;
}

void work_release(struct work_reader *reader)
{
	free(reader->has_ops);
	*reader = (struct work_reader){0};
}

/* -- what it is for ---------------------------------------------------------------------------- */

/* Whether the name of a kernel is a collective's; most names were looked at not long ago. */
static bool is_collective(struct work_reader *reader, uint32_t name)
{
	struct work_name *known = &reader->names[hash_words(name, 0) % WORK_NAMES];

	if (known->name != name) {
		known->name = name;
		known->is_collective =
			work_names_collective(string_get(reader->timeline->strings, name));
	}
	return known->is_collective;
}

static enum work_class class_of(struct work_reader *reader, const struct device_row *row,
                                const struct tick_op *op)
{
	if (op->group || (row->kind == ROW_EXEC && is_collective(reader, op->name)))
		return WORK_COMMUNICATION;
	return work_class_of_kind(row->kind);
}

/* -- pieces ------------------------------------------------------------------------------------ */

static void take_kernel(const struct timeline *timeline, struct work *work)
{
	const struct track *track = &timeline->tracks[work->row->track];

	work->op = NULL;
	work->device = track->owner;
	work->queue = track->id;
	work->name = timeline->markers[timeline->marks.zones[work->row->source].marker].name;
	work->launch = FLEXTRACE_NONE;
	work->class = WORK_COMPUTE;
}

static void take_piece(struct work_reader *reader, struct work *work)
{
	const struct device_row *row = work->row;
	const struct tick_op *op = &reader->timeline->ops[row->source];

	blocks_pass(row->source, 2 * sizeof(*op));
	work->op = op;
	work->device = op->device;
	work->queue = op->queue;
	work->name = op->name;
	work->launch = launch_of(reader->timeline, row->source);
	work->class = class_of(reader, row, op);
}

bool work_next(struct work_reader *reader, struct work *ret)
{
	const struct timeline *timeline = reader->timeline;
	const struct device_row *row;

	while ((row = table_next(&reader->cursor, sizeof(*row)))) {
		ret->row = row;
		if (row->kind < ROW_STATE)
			take_piece(reader, ret);
		else if (row->kind == ROW_KERNEL &&
		         !reader->has_ops[timeline->tracks[row->track].owner])
			take_kernel(timeline, ret);
		else
			continue;
		ret->process = timeline->identity->devices[ret->device].process;
		return true;
	}
	return false;
}
