/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pt_active.c: counter `PT Active`: how busy the matrix unit of a device is, in percent, from the
 * start of each kernel to its end. What runs at a time is added up.
 */
#include "findings/statistics/levels.h"
#include "utilization.h"

static int add_kernels(struct levels *levels, void *context)
{
	const struct kernel_costs *costs = context;
	struct table_cursor cursor;
	const struct device_row *row;

	table_read(&cursor, &levels->timeline->device_rows, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		const struct kernel_cost *cost = kernel_cost_of(costs, row);
		uint32_t device = levels->timeline->tracks[row->track].owner;

		if (cost && cost->ideal_cycles && row->end_time_ns > row->start_time_ns)
			FLEXTRACE_TRY(
				levels_add(levels, device, row,
			                   100.0 * kernel_utilization(costs, cost, device, row)));
	}
	return FLEXTRACE_OK;
}

int pt_active_add(struct timeline *timeline, const struct kernel_costs *costs,
                  struct string_cache *strings)
{
	return levels_make(timeline, strings, "PT Active", add_kernels, (void *)costs);
}
