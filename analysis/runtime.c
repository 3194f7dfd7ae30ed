/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.csv: host functions by rank and name. The time of a call is its own but for the calls
 * directly below it on its thread, which never overlap there; rows on other lanes have no children.
 */
#include <stdlib.h>

#include "analysis_impl.h"
#include "base/array.h"
#include "model/words/kinds.h"

struct call {
	int64_t end_time_ns;
	uint32_t group;
};

/* What is open on a track, innermost last. */
struct call_stack {
	struct call *calls; /* owned */
	uint32_t n_calls, n_allocated;
};

static const char *label_of(uint8_t kind)
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
static int enter_call(struct call_stack *stack, struct analysis_names *names,
                      const struct host_row *row, uint32_t group)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(names->children_ns, names->n_children, group + 1ull));
	while (stack->n_calls && stack->calls[stack->n_calls - 1].end_time_ns <= row->start_time_ns)
		stack->n_calls--;
	if (stack->n_calls)
		names->children_ns[stack->calls[stack->n_calls - 1].group] += duration_of(row);
	FLEXTRACE_TRY(ARRAY_RESERVE(stack->calls, stack->n_allocated, stack->n_calls + 1ull));
	stack->calls[stack->n_calls++] = (struct call){row->end_time_ns, group};
	return FLEXTRACE_OK;
}

static int count_row(struct analysis_names *names, const struct host_row *row, uint32_t *ret_group)
{
	const struct timeline *timeline = names->timeline;
	uint32_t thread = timeline->tracks[row->track].owner;
	uint32_t process = timeline->identity->threads[thread].process;
	const struct group_key key = {names->owners.places[process], row->name, row->kind};

	return stats_count(&names->stats, &key, duration_of(row), ret_group);
}

static int count_calls(struct analysis_names *names, struct call_stack *stacks)
{
	const struct timeline *timeline = names->timeline;
	struct table_cursor cursor;
	const struct host_row *row;
	uint32_t group;

	timeline_read(&cursor, &timeline->host_rows);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		const struct track *track = &timeline->tracks[row->track];

		if (!is_function(row))
			continue;
		FLEXTRACE_TRY(count_row(names, row, &group));
		if (track->kind == TRACK_THREAD && track->lane == 0)
			FLEXTRACE_TRY(enter_call(&stacks[row->track], names, row, group));
	}
	return FLEXTRACE_OK;
}

static int count_rows(struct analysis_names *names)
{
	const struct timeline *timeline = names->timeline;
	struct call_stack *stacks = calloc(timeline->n_tracks + 1ull, sizeof(*stacks));
	int code;

	if (!stacks)
		return FLEXTRACE_E_MEMORY;
	code = count_calls(names, stacks);
	for (uint32_t i = 0; i < timeline->n_tracks; i++)
		free(stacks[i].calls);
	free(stacks);
	FLEXTRACE_TRY(code);
	return stats_finish(&names->stats, timeline->strings);
}

struct runtime_row {
	struct stats_cells of;
	struct owner_cells owner;
	uint64_t self_ns;
};

static const struct column columns[] = {
	COLUMN_AS("kind", struct runtime_row, of.kind),
	COLUMN_AS("name", struct runtime_row, of.name),
	COLUMN_AS("calls", struct runtime_row, of.calls),
	COLUMN_AS("total_ns", struct runtime_row, of.total),
	COLUMN(struct runtime_row, self_ns),
	COLUMNS_SPREAD(struct runtime_row, of.spread, "_ns"),
	COLUMNS_OWNER(struct runtime_row),
};

static void put_groups(struct analysis_names *names, struct row_sink *sink)
{
	struct stats *stats = &names->stats;

	for (uint32_t i = 0; i < stats->groups.n; i++) {
		const struct stats_group *group = stats_line(stats, i);
		uint32_t process = names->owners.processes[group->key.owner];
		uint32_t place = stats->groups.order[i];
		uint64_t children_ns = place < names->n_children ? names->children_ns[place] : 0;

		row_put(sink, &(struct runtime_row){
				      .of = stats_cells(stats, names->timeline->strings, group),
				      .owner = identity_owner(names->timeline->identity, process),
				      .self_ns = group->total_ns - children_ns,
			      });
	}
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	return analysis_fill_names(&(struct analysis_table){label_of, count_rows, put_groups},
	                           findings->timeline, sink);
}

const struct analysis analysis_runtime = ANALYSIS_CSV("runtime", columns, fill);
