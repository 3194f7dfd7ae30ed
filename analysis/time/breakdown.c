/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown.csv: what the time of each device, from its first work to its last, went to: what it
 * was at, and why it was idle.
 *
 * Causes of idle time are those of Holistic Trace Analysis (_get_idle_time_for_kernels()), with the
 * device in the place of its stream: a gap between two kernels of a stream in which another one
 * works is no idle time of the device. Memory: 300 bytes per device.
 */
#include <stdlib.h>

#include "../analysis_impl.h"
#include "findings/work/device_time.h"

/* What a device needs from one kernel to the next where both are launched: that of HTA. */
#define KERNEL_DELAY_NS 30000

/* What is counted, behind the sets of classes that were at work: enum work_class, from each on. */
enum breakdown_part {
	PART_IDLE,                         /* no class at all */
	PART_WALL = 1 << WORK_CLASS_COUNT, /* behind all sets of classes */
	PART_BUSY,
	PART_CLASS,                                   /* one was at work */
	PART_EXPOSED = PART_CLASS + WORK_CLASS_COUNT, /* it was what counts */
	PART_HOST_WAIT = PART_EXPOSED + WORK_CLASS_COUNT,
	PART_KERNEL_WAIT,
	PART_OTHER_IDLE,
	PART_UNSURE_IDLE,
	PART_COUNT
};

struct breakdown_row {
	uint32_t process, device; /* indexes; FLEXTRACE_NONE: the sum of all */
	uint32_t n_summed;
	int64_t first_time_ns, last_time_ns;
	uint64_t ns[PART_COUNT];
	double percent[3]; /* of the wall time, as in the columns */
};

/* -- stretches --------------------------------------------------------------------------------- */

/* Whether an error of the times could have made another cause of it. */
static bool is_unsure(const struct device_row *before, uint64_t distance_ns)
{
	if (before->err_ns == UINT32_MAX)
		return before->status != TIME_GIVEN;
	return distance_ns <= before->err_ns;
}

static void count_idle(struct breakdown_row *row, const struct device_stretch *stretch, uint64_t ns)
{
	int64_t from_ns = stretch->start_time_ns, launched_ns;
	enum breakdown_part cause = ns < KERNEL_DELAY_NS ? PART_KERNEL_WAIT : PART_OTHER_IDLE;

	if (!stretch->launch) {
		row->ns[PART_OTHER_IDLE] += ns;
		return;
	}
	launched_ns = stretch->launch->start_time_ns;
	row->ns[launched_ns > from_ns ? PART_HOST_WAIT : cause] += ns;
	if (is_unsure(stretch->before, launched_ns > from_ns ? interval_ns(from_ns, launched_ns)
	                                                     : interval_ns(launched_ns, from_ns)))
		row->ns[PART_UNSURE_IDLE] += ns;
}

/* `context`: by struct device. */
static void take_stretch(void *context, const struct device_stretch *stretch)
{
	struct breakdown_row *row = (struct breakdown_row *)context + stretch->device;
	uint64_t ns = interval_ns(stretch->start_time_ns, stretch->end_time_ns);
	uint32_t mask = stretch->mask;

	if (!row->n_summed++)
		row->first_time_ns = stretch->start_time_ns;
	row->last_time_ns = stretch->end_time_ns;
	row->ns[mask] += ns;
	row->ns[PART_WALL] += ns;
	if (!mask) {
		count_idle(row, stretch, ns);
		return;
	}
	row->ns[PART_BUSY] += ns;
	row->ns[PART_EXPOSED + device_time_class(mask)] += ns;
	for (int class = 0; class < WORK_CLASS_COUNT; class ++)
		row->ns[PART_CLASS + class] += mask & 1u << class ? ns : 0;
}

/* -- rows -------------------------------------------------------------------------------------- */

#define PART(name, part) COLUMN_AS(name, struct breakdown_row, ns[part])

static const struct column columns[] = {
	COLUMNS_PROCESS(struct breakdown_row, process),
	COLUMN_DEVICE(struct breakdown_row, device),
	PART("wall_ns", PART_WALL),
	PART("compute_ns", PART_CLASS + WORK_COMPUTE),
	PART("exposed_communication_ns", PART_EXPOSED + WORK_COMMUNICATION),
	PART("exposed_memory_ns", PART_EXPOSED + WORK_MEMORY),
	PART("exposed_prepare_ns", PART_EXPOSED + WORK_PREPARE),
	PART("host_wait_ns", PART_HOST_WAIT),
	PART("kernel_wait_ns", PART_KERNEL_WAIT),
	PART("other_idle_ns", PART_OTHER_IDLE),
	PART("busy_ns", PART_BUSY),
	PART("idle_ns", PART_IDLE),
	PART("unsure_idle_ns", PART_UNSURE_IDLE),
	PART("communication_ns", PART_CLASS + WORK_COMMUNICATION),
	PART("memory_ns", PART_CLASS + WORK_MEMORY),
	PART("prepare_ns", PART_CLASS + WORK_PREPARE),
	PART("compute_communication_ns", 3),
	PART("compute_memory_ns", 5),
	PART("communication_memory_ns", 6),
	PART("compute_communication_memory_ns", 7),
	COLUMN_FIXED_AS("compute_percent", struct breakdown_row, percent[0], 2),
	COLUMN_FIXED_AS("exposed_communication_percent", struct breakdown_row, percent[1], 2),
	COLUMN_FIXED_AS("idle_percent", struct breakdown_row, percent[2], 2),
	COLUMN_TIME("first_ns", struct breakdown_row, first_time_ns),
	COLUMN_TIME("last_ns", struct breakdown_row, last_time_ns),
};

static void put(struct breakdown_row row, uint32_t process, uint32_t device, struct row_sink *sink)
{
	static const int parts[] = {PART_CLASS + WORK_COMPUTE, PART_EXPOSED + WORK_COMMUNICATION,
	                            PART_IDLE};

	/* Overlap with preparation has no column of its own: a device prepares beside all else. */
	for (uint32_t mask = 1; mask < 1u << WORK_PREPARE; mask++)
		row.ns[mask] += row.ns[mask | 1u << WORK_PREPARE];
	for (int i = 0; i < 3; i++)
		row.percent[i] = 100.0 * (double)row.ns[parts[i]] / (double)row.ns[PART_WALL];
	row.process = process;
	row.device = device;
	row_put(sink, &row);
}

static void add(struct breakdown_row *sum, const struct breakdown_row *row)
{
	if (!sum->n_summed || row->first_time_ns < sum->first_time_ns)
		sum->first_time_ns = row->first_time_ns;
	if (!sum->n_summed++ || row->last_time_ns > sum->last_time_ns)
		sum->last_time_ns = row->last_time_ns;
	for (int part = 0; part < PART_COUNT; part++)
		sum->ns[part] += row->ns[part];
}

/* Those of a rank stand together. */
static void put_all(const struct breakdown_row *rows, const struct owners *owners,
                    struct row_sink *sink)
{
	const struct device *devices = owners->identity->devices;
	struct breakdown_row rank = {0}, all = {0};

	for (uint32_t i = 0, n = owners->identity->n_devices; i < n; i++) {
		uint32_t device = owners->devices[i], process = devices[device].process;

		if (rows[device].n_summed) {
			put(rows[device], process, device, sink);
			add(&rank, &rows[device]);
		}
		if (i + 1 < n && devices[owners->devices[i + 1]].process == process)
			continue;
		if (rank.n_summed > 1)
			put(rank, process, FLEXTRACE_NONE, sink);
		if (rank.n_summed)
			add(&all, &rank);
		rank = (struct breakdown_row){0};
	}
	if (all.n_summed > 1)
		put(all, FLEXTRACE_NONE, FLEXTRACE_NONE, sink);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct breakdown_row *rows = calloc(findings->timeline->identity->n_devices + 1ull,
	                                    sizeof(*rows));
	int code = rows ? device_time_read(findings->timeline, take_stretch, rows)
	                : FLEXTRACE_E_MEMORY;

	if (code == FLEXTRACE_OK)
		put_all(rows, findings->owners, sink);
	free(rows);
	return code;
}

const struct analysis analysis_breakdown =
	ANALYSIS_CSV("breakdown", columns, fill, .title = "What the time of devices went to",
                     .what = "Time of each device from its first work to its last: computing, "
                             "what that does not hide, idle by cause. They add up exactly.");
