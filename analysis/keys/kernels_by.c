/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of kernels.csv by other keys: kernels_grouped.csv by names without their numbers,
 * kernels_by_queue.csv by device, queue and kind; variability.csv: how much its names vary.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/analysis_impl.h"
#include "analysis/calls.h"
#include "base/array.h"
#include "base/blocks.h"
#include "base/order.h"
#include "model/words/kinds.h"

struct grouping;

/* Counts a control block; its parts are no work of their own here. FLEXTRACE_E_MEMORY or 0. */
typedef int count_block(struct grouping *grouping, const struct tick_op *op,
                        const struct device_row *row);

struct grouping {
	const struct findings *findings; /* weak */
	struct stats stats;              /* names are strings of the pool, where it is used */
	struct string_pool *pool;        /* owned: of names that are made here */
	struct string_cache cache;
	struct map index;  /* what a name is made of -> the name */
	struct map seen;   /* (group; exact name) */
	uint32_t *n_names; /* owned: by group, how many names became one */
	uint32_t n_allocated;
	bool is_of_many; /* several processes' devices worked: that is summed up as well */
};

static const char *label_of(uint8_t kind)
{
	return kind_of_device(kind)->label;
}

/* Groups all work by what `count` counts it as. */
static int group(struct grouping *grouping, const struct findings *findings, count_block *count)
{
	const struct timeline *timeline = findings->timeline;
	const struct identity *identity = timeline->identity;

	*grouping = (struct grouping){.findings = findings, .pool = string_pool_new()};
	if (!grouping->pool)
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 1; i < timeline->n_ops && !grouping->is_of_many; i++) {
		blocks_pass(i, sizeof(*timeline->ops));
		grouping->is_of_many = identity->devices[timeline->ops[i].device].process !=
		                       identity->devices[timeline->ops[0].device].process;
	}
	string_cache_init(&grouping->cache, grouping->pool);
	stats_init(&grouping->stats, grouping->pool, label_of, 2 * timeline->device_rows.n_rows);
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		if (calls_is_work(row))
			FLEXTRACE_TRY(count(grouping, &timeline->ops[row->source], row));
	}
	return stats_finish(&grouping->stats);
}

static void release(struct grouping *grouping)
{
	stats_release(&grouping->stats);
	string_cache_release(&grouping->cache);
	if (grouping->pool)
		string_pool_free(grouping->pool);
	map_release(&grouping->index);
	map_release(&grouping->seen);
	free(grouping->n_names);
}

/* Stores the string of the pool for a name, which `make` made of it; it is made once. */
static int find_name(struct grouping *grouping, uint32_t of, void (*make)(const char *, char *),
                     uint32_t *ret_name)
{
	const struct string_pool *strings = grouping->findings->timeline->strings;
	char *text;
	int code;

	*ret_name = map_find(&grouping->index, of, 0);
	if (*ret_name != MAP_NONE)
		return FLEXTRACE_OK;
	text = malloc(2 * string_length(strings, of) + 1);
	if (!text)
		return FLEXTRACE_E_MEMORY;
	make(string_get(strings, of), text);
	code = string_intern(&grouping->cache, text, ret_name);
	free(text);
	return code < 0 ? code : map_put(&grouping->index, of, 0, *ret_name);
}

static int count_name(struct grouping *grouping, uint32_t position, uint32_t name,
                      uint32_t exact_name, const struct device_row *row)
{
	const struct group_key key = {position, name, row->kind};
	uint32_t place, *is_seen;

	FLEXTRACE_TRY(stats_count(&grouping->stats, &key,
	                          interval_ns(row->start_time_ns, row->end_time_ns), &place));
	FLEXTRACE_TRY(ARRAY_RESERVE(grouping->n_names, grouping->n_allocated, place + 1ull));
	FLEXTRACE_TRY(map_enter(&grouping->seen, place, exact_name, &is_seen));
	grouping->n_names[place] += *is_seen == MAP_NONE;
	*is_seen = 1;
	return FLEXTRACE_OK;
}

/* Counts it by process, and over all of them where there are several. */
static int count_owned(struct grouping *grouping, uint32_t name, const struct tick_op *op,
                       const struct device_row *row)
{
	const struct identity *identity = grouping->findings->timeline->identity;
	const struct owners *owners = grouping->findings->owners;
	uint32_t position = owners->positions[identity->devices[op->device].process];

	FLEXTRACE_TRY(count_name(grouping, position, name, op->name, row));
	return grouping->is_of_many
	               ? count_name(grouping, identity->n_processes, name, op->name, row)
	               : FLEXTRACE_OK;
}

struct grouped_row {
	struct stats_cells of;
	uint32_t process, device; /* indexes; FLEXTRACE_NONE: all */
	uint64_t queue, names, most_variable;
	uint32_t line;
	double share_percent, variation_percent;
};

#define CELL(member) COLUMN_AS(#member, struct grouped_row, of.member)
#define FIGURES                                                           \
	CELL(calls), COLUMN_AS("total_ns", struct grouped_row, of.total), \
		COLUMNS_SPREAD(struct grouped_row, of.spread, "_ns"),     \
		COLUMN_FIXED(struct grouped_row, share_percent, 2)

/* Of a line; shares are of all lines of its owner. */
static struct grouped_row row_of(struct grouping *grouping, uint32_t line, uint64_t *total_ns)
{
	const struct stats_group *at = stats_line(&grouping->stats, line);
	struct grouped_row row = {.of = stats_cells(&grouping->stats, at)};
	const struct findings *findings = grouping->findings;

	if (line == 0 || stats_line(&grouping->stats, line - 1)->key.owner != at->key.owner)
		*total_ns = stats_total_of_owner(&grouping->stats, line);
	row.share_percent = 100.0 * (double)at->total_ns / (double)*total_ns;
	row.process = at->key.owner < findings->timeline->identity->n_processes
	                      ? findings->owners->processes[at->key.owner]
	                      : FLEXTRACE_NONE;
	return row;
}

/* -- without numbers --------------------------------------------------------------------------- */

/* Digits behind '_' or '-' become _[N], as in the summary of the AIU Trace Analyzer; behind a '.',
 * by which XLA counts, .[N]. */
static void group_name(const char *name, char *to)
{
	while (*name) {
		bool is_number = strchr("_-.", *name) && isdigit((unsigned char)name[1]);

		*to++ = is_number && *name == '-' ? '_' : *name;
		name++;
		if (!is_number)
			continue;
		name += strspn(name, "0123456789");
		memcpy(to, "[N]", 3);
		to += 3;
	}
	*to = '\0';
}

static int count_grouped(struct grouping *grouping, const struct tick_op *op,
                         const struct device_row *row)
{
	uint32_t name;

	FLEXTRACE_TRY(find_name(grouping, op->name, group_name, &name));
	return count_owned(grouping, name, op, row);
}

static const struct column grouped_columns[] = {
	CELL(kind),
	CELL(name),
	COLUMN(struct grouped_row, names),
	FIGURES,
	COLUMNS_PROCESS(struct grouped_row, process),
};

static int fill_grouped(const struct findings *findings, struct row_sink *sink)
{
	struct grouping grouping;
	uint64_t total_ns = 0;
	int code = group(&grouping, findings, count_grouped);

	for (uint32_t i = 0; i < grouping.stats.groups.n && code == FLEXTRACE_OK; i++) {
		struct grouped_row row = row_of(&grouping, i, &total_ns);

		row.names = grouping.n_names[grouping.stats.groups.order[i]];
		row_put(sink, &row);
	}
	release(&grouping);
	return code;
}

const struct analysis analysis_kernels_grouped = ANALYSIS_CSV(
	"kernels_grouped", grouped_columns, fill_grouped, .title = "Device work by group of names",
	.what = "Names that differ in their numbers alone are one group, such "
		"as convolution_[N]; calls and durations as of single names.");

/* -- by queue ---------------------------------------------------------------------------------- */

/* Queues are told as numbers: their text is the name. */
static int count_queue(struct grouping *grouping, const struct tick_op *op,
                       const struct device_row *row)
{
	uint32_t device = grouping->findings->owners->device_positions[op->device];
	uint32_t name = map_find(&grouping->index, op->queue, 1);
	char text[16];

	if (name == MAP_NONE) {
		snprintf(text, sizeof(text), "%u", op->queue);
		FLEXTRACE_TRY(string_intern(&grouping->cache, text, &name));
		FLEXTRACE_TRY(map_put(&grouping->index, op->queue, 1, name));
	}
	return count_name(grouping, device, name, op->name, row);
}

static const struct column queue_columns[] = {
	COLUMNS_DEVICE(struct grouped_row, device),
	COLUMN(struct grouped_row, queue),
	CELL(kind),
	COLUMN(struct grouped_row, names),
	FIGURES,
};

static int fill_by_queue(const struct findings *findings, struct row_sink *sink)
{
	struct grouping grouping;
	uint64_t total_ns = 0;
	int code = group(&grouping, findings, count_queue);

	for (uint32_t i = 0; i < grouping.stats.groups.n && code == FLEXTRACE_OK; i++) {
		struct grouped_row row = row_of(&grouping, i, &total_ns);

		row.device = findings->owners->devices[stats_line(&grouping.stats, i)->key.owner];
		row.queue = strtoul(row.of.name, NULL, 10);
		row.names = grouping.n_names[grouping.stats.groups.order[i]];
		row_put(sink, &row);
	}
	release(&grouping);
	return code;
}

const struct analysis analysis_kernels_by_queue = ANALYSIS_CSV(
	"kernels_by_queue", queue_columns, fill_by_queue, .title = "Device work by queue",
	.what = "Device work by device, queue and kind: calls and durations.");

/* -- variability ------------------------------------------------------------------------------- */

#define N_MARKED 10

static void copy_name(const char *name, char *to)
{
	strcpy(to, name);
}

static int count_exact(struct grouping *grouping, const struct tick_op *op,
                       const struct device_row *row)
{
	uint32_t name;

	FLEXTRACE_TRY(find_name(grouping, op->name, copy_name, &name));
	return count_owned(grouping, name, op, row);
}

static const struct column variability_columns[] = {
	CELL(kind),
	CELL(name),
	CELL(calls),
	COLUMN_AS("total_ns", struct grouped_row, of.total),
	COLUMN_FIXED(struct grouped_row, share_percent, 2),
	COLUMN_INIT("mean_ns", struct grouped_row, of.spread.mean, true, 0),
	COLUMN_INIT("stddev_ns", struct grouped_row, of.spread.deviation, true, 0),
	COLUMN_FIXED(struct grouped_row, variation_percent, 2),
	COLUMN_NONZERO("most_variable", struct grouped_row, most_variable),
	COLUMNS_PROCESS(struct grouped_row, process),
};

/* Those that vary most first. */
static int compare_variation(const void *left, const void *right)
{
	const struct grouped_row *a = left, *b = right;

	return ORDER(b->variation_percent, a->variation_percent) ?: ORDER(a->line, b->line);
}

/* Puts the lines of one owner. */
static void put_variations(struct grouped_row *rows, uint32_t n, struct row_sink *sink)
{
	ORDER_ARRAY(rows, n, compare_variation);
	for (uint32_t i = 0; i < n; i++) {
		rows[i].most_variable = i < N_MARKED && rows[i].variation_percent > 0 ? i + 1 : 0;
		row_put(sink, &rows[i]);
	}
}

/* What ran once has no variation. */
static int put_owners(struct grouping *grouping, struct row_sink *sink)
{
	const struct stats *stats = &grouping->stats;
	struct grouped_row *rows = calloc(stats->groups.n + 1ull, sizeof(*rows));
	uint64_t total_ns = 0;
	uint32_t n = 0;

	if (!rows)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < stats->groups.n; i++) {
		struct grouped_row row = row_of(grouping, i, &total_ns);

		if (i && stats_line(stats, i - 1)->key.owner != stats_line(stats, i)->key.owner) {
			put_variations(rows, n, sink);
			n = 0;
		}
		row.line = i;
		row.variation_percent = 100.0 * (double)row.of.spread.deviation * row.of.calls /
		                        (double)row.of.total;
		if (row.of.calls > 1 && row.of.total)
			rows[n++] = row;
	}
	put_variations(rows, n, sink);
	free(rows);
	return FLEXTRACE_OK;
}

static int fill_variability(const struct findings *findings, struct row_sink *sink)
{
	struct grouping grouping;
	int code = group(&grouping, findings, count_exact);

	if (code == FLEXTRACE_OK)
		code = put_owners(&grouping, sink);
	release(&grouping);
	return code;
}

const struct analysis analysis_variability =
	ANALYSIS_CSV("variability", variability_columns, fill_variability, .title = "Variability",
                     .what = "How much the durations of a name vary: the standard "
                             "deviation divided by the mean.");
