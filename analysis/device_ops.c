/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_ops.csv: a line for each operation of a device: how long it took, what it waited for, and
 * what stands out. core_stats.h says what an operation is.
 */
#include "core_stats.h"

#define FILE_NAME "device_ops.csv"
#define GAP_NS    6500.0 /* a longer pause than a device needs between two operations */
#define MIN_CORES 10     /* less of a device that has many more is little */
#define MANY      4

struct device_ops {
	struct core_stats stats;
	uint64_t n_lines;
};

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

static void write_ticks(const struct core_stats *stats, const struct core_op *op, uint64_t ticks,
                        bool is_known, struct writer *writer)
{
	writer_char(writer, ',');
	if (is_known)
		writer_fixed(writer, ns_of(stats, op, ticks), 3);
}

/* What an engineer would look at first. */
static void write_notes(const struct core_stats *stats, const struct core_op *op, uint32_t n_cores,
                        struct writer *writer)
{
	uint64_t kernel = op->last_kernel - op->first_kernel;
	const char *separator = "";

	if (op->to_op != UINT64_MAX && ns_of(stats, op, op->to_op) > GAP_NS) {
		writer_literal(writer, "gap");
		separator = " ";
	}
	if (op->last_start - op->first_kernel > kernel / 2 && op->n_cores > 1) {
		writer_raw(writer, separator);
		writer_literal(writer, "late_cores");
		separator = " ";
	}
	if (op->n_cores < MIN_CORES && n_cores >= MIN_CORES && n_cores >= MANY * op->n_cores) {
		writer_raw(writer, separator);
		writer_literal(writer, "few_cores");
	}
}

/* What it waited for: the pause before it, cores that began late, or the processor whose kernel was
 * the longest. */
static void write_bound(const struct core_stats *stats, const struct core_op *op,
                        struct writer *writer)
{
	uint64_t kernel = op->last_kernel - op->first_kernel;
	char name[64];

	if (op->to_op != UINT64_MAX && op->to_op > kernel) {
		writer_literal(writer, "gap");
	} else if (op->last_start - op->first_kernel > kernel / 2) {
		writer_literal(writer, "start");
	} else if (op->longest) {
		core_processor_name(&stats->all, op->device, op->longest_processor, name,
		                    sizeof(name));
		writer_csv(writer, name, strlen(name));
	}
}

static void write_op(const struct core_stats *stats, const struct core_op *op, uint32_t n_cores,
                     struct writer *writer)
{
	const struct string_pool *strings = stats->all.timeline->strings;
	const struct device *device = core_device(&stats->all, op->device);
	bool has_fw = op->first_fw && op->last_fw > op->first_fw;
	bool has_kernel = op->first_kernel && op->last_kernel > op->first_kernel;

	owners_write(&stats->all.owners, device->process, writer);
	writer_char(writer, ',');
	writer_u64(writer, device->device);
	writer_char(writer, ',');
	writer_u64(writer, op->job);
	writer_char(writer, ',');
	writer_csv(writer, string_get(strings, op->name), string_length(strings, op->name));
	writer_char(writer, ',');
	writer_u64(writer, op->n_cores);
	writer_char(writer, ',');
	if (has_kernel)
		writer_u64(writer, op->first_kernel);
	writer_char(writer, ',');
	if (has_kernel)
		writer_u64(writer, op->last_kernel);
	write_ticks(stats, op, op->last_fw - op->first_fw, has_fw, writer);
	write_ticks(stats, op, op->last_kernel - op->first_kernel, has_kernel, writer);
	write_ticks(stats, op, op->last_start - op->first_kernel, has_kernel, writer);
	write_ticks(stats, op, op->to_op, op->to_op != UINT64_MAX, writer);
	write_ticks(stats, op, op->longest, op->longest != 0, writer);
	writer_char(writer, ',');
	if (has_kernel)
		write_bound(stats, op, writer);
	writer_char(writer, ',');
	if (has_kernel)
		write_notes(stats, op, n_cores, writer);
	writer_char(writer, '\n');
}

static void write_lines(void *context, struct writer *writer)
{
	struct device_ops *ops = context;
	const struct core_stats *stats = &ops->stats;
	uint32_t n_cores = 0;

	writer_literal(writer, "rank,host,pid,device,job,name,cores,first_cycle,last_cycle,fw_ns,"
	                       "kernel_ns,first_to_last_start_ns,op_to_op_ns,longest_ns,bound,"
	                       "notes\n");
	for (uint32_t i = 0; i < stats->n_ops; i++) {
		if (!i || stats->ops[i].device != stats->ops[i - 1].device)
			n_cores = count_cores(stats, stats->ops[i].device);
		write_op(stats, &stats->ops[i], n_cores, writer);
		ops->n_lines++;
	}
}

static int write_device_ops(const struct timeline *timeline, const char *output_dir,
                            uint64_t *ret_rows, struct flextrace_error *error)
{
	struct device_ops ops = {.n_lines = 0};
	int code;

	if (core_stats_init(&ops.stats, timeline) < 0)
		code = analysis_no_memory(FILE_NAME, error);
	else
		code = analysis_save(output_dir, FILE_NAME, write_lines, &ops, error);
	*ret_rows = ops.n_lines;
	core_stats_release(&ops.stats);
	return code;
}

const struct analysis analysis_device_ops = {.name = "device_ops", .write = write_device_ops};
