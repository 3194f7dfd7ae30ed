/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown.csv: what the time of each device, from its first work to its last, went to: what it
 * was at, and why it was idle.
 */
#include "../analysis_impl.h"
#include "findings/work/device_time.h"

struct breakdown_row {
	uint32_t process, device; /* indexes; FLEXTRACE_NONE: the sum of all */
	struct device_time of;
	double percent[3]; /* of the wall time, as in the columns */
};

#define PART(name, part) COLUMN_AS(name, struct breakdown_row, of.ns[part])

static const struct column columns[] = {
	COLUMNS_PROCESS(struct breakdown_row, process),
	COLUMN_DEVICE(struct breakdown_row, device),
	PART("wall_ns", SPENT_WALL),
	PART("compute_ns", SPENT_CLASS + WORK_COMPUTE),
	PART("exposed_communication_ns", SPENT_EXPOSED + WORK_COMMUNICATION),
	PART("exposed_memory_ns", SPENT_EXPOSED + WORK_MEMORY),
	PART("exposed_prepare_ns", SPENT_EXPOSED + WORK_PREPARE),
	PART("host_wait_ns", SPENT_HOST_WAIT),
	PART("kernel_wait_ns", SPENT_KERNEL_WAIT),
	PART("other_idle_ns", SPENT_OTHER_IDLE),
	PART("busy_ns", SPENT_BUSY),
	PART("idle_ns", SPENT_IDLE),
	PART("unsure_idle_ns", SPENT_UNSURE_IDLE),
	PART("communication_ns", SPENT_CLASS + WORK_COMMUNICATION),
	PART("memory_ns", SPENT_CLASS + WORK_MEMORY),
	PART("prepare_ns", SPENT_CLASS + WORK_PREPARE),
	PART("compute_communication_ns", 3),
	PART("compute_memory_ns", 5),
	PART("communication_memory_ns", 6),
	PART("compute_communication_memory_ns", 7),
	COLUMN_FIXED_AS("compute_percent", struct breakdown_row, percent[0], 2),
	COLUMN_FIXED_AS("exposed_communication_percent", struct breakdown_row, percent[1], 2),
	COLUMN_FIXED_AS("idle_percent", struct breakdown_row, percent[2], 2),
	COLUMN_TIME("first_ns", struct breakdown_row, of.first_time_ns),
	COLUMN_TIME("last_ns", struct breakdown_row, of.last_time_ns),
};

/* A sum of devices is one, too. */
static void put(const struct device_time *time, uint32_t process, uint32_t device,
                struct row_sink *sink)
{
	static const int parts[] = {SPENT_CLASS + WORK_COMPUTE, SPENT_EXPOSED + WORK_COMMUNICATION,
	                            SPENT_IDLE};
	struct breakdown_row row = {.process = process, .device = device, .of = *time};

	/* Overlap with preparation has no column of its own: a device prepares beside all else. */
	for (uint32_t mask = 1; mask < 1u << WORK_PREPARE; mask++)
		row.of.ns[mask] += row.of.ns[mask | 1u << WORK_PREPARE];
	for (int i = 0; i < 3; i++)
		row.percent[i] = 100.0 * (double)time->ns[parts[i]] / (double)time->ns[SPENT_WALL];
	row_put(sink, &row);
}

static void add(struct device_time *sum, const struct device_time *time)
{
	if (!sum->n || time->first_time_ns < sum->first_time_ns)
		sum->first_time_ns = time->first_time_ns;
	if (!sum->n++ || time->last_time_ns > sum->last_time_ns)
		sum->last_time_ns = time->last_time_ns;
	for (int part = 0; part < SPENT_PART_COUNT; part++)
		sum->ns[part] += time->ns[part];
}

/* Those of a rank stand together. */
static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct owners *owners = findings->owners;
	const struct device *devices = owners->identity->devices;
	struct device_time rank = {0}, all = {0};
	const struct device_times *times;

	FLEXTRACE_TRY(device_times_borrow(&times, findings));
	for (uint32_t i = 0, n = owners->identity->n_devices; i < n; i++) {
		uint32_t device = owners->devices[i], process = devices[device].process;

		if (times->devices[device].n) {
			put(&times->devices[device], process, device, sink);
			add(&rank, &times->devices[device]);
		}
		if (i + 1 < n && devices[owners->devices[i + 1]].process == process)
			continue;
		if (rank.n > 1)
			put(&rank, process, FLEXTRACE_NONE, sink);
		if (rank.n)
			add(&all, &rank);
		rank = (struct device_time){0};
	}
	if (all.n > 1)
		put(&all, FLEXTRACE_NONE, FLEXTRACE_NONE, sink);
	return FLEXTRACE_OK;
}

const struct analysis analysis_breakdown =
	ANALYSIS_CSV("breakdown", columns, fill, .title = "What the time of devices went to",
                     .what = "Time of each device from its first work to its last: computing, "
                             "what that does not hide, idle by cause. They add up exactly.");
