/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.csv: device work by rank and name: what ran on the devices, and where their time went.
 */
#include "analysis_impl.h"
#include "emit/kinds.h"

static const char *label_of(uint8_t kind)
{
	return kind_of_device(kind)->label;
}

/* The rows that stand for control blocks; their DMA and preparation are parts, marker zones the
 * inside of them. */
static bool is_work(const struct device_row *row)
{
	return row->kind == ROW_EXEC || (row->kind >= ROW_MEMCPY_HTOD && row->kind <= ROW_RELEASE);
}

static int count_row(struct analysis_names *names, const struct device_row *row)
{
	const struct tick_op *op = &names->timeline->ops[row->source];
	uint32_t process = names->timeline->identity->devices[op->device].process, group;
	const struct stats_key key = {names->owners.places[process], op->name, row->kind};

	return stats_count(&names->stats, &key,
	                   analysis_duration(row->start_time_ns, row->end_time_ns), &group);
}

static int count_rows(struct analysis_names *names)
{
	struct table_cursor cursor;
	const struct device_row *row;

	analysis_read_ops(&cursor, names->timeline);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		if (is_work(row))
			FLEXTRACE_TRY(count_row(names, row));
	}
	return stats_finish(&names->stats, names->timeline->strings);
}

/* Of the owner whose lines begin at `first`. */
static uint64_t total_of_owner(const struct stats *stats, uint32_t first)
{
	uint32_t owner = stats_line(stats, first)->key.owner;
	uint64_t total_ns = 0;

	for (uint32_t i = first; i < stats->n_groups; i++) {
		const struct stats_group *group = stats_line(stats, i);

		if (group->key.owner != owner)
			break;
		total_ns = spread_add(total_ns, group->total_ns);
	}
	return total_ns;
}

static void write_group(struct analysis_names *names, const struct stats_group *group,
                        uint64_t total_ns, struct writer *writer)
{
	stats_write_head(&names->stats, names->timeline->strings, group, writer);
	stats_write_spread(&names->stats, group, writer);
	writer_char(writer, ',');
	if (total_ns)
		writer_fixed(writer, 100.0 * (double)group->total_ns / (double)total_ns, 2);
	writer_char(writer, ',');
	owners_write(&names->owners, names->owners.processes[group->key.owner], writer);
	writer_char(writer, '\n');
}

static void write_groups(struct analysis_names *names, struct writer *writer)
{
	const struct stats *stats = &names->stats;
	uint64_t total_ns = 0;

	writer_literal(writer, "kind,name,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,"
	                       "stddev_ns,share_percent,rank,host,pid\n");
	for (uint32_t i = 0; i < stats->n_groups; i++) {
		const struct stats_group *group = stats_line(stats, i);

		if (i == 0 || stats_line(stats, i - 1)->key.owner != group->key.owner)
			total_ns = total_of_owner(stats, i);
		write_group(names, group, total_ns, writer);
	}
}

static int write_kernels(const struct timeline *timeline, const char *output_dir,
                         uint64_t *ret_rows, struct flextrace_error *error)
{
	return analysis_write_names(
		&(struct analysis_table){"kernels.csv", label_of, count_rows, write_groups},
		timeline, output_dir, ret_rows, error);
}

const struct analysis analysis_kernels = {.name = "kernels", .write = write_kernels};
