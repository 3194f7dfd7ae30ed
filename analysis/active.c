/* SPDX-License-Identifier: Apache-2.0 */
/*
 * active.csv: how much of its time a device computed. Kernels that overlap count once: rows come
 * in order of their starts, so that one sweep knows how far the kernels before reach. Memory: 48
 * bytes per device.
 */
#include <stdlib.h>

#include "analysis_impl.h"

#define FILE_NAME "active.csv"

struct device_activity {
	uint64_t n_kernels;
	uint64_t sum_ns;   /* at most UINT64_MAX */
	uint64_t union_ns; /* never more than reach - start */
	int64_t start_time_ns;
	int64_t reach_time_ns; /* where the kernels so far end */
};

struct activity {
	const struct timeline *timeline; /* weak */
	struct owners owners;
	struct device_activity *devices; /* owned, by struct device */
	uint64_t n_lines;
};

static void count_kernel(struct device_activity *device, const struct device_row *row)
{
	int64_t from_ns = row->start_time_ns;

	if (device->n_kernels++ == 0) {
		device->start_time_ns = from_ns;
		device->reach_time_ns = from_ns;
	}
	device->sum_ns = spread_add(device->sum_ns, analysis_duration(from_ns, row->end_time_ns));
	if (row->end_time_ns <= device->reach_time_ns)
		return;
	if (from_ns < device->reach_time_ns)
		from_ns = device->reach_time_ns;
	device->union_ns += analysis_duration(from_ns, row->end_time_ns);
	device->reach_time_ns = row->end_time_ns;
}

static int count_kernels(struct activity *activity)
{
	const struct timeline *timeline = activity->timeline;
	struct table_cursor cursor;
	const struct device_row *row;

	FLEXTRACE_TRY(owners_init(&activity->owners, timeline->identity));
	activity->devices = calloc(timeline->identity->n_devices + 1ull,
	                           sizeof(*activity->devices));
	if (!activity->devices)
		return FLEXTRACE_E_MEMORY;
	analysis_read_ops(&cursor, timeline);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		if (row->kind == ROW_EXEC)
			count_kernel(&activity->devices[timeline->ops[row->source].device], row);
	}
	return FLEXTRACE_OK;
}

static void write_device(const struct activity *activity, uint32_t index, struct writer *writer)
{
	const struct device_activity *device = &activity->devices[index];
	const struct device *of = &activity->timeline->identity->devices[index];
	int64_t epoch_offset_ns = alignment_epoch_offset_ns(activity->timeline->alignment);
	uint64_t elapsed_ns = analysis_duration(device->start_time_ns, device->reach_time_ns);
	const uint64_t counts[] = {of->device,
	                           device->n_kernels,
	                           device->union_ns,
	                           device->sum_ns,
	                           device->sum_ns - device->union_ns,
	                           elapsed_ns};

	owners_write(&activity->owners, of->process, writer);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		writer_char(writer, ',');
		writer_u64(writer, counts[i]);
	}
	writer_char(writer, ',');
	if (elapsed_ns)
		writer_fixed(writer, 100.0 * (double)device->union_ns / (double)elapsed_ns, 2);
	writer_char(writer, ',');
	writer_i64(writer, device->start_time_ns + epoch_offset_ns);
	writer_char(writer, ',');
	writer_i64(writer, device->reach_time_ns + epoch_offset_ns);
	writer_char(writer, '\n');
}

static void write_devices(void *context, struct writer *writer)
{
	struct activity *activity = context;

	writer_literal(writer, "rank,host,pid,device,kernels,active_ns,sum_ns,overlap_ns,"
	                       "elapsed_ns,active_percent,first_ns,last_ns\n");
	for (uint32_t i = 0; i < activity->timeline->identity->n_devices; i++) {
		uint32_t device = activity->owners.devices[i];

		if (!activity->devices[device].n_kernels)
			continue;
		write_device(activity, device, writer);
		activity->n_lines++;
	}
}

static int write_active(const struct timeline *timeline, const char *output_dir, uint64_t *ret_rows,
                        struct flextrace_error *error)
{
	struct activity activity = {.timeline = timeline};
	int code;

	if (count_kernels(&activity) < 0)
		code = analysis_no_memory(FILE_NAME, error);
	else
		code = analysis_save(output_dir, FILE_NAME, write_devices, &activity, error);
	*ret_rows = activity.n_lines;
	owners_release(&activity.owners);
	free(activity.devices);
	return code;
}

const struct analysis analysis_active = {.name = "active", .write = write_active};
