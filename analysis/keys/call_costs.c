/* SPDX-License-Identifier: Apache-2.0 */
#include "call_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/text/strings.h"

int call_costs_init(struct call_costs *costs, const struct timeline *timeline)
{
	uint64_t n = timeline->host_rows.n_rows + 1;

	*costs = (struct call_costs){
		.timeline = timeline,
		.costs = blocks_allocate(n, sizeof(*costs->costs)),
	};
	if (!costs->costs)
		return FLEXTRACE_E_MEMORY;
	memset(costs->costs, 0, n * sizeof(*costs->costs));
	return call_tree_init(&costs->tree, timeline);
}

void call_costs_release(struct call_costs *costs)
{
	call_tree_release(&costs->tree);
	blocks_free(costs->costs);
	map_release(&costs->is_frame);
	*costs = (struct call_costs){0};
}

/* -- what is a call ---------------------------------------------------------------------------- */

/* "$file.py:12 function" of XLA's profiler, or what a file of torch calls so. */
bool call_names_frame(const struct timeline *timeline, const struct host_row *row)
{
	static const char told[] = "{\"cat\":\"python_function\"";
	const char *name = string_get(timeline->strings, row->name);

	return (*name == '$' && strchr(name, ' ')) ||
	       strncmp(string_get(timeline->strings, row->args), told, sizeof(told) - 1) == 0;
}

int call_costs_is_frame(struct call_costs *costs, const struct host_row *row)
{
	uint32_t *is_frame;

	if (row->kind != FLEXTRACE_RUNTIME_USER)
		return 0;
	FLEXTRACE_TRY(map_enter(&costs->is_frame, row->name, 0, &is_frame));
	if (*is_frame == MAP_NONE)
		*is_frame = call_names_frame(costs->timeline, row);
	return (int)*is_frame;
}

static int settle_row(struct call_costs *costs, struct call *call)
{
	const struct host_row *row = call->row;
	int is_frame = call_costs_is_frame(costs, row);

	if (is_frame < 0)
		return is_frame;
	/* Parents come first, so that theirs is a call by now. */
	if (call->parent != FLEXTRACE_NONE && !costs->tree.calls[call->parent].row)
		call->parent = costs->tree.calls[call->parent].parent;
	if (is_frame || row->kind == HOST_STEP || row->kind == HOST_WINDOW)
		call->row = NULL;
	else if (call->parent != FLEXTRACE_NONE)
		costs->costs[call->parent].below_ns += host_row_ns(row);
	return FLEXTRACE_OK;
}

/* -- memory ------------------------------------------------------------------------------------ */

struct allocating {
	struct call_costs *costs;
	uint32_t *latest; /* owned: by thread, its last row */
	uint64_t *totals; /* owned: by device */
	struct table_cursor cursor;
};

/* Books what stands in front of a time on the innermost call that is open then. */
static void allocate_until(struct allocating *allocating, int64_t time_ns)
{
	const struct call *calls = allocating->costs->tree.calls;
	const struct memory_row *row;

	while ((row = table_peek(&allocating->cursor)) && row->time_ns < time_ns) {
		uint64_t bytes = row->bytes;
		uint32_t at = allocating->latest[row->thread];

		while (at != FLEXTRACE_NONE && calls[at].row->end_time_ns <= row->time_ns)
			at = calls[at].parent;
		if (row->op == FLEXTRACE_MEMORY_FREE)
			bytes = -bytes;
		else if (row->op == FLEXTRACE_MEMORY_RESIZE)
			bytes = row->total_bytes - allocating->totals[row->device];
		allocating->totals[row->device] = row->total_bytes;
		if (at != FLEXTRACE_NONE)
			allocating->costs->costs[at].memory_self_bytes += bytes;
		table_next(&allocating->cursor, sizeof(*row));
	}
}

static void allocate(struct allocating *allocating)
{
	struct call_costs *costs = allocating->costs;

	for (uint32_t i = 0; i < costs->tree.n; i++) {
		const struct host_row *row = costs->tree.calls[i].row;
		const struct track *track = row ? &costs->timeline->tracks[row->track] : NULL;

		if (!row || track->kind != TRACK_THREAD || track->lane)
			continue;
		allocate_until(allocating, row->start_time_ns);
		allocating->latest[track->owner] = i;
	}
	allocate_until(allocating, INT64_MAX);
}

static int settle_memory(struct call_costs *costs)
{
	const struct identity *identity = costs->timeline->identity;
	struct allocating allocating = {
		.costs = costs,
		.latest = malloc((identity->n_threads + 1ull) * sizeof(*allocating.latest)),
		.totals = calloc(identity->n_devices + 1ull, sizeof(*allocating.totals)),
		.cursor = table_begin(&costs->timeline->memory),
	};
	bool has_memory = allocating.latest && allocating.totals;

	if (has_memory) {
		memset(allocating.latest, 0xff, (identity->n_threads + 1ull) * sizeof(uint32_t));
		allocate(&allocating);
	}
	free(allocating.latest);
	free(allocating.totals);
	return has_memory ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int call_costs_settle(struct call_costs *costs)
{
	for (uint32_t i = 0; i < costs->tree.n; i++)
		FLEXTRACE_TRY(settle_row(costs, &costs->tree.calls[i]));
	return costs->timeline->memory.n_rows ? settle_memory(costs) : FLEXTRACE_OK;
}

/* -- devices ----------------------------------------------------------------------------------- */

/* The call whose own work is that a call launched. */
static uint32_t operation_of(const struct call *calls, uint32_t launch)
{
	uint32_t annotation = FLEXTRACE_NONE;

	for (uint32_t at = launch; at != FLEXTRACE_NONE; at = calls[at].parent) {
		if (calls[at].row->kind == FLEXTRACE_RUNTIME_OP)
			return annotation == FLEXTRACE_NONE ? at : annotation;
		if (calls[at].row->kind == FLEXTRACE_RUNTIME_USER && annotation == FLEXTRACE_NONE)
			annotation = at;
	}
	return launch;
}

uint32_t call_costs_add(struct call_costs *costs, const struct work *work)
{
	uint64_t time_ns = interval_ns(work->row->start_time_ns, work->row->end_time_ns);
	const struct call *calls = costs->tree.calls;
	uint32_t launch = work->launch, operation;

	if (launch != FLEXTRACE_NONE && !calls[launch].row)
		launch = calls[launch].parent;
	if (launch == FLEXTRACE_NONE)
		return FLEXTRACE_NONE;
	operation = operation_of(calls, launch);
	costs->costs[operation].device_self_ns += time_ns;
	costs->costs[launch].device_total_ns += time_ns;
	return operation;
}

void call_costs_finish(struct call_costs *costs)
{
	for (uint32_t i = costs->tree.n; i-- > 0;) {
		struct call_cost *cost = &costs->costs[i];
		uint32_t parent = costs->tree.calls[i].parent;

		cost->memory_total_bytes += cost->memory_self_bytes;
		if (parent == FLEXTRACE_NONE || !costs->tree.calls[i].row)
			continue;
		costs->costs[parent].device_total_ns += cost->device_total_ns;
		costs->costs[parent].memory_total_bytes += cost->memory_total_bytes;
	}
}
