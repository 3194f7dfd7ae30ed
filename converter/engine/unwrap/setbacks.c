/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that were set back while submissions were loose. In a queue that is always full an
 * operation may have run at any time since its submission, seconds ago, so that its bracket denies
 * no earlier tick. But completions come in the order of the device, or nearly. If a counter is set
 * back by some time, all that is seen complete for as long as that shows ticks that the counter had
 * shown before. There a segment begins.
 *
 * Completions that are seen late show such ticks as well, but not all of them for as long. How far
 * back completions usually are tells how late they are seen.
 */
#include <math.h>
#include <stdlib.h>

#include "base/select_kth.h"
#include "window.h"

#define MIN_BACK_NS  2e7
#define USUAL        16 /* times farther back than usual */
#define MIN_ROW      8u
#define MAX_SEGMENTS 65535u

struct setbacks {
	struct axis *axis;
	struct fact_list list; /* owned */
	double ns_per_tick;
};

static bool is_wanted(const struct fact *fact)
{
	return fact->kind == FACT_OP && fact->status == TIME_CERTIFIED && fact_is_bounded(fact);
}

static int64_t end_of(const struct fact *fact)
{
	return (int64_t)(fact->first + fact->span);
}

/* How far a fact is behind what its segment showed before it, and what that was; 0: it is not. */
static double back_ns(const struct setbacks *setbacks, uint32_t at, int64_t *most)
{
	const struct fact *fact = fact_list_at(&setbacks->list, at);
	int64_t end = end_of(fact), before = *most;

	if (at == 0 || fact->segment != fact_list_at(&setbacks->list, at - 1)->segment)
		before = end;
	*most = end > before ? end : before;
	return (double)(before - end) * setbacks->ns_per_tick * (before > end);
}

/* Stores how far back makes a setback; INFINITY where nothing is that far. */
static int find_least(const struct setbacks *setbacks, double *ret_least_ns)
{
	uint32_t n = setbacks->list.n;
	double *backs = malloc((n + 1ull) * sizeof(*backs)), farthest = 0;
	int64_t most = 0;

	*ret_least_ns = INFINITY;
	if (!backs)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n; i++) {
		backs[i] = back_ns(setbacks, i, &most);
		farthest = fmax(farthest, backs[i]);
	}
	if (farthest > MIN_BACK_NS)
		*ret_least_ns = fmax(MIN_BACK_NS, USUAL * select_quantile(backs, n, 0.5));
	free(backs);
	return FLEXTRACE_OK;
}

/* Whether all facts from `at` on are behind what was shown before it, by a quarter of what the
 * first one is, until half of that time is over. */
static bool is_setback(const struct setbacks *setbacks, uint32_t at, int64_t most)
{
	const struct fact_list *list = &setbacks->list;
	const struct fact *first = fact_list_at(list, at);
	double ticks = (double)(most - end_of(first)), ns = ticks * setbacks->ns_per_tick;
	int64_t last_ns = first->after_ns;
	uint32_t n = 0;

	for (uint32_t i = at; i < list->n; i++, n++) {
		const struct fact *fact = fact_list_at(list, i);

		if (fact->segment != first->segment ||
		    (double)(fact->after_ns - first->after_ns) > ns / 2)
			break;
		if ((double)(most - end_of(fact)) < ticks / 4)
			return false;
		last_ns = fact->after_ns;
	}
	return n >= MIN_ROW && (double)(last_ns - first->after_ns) > ns / 4;
}

static int split(struct setbacks *setbacks)
{
	struct axis *axis = setbacks->axis;
	double least_ns;
	int64_t most = 0;

	FLEXTRACE_TRY(find_least(setbacks, &least_ns));
	for (uint32_t i = 0; i < setbacks->list.n && axis->n_segments < MAX_SEGMENTS; i++) {
		struct fact *fact = fact_list_at(&setbacks->list, i);

		if (back_ns(setbacks, i, &most) <= least_ns || !is_setback(setbacks, i, most))
			continue;
		FLEXTRACE_TRY(axis_split(axis, fact->segment, fact));
		most = end_of(fact);
	}
	return FLEXTRACE_OK;
}

int axis_split_setbacks(struct axis *axis)
{
	struct setbacks setbacks = {.axis = axis,
	                            .ns_per_tick = 2 / (axis->rate.lo + axis->rate.hi)};
	int code;

	if (axis->is_soft || !axis->rate.is_known)
		return FLEXTRACE_OK;
	code = fact_list_init(&setbacks.list, axis, is_wanted);
	if (code >= 0)
		code = split(&setbacks);
	fact_list_release(&setbacks.list);
	return code;
}
