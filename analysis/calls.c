/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.csv: device work by rank and name; runtime.csv: host functions, likewise. The time of a
 * function is its own but for the calls directly below it on its thread. Steps and windows, which
 * are marks on the time, are no functions.
 */
#include "calls.h"

#include <stdlib.h>

#include "analysis_impl.h"
#include "base/blocks.h"
#include "findings/work/call_tree.h"
#include "findings/work/work_stats.h"
#include "model/words/kinds.h"

struct calls {
	const struct findings *findings; /* weak */
	struct stats stats;
	uint64_t *below_ns; /* owned: by group, what calls below it took; NULL: nothing is below */
};

/* -- rows ------------------------------------------------------------------------------------ */

#define CALLS(member) COLUMN_AS(#member, struct calls_row, of.member)

const struct column kernel_columns[KERNEL_COLUMNS] = {
	CALLS(kind),
	CALLS(name),
	CALLS(calls),
	COLUMN_AS("total_ns", struct calls_row, of.total),
	COLUMNS_SPREAD(struct calls_row, of.spread, "_ns"),
	COLUMN_FIXED(struct calls_row, share_percent, 2),
	COLUMNS_OWNER(struct calls_row),
};

const struct column runtime_columns[RUNTIME_COLUMNS] = {
	CALLS(kind),
	CALLS(name),
	CALLS(calls),
	COLUMN_AS("total_ns", struct calls_row, of.total),
	COLUMN(struct calls_row, self_ns),
	COLUMNS_SPREAD(struct calls_row, of.spread, "_ns"),
	COLUMNS_OWNER(struct calls_row),
};

static void put_groups(struct calls *calls, struct row_sink *sink)
{
	const struct findings *findings = calls->findings;
	struct stats *stats = &calls->stats;

	for (uint32_t i = 0; i < stats->groups.n; i++) {
		const struct stats_group *group = stats_line(stats, i);
		uint32_t process = findings->owners->processes[group->key.owner];
		uint64_t below_ns = calls->below_ns ? calls->below_ns[stats->groups.order[i]] : 0;

		row_put(sink,
		        &(struct calls_row){
				.of = stats_cells(stats, group),
				.owner = identity_owner(findings->timeline->identity, process),
				.self_ns = group->total_ns - below_ns,
				.share_percent = stats_share_percent(stats, i),
			});
	}
}

/* Puts what `count` counts, by owner, name and kind. */
static int fill(const struct findings *findings, const char *(*label)(uint32_t kind),
                int (*count)(struct calls *calls), struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct calls calls = {.findings = findings};
	int code;

	stats_init(&calls.stats, timeline->strings, label,
	           timeline->host_rows.n_rows + timeline->device_rows.n_rows);
	code = count(&calls);
	if (code == FLEXTRACE_OK)
		code = stats_finish(&calls.stats);
	if (code == FLEXTRACE_OK)
		put_groups(&calls, sink);
	stats_release(&calls.stats);
	free(calls.below_ns);
	return code;
}

/* -- kernels --------------------------------------------------------------------------------- */

static int count_kernels(struct calls *calls)
{
	struct work_stats *work;
	uint32_t place;

	FLEXTRACE_TRY(work_stats_borrow(&work, calls->findings));
	calls->stats.label = work->stats.label;
	for (uint32_t i = 0; i < work->stats.groups.n; i++) {
		const struct stats_group *group = name_groups_at(&work->stats.groups, i);
		uint32_t process = work->queues[group->key.owner].process;
		struct group_key key = group->key;

		key.owner = calls->findings->owners->positions[process];
		FLEXTRACE_TRY(stats_join(&calls->stats, &key, &work->stats, group, &place));
	}
	return FLEXTRACE_OK;
}

static int fill_kernels(const struct findings *findings, struct row_sink *sink)
{
	return fill(findings, NULL, count_kernels, sink);
}

const struct analysis analysis_kernels =
	ANALYSIS_CSV("kernels", kernel_columns, fill_kernels, .title = "Device work by name",
                     .what = "Device work by kind and name of each rank: calls, and their "
                             "durations in all, mean, median, least, most and standard "
                             "deviation. The share is that of all device work of the rank.");

/* -- functions ------------------------------------------------------------------------------- */

/* Stores the group of each name of calls, in the order in which they first come. */
static int find_groups(struct calls *calls, const struct call_tree *tree, uint32_t *group_of)
{
	const struct process *processes = calls->findings->timeline->identity->processes;

	for (uint32_t i = 0; i < tree->names.n; i++) {
		const struct call_name *name = call_name_at(tree, i);
		struct group_key key = name->key;

		key.kind = KIND_KEY(processes[key.owner].dialect, key.kind);
		key.owner = calls->findings->owners->positions[key.owner];
		if (!call_is_mark(tree->calls[name->first].row))
			FLEXTRACE_TRY(name_groups_find(&calls->stats.groups, &key, &group_of[i]));
	}
	return FLEXTRACE_OK;
}

/* Counts a call, and takes its time from the one around it. */
static int count_function(struct calls *calls, const struct call_tree *tree, uint32_t place,
                          const uint32_t *group_of)
{
	const struct call *call = &tree->calls[place];
	uint64_t time_ns = interval_ns(call->row->start_time_ns, call->row->end_time_ns);
	uint32_t around = call->parent;

	blocks_pass(place, CALL_PASS_BYTES);
	if (call_is_mark(call->row))
		return FLEXTRACE_OK;
	while (around != FLEXTRACE_NONE && call_is_mark(tree->calls[around].row))
		around = tree->calls[around].parent;
	if (around != FLEXTRACE_NONE)
		calls->below_ns[group_of[tree->calls[around].name]] += time_ns;
	return stats_count_at(&calls->stats, group_of[call->name], time_ns);
}

static int count_functions(struct calls *calls)
{
	struct call_tree tree;
	uint32_t *group_of;
	int code;

	FLEXTRACE_TRY(call_tree_borrow(&tree, calls->findings));
	group_of = malloc((tree.names.n + 1ull) * sizeof(*group_of));
	calls->below_ns = calloc(tree.names.n + 1ull, sizeof(*calls->below_ns));
	code = group_of && calls->below_ns ? find_groups(calls, &tree, group_of)
	                                   : FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < tree.n && code == FLEXTRACE_OK; i++)
		code = count_function(calls, &tree, i, group_of);
	free(group_of);
	return code;
}

static int fill_runtime(const struct findings *findings, struct row_sink *sink)
{
	return fill(findings, kind_host_label, count_functions, sink);
}

const struct analysis analysis_runtime =
	ANALYSIS_CSV("runtime", runtime_columns, fill_runtime, .title = "Host functions by name",
                     .what = "Host functions by kind and name of each rank: calls, "
                             "durations, and self time, which is a call without the calls "
                             "inside it on its thread.");
