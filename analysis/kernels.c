/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.csv: device work by rank and name: what ran on the devices, and where their time went.
 */
#include "analysis_impl.h"
#include "model/words/kinds.h"

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
	const struct group_key key = {names->owners.places[process], op->name, row->kind};

	return stats_count(&names->stats, &key, interval_ns(row->start_time_ns, row->end_time_ns),
	                   &group);
}

static int count_rows(struct analysis_names *names)
{
	struct table_cursor cursor;
	const struct device_row *row;

	timeline_read_ops(&cursor, names->timeline);
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

	for (uint32_t i = first; i < stats->groups.n; i++) {
		const struct stats_group *group = stats_line(stats, i);

		if (group->key.owner != owner)
			break;
		total_ns = spread_add(total_ns, group->total_ns);
	}
	return total_ns;
}

struct kernels_row {
	struct stats_cells of;
	struct owner_cells owner;
	double share_percent;
};

static const struct column columns[] = {
	COLUMN_AS("kind", struct kernels_row, of.kind),
	COLUMN_AS("name", struct kernels_row, of.name),
	COLUMN_AS("calls", struct kernels_row, of.calls),
	COLUMN_AS("total_ns", struct kernels_row, of.total),
	COLUMNS_SPREAD(struct kernels_row, of.spread, "_ns"),
	COLUMN_FIXED(struct kernels_row, share_percent, 2),
	COLUMNS_OWNER(struct kernels_row),
};

static void put_groups(struct analysis_names *names, struct row_sink *sink)
{
	struct stats *stats = &names->stats;
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < stats->groups.n; i++) {
		const struct stats_group *group = stats_line(stats, i);
		uint32_t process = names->owners.processes[group->key.owner];

		if (i == 0 || stats_line(stats, i - 1)->key.owner != group->key.owner)
			total_ns = total_of_owner(stats, i);
		row_put(sink,
		        &(struct kernels_row){
				.of = stats_cells(stats, names->timeline->strings, group),
				.owner = identity_owner(names->timeline->identity, process),
				.share_percent = 100.0 * (double)group->total_ns / (double)total_ns,
			});
	}
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	return analysis_fill_names(&(struct analysis_table){label_of, count_rows, put_groups},
	                           findings->timeline, sink);
}

const struct analysis analysis_kernels = ANALYSIS_CSV("kernels", columns, fill);
