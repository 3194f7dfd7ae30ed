/* SPDX-License-Identifier: Apache-2.0 */
#include "levels.h"

#include <stdlib.h>

/* An interval starts or ends. */
struct edge {
	int64_t time_ns;
	double value; /* negative at its end */
	uint32_t device;
	uint32_t source; /* index of struct tick_op */
	uint32_t err_ns;
	uint8_t status;
	uint8_t unused[3];
};

/* All that happens on a device at one time is one sample. */
struct level_unit {
	double value;
	uint64_t n_open;
	struct edge last;
	bool has_last; /* no row yet */
};

int levels_init(struct levels *levels, struct timeline *timeline, struct string_cache *strings,
                const char *name)
{
	*levels = (struct levels){.timeline = timeline};
	row_sorter_init(&levels->edges, sizeof(struct edge), false);
	row_sorter_init(&levels->rows, sizeof(struct counter_row), false);
	levels->units = calloc(timeline->identity->n_devices + 1ull, sizeof(*levels->units));
	return levels->units ? string_intern(strings, name, &levels->name) : FLEXTRACE_E_MEMORY;
}

void levels_release(struct levels *levels)
{
	row_sorter_release(&levels->edges);
	row_sorter_release(&levels->rows);
	free(levels->units);
}

/* -- edges ------------------------------------------------------------------------------------- */

static int add_edge(struct levels *levels, const struct edge *edge)
{
	struct edge *added = row_sorter_append(&levels->edges);

	if (!added)
		return FLEXTRACE_E_MEMORY;
	*added = *edge;
	return FLEXTRACE_OK;
}

int levels_add(struct levels *levels, uint32_t device, const struct device_row *row, double value)
{
	struct edge edge = {.time_ns = row->start_time_ns,
	                    .value = value,
	                    .device = device,
	                    .source = row->source,
	                    .err_ns = row->err_ns,
	                    .status = row->status};

	if (row->end_time_ns == row->start_time_ns)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(add_edge(levels, &edge));
	edge.time_ns = row->end_time_ns;
	edge.value = -value;
	return add_edge(levels, &edge);
}

/* -- samples ----------------------------------------------------------------------------------- */

static int tell_sample(struct levels *levels, struct level_unit *unit)
{
	const struct edge *edge = &unit->last;
	const struct tick_op *op = &levels->timeline->ops[edge->source];
	struct counter_row *row = row_sorter_append(&levels->rows);

	if (!row)
		return FLEXTRACE_E_MEMORY;
	unit->has_last = false;
	*row = (struct counter_row){
		.time_ns = edge->time_ns,
		.value = unit->n_open ? unit->value : 0.0,
		.err_ns = edge->err_ns,
		.owner = edge->device,
		.core = FLEXTRACE_NONE,
		.name = levels->name,
		.stream = op->stream,
		.index = op->index,
		.is_device = 1,
		.status = edge->status,
		.class = op->class,
	};
	return FLEXTRACE_OK;
}

static int take_edge(void *context, void *any)
{
	struct levels *levels = context;
	const struct edge *edge = any;
	struct level_unit *unit = &levels->units[edge->device];

	if (unit->has_last && unit->last.time_ns != edge->time_ns)
		FLEXTRACE_TRY(tell_sample(levels, unit));
	if (edge->value > 0)
		unit->n_open++;
	else
		unit->n_open--;
	unit->value = unit->n_open ? unit->value + edge->value : 0.0;
	unit->last = *edge;
	unit->has_last = true;
	return FLEXTRACE_OK;
}

static int make_samples(struct levels *levels)
{
	FLEXTRACE_TRY(row_sorter_merge(&levels->edges, take_edge, levels));
	for (uint32_t i = 0; i < levels->timeline->identity->n_devices; i++)
		if (levels->units[i].has_last)
			FLEXTRACE_TRY(tell_sample(levels, &levels->units[i]));
	return FLEXTRACE_OK;
}

/* -- among the other counters ------------------------------------------------------------------ */

static int put_row(void *context, void *row)
{
	struct counter_row *put = table_append(context, sizeof(*put));

	if (!put)
		return FLEXTRACE_E_MEMORY;
	*put = *(struct counter_row *)row;
	return FLEXTRACE_OK;
}

int levels_merge_rows(struct timeline *timeline, struct row_sorter *rows)
{
	struct table merged = TABLE_INIT;
	const struct counter_row *row;
	struct table_cursor cursor;
	int code;

	table_read(&cursor, &timeline->counters, true);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		struct counter_row *again = row_sorter_append(rows);

		if (!again)
			return FLEXTRACE_E_MEMORY;
		*again = *row;
	}
	code = row_sorter_merge(rows, put_row, &merged);
	table_take(&timeline->counters, &merged);
	return code;
}

int levels_finish(struct levels *levels)
{
	FLEXTRACE_TRY(make_samples(levels));
	return levels_merge_rows(levels->timeline, &levels->rows);
}

int levels_make(struct timeline *timeline, struct string_cache *strings, const char *name,
                int (*add)(struct levels *levels, void *context), void *context)
{
	struct levels levels;
	int code = levels_init(&levels, timeline, strings, name);

	if (code == FLEXTRACE_OK)
		code = add(&levels, context);
	if (code == FLEXTRACE_OK)
		code = levels_finish(&levels);
	levels_release(&levels);
	return code;
}
