/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks that share an event are one component. Its root is the clock of its lowest rank. The
 * order goes outwards from the root, next the clock that shares most events with those before.
 */
#include <stdlib.h>

#include "align_impl.h"
#include "base/order.h"

/* -- components -------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *parents, uint32_t clock)
{
	while (parents[clock] != clock) {
		parents[clock] = parents[parents[clock]];
		clock = parents[clock];
	}
	return clock;
}

static void join_clocks(const struct graph *graph, uint32_t *parents)
{
	for (uint32_t event = 0; event < graph->n_events; event++) {
		const struct part *first = &graph->parts[graph->first_part[event]];
		const struct part *end = &graph->parts[graph->first_part[event + 1]];

		for (const struct part *part = first + 1; part < end; part++)
			parents[find(parents, part->clock)] = find(parents, first->clock);
	}
}

/* The root of a clock's component may change from a process to the next, but not its number. */
static void number_component(struct graph *graph, uint32_t *numbers, uint32_t set, uint32_t clock)
{
	if (numbers[set] == FLEXTRACE_NONE) {
		numbers[set] = graph->n_components++;
		graph->root[numbers[set]] = clock;
	}
	graph->component[clock] = numbers[set];
}

/* Processes by rank, so that components are numbered by their lowest rank, which is on their
 * root. */
static int compare_processes(const void *left, const void *right, void *context)
{
	const struct process *processes = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (process_is_ranked_before(&processes[a], &processes[b]))
		return -1;
	if (process_is_ranked_before(&processes[b], &processes[a]))
		return 1;
	return ORDER(a, b);
}

static void number_components(struct graph *graph, const struct identity *identity,
                              uint32_t reference, uint32_t *spare, uint32_t *parents)
{
	uint32_t *numbers = spare, *ranked = spare + graph->n_clocks;

	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		numbers[clock] = FLEXTRACE_NONE;
		graph->component[clock] = FLEXTRACE_NONE;
	}
	number_component(graph, numbers, find(parents, reference), reference);
	for (uint32_t i = 0; i < identity->n_processes; i++)
		ranked[i] = i;
	qsort_r(ranked, identity->n_processes, sizeof(*ranked), compare_processes,
	        identity->processes);
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		const struct process *process = &identity->processes[ranked[i]];

		if (!process->is_excluded)
			number_component(graph, numbers, find(parents, process->host_clock),
			                 process->host_clock);
	}
	graph->n_peopled = graph->n_components;
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
		number_component(graph, numbers, find(parents, clock), clock);
}

static int find_sets(struct graph *graph, const struct identity *identity, uint32_t reference)
{
	uint64_t n_spare = 2ull * graph->n_clocks + identity->n_processes;
	uint32_t *spare;
	uint32_t *parents;

	FLEXTRACE_TRY(ARRAY_NEW(spare, n_spare + 1));
	parents = spare + graph->n_clocks + identity->n_processes;
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
		parents[clock] = clock;
	join_clocks(graph, parents);
	number_components(graph, identity, reference, spare, parents);
	free(spare);
	return FLEXTRACE_OK;
}

/* -- order ------------------------------------------------------------------------------------- */

struct ordering {
	struct graph *graph;
	uint32_t *shared; /* of each clock: events it shares with those in order */
	bool *is_placed;  /* of each clock */
	bool *is_reached; /* of each event */
	uint32_t n_placed;
};

static void place_clock(struct ordering *ordering, uint32_t clock)
{
	struct graph *graph = ordering->graph;

	graph->order[ordering->n_placed++] = clock;
	ordering->is_placed[clock] = true;
	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
		uint32_t event = graph->parts[graph->by_clock[i]].event;

		if (ordering->is_reached[event])
			continue;
		ordering->is_reached[event] = true;
		for (uint32_t j = graph->first_part[event]; j < graph->first_part[event + 1]; j++)
			ordering->shared[graph->parts[j].clock]++;
	}
}

static uint32_t next_clock(const struct ordering *ordering)
{
	uint32_t best = FLEXTRACE_NONE;

	for (uint32_t clock = 0; clock < ordering->graph->n_clocks; clock++) {
		if (!ordering->is_placed[clock] &&
		    (best == FLEXTRACE_NONE || ordering->shared[clock] > ordering->shared[best]))
			best = clock;
	}
	return best;
}

static int find_order(struct graph *graph)
{
	struct ordering ordering = {.graph = graph};
	bool has_memory;

	ordering.shared = calloc(graph->n_clocks + 1ull, sizeof(*ordering.shared));
	ordering.is_placed = calloc(graph->n_clocks + 1ull, sizeof(*ordering.is_placed));
	ordering.is_reached = calloc(graph->n_events + 1ull, sizeof(*ordering.is_reached));
	has_memory = ordering.shared && ordering.is_placed && ordering.is_reached;
	if (has_memory) {
		for (uint32_t i = 0; i < graph->n_components; i++)
			place_clock(&ordering, graph->root[i]);
		while (ordering.n_placed < graph->n_clocks)
			place_clock(&ordering, next_clock(&ordering));
	}
	free(ordering.shared);
	free(ordering.is_placed);
	free(ordering.is_reached);
	return has_memory ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int graph_find_components(struct graph *graph, const struct identity *identity, uint32_t reference)
{
	FLEXTRACE_TRY(ARRAY_NEW(graph->component, graph->n_clocks + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(graph->root, graph->n_clocks + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(graph->order, graph->n_clocks + 1ull));
	if (graph->n_clocks == 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_sets(graph, identity, reference));
	return find_order(graph);
}
