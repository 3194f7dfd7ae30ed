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

/* `devices`: by struct device. */
static void count_kernels(const struct timeline *timeline, struct device_activity *devices)
{
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		if (row->kind == ROW_EXEC)
			count_kernel(&devices[timeline->ops[row->source].device], row);
	}
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

static void put_device(struct device_activity *device, uint32_t index, struct row_sink *sink)
{
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
	uint32_t n = findings->timeline->identity->n_devices;
	struct device_activity *devices;

	FLEXTRACE_TRY(ARRAY_NEW(devices, n + 1ull));
	count_kernels(findings->timeline, devices);
	for (uint32_t i = 0; i < n; i++)
		put_device(&devices[findings->owners->devices[i]], findings->owners->devices[i],
		           sink);
	free(devices);
	return FLEXTRACE_OK;
}

const struct analysis analysis_active =
	ANALYSIS_CSV("active", columns, fill, .title = "Active time of devices",
                     .what = "How much of the time between its first and last work each "
                             "device computed. What overlaps is counted once.");
