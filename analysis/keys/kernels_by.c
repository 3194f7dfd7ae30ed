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
#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "findings/work/work_stats.h"

struct grouping {
	const struct findings *findings; /* weak */
	struct work_stats *work;         /* weak */
	struct stats stats;
	struct string_pool *pool; /* owned: of names that are made here */
	struct string_cache cache;
	struct map seen;   /* (group; exact name) */
	uint32_t *n_names; /* owned: by group, how many names became one */
	uint32_t n_allocated;
};

/* Stores a name that is made of that of some work, or of its queue. FLEXTRACE_E_MEMORY or 0. */
typedef int name_maker(struct grouping *grouping, uint32_t name, const struct work_queue *queue,
                       uint32_t *ret_name);

static int join(struct grouping *grouping, const struct group_key *key,
                const struct stats_group *work)
{
	uint32_t place, *is_seen;

	FLEXTRACE_TRY(stats_join(&grouping->stats, key, &grouping->work->stats, work, &place));
	FLEXTRACE_TRY(ARRAY_RESERVE(grouping->n_names, grouping->n_allocated, place + 1ull));
	FLEXTRACE_TRY(map_enter(&grouping->seen, place, work->key.name, &is_seen));
	grouping->n_names[place] += *is_seen == MAP_NONE;
	*is_seen = 1;
	return FLEXTRACE_OK;
}

/* Groups all work by what `make` makes of it: by device, or by process, and over all of these where
 * there are several. */
static int group_all(struct grouping *grouping, name_maker *make, bool by_device)
{
	const struct owners *owners = grouping->findings->owners;
	struct work_stats *work = grouping->work;

	for (uint32_t i = 0; i < work->stats.groups.n; i++) {
		const struct stats_group *group = name_groups_at(&work->stats.groups, i);
		const struct work_queue *queue = &work->queues[group->key.owner];
		struct group_key key = {.kind = group->key.kind};

		key.owner = by_device ? owners->device_positions[queue->device]
		                      : owners->positions[queue->process];
		FLEXTRACE_TRY(make(grouping, group->key.name, queue, &key.name));
		FLEXTRACE_TRY(join(grouping, &key, group));
		key.owner = owners->identity->n_processes;
		if (work->is_of_many && !by_device)
			FLEXTRACE_TRY(join(grouping, &key, group));
	}
	return stats_finish(&grouping->stats);
}

static int group(struct grouping *grouping, const struct findings *findings, name_maker *make,
                 bool by_device)
{
	*grouping = (struct grouping){.findings = findings, .pool = string_pool_new()};
	if (!grouping->pool)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(work_stats_borrow(&grouping->work, findings));
	string_cache_init(&grouping->cache, grouping->pool);
	stats_init(&grouping->stats, grouping->pool, grouping->work->stats.label,
	           2 * (uint64_t)grouping->work->stats.groups.n);
	return group_all(grouping, make, by_device);
}

static void release(struct grouping *grouping)
{
	stats_release(&grouping->stats);
	string_cache_release(&grouping->cache);
	if (grouping->pool)
		string_pool_free(grouping->pool);
	map_release(&grouping->seen);
	free(grouping->n_names);
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
static struct grouped_row row_of(struct grouping *grouping, uint32_t line)
{
	const struct stats_group *at = stats_line(&grouping->stats, line);
	struct grouped_row row = {.of = stats_cells(&grouping->stats, at)};
	const struct findings *findings = grouping->findings;

	row.names = grouping->n_names[grouping->stats.groups.order[line]];
	row.share_percent = stats_share_percent(&grouping->stats, line);
	row.process = at->key.owner < findings->timeline->identity->n_processes
	                      ? findings->owners->processes[at->key.owner]
	                      : FLEXTRACE_NONE;
	return row;
}

/* The name of a queue's work is its number. */
static int fill(const struct findings *findings, name_maker *make, bool by_device,
                struct row_sink *sink)
{
	struct grouping grouping;
	int code = group(&grouping, findings, make, by_device);

	for (uint32_t i = 0; i < grouping.stats.groups.n && code == FLEXTRACE_OK; i++) {
		uint32_t owner = stats_line(&grouping.stats, i)->key.owner;
		struct grouped_row row = row_of(&grouping, i);

		if (by_device) {
			row.device = findings->owners->devices[owner];
			row.queue = strtoul(row.of.name, NULL, 10);
		}
		row_put(sink, &row);
	}
	release(&grouping);
	return code;
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

static int make_grouped(struct grouping *grouping, uint32_t name, const struct work_queue *queue,
                        uint32_t *ret_name)
{
	const struct string_pool *strings = grouping->findings->timeline->strings;
	char *text = malloc(2 * string_length(strings, name) + 1);
	int code;

	(void)queue;
	if (!text)
		return FLEXTRACE_E_MEMORY;
	group_name(string_get(strings, name), text);
	code = string_intern(&grouping->cache, text, ret_name);
	free(text);
	return code;
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
	return fill(findings, make_grouped, false, sink);
}

const struct analysis analysis_kernels_grouped = ANALYSIS_CSV(
	"kernels_grouped", grouped_columns, fill_grouped, .title = "Device work by group of names",
	.what = "Names that differ in their numbers alone are one group, such "
		"as convolution_[N]; calls and durations as of single names.");

/* -- by queue ---------------------------------------------------------------------------------- */

/* Queues are told as numbers: their text is the name. */
static int make_queue(struct grouping *grouping, uint32_t name, const struct work_queue *queue,
                      uint32_t *ret_name)
{
	char text[16];

	(void)name;
	snprintf(text, sizeof(text), "%u", queue->queue);
	return string_intern(&grouping->cache, text, ret_name);
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
	return fill(findings, make_queue, true, sink);
}

const struct analysis analysis_kernels_by_queue = ANALYSIS_CSV(
	"kernels_by_queue", queue_columns, fill_by_queue, .title = "Device work by queue",
	.what = "Device work by device, queue and kind: calls and durations.");

/* -- variability ------------------------------------------------------------------------------- */

#define N_MARKED 10

static int make_exact(struct grouping *grouping, uint32_t name, const struct work_queue *queue,
                      uint32_t *ret_name)
{
	const struct string_pool *strings = grouping->findings->timeline->strings;

	(void)queue;
	return string_intern(&grouping->cache, string_get(strings, name), ret_name);
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
	struct grouped_row *rows;
	uint32_t n = 0;

	FLEXTRACE_TRY(ARRAY_NEW(rows, stats->groups.n + 1ull));
	for (uint32_t i = 0; i < stats->groups.n; i++) {
		struct grouped_row row = row_of(grouping, i);

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
	int code = group(&grouping, findings, make_exact, false);

	if (code == FLEXTRACE_OK)
		code = put_owners(&grouping, sink);
	release(&grouping);
	return code;
}

const struct analysis analysis_variability =
	ANALYSIS_CSV("variability", variability_columns, fill_variability, .title = "Variability",
                     .what = "How much the durations of a name vary: the standard "
                             "deviation divided by the mean.");
