/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches that are not certified although bounds hold there: where all evidence was dropped, and
 * where a time would be on the wrong side of others.
 *
 * One part that contradicts is false. Several in a row may be right: the clock may have jumped to
 * and fro, or so near an end of the run that the few that are left do not show it.
 */
#include <stdlib.h>

#include "engine/align/align_impl.h"
#include "base/array.h"

#define MANY 3u /* events one after the other, all dropped */
#define FEW  2u /* with nothing behind them, or of a clock that left its rate for certain */

/* -- stops ------------------------------------------------------------------------------------- */

static bool is_dropped(const struct part *part, const struct paces *paces)
{
	return part->fate != PART_KEPT && !paces_are_doubtful(paces, part_ns(part));
}

static int add_stop(struct stop **stops, uint32_t *n_stops, int64_t from_ns, int64_t to_ns)
{
	FLEXTRACE_TRY(array_make_room(stops, *n_stops, sizeof(**stops)));
	(*stops)[(*n_stops)++] = (struct stop){from_ns, to_ns};
	return FLEXTRACE_OK;
}

int stops_find(const struct graph *graph, uint32_t clock, const struct paces *paces,
               struct stop **ret_stops, uint32_t *ret_n)
{
	const uint32_t *by_clock = graph->by_clock;
	uint32_t end = graph->first_of[clock + 1], first = graph->first_of[clock], to;
	int64_t kept_ns = INT64_MIN; /* of the last one that was kept */

	for (uint32_t from = first; from < end; from = to + 1) {
		uint32_t n_events = 0, event = FLEXTRACE_NONE;
		const struct part *part = NULL;
		uint32_t least;

		for (to = from; to < end; to++) {
			part = &graph->parts[by_clock[to]];
			if (!is_dropped(part, paces))
				break;
			n_events += part->event != event;
			event = part->event;
		}
		least = from == first || to == end || paces->has_left ? FEW : MANY;
		if (n_events >= least)
			FLEXTRACE_TRY(add_stop(ret_stops, ret_n,
			                       kept_ns == INT64_MIN ? kept_ns : kept_ns + 1,
			                       to == end ? INT64_MAX : part_ns(part) - 1));
		kept_ns = to < end ? part_ns(part) : kept_ns;
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
