/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_ops.csv: a line for each operation of a device: how long it took, what it waited for, and
 * what stands out. core_stats.h says what an operation is.
 */
#include <math.h>
#include <string.h>

#include "core_stats.h"
#include "device_ops.h"

#define GAP_NS      6500.0 /* a longer pause than a device needs between two operations */
#define MIN_CORES   10     /* less of a device that has many more is little */
#define MANY        4
#define NAME_BYTES  64
#define NOTES_BYTES 64

static double ns_of(const struct core_stats *stats, const struct core_op *op, uint64_t ticks)
{
	uint64_t hz = core_hz(&stats->all, op->device);

	return hz ? (double)ticks * 1e9 / (double)hz : 0;
}

static uint32_t count_cores(const struct core_stats *stats, uint32_t device)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < stats->all.n_cores; i++)
		n += stats->all.cores[i].device == device;
	return n;
}

/* What an engineer would look at first. */
static const char *notes_of(const struct core_stats *stats, const struct core_op *op,
                            uint32_t n_cores, char text[NOTES_BYTES])
{
	uint64_t kernel = op->last_kernel - op->first_kernel;

	*text = '\0';
	if (op->to_op != UINT64_MAX && ns_of(stats, op, op->to_op) > GAP_NS)
		strcat(text, " gap");
	if (op->last_start - op->first_kernel > kernel / 2 && op->n_cores > 1)
		strcat(text, " late_cores");
	if (op->n_cores < MIN_CORES && n_cores >= MIN_CORES && n_cores >= MANY * op->n_cores)
		strcat(text, " few_cores");
	return *text ? text + 1 : text;
}

/* What it waited for: the pause before it, cores that began late, or the processor whose kernel was
 * the longest. */
static const char *bound_of(const struct core_stats *stats, const struct core_op *op,
                            char name[NAME_BYTES])
{
	uint64_t kernel = op->last_kernel - op->first_kernel;

	if (op->to_op != UINT64_MAX && op->to_op > kernel)
		return "gap";
	if (op->last_start - op->first_kernel > kernel / 2)
		return "start";
	if (!op->longest)
		return "";
	core_processor_name(&stats->all, op->device, op->longest_processor, name, NAME_BYTES);
	return name;
}

const struct column device_op_columns[DEVICE_OP_COLUMNS] = {
	COLUMNS_OWNER(struct device_op_row),
	COLUMN(struct device_op_row, device),
	COLUMN(struct device_op_row, job),
	COLUMN(struct device_op_row, name),
	COLUMN(struct device_op_row, cores),
	COLUMN_OPTIONAL(struct device_op_row, first_cycle),
	COLUMN_OPTIONAL(struct device_op_row, last_cycle),
	COLUMN_FIXED(struct device_op_row, fw_ns, 3),
	COLUMN_FIXED(struct device_op_row, kernel_ns, 3),
	COLUMN_FIXED(struct device_op_row, first_to_last_start_ns, 3),
	COLUMN_FIXED(struct device_op_row, op_to_op_ns, 3),
	COLUMN_FIXED(struct device_op_row, longest_ns, 3),
	COLUMN(struct device_op_row, bound),
	COLUMN(struct device_op_row, notes),
};

static void put_op(const struct core_stats *stats, const struct core_op *op, uint32_t n_cores,
                   struct row_sink *sink)
{
	const struct timeline *timeline = stats->all.timeline;
	const struct device *device = core_device(&stats->all, op->device);
	bool has_fw = op->first_fw && op->last_fw > op->first_fw;
	bool has_kernel = op->first_kernel && op->last_kernel > op->first_kernel;
	char name[NAME_BYTES], notes[NOTES_BYTES];
	struct device_op_row row = {
		.owner = identity_owner(timeline->identity, device->process),
		.device = device->device,
		.job = op->job,
		.cores = op->n_cores,
		.name = string_get(timeline->strings, op->name),
		.first_cycle = COLUMN_NONE_U64,
		.last_cycle = COLUMN_NONE_U64,
		.fw_ns = has_fw ? ns_of(stats, op, op->last_fw - op->first_fw) : (double)NAN,
		.kernel_ns = NAN,
		.first_to_last_start_ns = NAN,
		.op_to_op_ns = op->to_op != UINT64_MAX ? ns_of(stats, op, op->to_op) : (double)NAN,
		.longest_ns = op->longest ? ns_of(stats, op, op->longest) : (double)NAN,
	};

	if (has_kernel) {
		row.first_cycle = op->first_kernel;
		row.last_cycle = op->last_kernel;
		row.kernel_ns = ns_of(stats, op, op->last_kernel - op->first_kernel);
		row.first_to_last_start_ns = ns_of(stats, op, op->last_start - op->first_kernel);
		row.bound = bound_of(stats, op, name);
		row.notes = notes_of(stats, op, n_cores, notes);
	}
	row_put(sink, &row);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct core_stats stats;
	uint32_t n_cores = 0;
	int code = core_stats_init(&stats, findings);

	for (uint32_t i = 0; code == FLEXTRACE_OK && i < stats.n_ops; i++) {
		if (!i || stats.ops[i].device != stats.ops[i - 1].device)
			n_cores = count_cores(&stats, stats.ops[i].device);
		put_op(&stats, &stats.ops[i], n_cores, sink);
	}
	core_stats_release(&stats);
	return code;
}

const struct analysis analysis_device_ops =
	ANALYSIS_CSV("device_ops", device_op_columns, fill, .title = "Operations of devices",
                     .what = "Operations of devices with named processors: cores, first "
                             "and last cycle, the gap to the one before, and which "
                             "processor took longest.");
