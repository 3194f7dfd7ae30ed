/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.csv: device work by rank and name; runtime.csv: host functions, likewise. The time of a
 * function is its own but for the calls directly below it on its thread, which never overlap there;
 * rows on other lanes have no children.
 */
#include "calls.h"

#include <stdlib.h>

#include "analysis_impl.h"
#include "base/array.h"
#include "findings/work/work_stats.h"
#include "model/words/kinds.h"

struct calls {
	const struct findings *findings; /* weak, all */
	const struct timeline *timeline;
	const struct owners *owners;
	struct stats stats;
	uint64_t *children_ns; /* owned: by group, what calls below it took */
	uint32_t n_children;
};

static int count_call(struct calls *calls, uint32_t process, uint32_t name, uint8_t kind,
                      uint64_t duration_ns, uint32_t *ret_group)
{
	const struct group_key key = {calls->owners->positions[process], name, kind};

	return stats_count(&calls->stats, &key, duration_ns, ret_group);
}

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
	struct stats *stats = &calls->stats;
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < stats->groups.n; i++) {
		const struct stats_group *group = stats_line(stats, i);
		uint32_t process = calls->owners->processes[group->key.owner];
		uint32_t place = stats->groups.order[i];

		if (i == 0 || stats_line(stats, i - 1)->key.owner != group->key.owner)
			total_ns = stats_total_of_owner(stats, i);
		row_put(sink,
		        &(struct calls_row){
				.of = stats_cells(stats, group),
				.owner = identity_owner(calls->timeline->identity, process),
				.self_ns = group->total_ns - (place < calls->n_children
		                                                      ? calls->children_ns[place]
		                                                      : 0),
				.share_percent = 100.0 * (double)group->total_ns / (double)total_ns,
			});
	}
}

/* Puts what `count` counts, by owner, name and kind. */
static int fill(const struct findings *findings, const char *(*label)(uint8_t kind),
                int (*count)(struct calls *calls), struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct calls calls = {
		.findings = findings, .timeline = timeline, .owners = findings->owners};
	int code;

	stats_init(&calls.stats, timeline->strings, label,
	           timeline->host_rows.n_rows + timeline->device_rows.n_rows);
	code = count(&calls);
	if (code == FLEXTRACE_OK)
		code = stats_finish(&calls.stats);
	if (code == FLEXTRACE_OK)
		put_groups(&calls, sink);
	stats_release(&calls.stats);
	free(calls.children_ns);
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

		key.owner = calls->owners->positions[process];
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

struct open_call {
	int64_t end_time_ns;
	uint32_t group;
};

/* What is open on a track, innermost last. */
struct call_stack {
	struct open_call *calls; /* owned */
	uint32_t n_calls, n_allocated;
};

static const char *host_label(uint8_t kind)
{
	return kind_of_host(kind)->label;
}

/* Steps and windows are marks on the time, no functions. */
static bool is_function(const struct host_row *row)
{
	return row->kind != HOST_STEP && row->kind != HOST_WINDOW;
}

static uint64_t duration_of(const struct host_row *row)
{
	return interval_ns(row->start_time_ns, row->end_time_ns);
}

/* Puts a call on its thread's stack and takes its time from the one around it. */
static int enter_call(struct call_stack *stack, struct calls *calls, const struct host_row *row,
                      uint32_t group)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(calls->children_ns, calls->n_children, group + 1ull));
	while (stack->n_calls && stack->calls[stack->n_calls - 1].end_time_ns <= row->start_time_ns)
		stack->n_calls--;
	if (stack->n_calls)
		calls->children_ns[stack->calls[stack->n_calls - 1].group] += duration_of(row);
	FLEXTRACE_TRY(ARRAY_RESERVE(stack->calls, stack->n_allocated, stack->n_calls + 1ull));
	stack->calls[stack->n_calls++] = (struct open_call){row->end_time_ns, group};
	return FLEXTRACE_OK;
}

static int count_function(struct calls *calls, const struct host_row *row,
                          struct call_stack *stacks)
{
	const struct timeline *timeline = calls->timeline;
	const struct track *track = &timeline->tracks[row->track];
	uint32_t process = timeline->identity->threads[track->owner].process, group;

	FLEXTRACE_TRY(count_call(calls, process, row->name, row->kind, duration_of(row), &group));
	return track->kind == TRACK_THREAD && track->lane == 0
	               ? enter_call(&stacks[row->track], calls, row, group)
	               : FLEXTRACE_OK;
}

static int count_functions(struct calls *calls)
{
	const struct timeline *timeline = calls->timeline;
	struct call_stack *stacks = calloc(timeline->n_tracks + 1ull, sizeof(*stacks));
	int code = stacks ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		if (code == FLEXTRACE_OK && is_function(row))
			code = count_function(calls, row, stacks);
	}
	for (uint32_t i = 0; stacks && i < timeline->n_tracks; i++)
		free(stacks[i].calls);
	free(stacks);
	return code;
}

static int fill_runtime(const struct findings *findings, struct row_sink *sink)
{
	return fill(findings, host_label, count_functions, sink);
}

const struct analysis analysis_runtime =
	ANALYSIS_CSV("runtime", runtime_columns, fill_runtime, .title = "Host functions by name",
                     .what = "Host functions by kind and name of each rank: calls, "
                             "durations, and self time, which is a call without the calls "
                             "inside it on its thread.");
