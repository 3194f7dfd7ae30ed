/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops large errors before the vote. They are measured on the curves, which are good to a few us
 * if they are made of exits. Dropping evidence in error only widens the bounds, and what is missed
 * here is left to vote.c. But a large error can hide small ones there, so the large ones go first.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"
#include "base/blocks.h"

#define EARLY_NS      3000 /* on top of what is usual for the clock */
#define LATE_NS       6000
#define LEAST_N       20u /* exits of a clock that say what is usual */
#define LEAST_LAST    5u  /* events in which a clock was last, likewise */
#define LEAST_AHEAD   4u /* events in which a clock was ahead, one after the other: not by chance */
#define LEAST_DROPPED 3u /* parts of them: fewer are lies */

static double about(const struct curve *curves, const struct part *part, bool is_exit,
                    int64_t origin_ns)
{
	int64_t host_ns = is_exit ? part->exit_ns : part->enter_ns;

	return (double)((__int128)curve_at(&curves[part->clock], host_ns) - origin_ns);
}

/* -- exits before what is usual ---------------------------------------------------------------- */

/* Median exit of an event, relative to `origin_ns`; NAN: nobody leaves. */
static double median_exit(const struct graph *graph, const struct curve *curves, uint32_t event,
                          int64_t origin_ns, double *spare)
{
	uint32_t n = 0;

	for (uint32_t i = graph->first_part[event]; i < graph->first_part[event + 1]; i++) {
		if (graph->parts[i].role & PART_AFTER)
			spare[n++] = about(curves, &graph->parts[i], true, origin_ns);
	}
	if (n == 0)
		return NAN;
	return select_quantile(spare, n, 0.5); /* not between two: half of them may be far behind */
}

/* How far each part's exit is behind the median exit; NAN: it has none. */
static void measure_lateness(const struct graph *graph, const struct curve *curves,
                             double *lateness, double *spare)
{
	for (uint32_t event = 0; event < graph->n_events; event++) {
		const struct part *first = &graph->parts[graph->first_part[event]];
		int64_t origin_ns = curve_at(&curves[first->clock], part_ns(first));
		double exit = median_exit(graph, curves, event, origin_ns, spare);

		for (uint32_t i = graph->first_part[event]; i < graph->first_part[event + 1]; i++) {
			const struct part *part = &graph->parts[i];

			lateness[i] = part->role == PART_BOTH
			                      ? about(curves, part, true, origin_ns) - exit
			                      : NAN;
		}
	}
}

static void drop_early(struct graph *graph, uint32_t clock, const double *lateness, double *spare)
{
	const uint32_t *parts = &graph->by_clock[graph->first_of[clock]];
	uint32_t n_parts = graph->first_of[clock + 1] - graph->first_of[clock], n = 0;
	double usual, early, earliest;

	for (uint32_t i = 0; i < n_parts; i++) {
		if (!isnan(lateness[parts[i]]))
			spare[n++] = lateness[parts[i]];
	}
	if (n < LEAST_N)
		return;
	usual = select_median(spare, n);
	early = select_quantile(spare, n, 0.05);
	earliest = early - 5 * (usual - early) - EARLY_NS;
	for (uint32_t i = 0; i < n_parts; i++) {
		if (lateness[parts[i]] < earliest)
			graph->parts[parts[i]].fate = PART_FILTERED;
	}
}

/* -- how long exits take ----------------------------------------------------------------------- */

/* The last to enter an event, by the curves; FLEXTRACE_NONE: somebody needs no enter or no exit. */
static uint32_t find_last(const struct graph *graph, const struct curve *curves, uint32_t event)
{
	const struct part *first = &graph->parts[graph->first_part[event]];
	int64_t origin_ns = curve_at(&curves[first->clock], part_ns(first));
	uint32_t last = FLEXTRACE_NONE;
	double latest = -INFINITY;

	for (uint32_t i = graph->first_part[event]; i < graph->first_part[event + 1]; i++) {
		double enter = about(curves, &graph->parts[i], false, origin_ns);

		if (graph->parts[i].role != PART_BOTH)
			return FLEXTRACE_NONE;
		if (enter > latest) {
			latest = enter;
			last = i;
		}
	}
	return last;
}

/* How often a clock has to be last: a false enter may look late. */
static uint32_t least_lasts(const struct graph *graph, uint32_t clock)
{
	uint32_t n = (graph->first_of[clock + 1] - graph->first_of[clock]) / (8 * graph->n_clocks);

	return n > LEAST_LAST ? n : LEAST_LAST;
}

/* Curves are made as if everybody left together. So a clock is off by as much as its exits take
 * longer than others'. How long they take shows where nobody came after it. Stores by how much that
 * is longer than the shortest of any, for each clock. */
static void measure_exits(const struct graph *graph, const struct curve *curves, double *lasts,
                          double *spare, double *ret_ns)
{
	double shortest = INFINITY;

	for (uint32_t i = 0; i < graph->n_parts; i++)
		lasts[i] = NAN;
	for (uint32_t event = 0; event < graph->n_events; event++) {
		uint32_t last = find_last(graph, curves, event);

		if (last != FLEXTRACE_NONE)
			lasts[last] =
				(double)(graph->parts[last].exit_ns - graph->parts[last].enter_ns);
	}
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		uint32_t least = least_lasts(graph, clock), n = 0;

		for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
			if (!isnan(lasts[graph->by_clock[i]]))
				spare[n++] = lasts[graph->by_clock[i]];
		}
		ret_ns[clock] = n >= least ? select_median(spare, n) : NAN;
		shortest = fmin(shortest, ret_ns[clock]);
	}
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
		ret_ns[clock] = fmax(0, ret_ns[clock] - shortest);
}

/* -- enters behind others' exits --------------------------------------------------------------- */

struct edge {               /* of a part, relative to the event's origin */
	double enter, exit; /* NAN: is dropped, or does not need it */
};

static uint32_t count_beyond(const struct edge *edges, uint32_t n, double enter, double exit)
{
	uint32_t n_beyond = 0;

	for (uint32_t i = 0; i < n; i++)
		n_beyond += edges[i].exit + LATE_NS < enter || edges[i].enter > exit + LATE_NS;
	return n_beyond;
}

/* The last enter and the first exit contradict: drops the one that more others contradict, or
 * both. */
static bool drop_late(struct graph *graph, uint32_t event, struct edge *edges, uint32_t n)
{
	struct part *parts = &graph->parts[graph->first_part[event]];
	uint32_t last = 0, first = 0, n_last, n_first;

	for (uint32_t i = 1; i < n; i++) {
		if (!(edges[i].enter <= edges[last].enter) && !isnan(edges[i].enter))
			last = i;
		if (!(edges[i].exit >= edges[first].exit) && !isnan(edges[i].exit))
			first = i;
	}
	if (!(edges[last].enter > edges[first].exit + LATE_NS) || last == first)
		return false;
	n_last = count_beyond(edges, n, edges[last].enter, INFINITY);
	n_first = count_beyond(edges, n, -INFINITY, edges[first].exit);
	if (n_last >= n_first) {
		parts[last].fate = PART_FILTERED;
		edges[last] = (struct edge){NAN, NAN};
	}
	if (n_first >= n_last) {
		parts[first].fate = PART_FILTERED;
		edges[first] = (struct edge){NAN, NAN};
	}
	return true;
}

static void check_event(struct graph *graph, const struct curve *curves, const double *exits_ns,
                        uint32_t event, struct edge *edges)
{
	const struct part *parts = &graph->parts[graph->first_part[event]];
	uint32_t n = graph->first_part[event + 1] - graph->first_part[event];
	int64_t origin_ns = curve_at(&curves[parts->clock], part_ns(parts));

	for (uint32_t i = 0; i < n; i++) {
		bool is_kept = parts[i].fate == PART_KEPT;
		double rough_ns = curves[parts[i].clock].rough_ns;

		edges[i].enter = is_kept && parts[i].role & PART_BEFORE
		                         ? about(curves, &parts[i], false, origin_ns) - rough_ns
		                         : NAN;
		edges[i].exit = is_kept && parts[i].role & PART_AFTER
		                        ? about(curves, &parts[i], true, origin_ns) + rough_ns +
		                                  exits_ns[parts[i].clock]
		                        : NAN;
	}
	while (drop_late(graph, event, edges, n))
		;
}

/* -- clocks that were ahead for a while -------------------------------------------------------- */

/* What is usual for the exits of a clock; what is beyond chance. */
struct usual {
	double ns, late_ns;
};

static bool find_usual(const struct graph *graph, uint32_t clock, const double *lateness,
                       double *spare, struct usual *ret)
{
	uint32_t n = 0;

	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
		if (!isnan(lateness[graph->by_clock[i]]))
			spare[n++] = lateness[graph->by_clock[i]];
	}
	if (n < LEAST_N)
		return false;
	ret->ns = select_median(spare, n);
	ret->late_ns = 2 * select_quantile(spare, n, 0.95) - ret->ns;
	return true;
}

/* Drops a clock's parts from a place on, up to an exit that is no later than usual. */
static void drop_until_usual(struct graph *graph, uint32_t clock, uint32_t at, int direction,
                             const double *lateness, double usual_ns)
{
	uint32_t n = graph->first_of[clock + 1] - graph->first_of[clock];
	const uint32_t *parts = &graph->by_clock[graph->first_of[clock]];

	for (; at < n && lateness[parts[at]] > usual_ns; at += (uint32_t)direction)
		graph->parts[parts[at]].fate = PART_FILTERED;
}

/* A clock that is ahead, and then back, contradicts others only where it enters last. But all its
 * exits are late by as much. So if some of a run of late exits were dropped, the others go, too, up
 * to where exits are as usual. Then doubt.c sees that nothing is left. */
static void drop_ahead(struct graph *graph, uint32_t clock, const double *lateness, double *spare)
{
	uint32_t n = graph->first_of[clock + 1] - graph->first_of[clock], to;
	const uint32_t *parts = &graph->by_clock[graph->first_of[clock]];
	struct usual usual;

	if (!find_usual(graph, clock, lateness, spare, &usual))
		return;
	for (uint32_t at = 0; at < n; at = to + 1) {
		uint32_t n_dropped = 0, n_events = 0, event = FLEXTRACE_NONE;

		for (to = at; to < n && lateness[parts[to]] > usual.late_ns; to++) {
			const struct part *part = &graph->parts[parts[to]];

			n_dropped += part->fate == PART_FILTERED;
			n_events += part->event != event;
			event = part->event;
		}
		if (n_events < LEAST_AHEAD || n_dropped < LEAST_DROPPED)
			continue;
		drop_until_usual(graph, clock, at, 1, lateness, usual.ns);
		drop_until_usual(graph, clock, at, -1, lateness, usual.ns);
	}
}

int filter_run(struct graph *graph, const struct curve *curves)
{
	double *lateness = blocks_allocate(graph->n_parts, sizeof(*lateness));
	struct edge *spare = blocks_allocate(graph->n_most, sizeof(*spare));
	double *exits_ns = malloc((graph->n_clocks + 1ull) * sizeof(*exits_ns));
	bool has_memory = lateness && spare && exits_ns;

	if (has_memory) {
		measure_exits(graph, curves, lateness, (double *)spare, exits_ns);
		measure_lateness(graph, curves, lateness, (double *)spare);
		for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
			drop_early(graph, clock, lateness, (double *)spare);
		for (uint32_t event = 0; event < graph->n_events; event++)
			check_event(graph, curves, exits_ns, event, spare);
		for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
			drop_ahead(graph, clock, lateness, (double *)spare);
	}
	blocks_free(lateness);
	blocks_free(spare);
	free(exits_ns);
	return has_memory ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}
