/* SPDX-License-Identifier: Apache-2.0 */
/*
 * active.csv: how much of its time a device computed. Kernels that overlap count once: rows come
 * in order of their starts, so that one sweep knows how far the kernels before reach. Memory: 48
 * bytes per device.
 */
#include <stdlib.h>

#include "analysis_impl.h"

struct device_activity {
	uint32_t device; /* index */
	uint64_t n_kernels;
	uint64_t sum_ns;   /* at most UINT64_MAX */
	uint64_t union_ns; /* never more than reach - start */
	int64_t start_time_ns;
	int64_t reach_time_ns; /* where the kernels so far end */
	uint64_t overlap_ns;
	double active_percent;
};

struct activity {
	const struct timeline *timeline; /* weak */
	struct owners owners;
	struct device_activity *devices; /* owned, by struct device */
};

static void count_kernel(struct device_activity *device, const struct device_row *row)
{
	int64_t from_ns = row->start_time_ns;

	if (device->n_kernels++ == 0) {
		device->start_time_ns = from_ns;
		device->reach_time_ns = from_ns;
	}
	device->sum_ns = spread_add(device->sum_ns, interval_ns(from_ns, row->end_time_ns));
	if (row->end_time_ns <= device->reach_time_ns)
		return;
	if (from_ns < device->reach_time_ns)
		from_ns = device->reach_time_ns;
	device->union_ns += interval_ns(from_ns, row->end_time_ns);
	device->reach_time_ns = row->end_time_ns;
}

static int count_kernels(struct activity *activity)
{
	const struct timeline *timeline = activity->timeline;

	FLEXTRACE_TRY(owners_init(&activity->owners, timeline->identity));
	activity->devices = calloc(timeline->identity->n_devices + 1ull,
	                           sizeof(*activity->devices));
	if (!activity->devices)
		return FLEXTRACE_E_MEMORY;
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		if (row->kind == ROW_EXEC)
			count_kernel(&activity->devices[timeline->ops[row->source].device], row);
	}
	return FLEXTRACE_OK;
}

static const struct column columns[] = {
	COLUMNS_DEVICE(struct device_activity, device),
	COLUMN_AS("kernels", struct device_activity, n_kernels),
	COLUMN_AS("active_ns", struct device_activity, union_ns),
	COLUMN(struct device_activity, sum_ns),
	COLUMN(struct device_activity, overlap_ns),
	COLUMN_LENGTH("elapsed_ns", struct device_activity, start_time_ns),
	COLUMN_FIXED(struct device_activity, active_percent, 2),
	COLUMN_TIME("first_ns", struct device_activity, start_time_ns),
	COLUMN_TIME("last_ns", struct device_activity, reach_time_ns),
};

static void put_device(const struct activity *activity, uint32_t index, struct row_sink *sink)
{
	struct device_activity *device = &activity->devices[index];
	uint64_t elapsed_ns = interval_ns(device->start_time_ns, device->reach_time_ns);

	if (!device->n_kernels)
		return;
	device->device = index;
	device->overlap_ns = device->sum_ns - device->union_ns;
	device->active_percent = 100.0 * (double)device->union_ns / (double)elapsed_ns;
	row_put(sink, device);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct activity activity = {.timeline = timeline};
	int code = count_kernels(&activity);

	for (uint32_t i = 0; code == FLEXTRACE_OK && i < timeline->identity->n_devices; i++)
		put_device(&activity, activity.owners.devices[i], sink);
	owners_release(&activity.owners);
	free(activity.devices);
	return code;
}

const struct analysis analysis_active = ANALYSIS_CSV("active", columns, fill);
