/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.c: counters of devices that add up what runs at a time.
 */
#include "counters_impl.h"
#include "findings/dma.h"

static int add_transfers(struct levels *levels, struct dma_reader *reader)
{
	struct dma dma;
	int code;

	while ((code = dma_next(reader, &dma)) > 0) {
		uint64_t ns = interval_ns(dma.row->start_time_ns, dma.row->end_time_ns);

		if (!dma.is_duplicate && ns)
			FLEXTRACE_TRY(levels_add(levels, dma.device, dma.row,
			                         (double)dma.bytes / (double)ns));
	}
	return code;
}

int transfer_bw_add(struct counter_maker *maker)
{
	const struct timeline *timeline = maker->input->timeline;
	struct dma_reader reader;
	struct levels levels;
	int code;

	if (!timeline->has.bytes)
		return FLEXTRACE_OK;
	dma_read(&reader, timeline);
	code = levels_init(&levels, maker);
	if (code >= 0)
		code = add_transfers(&levels, &reader);
	dma_release(&reader);
	return levels_finish(&levels, code);
}

static int add_kernels(struct levels *levels, const struct counters_input *input)
{
	const struct kernel_costs *costs = input->costs;

	TABLE_EACH(struct device_row, row, &input->timeline->device_rows) {
		const struct kernel_cost *cost = kernel_cost_of(costs, row);
		uint32_t device = input->timeline->tracks[row->track].owner;

		if (cost && cost->ideal_cycles && row->end_time_ns > row->start_time_ns)
			FLEXTRACE_TRY(
				levels_add(levels, device, row,
			                   100.0 * kernel_utilization(costs, cost, device, row)));
	}
	return FLEXTRACE_OK;
}

int pt_active_add(struct counter_maker *maker)
{
	struct levels levels;
	int code;

	if (!maker->input->costs)
		return FLEXTRACE_OK;
	code = levels_init(&levels, maker);
	if (code >= 0)
		code = add_kernels(&levels, maker->input);
	return levels_finish(&levels, code);
}
