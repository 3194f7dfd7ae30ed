// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_size.c: how large trace.json will be, or that of a rank: what rows of each kind take, as
 * measured on traces of all sources, and the texts of some of them.
 */
#include <stdlib.h>
#include <string.h>

#include "model/timeline/any_row.h"
#include "output/emit.h"

#define N_SAMPLES 1000u /* rows of a table whose texts are looked at */

enum {
	HEAD_BYTES = 1500,
	LINE_BYTES = 230, /* of a thread, queue, device or process: its name and its place */
	HOST_BYTES = 118,
	PART_BYTES = 145, /* DMA and prep */
	MAIN_BYTES = 205, /* other control blocks, with cycles and launch */
	TOLD_BYTES = 125, /* what is told by a file has its arguments as text */
	ZONE_BYTES = 180,
	INSTANT_BYTES = 115,
	VALUE_BYTES = 103,
	ARROW_BYTES = 190 /* both ends */
};

static uint64_t text_bytes(const struct timeline *timeline, uint32_t string)
{
	return string ? string_text(timeline->strings, string).length : 0;
}

static uint64_t host_bytes(const struct timeline *timeline, const void *row)
{
	const struct host_row *host = row;

	return HOST_BYTES + text_bytes(timeline, host->name) + text_bytes(timeline, host->args);
}

static uint64_t device_bytes(const struct timeline *timeline, const void *row)
{
	const struct device_row *device = row;
	const struct tick_op *op;
	uint64_t n_told;

	if (device->kind >= ROW_FIRMWARE)
		return ZONE_BYTES;
	op = &timeline->ops[device->source];
	if (device->kind == ROW_PREP || device->kind == ROW_DMA_IN || device->kind == ROW_DMA_OUT)
		return PART_BYTES + text_bytes(timeline, op->name);
	n_told = text_bytes(timeline, op->type);
	return (n_told ? TOLD_BYTES + n_told : MAIN_BYTES) + text_bytes(timeline, op->name);
}

static uint64_t instant_bytes(const struct timeline *timeline, const void *row)
{
	const struct instant_row *instant = row;

	return INSTANT_BYTES + text_bytes(timeline, instant->name) +
	       text_bytes(timeline, instant->value);
}

static uint64_t row_bytes_of(const struct timeline *timeline, const struct any_row *of)
{
	switch (of->table) {
	case OF_HOST:
		return host_bytes(timeline, of->row);
	case OF_DEVICE:
		return device_bytes(timeline, of->row);
	case OF_INSTANTS:
		return instant_bytes(timeline, of->row);
	default:
		return VALUE_BYTES;
	}
}

/* Of a table, by rows that are evenly apart, to each process. FLEXTRACE_E_MEMORY or 0. */
static int add_table(const struct timeline *timeline, enum row_table of, double *by_process)
{
	const struct table *table = timeline_table(timeline, of);
	uint64_t n = table->n_rows < N_SAMPLES ? table->n_rows : N_SAMPLES;
	struct table_index index;
	int code = table_index_init(&index, table, any_row_bytes[of]);

	for (uint64_t i = 0; code == 0 && i < n; i++) {
		struct any_row row;

		any_row_read(timeline, of,
		             table_index_get(&index, i * table->n_rows / n, any_row_bytes[of]),
		             &row);
		by_process[row.process] += (double)row_bytes_of(timeline, &row) / (double)n *
		                           (double)table->n_rows;
	}
	table_index_release(&index);
	return code;
}

static bool has_table(const char *types, enum row_table of)
{
	static const char *const phases[N_ROW_TABLES] = {EMIT_TYPES_INTERVAL, EMIT_TYPES_INTERVAL,
	                                                 EMIT_TYPES_INSTANT, EMIT_TYPES_COUNTER,
	                                                 EMIT_TYPES_COUNTER};

	return !types || strpbrk(types, phases[of]);
}

/* Arrows are of the processes whose rows they join. */
static void sum_up(struct emit_sizes *sizes, const struct findings *findings, const char *types,
                   const double *by_process)
{
	const struct identity *identity = findings->timeline->identity;
	double arrows = 0, lines, rows = 0;

	lines = HEAD_BYTES + LINE_BYTES * ((double)findings->timeline->n_tracks +
	                                   identity->n_devices + identity->n_processes);
	if (has_table(types, OF_HOST) && (!types || strpbrk(types, EMIT_TYPES_FLOW)))
		arrows = ARROW_BYTES * (double)findings->flows->n_rows;
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		rows += by_process[i];
		if (by_process[i] > sizes->rank)
			sizes->rank = by_process[i];
	}
	sizes->all = lines + rows + arrows;
	sizes->rank *= rows > 0 ? sizes->all / rows : 0;
}

int emit_estimate_sizes(const struct findings *findings, const char *types,
                        struct emit_sizes *ret_sizes)
{
	double *by_process = calloc(findings->timeline->identity->n_processes + 1ull,
	                            sizeof(*by_process));
	int code = by_process ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	*ret_sizes = (struct emit_sizes){.all = 0};
	for (int of = 0; of < N_ROW_TABLES && code == 0; of++) {
		if (has_table(types, of))
			code = add_table(findings->timeline, of, by_process);
	}
	if (code == 0)
		sum_up(ret_sizes, findings, types, by_process);
	free(by_process);
	return code;
}
