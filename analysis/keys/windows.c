/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/blocks.h"
#include "base/order.h"

struct start_span { /* of the calls of a process */
	int64_t first_ns, last_ns;
	bool has_calls;
};

struct edge { /* where a step or window begins or ends */
	int64_t time_ns;
	uint32_t process;
	uint32_t number; /* of its name */
	int32_t change;  /* 1: it begins, -1 */
};

struct marking {
	const struct call_tree *tree; /* weak, both */
	struct windows *windows;
	struct start_span *spans; /* owned, all: by process */
	struct map numbers;       /* by name */
	struct edge *edges;
	uint32_t n_edges;
};

/* Whether there are marks at all. */
static bool span_calls(struct marking *marking)
{
	const struct call_tree *tree = marking->tree;
	bool has_marks = false;

	for (uint32_t i = 0; i < tree->names.n; i++) {
		const struct call_name *name = call_name_at(tree, i);
		struct start_span *span = &marking->spans[name->key.owner];
		const struct host_row *first = tree->calls[name->first].row;
		int64_t last_ns = tree->calls[name->last].row->start_time_ns;

		if (call_is_mark(first)) {
			has_marks = true;
			continue;
		}
		if (!span->has_calls) /* names are in order of their first rows */
			*span = (struct start_span){first->start_time_ns, last_ns, true};
		if (span->last_ns < last_ns)
			span->last_ns = last_ns;
	}
	return has_marks;
}

/* Stores the number of a name, 0 where there are too many. */
static int number_name(struct marking *marking, uint32_t name, uint32_t *ret_number)
{
	struct windows *windows = marking->windows;
	uint32_t *number;

	FLEXTRACE_TRY(map_enter(&marking->numbers, name, 0, &number));
	if (*number == MAP_NONE) {
		*number = windows->n_names < WINDOWS_MAX ? ++windows->n_names : 0;
		windows->names[*number] = name;
	}
	*ret_number = *number;
	return FLEXTRACE_OK;
}

static int mark(struct marking *marking, const struct host_row *row, uint32_t process)
{
	const struct start_span *span = &marking->spans[process];
	uint32_t number;

	if (!span->has_calls ||
	    (row->start_time_ns <= span->first_ns && row->end_time_ns > span->last_ns))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(number_name(marking, row->name, &number));
	if (!number)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_PUSH(marking->edges, marking->n_edges,
	                         (struct edge){row->start_time_ns, process, number, 1}));
	return ARRAY_PUSH(marking->edges, marking->n_edges,
	                  (struct edge){row->end_time_ns, process, number, -1});
}

static int mark_all(struct marking *marking)
{
	const struct call_tree *tree = marking->tree;

	if (!span_calls(marking))
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < tree->n; i++) {
		blocks_pass(i, CALL_PASS_BYTES);
		if (call_is_mark(tree->calls[i].row))
			FLEXTRACE_TRY(mark(marking, tree->calls[i].row, tree->calls[i].process));
	}
	return FLEXTRACE_OK;
}

/* -- stretches --------------------------------------------------------------------------------- */

ORDER_BY(compare_edges, struct edge, process, time_ns);

/* A stretch of what is open behind an edge. */
static int add_stretch(struct windows *windows, const struct edge *edge, const int32_t *counts)
{
	struct window_stretch stretch = {edge->time_ns, edge->process, 0};
	uint32_t n_open = 0;

	for (uint32_t i = 1; i <= windows->n_names; i++) {
		if (counts[i] <= 0)
			continue;
		if (name_trie_step(&windows->sets, stretch.open, i, &stretch.open) < 0)
			return FLEXTRACE_E_MEMORY;
		n_open++;
	}
	if (windows->n_most_open < n_open)
		windows->n_most_open = n_open;
	return ARRAY_PUSH(windows->stretches, windows->n_stretches, stretch);
}

static int add_stretches(struct marking *marking)
{
	int32_t counts[WINDOWS_MAX + 1] = {0};
	const struct edge *edges = marking->edges;

	ORDER_ARRAY(marking->edges, marking->n_edges, compare_edges);
	for (uint32_t i = 0; i < marking->n_edges; i++) {
		counts[edges[i].number] += edges[i].change;
		if (i + 1 == marking->n_edges || compare_edges(&edges[i], &edges[i + 1]))
			FLEXTRACE_TRY(add_stretch(marking->windows, &edges[i], counts));
	}
	return FLEXTRACE_OK;
}

int windows_init(struct windows *windows, const struct call_tree *tree, uint32_t n_processes)
{
	struct marking marking = {
		.tree = tree,
		.windows = windows,
		.spans = calloc(n_processes + 1ull, sizeof(*marking.spans)),
	};
	int code;

	*windows = (struct windows){.n_names = 0};
	code = marking.spans ? mark_all(&marking) : FLEXTRACE_E_MEMORY;
	if (code == FLEXTRACE_OK)
		code = add_stretches(&marking);
	free(marking.spans);
	map_release(&marking.numbers);
	free(marking.edges);
	return code;
}

void windows_release(struct windows *windows)
{
	free(windows->stretches);
	name_trie_release(&windows->sets);
	*windows = (struct windows){.n_names = 0};
}

/* -- reading ----------------------------------------------------------------------------------- */

struct moment {
	uint32_t process;
	int64_t time_ns;
};

static bool begins_by(const void *row, const void *key)
{
	const struct window_stretch *stretch = row;
	const struct moment *moment = key;

	return stretch->process < moment->process ||
	       (stretch->process == moment->process && stretch->time_ns <= moment->time_ns);
}

uint32_t windows_at(const struct windows *windows, uint32_t process, int64_t time_ns)
{
	const struct moment moment = {process, time_ns};
	uint32_t n = array_count_before(windows->stretches, windows->n_stretches,
	                                sizeof(*windows->stretches), begins_by, &moment);

	if (!n || windows->stretches[n - 1].process != process)
		return 0;
	return windows->stretches[n - 1].open;
}
