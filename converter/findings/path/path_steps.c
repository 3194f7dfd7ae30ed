/* SPDX-License-Identifier: Apache-2.0 */
#include "path_steps.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/blocks.h"
#include "base/order.h"

struct steps {
	const struct path_graph *graph; /* weak, both */
	const struct owners *owners;
	struct path_step *all; /* owned, all */
	uint32_t n;
	uint32_t *first; /* by position of the process: its first step, and behind its last */
	struct path_step *groups; /* over all ranks */
	uint32_t n_groups;
};

/* -- of the host ------------------------------------------------------------------------------- */

static struct path_step whole_run(const struct path_graph *graph, uint32_t process)
{
	const struct path_process *of = &graph->processes[process];

	return (struct path_step){.start_time_ns = of->start_time_ns,
	                          .end_time_ns = of->end_time_ns,
	                          .host_end_time_ns = INT64_MAX, /* all work is of it */
	                          .process = process,
	                          .track = of->last,
	                          .last_work = FLEXTRACE_NONE};
}

static struct path_step step_of(const struct path_graph *graph, const struct call *call)
{
	struct path_step step = whole_run(graph, call->process);
	const struct host_row *row = call->row;

	step.start_time_ns = row->start_time_ns;
	step.end_time_ns = step.host_end_time_ns = row->end_time_ns;
	step.name = row->name;
	step.track = path_is_of_thread(graph, row->track) ? row->track
	                                                  : graph->processes[call->process].home;
	return step;
}

static int add_steps(struct steps *steps)
{
	const struct path_graph *graph = steps->graph;

	for (uint32_t i = 0; i < graph->n_step_rows; i++) {
		const struct call *call = &graph->calls.calls[graph->step_rows[i]];

		if (call->row->kind == graph->processes[call->process].step_kind)
			FLEXTRACE_TRY(ARRAY_PUSH(steps->all, steps->n, step_of(graph, call)));
	}
	for (uint32_t i = 0; i < graph->timeline->identity->n_processes; i++)
		if (!graph->processes[i].step_kind &&
		    graph->processes[i].start_time_ns != INT64_MAX)
			FLEXTRACE_TRY(ARRAY_PUSH(steps->all, steps->n, whole_run(graph, i)));
	return FLEXTRACE_OK;
}

/* -- and of devices ---------------------------------------------------------------------------- */

static int compare_steps(const void *left, const void *right, void *context)
{
	const struct path_step *a = left, *b = right;
	const struct owners *owners = context;

	return ORDER(owners->positions[a->process], owners->positions[b->process]) ?:
	       ORDER(a->start_time_ns, b->start_time_ns) ?: ORDER(b->end_time_ns, a->end_time_ns);
}

/* Of steps in steps, only the outermost stay. */
static void sort_steps(struct steps *steps)
{
	uint32_t n_processes = steps->graph->timeline->identity->n_processes, at = 0, n = 0;
	struct path_step *all = steps->all;

	if (steps->n)
		qsort_r(all, steps->n, sizeof(*all), compare_steps, (void *)steps->owners);
	for (uint32_t i = 0; i < steps->n; i++)
		if (!n || all[i].process != all[n - 1].process ||
		    all[i].start_time_ns >= all[n - 1].end_time_ns)
			all[n++] = all[i];
	steps->n = n;
	for (uint32_t i = 0; i <= n_processes; i++) {
		steps->first[i] = at;
		while (at < steps->n && i < n_processes &&
		       steps->owners->positions[steps->all[at].process] == i)
			at++;
	}
}

/* The step of a process at a time; NULL: none. */
static struct path_step *step_at(const struct steps *steps, uint32_t process, int64_t time_ns)
{
	uint32_t position = steps->owners->positions[process];
	uint32_t first = steps->first[position], low = first, high = steps->first[position + 1];

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (steps->all[middle].start_time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first || steps->all[low - 1].host_end_time_ns <= time_ns)
		return NULL;
	return &steps->all[low - 1];
}

static void add_works(struct steps *steps)
{
	const struct path_graph *graph = steps->graph;

	for (uint32_t i = 0; i < graph->n_works; i++) {
		const struct path_work *work = &graph->works[i];
		struct path_step *step = step_at(steps, work->process, path_since_ns(graph, work));

		blocks_pass(i, sizeof(*work) + sizeof(struct host_row));
		if (!step || work->end_time_ns <= step->end_time_ns)
			continue;
		step->end_time_ns = work->end_time_ns;
		step->last_work = i;
	}
}

/* -- over all ranks ---------------------------------------------------------------------------- */

static bool has_rank(const struct steps *steps, const struct path_step *step)
{
	return steps->graph->timeline->identity->processes[step->process].rank >= 0;
}

/* Steps are one where they have one name, as often as it came in each process. */
static int group_step(struct steps *steps, const struct path_step *step, struct map *counts,
                      struct map *index)
{
	uint32_t *n, group;
	struct path_step *of;
	int code;

	FLEXTRACE_TRY(map_enter(counts, step->process, step->name, &n));
	*n = *n == MAP_NONE ? 0 : *n + 1;
	code = MAP_PLACE(index, step->name, *n, steps->groups, steps->n_groups, &group);
	FLEXTRACE_TRY(code);
	of = &steps->groups[group];
	if (code) {
		*of = *step;
		return FLEXTRACE_OK;
	}
	of->is_of_all = true;
	if (step->start_time_ns < of->start_time_ns)
		of->start_time_ns = step->start_time_ns;
	if (step->end_time_ns > of->end_time_ns) {
		of->end_time_ns = step->end_time_ns;
		of->process = step->process;
		of->track = step->track;
		of->last_work = step->last_work;
	}
	return FLEXTRACE_OK;
}

static int group_steps(struct steps *steps)
{
	struct map counts = {0}, index = {0};
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < steps->n && code == FLEXTRACE_OK; i++)
		if (has_rank(steps, &steps->all[i]))
			code = group_step(steps, &steps->all[i], &counts, &index);
	map_release(&counts);
	map_release(&index);
	return code;
}

/* -- all --------------------------------------------------------------------------------------- */

static int find_steps(struct steps *steps)
{
	if (!steps->first)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(add_steps(steps));
	sort_steps(steps);
	add_works(steps);
	return group_steps(steps);
}

int path_steps_each(const struct path_graph *graph, const struct owners *owners,
                    path_step_taker *take, void *context)
{
	uint32_t n_processes = graph->timeline->identity->n_processes;
	struct steps steps = {
		.graph = graph,
		.owners = owners,
		.first = calloc(n_processes + 1ull, sizeof(*steps.first)),
	};
	int code = find_steps(&steps);

	for (uint32_t i = 0; i < steps.n && code == FLEXTRACE_OK; i++)
		code = take(context, &steps.all[i]);
	for (uint32_t i = 0; i < steps.n_groups && code == FLEXTRACE_OK; i++)
		if (steps.groups[i].is_of_all)
			code = take(context, &steps.groups[i]);
	free(steps.all);
	free(steps.first);
	free(steps.groups);
	return code;
}
