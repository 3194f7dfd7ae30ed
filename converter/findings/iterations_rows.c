/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which iteration each control block belongs to: the one of its process that it starts in. Rows
 * and iterations come in order of their starts, so that one sweep finds them all.
 */
#include <stdlib.h>

#include "base/blocks.h"
#include "iterations.h"

/* The iterations of a process. */
struct turns {
	const struct iteration **list; /* weak: in the array of all */
	uint32_t n, next;              /* next: the first that starts behind the rows so far */
};

static void list_turns(const struct iterations *iterations, struct turns *turns,
                       const struct iteration **all)
{
	uint32_t n_processes = iterations->timeline->identity->n_processes, n = 0;

	for (uint32_t i = 0; i < iterations->n; i++)
		turns[iterations->all[i].process].n++;
	for (uint32_t i = 0; i < n_processes; i++) {
		turns[i].list = &all[n];
		n += turns[i].n;
		turns[i].n = 0;
	}
	for (uint32_t i = 0; i < iterations->n; i++) {
		struct turns *of = &turns[iterations->all[i].process];

		of->list[of->n++] = &iterations->all[i];
	}
}

/* Returns its number + 1, or 0. */
static uint32_t number_at(struct turns *turns, int64_t start_time_ns)
{
	const struct iteration *last;

	while (turns->next < turns->n && turns->list[turns->next]->start_time_ns <= start_time_ns)
		turns->next++;
	if (!turns->next)
		return 0;
	last = turns->list[turns->next - 1];
	return start_time_ns <= last->end_time_ns ? last->number + 1 : 0;
}

static void mark_rows(const struct iterations *iterations, struct turns *turns, uint32_t *of_op)
{
	const struct timeline *timeline = iterations->timeline;

	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		uint32_t device;

		if (row->kind < ROW_EXEC || row->kind > ROW_RELEASE || row->kind == ROW_DMA_OUT)
			continue;
		device = timeline->tracks[row->track].owner;
		of_op[row->source] = number_at(&turns[timeline->identity->devices[device].process],
		                               row->start_time_ns);
	}
}

int iterations_mark(const struct iterations *iterations, uint32_t **ret_of_op)
{
	const struct timeline *timeline = iterations->timeline;
	struct turns *turns;
	const struct iteration **all;

	*ret_of_op = NULL;
	if (!iterations->n)
		return FLEXTRACE_OK;
	turns = calloc(timeline->identity->n_processes + 1ull, sizeof(*turns));
	all = blocks_allocate(iterations->n, sizeof(*all));
	*ret_of_op = calloc(timeline->n_ops + 1, sizeof(**ret_of_op));
	if (turns && all && *ret_of_op) {
		list_turns(iterations, turns, all);
		mark_rows(iterations, turns, *ret_of_op);
	}
	free(turns);
	blocks_free(all);
	return turns && all && *ret_of_op ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}
