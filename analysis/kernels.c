/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.csv: device work by name: what ran on the devices, and where their time went.
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

static uint64_t duration_of(const struct device_row *row)
{
	return (uint64_t)row->end_time_ns - (uint64_t)row->start_time_ns;
}

static int count_rows(const struct timeline *timeline, struct stats *stats)
{
	struct table_cursor cursor;
	const struct device_row *row;
	uint32_t group;

	analysis_read(&cursor, &timeline->device_rows);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		if (is_work(row))
			FLEXTRACE_TRY(stats_count(stats, row->kind, timeline->ops[row->source].name,
			                          duration_of(row), &group));
	}
	return stats_finish(stats, timeline->strings);
}

static void write_groups(const struct timeline *timeline, struct stats *stats,
                         struct writer *writer)
{
	writer_literal(writer, "kind,name,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,"
	                       "stddev_ns,share_percent\n");
	for (uint32_t i = 0; i < stats->n_groups; i++) {
		const struct stats_group *group = &stats->groups[i];

		stats_write_head(stats, timeline->strings, group, writer);
		stats_write_spread(stats, group, writer);
		writer_char(writer, ',');
		if (stats->total_ns)
			writer_fixed(writer,
			             100.0 * (double)group->total_ns / (double)stats->total_ns, 2);
		writer_char(writer, '\n');
	}
}

static int write_kernels(const struct timeline *timeline, const char *output_dir,
                         uint64_t *ret_rows, struct flextrace_error *error)
{
	return analysis_write(
		&(struct analysis_table){"kernels.csv", label_of, count_rows, write_groups},
		timeline, output_dir, ret_rows, error);
}

const struct analysis analysis_kernels = {.name = "kernels", .write = write_kernels};
