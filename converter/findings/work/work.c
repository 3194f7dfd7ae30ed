/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/text/strings.h"
#include "call_tree.h"

const char *work_class_name(uint8_t class)
{
	static const char *const names[WORK_CLASS_COUNT] = {"compute", "communication", "memory",
	                                                    "prepare"};

	return names[class];
}

int work_read(struct work_reader *reader, const struct timeline *timeline)
{
	*reader = (struct work_reader){
		.timeline = timeline,
		.cursor = table_begin(&timeline->device_rows),
		.has_ops = calloc(timeline->identity->n_devices + 1ull, 1),
	};
	if (!reader->has_ops)
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 0; i < timeline->n_ops; i++) {
		blocks_pass(i, sizeof(*timeline->ops));
		reader->has_ops[timeline->ops[i].device] = true;
	}
	return FLEXTRACE_OK;
}

void work_release(struct work_reader *reader)
{
	free(reader->has_ops);
	map_release(&reader->is_collective);
	*reader = (struct work_reader){0};
}

/* -- what it is for ---------------------------------------------------------------------------- */

static bool names_collective(const char *name)
{
	static const char *const begins[] = {
		"nccl",           "rccl",       "hccl",        "all-reduce",        "all-gather",
		"reduce-scatter", "all-to-all", "collective-", "ragged-all-to-all",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

/* Whether the name of a kernel is a collective's; each name is looked at once. */
static int find_collective(struct work_reader *reader, uint32_t name)
{
	uint32_t *is_collective;

	FLEXTRACE_TRY(map_enter(&reader->is_collective, name, 0, &is_collective));
	if (*is_collective == MAP_NONE)
		*is_collective = names_collective(string_get(reader->timeline->strings, name));
	return (int)*is_collective;
}

/* Stores the class of a part of a control block. */
static int classify(struct work_reader *reader, struct work *work)
{
	int is_collective;

	switch (work->row->kind) {
	case ROW_PREP:
		work->class = WORK_PREPARE;
		break;
	case ROW_EXEC:
		work->class = WORK_COMPUTE;
		break;
	case ROW_MEMCPY_PTOP:
		work->class = WORK_COMMUNICATION;
		break;
	default:
		work->class = WORK_MEMORY;
	}
	if (work->op->group)
		work->class = WORK_COMMUNICATION;
	if (work->class != WORK_COMPUTE)
		return FLEXTRACE_OK;
	is_collective = find_collective(reader, work->name);
	if (is_collective > 0)
		work->class = WORK_COMMUNICATION;
	return is_collective < 0 ? is_collective : FLEXTRACE_OK;
}

/* -- pieces ------------------------------------------------------------------------------------ */

static void take_kernel(const struct work_reader *reader, struct work *work)
{
	const struct timeline *timeline = reader->timeline;
	const struct track *track = &timeline->tracks[work->row->track];

	work->class = WORK_COMPUTE;
	work->device = track->owner;
	work->queue = track->id;
	work->name = timeline->markers[timeline->marks.zones[work->row->source].marker].name;
}

/* 1: the row is work. */
static int take_row(struct work_reader *reader, struct work *work)
{
	const struct timeline *timeline = reader->timeline;
	const struct device_row *row = work->row;

	if (row->kind == ROW_KERNEL && !reader->has_ops[timeline->tracks[row->track].owner]) {
		take_kernel(reader, work);
		return 1;
	}
	if (row->kind >= ROW_STATE)
		return 0;
	blocks_pass(row->source, 2 * sizeof(*work->op));
	work->op = &timeline->ops[row->source];
	work->device = work->op->device;
	work->queue = work->op->queue;
	work->name = work->op->name;
	work->launch = launch_of(timeline, row->source);
	FLEXTRACE_TRY(classify(reader, work));
	return 1;
}

int work_next(struct work_reader *reader, struct work *ret)
{
	const struct device_row *row;

	while ((row = table_next(&reader->cursor, sizeof(*row)))) {
		int is_work;

		*ret = (struct work){.row = row, .launch = FLEXTRACE_NONE};
		is_work = take_row(reader, ret);
		if (is_work < 0)
			return is_work;
		if (!is_work)
			continue;
		ret->process = reader->timeline->identity->devices[ret->device].process;
		return 1;
	}
	return 0;
}
