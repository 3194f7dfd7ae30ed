/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pt_active.c: counter `PT Active`: how busy the matrix unit of a device is, in percent, from the
 * start of each kernel to its end. What runs at a time is added up.
 */
#include <stdlib.h>

#include "derive/rows.h"
#include "utilization.h"

#define COUNTER_NAME "PT Active"

/* A kernel starts or ends. */
struct edge {
	int64_t time_ns;
	double percent; /* negative at its end */
	uint32_t device;
	uint32_t source; /* index of struct tick_op */
	uint32_t err_ns;
	uint8_t status;
	uint8_t unused[3];
};

/* All that happens on a device at one time is one sample. */
struct unit {
	double percent;
	uint64_t n_open;
	struct edge last;
	bool has_last; /* no row yet */
};

struct active {
	const struct timeline *timeline; /* weak */
	const struct kernel_costs *costs;
	struct unit *units; /* owned: per device */
	struct row_sorter edges, rows;
	struct table counters; /* of struct counter_row */
	uint32_t name;         /* string */
};

/* -- edges ------------------------------------------------------------------------------------- */

static int add_edge(struct active *active, const struct edge *edge)
{
	struct edge *added = row_sorter_append(&active->edges);

	if (!added)
		return FLEXTRACE_E_MEMORY;
	*added = *edge;
	return FLEXTRACE_OK;
}

static int add_kernel(struct active *active, const struct device_row *row)
{
	const struct kernel_cost *cost = kernel_cost_of(active->costs, row);
	uint32_t device = active->timeline->tracks[row->track].owner;
	struct edge edge = {.time_ns = row->start_time_ns,
	                    .device = device,
	                    .source = row->source,
	                    .err_ns = row->err_ns,
	                    .status = row->status};

	if (!cost || !cost->ideal_cycles || row->end_time_ns == row->start_time_ns)
		return FLEXTRACE_OK;
	edge.percent = 100.0 * kernel_utilization(active->costs, device, row);
	FLEXTRACE_TRY(add_edge(active, &edge));
	edge.time_ns = row->end_time_ns;
	edge.percent = -edge.percent;
	return add_edge(active, &edge);
}

static int add_kernels(struct active *active)
{
	struct table_cursor cursor;
	const struct device_row *row;

	table_read(&cursor, (struct table *)&active->timeline->device_rows, false);
	while ((row = table_next(&cursor, sizeof(*row))))
		FLEXTRACE_TRY(add_kernel(active, row));
	return FLEXTRACE_OK;
}

/* -- samples ----------------------------------------------------------------------------------- */

static int tell_sample(struct active *active, struct unit *unit)
{
	const struct edge *edge = &unit->last;
	const struct tick_op *op = &active->timeline->ops[edge->source];
	struct counter_row *row = row_sorter_append(&active->rows);

	if (!row)
		return FLEXTRACE_E_MEMORY;
	unit->has_last = false;
	*row = (struct counter_row){
		.time_ns = edge->time_ns,
		.value = unit->n_open ? unit->percent : 0.0,
		.err_ns = edge->err_ns,
		.owner = edge->device,
		.core = FLEXTRACE_NONE,
		.name = active->name,
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
	struct active *active = context;
	const struct edge *edge = any;
	struct unit *unit = &active->units[edge->device];

	if (unit->has_last && unit->last.time_ns != edge->time_ns)
		FLEXTRACE_TRY(tell_sample(active, unit));
	if (edge->percent > 0)
		unit->n_open++;
	else
		unit->n_open--;
	unit->percent = unit->n_open ? unit->percent + edge->percent : 0.0;
	unit->last = *edge;
	unit->has_last = true;
	return FLEXTRACE_OK;
}

static int make_samples(struct active *active)
{
	FLEXTRACE_TRY(row_sorter_merge(&active->edges, take_edge, active));
	for (uint32_t i = 0; i < active->timeline->identity->n_devices; i++)
		if (active->units[i].has_last)
			FLEXTRACE_TRY(tell_sample(active, &active->units[i]));
	return FLEXTRACE_OK;
}

/* -- among the other counters ------------------------------------------------------------------ */

static int put_row(void *context, void *row)
{
	struct active *active = context;
	struct counter_row *put = table_append(&active->counters, sizeof(*put));

	if (!put)
		return FLEXTRACE_E_MEMORY;
	*put = *(struct counter_row *)row;
	return FLEXTRACE_OK;
}

static int merge_rows(struct active *active, struct table *counters)
{
	const struct counter_row *row;
	struct table_cursor cursor;

	table_read(&cursor, counters, true);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		struct counter_row *again = row_sorter_append(&active->rows);

		if (!again)
			return FLEXTRACE_E_MEMORY;
		*again = *row;
	}
	FLEXTRACE_TRY(row_sorter_merge(&active->rows, put_row, active));
	table_take(counters, &active->counters);
	return FLEXTRACE_OK;
}

int pt_active_add(struct timeline *timeline, const struct kernel_costs *costs,
                  struct string_cache *strings)
{
	struct active active = {.timeline = timeline, .costs = costs};
	int code = string_intern(strings, COUNTER_NAME, &active.name);

	row_sorter_init(&active.edges, sizeof(struct edge), false);
	row_sorter_init(&active.rows, sizeof(struct counter_row), false);
	active.units = calloc(timeline->identity->n_devices + 1ull, sizeof(*active.units));
	if (!active.units)
		code = FLEXTRACE_E_MEMORY;
	if (code == FLEXTRACE_OK)
		code = add_kernels(&active);
	if (code == FLEXTRACE_OK)
		code = make_samples(&active);
	if (code == FLEXTRACE_OK)
		code = merge_rows(&active, &timeline->counters);
	row_sorter_release(&active.edges);
	row_sorter_release(&active.rows);
	table_release(&active.counters);
	free(active.units);
	return code;
}
