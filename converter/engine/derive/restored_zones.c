/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the firmware of cores marked, of a file of ours: zones, marks and values. Each came as a
 * control block; the zones and their runs are made behind those that were recorded.
 */
#include "base/blocks.h"
#include "derive_impl.h"
#include "model/words/restored.h"

int restored_keep(struct derive *derive, uint32_t source, const struct restored *restored)
{
	const struct restored_of_core of_core = {source, *restored};

	return ARRAY_PUSH(derive->of_cores, derive->n_of_cores, of_core);
}

/* An array with room for `n` more. */
static int extend(void *array, uint64_t n_before, uint64_t n, size_t element_bytes)
{
	array_pointer *pointer = array;
	char *grown = blocks_allocate(n_before + n, element_bytes);

	if (!grown)
		return FLEXTRACE_E_MEMORY;
	if (n_before)
		memcpy(grown, *pointer, n_before * element_bytes);
	blocks_free(*pointer);
	*pointer = grown;
	return FLEXTRACE_OK;
}

static struct mark_run run_of(const struct tick_op *op, const struct restored *restored)
{
	return (struct mark_run){
		.run = restored->run,
		.job = restored->job,
		.device = op->device,
		.counter = op->counter,
		.core = (uint32_t)restored->core,
		.processor = (uint32_t)restored->processor,
		.stream = op->stream,
		.index = op->index,
		.boot = FLEXTRACE_NONE,
		.status = (uint8_t)restored->rows[0].status,
	};
}

static int add_zone(struct derive *derive, const struct tick_op *op,
                    const struct restored *restored, const struct place places[2])
{
	struct timeline_marks *marks = &derive->out.marks;
	const struct restored_row *of = &restored->rows[0];
	struct device_row *row = device_add_row(derive, (uint8_t)of->kind, (uint32_t)marks->n_zones,
	                                        &places[0], &places[1], (uint8_t)of->status);
	struct zone zone = {restored->ticks[0], restored->ticks[FLEXTRACE_N_STAMPS - 1],
	                    (uint32_t)marks->n_runs, 0};

	if (!row)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(marker_of_row(derive, (uint8_t)of->kind, op, &zone.marker));
	marks->zones[marks->n_zones++] = zone;
	marks->runs[marks->n_runs++] = run_of(op, restored);
	return family_of_core(derive, op->device, (uint32_t)restored->core,
	                      (uint32_t)restored->processor, &row->track);
}

static int add_mark(struct derive *derive, const struct tick_op *op,
                    const struct restored *restored, const struct place *place)
{
	struct instant_row *row = row_sorter_append(&derive->instants);
	uint32_t family;

	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = (struct instant_row){
		.time_ns = place->time_ns,
		.err_ns = place->err_ns,
		.name = op->name,
		.stream = op->stream,
		.index = op->index,
		.class = RECORD_MARKER_BATCH,
		.status = place->status,
	};
	derive_cover(derive, row->time_ns, row->time_ns);
	FLEXTRACE_TRY(family_of_core(derive, op->device, (uint32_t)restored->core,
	                             (uint32_t)restored->processor, &family));
	return family_track(derive, family, 0, &row->track);
}

static int add_value(struct derive *derive, const struct tick_op *op,
                     const struct restored *restored, const struct place *place)
{
	struct counter_row *row = row_sorter_append(&derive->counters);

	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = (struct counter_row){
		.time_ns = place->time_ns,
		.err_ns = place->err_ns,
		.core = (uint32_t)restored->core,
		.name = op->name,
		.stream = op->stream,
		.index = op->index,
		.owner = op->device,
		.is_device = 1,
		.status = place->status,
		.class = RECORD_MARKER_BATCH,
	};
	memcpy(&row->value, &restored->value_bits, sizeof(row->value));
	derive_cover(derive, row->time_ns, row->time_ns);
	return FLEXTRACE_OK;
}

static int add(struct derive *derive, const struct restored_of_core *of)
{
	const struct tick_op *op = &derive->out.ops[of->source];
	const struct restored *restored = &of->restored;
	struct place places[2];

	restored_place(derive, op, &restored->rows[0], places);
	if (restored->rows[0].kind == RESTORED_MARK)
		return add_mark(derive, op, restored, &places[0]);
	if (restored->rows[0].kind == RESTORED_VALUE)
		return add_value(derive, op, restored, &places[0]);
	return add_zone(derive, op, restored, places);
}

int restored_take_kept(struct derive *derive)
{
	struct timeline_marks *marks = &derive->out.marks;
	uint32_t n = derive->n_of_cores;

	if (!n)
		return FLEXTRACE_OK;
	if (marks->n_zones + n >= FLEXTRACE_NONE || marks->n_runs + n >= FLEXTRACE_NONE)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(extend(&marks->zones, marks->n_zones, n, sizeof(*marks->zones)));
	FLEXTRACE_TRY(extend(&marks->runs, marks->n_runs, n, sizeof(*marks->runs)));
	for (uint32_t i = 0; i < n; i++)
		FLEXTRACE_TRY(add(derive, &derive->of_cores[i]));
	return FLEXTRACE_OK;
}
