/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/array.h"
#include "collectives.h"
#include "base/map.h"

bool collectives_told(const struct timeline *timeline, const struct device_row *row,
                      struct told_collective *ret_told)
{
	const struct tick_op *op = &timeline->ops[row->source];
	struct string_text text;

	if (row->kind != ROW_EXEC || !op->group || !op->type)
		return false;
	text = string_text(timeline->strings, op->type);
	return told_collective_read(text.bytes, text.length, ret_told);
}

static uint32_t mix(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/* Stores how many there were of a group on a device before, and counts this one. */
static int count_use(struct map *uses, const struct tick_op *op, uint64_t *ret_number)
{
	uint64_t key = (uint64_t)op->device << 32 | op->group;
	uint32_t n = map_find(uses, key, 0);

	n = n == MAP_NONE ? 0 : n;
	*ret_number = n;
	return map_put(uses, key, 0, n + 1);
}

/* What the table calls it: the name that all have for it, else the one that was told. */
static int name_op(struct collectives *out, const char *told_op, const char **ret_name)
{
	double size, bus;
	uint32_t id;

	*ret_name = collective_op(told_op, 1, &size, &bus);
	if (*ret_name)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(string_intern(&out->names_cache, told_op, &id));
	*ret_name = string_get(out->names, id);
	return FLEXTRACE_OK;
}

static int add_part(struct collectives *out, struct map *uses, const struct device_row *row,
                    const struct told_collective *told)
{
	const struct tick_op *op = &out->timeline->ops[row->source];
	struct collective_part part = {
		.start_time_ns = row->start_time_ns,
		.first_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.through_time_ns = INT64_MAX,
		.number = told->seq,
		.bytes = op->bytes,
		.process = out->timeline->identity->devices[op->device].process,
		.device = op->device,
		.group = op->group,
		.who = mix(told->who),
		.err_ns = row->err_ns,
		.status = row->status,
		.told_ranks = told->n_ranks < UINT32_MAX ? (uint32_t)told->n_ranks : 0,
	};

	FLEXTRACE_TRY(name_op(out, told->op, &part.told_op));
	if (!told->has_seq) {
		FLEXTRACE_TRY(count_use(uses, op, &part.number));
		part.who = UINT32_MAX - op->device;
		part.is_alone = true;
	}
	return ARRAY_PUSH(out->parts, out->n_parts, part);
}

int collectives_take_told(struct collectives *collectives)
{
	const struct timeline *timeline = collectives->timeline;
	struct map uses = {0};
	int code = FLEXTRACE_OK;

	if (!timeline->has.groups)
		return FLEXTRACE_OK;
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		struct told_collective told;

		if (code == FLEXTRACE_OK && collectives_told(timeline, row, &told))
			code = add_part(collectives, &uses, row, &told);
	}
	map_release(&uses);
	return code;
}
