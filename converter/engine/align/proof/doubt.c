/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches that are not certified although bounds hold there: where all evidence was dropped, and
 * where a time would be on the wrong side of others.
 *
 * One part that contradicts is false. Several in a row may be right: the clock may have jumped to
 * and fro, or so near an end of the run that the few that are left do not show it. One alone may be
 * right as well if what is beside it is loose. Where lies are many, each is one; where there are
 * only a few in the whole run, the clock is not believed up to what is tight on either side.
 */
#include <stdlib.h>

#include "engine/align/align_impl.h"
#include "base/array.h"

#define MANY   3u /* events one after the other, all dropped */
#define FEW    2u /* with nothing behind them, or of a clock that left its rate for certain */
#define SELDOM 3u /* times in a run that parts of a clock are false: it may be the clock */
#define BESIDE 1u /* loose knots on either side: what is between is what was dropped */

/* -- stops ------------------------------------------------------------------------------------- */

/* Whether nobody's evidence of an event was dropped but the root's: then its clock may have been
 * another. */
static bool is_root_alone(const struct graph *graph, uint32_t event)
{
	bool is_root = false;

	for (uint32_t i = graph->first_part[event]; i < graph->first_part[event + 1]; i++) {
		if (graph->parts[i].fate == PART_KEPT)
			continue;
		if (!clock_is_root(graph, graph->parts[i].clock))
			return false;
		is_root = true;
	}
	return is_root;
}

static bool is_dropped(const struct graph *graph, const struct part *part,
                       const struct paces *paces)
{
	return (part->fate != PART_KEPT || is_root_alone(graph, part->event)) &&
	       !paces_are_doubtful(paces, part_ns(part));
}

static int add_stop(struct stop **stops, uint32_t *n_stops, struct stop stop)
{
	return ARRAY_PUSH(*stops, *n_stops, stop);
}

/* A place on a clock so many events farther than a part, or at the end of its parts. */
static int64_t go_on(const struct graph *graph, uint32_t clock, uint32_t at, int direction,
                     uint32_t n_events)
{
	const uint32_t *by_clock = graph->by_clock;
	uint32_t last = direction < 0 ? graph->first_of[clock] : graph->first_of[clock + 1] - 1;

	while (n_events > 0 && at != last) {
		uint32_t next = (uint32_t)((int64_t)at + direction);

		n_events -= graph->parts[by_clock[next]].event != graph->parts[by_clock[at]].event;
		at = next;
	}
	return part_ns(&graph->parts[by_clock[at]]);
}

/* The stop of parts [from, to), up to what was kept on either side. A clock that went off its rate
 * and came back was off by less on the way. Its evidence there may say too little to be dropped, so
 * half as many events on either side are not believed. At an end of the run ends.c says how far. */
static struct stop find_stop(const struct graph *graph, uint32_t clock, uint32_t from, uint32_t to,
                             uint32_t n_more)
{
	bool is_first = from == graph->first_of[clock], is_last = to == graph->first_of[clock + 1];
	uint32_t more = is_first || is_last ? 0 : n_more;

	return (struct stop){
		is_first ? INT64_MIN : go_on(graph, clock, from - 1, -1, more) + 1,
		is_last ? INT64_MAX : go_on(graph, clock, to, 1, more) - 1,
	};
}

/* -- excursions -------------------------------------------------------------------------------- */

/* How many knots there are from one on until something bounds a clock tightly on either side; or
 * until its end. */
static uint32_t count_loose(const struct mesh *mesh, uint32_t clock, uint32_t at, int direction)
{
	uint32_t first = mesh->first_knot[clock], n_knots = mesh->first_knot[clock + 1] - first;
	double width = ends_usual_width(mesh, clock);
	bool has_lo = false, has_hi = false;
	uint32_t n = 0;

	for (; at - first < n_knots; at = (uint32_t)((int64_t)at + direction), n++) {
		const struct knot *knot = &mesh->knots[at];

		if (!ends_are_tight(mesh, clock, knot, width))
			continue;
		has_lo = has_lo || knot->is_exit;
		has_hi = has_hi || !knot->is_exit;
		if (has_lo && has_hi)
			break;
	}
	return n;
}

/* Where a clock may have been off if parts [from, to) are true: it may have jumped to and fro where
 * what is beside them is too loose to show that. False: nothing is loose there. */
static bool find_excursion(const struct mesh *mesh, uint32_t clock, uint32_t from, uint32_t to,
                           struct stop *ret)
{
	const struct graph *graph = mesh->graph;
	const struct part *part = &graph->parts[graph->by_clock[from]];
	int64_t from_ns = part->role & PART_BEFORE ? part->enter_ns : part->exit_ns;
	int64_t to_ns = part_ns(&graph->parts[graph->by_clock[to - 1]]);
	uint32_t first = mesh->first_knot[clock], end = mesh->first_knot[clock + 1];
	uint32_t before = first, behind, n_before, n_behind;

	while (before < end && mesh->knots[before].host_ns < from_ns)
		before++;
	for (behind = before; behind < end && mesh->knots[behind].host_ns <= to_ns;)
		behind++;
	n_before = count_loose(mesh, clock, before - 1, -1);
	n_behind = count_loose(mesh, clock, behind, 1);
	*ret = (struct stop){
		n_before < before - first ? mesh->knots[before - 1 - n_before].host_ns : INT64_MIN,
		n_behind < end - behind ? mesh->knots[behind + n_behind].host_ns : INT64_MAX,
	};
	return n_before > BESIDE || n_behind > BESIDE;
}

/* How often parts of a clock were found to be false. */
static uint32_t count_lies(const struct graph *graph, uint32_t clock)
{
	uint32_t n = 0;
	bool was_kept = true;

	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
		bool is_kept = graph->parts[graph->by_clock[i]].fate == PART_KEPT;

		n += was_kept && !is_kept;
		was_kept = is_kept;
	}
	return n;
}

bool lies_are_seldom(const struct graph *graph)
{
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		if (count_lies(graph, clock) > SELDOM)
			return false;
	}
	return true;
}

/* -- all --------------------------------------------------------------------------------------- */

int stops_find(const struct mesh *mesh, uint32_t clock, bool is_seldom, struct stop **ret_stops,
               uint32_t *ret_n)
{
	const struct graph *graph = mesh->graph;
	const struct paces *paces = &mesh->paces[clock];
	uint32_t end = graph->first_of[clock + 1], first = graph->first_of[clock], to;

	for (uint32_t from = first; from < end; from = to + 1) {
		uint32_t n_events = 0, event = FLEXTRACE_NONE, least;
		struct stop stop;

		for (to = from; to < end; to++) {
			const struct part *part = &graph->parts[graph->by_clock[to]];

			if (!is_dropped(graph, part, paces))
				break;
			n_events += part->event != event;
			event = part->event;
		}
		least = from == first || to == end || paces->has_left ? FEW : MANY;
		if (n_events >= least)
			FLEXTRACE_TRY(add_stop(ret_stops, ret_n,
			                       find_stop(graph, clock, from, to,
			                                 paces->has_left ? n_events / 2 : 0)));
		else if (n_events > 0 && is_seldom && paces->n_paces == 1 &&
		         find_excursion(mesh, clock, from, to, &stop))
			FLEXTRACE_TRY(add_stop(ret_stops, ret_n, stop));
	}
	return FLEXTRACE_OK;
}

bool stops_hold(const struct stop *stops, uint32_t n, int64_t host_ns)
{
	for (uint32_t i = 0; i < n; i++) {
		if (stops[i].from_ns <= host_ns && host_ns <= stops[i].to_ns)
			return true;
	}
	return false;
}

/* -- order ------------------------------------------------------------------------------------- */

/* Where a part's enter or exit is placed; false: it has no place. */
static bool place_part(const struct mesh *mesh, const struct part *part, bool is_exit,
                       int64_t *ret_time)
{
	uint32_t knot = is_exit ? part->exit_knot : part->enter_knot;

	if (!(part->role & (is_exit ? PART_AFTER : PART_BEFORE)))
		return false;
	if (clock_is_root(mesh->graph, part->clock)) {
		*ret_time = mesh_fine(mesh, mesh->graph->component[part->clock],
		                      is_exit ? part->exit_ns : part->enter_ns);
		return true;
	}
	if (knot == FLEXTRACE_NONE || part->fate == PART_FILTERED)
		return false;
	*ret_time = mesh->knots[knot].lo + ((mesh->knots[knot].hi - mesh->knots[knot].lo) >> 1);
	return true;
}

static bool is_turned(const struct mesh *mesh, const struct knot *knot)
{
	const struct graph *graph = mesh->graph;
	int64_t time = knot->lo + ((knot->hi - knot->lo) >> 1), other;

	for (uint32_t i = graph->first_part[knot->event]; i < graph->first_part[knot->event + 1];
	     i++) {
		if (i != knot->part && place_part(mesh, &graph->parts[i], !knot->is_exit, &other) &&
		    (knot->is_exit ? other > time : other < time))
			return true;
	}
	return false;
}

void doubt_turned(struct mesh *mesh)
{
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		for (uint32_t i = mesh->first_knot[clock];
		     mesh->paces[clock].n_paces > 1 && i < mesh->first_knot[clock + 1]; i++) {
			struct knot *knot = &mesh->knots[i];

			knot->is_turned = paces_are_doubtful(&mesh->paces[clock], knot->host_ns) &&
			                  is_turned(mesh, knot);
		}
	}
}
