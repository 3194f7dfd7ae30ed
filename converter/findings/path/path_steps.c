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

/* Of steps in steps, the outermost. `until_ns`: by process, when its last one ends. */
static int add_rows(struct steps *steps, int64_t *until_ns)
{
	const struct path_graph *graph = steps->graph;

	for (uint32_t i = 0; i < graph->calls.n; i++) {
		const struct call *call = &graph->calls.calls[i];
		const struct path_process *process = &graph->processes[call->process];
		const struct host_row *row = call->row;
		struct path_step step;

		blocks_pass(i, CALL_PASS_BYTES);
		if (!process->step_kind || row->kind != process->step_kind ||
		    row->start_time_ns < until_ns[call->process])
			continue;
		until_ns[call->process] = row->end_time_ns;
		step = whole_run(graph, call->process);
		step.start_time_ns = row->start_time_ns;
		step.end_time_ns = step.host_end_time_ns = row->end_time_ns;
		step.name = row->name;
		step.track = path_is_of_thread(graph, row) ? row->track : process->home;
		FLEXTRACE_TRY(ARRAY_PUSH(steps->all, steps->n, step));
	}
	return FLEXTRACE_OK;
}

/* When the first work of each process begins. */
static void find_first_works(const struct steps *steps, int64_t *first_ns)
{
	for (uint32_t i = 0; i < steps->graph->timeline->identity->n_processes; i++)
		first_ns[i] = INT64_MAX;
	for (uint32_t i = steps->graph->n_works; i-- > 0;) {
		blocks_pass(i, sizeof(*steps->graph->works));
		first_ns[steps->graph->works[i].process] = steps->graph->works[i].start_time_ns;
	}
}

static int add_whole_runs(struct steps *steps, int64_t *first_ns)
{
	const struct path_graph *graph = steps->graph;

	find_first_works(steps, first_ns);
	for (uint32_t i = 0; i < graph->timeline->identity->n_processes; i++) {
		struct path_step whole = whole_run(graph, i);

		if (first_ns[i] < whole.start_time_ns)
			whole.start_time_ns = first_ns[i];
		if (!graph->processes[i].step_kind && whole.start_time_ns != INT64_MAX)
			FLEXTRACE_TRY(ARRAY_PUSH(steps->all, steps->n, whole));
	}
	return FLEXTRACE_OK;
}

static int add_steps(struct steps *steps)
{
	const struct path_graph *graph = steps->graph;
	uint32_t n = graph->timeline->identity->n_processes;
	int64_t *times_ns = malloc((n + 1ull) * sizeof(*times_ns));
	bool has_any = false;
	int code = times_ns ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0; i < n && times_ns; i++) {
		times_ns[i] = INT64_MIN;
		has_any |= graph->processes[i].step_kind != 0;
	}
	if (code == FLEXTRACE_OK && has_any)
		code = add_rows(steps, times_ns);
	if (code == FLEXTRACE_OK)
		code = add_whole_runs(steps, times_ns);
	free(times_ns);
	return code;
}

/* -- and of devices ---------------------------------------------------------------------------- */

static int compare_steps(const void *left, const void *right, void *context)
{
	const struct path_step *a = left, *b = right;
	const struct owners *owners = context;

	return ORDER(owners->positions[a->process], owners->positions[b->process]) ?:
	       ORDER(a->start_time_ns, b->start_time_ns) ?: ORDER(a->end_time_ns, b->end_time_ns);
}

static void sort_steps(struct steps *steps)
{
	uint32_t n_processes = steps->graph->timeline->identity->n_processes, at = 0;

	if (steps->n)
		qsort_r(steps->all, steps->n, sizeof(*steps->all), compare_steps,
		        (void *)steps->owners);
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
		int64_t since_ns = work->launch == FLEXTRACE_NONE
		                           ? work->start_time_ns
		                           : graph->calls.calls[work->launch].row->start_time_ns;
		struct path_step *step = step_at(steps, work->process, since_ns);

		blocks_visit();
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
