/* SPDX-License-Identifier: Apache-2.0 */
#include "device_time.h"

#include <stdlib.h>

#include "base/intervals/sweep.h"
#include "table_places.h"

struct device_times {
	device_time_taker *take;
	void *context; /* weak */
	struct work_reader reader;
	struct table_places host_rows;
	struct device_sweep *devices; /* owned: by struct device */
};

struct device_sweep {
	struct sweep sweep;
	struct device_stretch stretch; /* what is the same in the next one */
	const struct device_times *of; /* weak */
	uint32_t launch;               /* of the work that is about to begin */
};

static void take_stretch(void *context, int64_t start_ns, int64_t end_ns, uint32_t mask)
{
	struct device_sweep *device = context;
	struct device_stretch *stretch = &device->stretch;

	stretch->start_time_ns = start_ns;
	stretch->end_time_ns = end_ns;
	stretch->mask = mask;
	stretch->launch = NULL;
	if (!mask && device->launch != FLEXTRACE_NONE)
		stretch->launch = table_at(&device->of->host_rows, device->launch);
	device->of->take(device->of->context, stretch);
}

static void take_work(const struct device_times *times, const struct work *work)
{
	struct device_sweep *device = &times->devices[work->device];
	const struct device_row *row = work->row;
	struct device_stretch *stretch = &device->stretch;

	if (!stretch->before) {
		device->of = times;
		stretch->before = row;
		stretch->process = work->process;
		stretch->device = work->device;
		sweep_begin(&device->sweep, row->start_time_ns, take_stretch, device);
	}
	device->launch = work->launch;
	sweep_add(&device->sweep, row->start_time_ns, row->end_time_ns, work->class);
	if (row->end_time_ns > stretch->before->end_time_ns)
		stretch->before = row;
}

static int read_all(struct device_times *times)
{
	const struct timeline *timeline = times->reader.timeline;
	struct work work;
	int code;

	FLEXTRACE_TRY(table_places_init(&times->host_rows, &timeline->host_rows,
	                                sizeof(struct host_row)));
	while ((code = work_next(&times->reader, &work)) > 0)
		take_work(times, &work);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < timeline->identity->n_devices; i++) {
		struct device_sweep *device = &times->devices[i];

		if (device->stretch.before)
			sweep_end(&device->sweep, device->stretch.before->end_time_ns);
	}
	return code;
}

int device_time_read(const struct timeline *timeline, device_time_taker *take, void *context)
{
	struct device_times times = {
		.take = take,
		.context = context,
		.devices = calloc(timeline->identity->n_devices + 1ull, sizeof(*times.devices)),
	};
	int code = work_read(&times.reader, timeline);

	if (!times.devices)
		code = FLEXTRACE_E_MEMORY;
	if (code == FLEXTRACE_OK)
		code = read_all(&times);
	work_release(&times.reader);
	table_places_release(&times.host_rows);
	free(times.devices);
	return code;
}
