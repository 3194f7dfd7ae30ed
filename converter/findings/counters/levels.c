/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "counters_impl.h"

/* An interval starts or ends. */
struct edge {
	struct counter_sample at; /* its time first: what edges are sorted by */
	double value;             /* negative at its end */
};

/* All that happens on a device at one time is one sample. */
struct level_unit {
	double value;
	uint64_t n_open;
	struct counter_sample last;
	bool has_last; /* no row yet */
};

int levels_init(struct levels *levels, struct counter_maker *maker)
{
	*levels = (struct levels){.maker = maker};
	row_sorter_init(&levels->edges, sizeof(struct edge), false);
	levels->units = calloc(maker->input->timeline->identity->n_devices + 1ull,
	                       sizeof(*levels->units));
	return levels->units ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

/* -- edges ------------------------------------------------------------------------------------- */

int levels_add(struct levels *levels, uint32_t device, const struct device_row *row, double value)
{
	struct edge edge = {{row->start_time_ns, device, row->source, row->err_ns, row->status},
	                    value};

	if (row->end_time_ns == row->start_time_ns)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(row_sorter_put(&levels->edges, &edge));
	edge.at.time_ns = row->end_time_ns;
	edge.value = -value;
	return row_sorter_put(&levels->edges, &edge);
}

/* -- samples ----------------------------------------------------------------------------------- */

static int add_sample(struct levels *levels, struct level_unit *unit)
{
	unit->has_last = false;
	return counter_add_row(levels->maker, &unit->last, unit->n_open ? unit->value : 0.0);
}

static int take_edge(void *context, void *any)
{
	struct levels *levels = context;
	const struct edge *edge = any;
	struct level_unit *unit = &levels->units[edge->at.device];

	if (unit->has_last && unit->last.time_ns != edge->at.time_ns)
		FLEXTRACE_TRY(add_sample(levels, unit));
	if (edge->value > 0)
		unit->n_open++;
	else
		unit->n_open--;
	unit->value = unit->n_open ? unit->value + edge->value : 0.0;
	unit->last = edge->at;
	unit->has_last = true;
	return FLEXTRACE_OK;
}

static int add_samples(struct levels *levels)
{
	FLEXTRACE_TRY(row_sorter_merge(&levels->edges, take_edge, levels));
	for (uint32_t i = 0; i < levels->maker->input->timeline->identity->n_devices; i++)
		if (levels->units[i].has_last)
			FLEXTRACE_TRY(add_sample(levels, &levels->units[i]));
	return FLEXTRACE_OK;
}

int levels_finish(struct levels *levels, int code)
{
	if (code >= 0)
		code = add_samples(levels);
	row_sorter_release(&levels->edges);
	free(levels->units);
	return code;
}
