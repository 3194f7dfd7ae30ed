/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"

#include <stdlib.h>

#include "base/array.h"
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
	const struct timeline *timeline; /* weak, both */
	struct windows *windows;
	struct start_span *spans; /* owned, both: by process */
	struct map numbers;       /* by name */
	struct edge *edges;
	uint32_t n_edges;
};

static bool is_mark(const struct host_row *row)
{
	return row->kind == HOST_STEP || row->kind == HOST_WINDOW;
}

static uint32_t process_of(const struct timeline *timeline, const struct host_row *row)
{
	return timeline->identity->threads[timeline->tracks[row->track].owner].process;
}

static void span_calls(struct marking *marking)
{
	TABLE_EACH(struct host_row, row, &marking->timeline->host_rows) {
		struct start_span *span = &marking->spans[process_of(marking->timeline, row)];

		if (is_mark(row))
			continue;
		if (!span->has_calls)
			span->first_ns = row->start_time_ns;
		span->has_calls = true;
		span->last_ns = row->start_time_ns; /* rows are in order of their starts */
	}
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

static int mark(struct marking *marking, const struct host_row *row)
{
	uint32_t process = process_of(marking->timeline, row), number;
	const struct start_span *span = &marking->spans[process];

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
	span_calls(marking);
	TABLE_EACH(struct host_row, row, &marking->timeline->host_rows) {
		if (is_mark(row))
			FLEXTRACE_TRY(mark(marking, row));
	}
	return FLEXTRACE_OK;
}

/* -- stretches --------------------------------------------------------------------------------- */

ORDER_BY(compare_edges, struct edge, process, time_ns);

/* A stretch of what is open behind an edge. */
static int add_stretch(struct windows *windows, const struct edge *edge, const int32_t *counts)
{
	struct window_stretch stretch = {edge->time_ns, edge->process, 0, windows->n_open};

	for (uint8_t i = 1; i <= windows->n_names; i++) {
		if (counts[i] <= 0)
			continue;
		FLEXTRACE_TRY(ARRAY_PUSH(windows->open, windows->n_open, i));
		stretch.n_open++;
	}
	if (windows->n_most_open < stretch.n_open)
		windows->n_most_open = stretch.n_open;
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

int windows_init(struct windows *windows, const struct timeline *timeline)
{
	struct marking marking = {
		.timeline = timeline,
		.windows = windows,
		.spans = calloc(timeline->identity->n_processes + 1ull, sizeof(*marking.spans)),
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
	free(windows->open);
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

uint32_t windows_at(const struct windows *windows, uint32_t process, int64_t time_ns,
                    const uint8_t **ret_numbers)
{
	const struct moment moment = {process, time_ns};
	uint32_t n = array_count_before(windows->stretches, windows->n_stretches,
	                                sizeof(*windows->stretches), begins_by, &moment);

	if (!n || windows->stretches[n - 1].process != process)
		return 0;
	*ret_numbers = windows->open + windows->stretches[n - 1].first_open;
	return windows->stretches[n - 1].n_open;
}
