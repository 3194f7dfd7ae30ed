// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_size.c: how large trace.json will be: what rows of each kind take, as measured on traces
 * of all sources, and the texts of some of them.
 */
#include <string.h>

#include "model/timeline/timeline_read.h"
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

/* Of a table, by rows that are evenly apart. FLEXTRACE_E_MEMORY or 0. */
static int add_table(const struct timeline *timeline, const struct table *table, size_t row_bytes,
                     uint64_t (*bytes_of)(const struct timeline *timeline, const void *row),
                     double *bytes)
{
	uint64_t n = table->n_rows < N_SAMPLES ? table->n_rows : N_SAMPLES, sum = 0;
	struct table_index index;
	int code = table_index_init(&index, table, row_bytes);

	for (uint64_t i = 0; code == 0 && i < n; i++)
		sum += bytes_of(timeline,
		                table_index_get(&index, i * table->n_rows / n, row_bytes));
	if (n)
		*bytes += (double)sum / (double)n * (double)table->n_rows;
	table_index_release(&index);
	return code;
}

int emit_estimate_chrome(const struct findings *findings, const char *types, double *ret_bytes)
{
	const struct timeline *timeline = findings->timeline;
	const struct identity *identity = timeline->identity;
	bool has_intervals = !types || strpbrk(types, EMIT_TYPES_INTERVAL);

	*ret_bytes = HEAD_BYTES + LINE_BYTES * ((double)timeline->n_tracks + identity->n_devices +
	                                        identity->n_processes);
	if (has_intervals) {
		FLEXTRACE_TRY(add_table(timeline, &timeline->host_rows, sizeof(struct host_row),
		                        host_bytes, ret_bytes));
		FLEXTRACE_TRY(add_table(timeline, &timeline->device_rows, sizeof(struct device_row),
		                        device_bytes, ret_bytes));
	}
	if (has_intervals && (!types || strpbrk(types, EMIT_TYPES_FLOW)))
		*ret_bytes += ARROW_BYTES * (double)findings->flows->n_rows;
	if (!types || strpbrk(types, EMIT_TYPES_INSTANT))
		FLEXTRACE_TRY(add_table(timeline, &timeline->instants, sizeof(struct instant_row),
		                        instant_bytes, ret_bytes));
	if (!types || strpbrk(types, EMIT_TYPES_COUNTER))
		*ret_bytes += VALUE_BYTES *
		              (double)(timeline->counters.n_rows + timeline->memory.n_rows);
	return FLEXTRACE_OK;
}
