/* SPDX-License-Identifier: Apache-2.0 */
#include "call_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/text/strings.h"

int call_costs_init(struct call_costs *costs, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	uint64_t n = timeline->host_rows.n_rows + 1, n_threads = timeline->identity->n_threads;

	*costs = (struct call_costs){
		.timeline = timeline,
		.costs = blocks_allocate(n, sizeof(*costs->costs)),
		.innermost = malloc((n_threads + 1) * sizeof(*costs->innermost)),
	};
	if (!costs->costs || !costs->innermost)
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 0; i < n; i++) {
		blocks_pass(i, sizeof(*costs->costs));
		costs->costs[i] = (struct call_cost){0};
	}
	for (uint64_t i = 0; i < n_threads; i++)
		costs->innermost[i] = FLEXTRACE_NONE;
	return call_tree_copy(&costs->tree, findings);
}

void call_costs_release(struct call_costs *costs)
{
	call_tree_release(&costs->tree);
	blocks_free(costs->costs);
	free(costs->innermost);
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

/*
 * The innermost call around a row, which is one itself if `is_call`, among the calls of its thread:
 * what is no call may cross them, as the frames in which Python opens and closes a scope do, so
 * that the parents of the tree do not tell.
 */
static uint32_t find_around(struct call_costs *costs, uint32_t place, bool is_call)
{
	const struct call *calls = costs->tree.calls;
	const struct host_row *row = calls[place].row;
	const struct track *track = &costs->timeline->tracks[row->track];
	uint32_t *innermost = &costs->innermost[track->owner], around;

	if (track->kind != TRACK_THREAD)
		return FLEXTRACE_NONE;
	while (*innermost != FLEXTRACE_NONE && call_has_ended(calls[*innermost].row, row))
		*innermost = calls[*innermost].parent;
	around = *innermost;
	while (around != FLEXTRACE_NONE && calls[around].row->end_time_ns < row->end_time_ns) {
		if (is_call)
			return FLEXTRACE_NONE; /* it crosses */
		around = calls[around].parent;
	}
	if (is_call)
		*innermost = place;
	return around;
}

static int settle_row(struct call_costs *costs, struct call *call)
{
	const struct host_row *row = call->row;
	int is_frame = call_costs_is_frame(costs, row);
	bool is_call = !is_frame && row->kind != HOST_STEP && row->kind != HOST_WINDOW;

	if (is_frame < 0)
		return is_frame;
	call->parent = find_around(costs, (uint32_t)(call - costs->tree.calls), is_call);
	if (!is_call)
		call->row = NULL;
	else if (call->parent != FLEXTRACE_NONE)
		costs->costs[call->parent].below_ns += host_row_ns(row);
	return FLEXTRACE_OK;
}

/* -- memory ------------------------------------------------------------------------------------ */

/* What is open on threads, as far as time has gone on. */
struct threads {
	const struct call_tree *tree; /* weak */
	uint32_t *latest;             /* owned: by thread, its last row */
	struct table_cursor cursor;   /* of records of memory */
	uint32_t *call_of;            /* of the next one */
};

static void find_until(struct threads *threads, int64_t time_ns)
{
	const struct call *calls = threads->tree->calls;
	const struct memory_row *row;

	while ((row = table_peek(&threads->cursor)) && row->time_ns < time_ns) {
		uint32_t at = threads->latest[row->thread];

		while (at != FLEXTRACE_NONE && calls[at].row->end_time_ns <= row->time_ns)
			at = calls[at].parent;
		*threads->call_of++ = at;
		table_next(&threads->cursor, sizeof(*row));
	}
}

int call_find_memory(const struct call_tree *tree, const struct timeline *timeline,
                     uint32_t **ret_call_of)
{
	uint64_t n_threads = timeline->identity->n_threads + 1ull;
	struct threads threads = {
		.tree = tree,
		.latest = malloc(n_threads * sizeof(*threads.latest)),
		.cursor = table_begin(&timeline->memory),
		.call_of = malloc((timeline->memory.n_rows + 1) * sizeof(*threads.call_of)),
	};

	*ret_call_of = threads.call_of;
	if (!threads.latest || !threads.call_of) {
		free(threads.latest);
		return FLEXTRACE_E_MEMORY;
	}
	memset(threads.latest, 0xff, n_threads * sizeof(*threads.latest));
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct host_row *row = tree->calls[i].row;
		const struct track *track = &timeline->tracks[row->track];

		if (track->kind != TRACK_THREAD || track->lane)
			continue;
		find_until(&threads, row->start_time_ns);
		threads.latest[track->owner] = i;
	}
	find_until(&threads, INT64_MAX);
	free(threads.latest);
	return FLEXTRACE_OK;
}

/* Of records whose size changes something, what they add to what is allocated. */
static void settle_memory(struct call_costs *costs, const uint32_t *call_of, uint64_t *totals)
{
	TABLE_EACH(struct memory_row, row, &costs->timeline->memory) {
		uint32_t at = *call_of++;
		uint64_t bytes = row->bytes;

		if (row->op == FLEXTRACE_MEMORY_FREE)
			bytes = -bytes;
		else if (row->op == FLEXTRACE_MEMORY_RESIZE)
			bytes = row->total_bytes - totals[row->device];
		totals[row->device] = row->total_bytes;
		if (at != FLEXTRACE_NONE && !costs->tree.calls[at].row)
			at = costs->tree.calls[at].parent;
		if (at != FLEXTRACE_NONE)
			costs->costs[at].memory_self_bytes += bytes;
	}
}

int call_costs_settle(struct call_costs *costs)
{
	const struct timeline *timeline = costs->timeline;
	uint64_t *totals = NULL;
	uint32_t *call_of = NULL;
	int code = FLEXTRACE_OK;

	if (timeline->memory.n_rows)
		code = call_find_memory(&costs->tree, timeline, &call_of);
	for (uint32_t i = 0; i < costs->tree.n && code == FLEXTRACE_OK; i++) {
		blocks_pass(i, CALL_PASS_BYTES + sizeof(*costs->costs));
		code = settle_row(costs, &costs->tree.calls[i]);
	}
	if (call_of && code == FLEXTRACE_OK) {
		totals = calloc(timeline->identity->n_devices + 1ull, sizeof(*totals));
		code = totals ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	}
	if (totals)
		settle_memory(costs, call_of, totals);
	free(totals);
	free(call_of);
	return code;
}

/* -- devices ----------------------------------------------------------------------------------- */

/* The call whose own work is that a call launched: scopes within an operation are not asked, as in
 * torch, whose files name the operation with each piece of work (`External id`). */
static uint32_t operation_of(const struct call *calls, uint32_t launch)
{
	for (uint32_t at = launch; at != FLEXTRACE_NONE; at = calls[at].parent) {
		if (calls[at].row->kind == FLEXTRACE_RUNTIME_OP)
			return at;
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
	blocks_visit();
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

		blocks_pass(i, sizeof(struct call) + sizeof(*cost));
		cost->memory_total_bytes += cost->memory_self_bytes;
		if (parent == FLEXTRACE_NONE || !costs->tree.calls[i].row)
			continue;
		costs->costs[parent].device_total_ns += cost->device_total_ns;
		costs->costs[parent].memory_total_bytes += cost->memory_total_bytes;
	}
}
