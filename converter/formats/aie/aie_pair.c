/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges -> states and kernels, without guessing: what lost its other end is counted and pairs with
 * nothing else.
 *
 * - A rise of a slot that is high: its fall was lost. A fall of one that is low: its rise was.
 * - A kernel starts with a rise of INSTR_EVENT_0 and ends with the next fall of INSTR_EVENT_1. Of
 *   two starts, or two ends, that are nearer than a part (duplicate_gap) of the median kernel the
 *   second is told twice; where they are not, what belongs between them was lost.
 * - What is open at the end of a file is drawn up to the last that is known of its unit, and
 *   counted as without an end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "aie_impl.h"

#define KERNEL_QUEUE "kernels"
#define KERNEL_NAME  "kernel"

/* -- states ---------------------------------------------------------------------------------- */

static int add_time(struct aie_times *times, uint64_t cycle, const struct origin *origin)
{
	return ARRAY_PUSH(times->times, times->n, (struct aie_time){cycle, *origin});
}

/* What a slot was since its last rise. */
static struct aie_span span_of(uint32_t unit, const struct aie_slot *slot, uint64_t end)
{
	return (struct aie_span){
		.unit = unit,
		.queue = slot->queue,
		.name = slot->name,
		.begin = slot->begin,
		.end = end,
		.origin = slot->origin,
	};
}

static int rise(struct aie *aie, const struct aie_edge *edge, uint64_t cycle)
{
	struct aie_unit *unit = &aie->units[edge->unit];
	struct aie_slot *slot = &unit->slots[edge->slot];

	if (slot->is_open)
		FLEXTRACE_TRY(aie_lose_of(aie, edge->unit, LOSS_UNMATCHED_BEGIN));
	slot->is_open = true;
	slot->begin = cycle;
	slot->origin = edge->origin;
	return slot->role == AIE_KERNEL_START ? add_time(&unit->starts, cycle, &edge->origin)
	                                      : FLEXTRACE_OK;
}

static int fall(struct aie *aie, const struct aie_edge *edge, uint64_t cycle)
{
	struct aie_unit *unit = &aie->units[edge->unit];
	struct aie_slot *slot = &unit->slots[edge->slot];
	const struct aie_span span = span_of(edge->unit, slot, cycle);

	if (slot->role == AIE_KERNEL_END)
		FLEXTRACE_TRY(add_time(&unit->ends, cycle, &edge->origin));
	if (!slot->is_open)
		return aie_lose_of(aie, edge->unit, LOSS_UNMATCHED_END);
	slot->is_open = false;
	return aie_write_span(aie, &span);
}

int aie_take_edge(struct aie *aie, const struct aie_edge *edge, uint64_t cycle)
{
	struct aie_unit *unit = &aie->units[edge->unit];

	if (cycle > unit->last)
		unit->last = cycle;
	return edge->is_rise ? rise(aie, edge, cycle) : fall(aie, edge, cycle);
}

static int leave_open(struct aie *aie, uint32_t index)
{
	const struct aie_unit *unit = &aie->units[index];

	for (uint32_t i = 0; i < unit->n_slots; i++) {
		struct aie_slot *slot = &unit->slots[i];
		struct aie_span span = span_of(index, slot, unit->last);

		if (!slot->is_open)
			continue;
		slot->is_open = false;
		span.is_open = true;
		FLEXTRACE_TRY(aie_lose_of(aie, index, LOSS_UNMATCHED_BEGIN));
		FLEXTRACE_TRY(aie_write_span(aie, &span));
	}
	return FLEXTRACE_OK;
}

/* -- kernels --------------------------------------------------------------------------------- */

/* Starts and ends of a unit, in order of time; of equal times the end first: a kernel takes a
 * cycle at least. */
struct merge {
	const struct aie_times *starts, *ends; /* weak */
	uint32_t start, end;                   /* the next of each */
};

/* Returns the next one, weak; NULL: there is no more. */
static const struct aie_time *next_mark(struct merge *merge, bool *ret_is_start)
{
	const struct aie_times *starts = merge->starts, *ends = merge->ends;
	bool has_start = merge->start < starts->n, has_end = merge->end < ends->n;

	*ret_is_start = has_start && (!has_end || starts->times[merge->start].cycle <
	                                                  ends->times[merge->end].cycle);
	if (*ret_is_start)
		return &starts->times[merge->start++];
	return has_end ? &ends->times[merge->end++] : NULL;
}

/* How near two starts are of which one is told twice: by the median of the kernels whose start and
 * end follow each other. */
static int find_gap(const struct aie *aie, const struct aie_unit *unit, uint64_t *ret_gap)
{
	struct merge merge = {.starts = &unit->starts, .ends = &unit->ends};
	int64_t *durations;
	const struct aie_time *mark;
	uint64_t start = 0;
	bool is_start, is_open = false;
	uint32_t n = 0;

	*ret_gap = 1;
	FLEXTRACE_TRY(ARRAY_NEW(durations, unit->starts.n + 1ull));
	while ((mark = next_mark(&merge, &is_start))) {
		if (!is_start && is_open)
			durations[n++] = (int64_t)(mark->cycle - start);
		start = mark->cycle;
		is_open = is_start;
	}
	if (n) {
		double gap;

		order_numbers(durations, n);
		gap = aie->duplicate_gap *
		      ((double)durations[(n - 1) / 2] + (double)durations[n / 2]) / 2;
		*ret_gap = gap > 1 ? (uint64_t)gap : 1;
	}
	free(durations);
	return FLEXTRACE_OK;
}

/* One unit while its kernels are paired. */
struct kernels {
	struct aie *aie;
	struct aie_span span; /* of the kernel that is open */
	uint64_t gap;
	uint64_t last[2]; /* kept end, kept start */
	bool has_last[2], is_open;
};

static int end_kernel(struct kernels *kernels, uint64_t cycle)
{
	if (!kernels->is_open)
		return aie_lose_of(kernels->aie, kernels->span.unit, LOSS_UNMATCHED_END);
	kernels->is_open = false;
	kernels->span.end = cycle;
	return aie_write_span(kernels->aie, &kernels->span);
}

static int take_mark(struct kernels *kernels, bool is_start, const struct aie_time *mark)
{
	uint64_t cycle = mark->cycle;

	if (kernels->has_last[is_start] && cycle - kernels->last[is_start] < kernels->gap)
		return aie_lose_of(kernels->aie, kernels->span.unit, LOSS_DUPLICATE);
	kernels->has_last[is_start] = true;
	kernels->last[is_start] = cycle;
	if (!is_start)
		return end_kernel(kernels, cycle);
	if (kernels->is_open)
		FLEXTRACE_TRY(aie_lose_of(kernels->aie, kernels->span.unit, LOSS_UNMATCHED_BEGIN));
	kernels->is_open = true;
	kernels->span.begin = cycle;
	kernels->span.origin = mark->origin;
	return FLEXTRACE_OK;
}

static int leave_kernel(struct kernels *kernels, uint64_t last)
{
	if (!kernels->is_open)
		return FLEXTRACE_OK;
	kernels->span.end = last;
	kernels->span.is_open = true;
	FLEXTRACE_TRY(aie_lose_of(kernels->aie, kernels->span.unit, LOSS_UNMATCHED_BEGIN));
	return aie_write_span(kernels->aie, &kernels->span);
}

static int name_span(struct aie *aie, uint32_t unit, struct aie_span *span)
{
	uint32_t queue_name, slot;

	FLEXTRACE_TRY(string_intern(&aie->import.cache, KERNEL_QUEUE, &queue_name));
	FLEXTRACE_TRY(aie_find_slot(aie, unit, AIE_N_SLOTS, queue_name, &slot));
	span->queue = aie->units[unit].slots[slot].queue;
	return string_intern(&aie->import.cache, KERNEL_NAME, &span->name);
}

static int pair_kernels(struct aie *aie, uint32_t index)
{
	struct kernels kernels = {.aie = aie, .span = {.unit = index, .kind = AIE_KERNEL}};
	struct aie_unit *unit = &aie->units[index];
	struct merge merge = {.starts = &unit->starts, .ends = &unit->ends};
	const struct aie_time *mark;
	bool is_start;

	if (!unit->starts.n && !unit->ends.n)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_gap(aie, unit, &kernels.gap));
	FLEXTRACE_TRY(name_span(aie, index, &kernels.span));
	while ((mark = next_mark(&merge, &is_start)))
		FLEXTRACE_TRY(take_mark(&kernels, is_start, mark));
	return leave_kernel(&kernels, unit->last);
}

/* -- files ----------------------------------------------------------------------------------- */

int aie_end_file(struct aie *aie)
{
	for (uint32_t i = aie->first_unit; i < aie->n_units; i++) {
		FLEXTRACE_TRY(pair_kernels(aie, i));
		FLEXTRACE_TRY(leave_open(aie, i));
		aie->units[i].starts.n = aie->units[i].ends.n = 0;
	}
	aie->first_unit = aie->n_units;
	aie->n_files++;
	return FLEXTRACE_OK;
}
