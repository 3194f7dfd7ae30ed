/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No stamp is shown behind one of its counter that came later. A mark that the estimate has behind
 * the drain that read it is shown at the drain. What is in front of the mark had happened by then
 * as well, be it of a later drain, of another core, or of an operation. So each stamp is shown no
 * later than the first drain that read it or a mark behind it, and likewise no earlier than the
 * last start of what it or a mark in front of it is of: shown times rise with the ticks.
 *
 * Only marks that have to move and are within their error then limit others. Where a run's last
 * mark does not move, nothing in front of it has to.
 */
#include <stdlib.h>

#include "base/order.h"
#include "derive_impl.h"

ORDER_BY(compare, struct stamp_limit, counter, segment, ticks, host_ns);

static bool is_of_one_axis(const struct stamp_limit *left, const struct stamp_limit *right)
{
	return left->counter == right->counter && left->segment == right->segment;
}

/* -- finding them ---------------------------------------------------------------------------- */

static int add_limit(struct derive *derive, const struct mark_run *run, int which, uint64_t ticks)
{
	struct placed placed;
	int64_t limit_ns, off_ns;

	if (!find_host_ns(derive, run->counter, run->segment, ticks, &placed) ||
	    placed.status != TIME_CERTIFIED)
		return FLEXTRACE_OK;
	limit_ns = life_limit_ns(derive, run, placed.host_ns);
	if (limit_ns < 0 || limit_ns > MAX_HOST_NS)
		return FLEXTRACE_OK;
	off_ns = which == LIMIT_DRAIN ? placed.host_ns - limit_ns : limit_ns - placed.host_ns;
	if (off_ns <= 0 || off_ns > placed.err_ns)
		return FLEXTRACE_OK;
	return ARRAY_PUSH(derive->limits[which].limits, derive->limits[which].n,
	                  (struct stamp_limit){.ticks = ticks,
	                                       .host_ns = limit_ns,
	                                       .counter = run->counter,
	                                       .segment = run->segment});
}

static int add_run(struct derive *derive, const struct mark_run *run, struct table_cursor *marks)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t n = run->n_marks; n > 0; n--) {
		const struct tick_mark *mark = table_next(marks, sizeof(*mark));

		if (mark->ticks && mark->ticks < first)
			first = mark->ticks;
		if (mark->ticks > last)
			last = mark->ticks;
	}
	if (last == 0 || run->status != TIME_CERTIFIED || life_is_open(derive, run))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(add_limit(derive, run, LIMIT_START, first));
	return add_limit(derive, run, LIMIT_DRAIN, last);
}

/* What limits a stamp limits those in front of it (drains) or behind it (starts) as well. */
static void spread_limits(struct derive *derive)
{
	struct stamp_limit *starts = derive->limits[LIMIT_START].limits;
	struct stamp_limit *drains = derive->limits[LIMIT_DRAIN].limits;

	for (uint32_t i = 1; i < derive->limits[LIMIT_START].n; i++) {
		if (is_of_one_axis(&starts[i - 1], &starts[i]) &&
		    starts[i].host_ns < starts[i - 1].host_ns)
			starts[i].host_ns = starts[i - 1].host_ns;
	}
	for (uint32_t i = derive->limits[LIMIT_DRAIN].n; i-- > 1;) {
		if (is_of_one_axis(&drains[i - 1], &drains[i]) &&
		    drains[i - 1].host_ns > drains[i].host_ns)
			drains[i - 1].host_ns = drains[i].host_ns;
	}
}

int limits_find(struct derive *derive, struct table *marks)
{
	struct table_cursor cursor;

	table_read(&cursor, marks, false);
	for (uint64_t i = 0; i < derive->out.marks.n_runs; i++)
		FLEXTRACE_TRY(add_run(derive, &derive->out.marks.runs[i], &cursor));
	for (int which = 0; which < N_LIMITS; which++) {
		struct stamp_limits *limits = &derive->limits[which];

		ORDER_ARRAY(limits->limits, limits->n, compare);
	}
	spread_limits(derive);
	return FLEXTRACE_OK;
}

/* -- asking them ----------------------------------------------------------------------------- */

static bool is_before(const void *row, const void *key)
{
	return compare(row, key) < 0;
}

static uint32_t count_before(const struct derive *derive, int which, const struct stamp_limit *at)
{
	return array_count_before(derive->limits[which].limits, derive->limits[which].n,
	                          sizeof(*at), is_before, at);
}

static int64_t within(int64_t off_ns, uint32_t err_ns)
{
	return err_ns != UINT32_MAX && off_ns > err_ns ? err_ns : off_ns;
}

void limits_keep(const struct derive *derive, uint32_t counter, uint16_t segment, uint64_t ticks,
                 struct placed *placed)
{
	struct stamp_limit at = {ticks, INT64_MAX, counter, segment};
	const struct stamp_limit *starts = derive->limits[LIMIT_START].limits;
	const struct stamp_limit *drains = derive->limits[LIMIT_DRAIN].limits;
	uint32_t i = count_before(derive, LIMIT_START, &at);

	if (i > 0 && is_of_one_axis(&starts[i - 1], &at) && starts[i - 1].host_ns > placed->host_ns)
		placed->host_ns += within(starts[i - 1].host_ns - placed->host_ns, placed->err_ns);
	at.host_ns = INT64_MIN;
	i = count_before(derive, LIMIT_DRAIN, &at);
	if (i < derive->limits[LIMIT_DRAIN].n && is_of_one_axis(&drains[i], &at) &&
	    placed->host_ns > drains[i].host_ns)
		placed->host_ns -= within(placed->host_ns - drains[i].host_ns, placed->err_ns);
}

void limits_release(struct stamp_limits limits[N_LIMITS])
{
	for (int which = 0; which < N_LIMITS; which++)
		free(limits[which].limits);
}
