/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A break at an end of a run cannot be attributed to one clock. If the evidence of one clock
 * contradicts there, that clock may have jumped, or another one whose own evidence does not deny
 * it, or the root's: each explains all with one break. So no clock is believed there.
 *
 * How far that goes: take a clock whose bounds were tight on both sides at some place. A jump
 * between that place and the rest of the run would contradict the clock's own evidence. So only
 * from the last such place to the end is nothing known. Evidence there is dropped and counted, and
 * times are assumed (see doubt.c).
 *
 * A clock that left its rate anywhere may have left it near an end, too, where evidence bounds it
 * on one side only. If it was slewed by little, it may run there at any of the rates that it has
 * elsewhere, and bounds cover these. Otherwise its evidence there is dropped as well.
 */
#include <stdlib.h>

#include "engine/align/align_impl.h"

#define LEAST_KNOTS 4u  /* that are dropped: two events, which doubt.c takes for a stop */
#define NEAR        96u /* knots whose widths are usual */
#define TIGHT       1.5 /* times the usual width */

static inline bool has_knots(const struct mesh *mesh, uint32_t clock)
{
	return mesh->first_knot[clock] < mesh->first_knot[clock + 1];
}

/* -- breaks ------------------------------------------------------------------------------------ */

struct broken { /* components in which a clock is broken at an end */
	bool at_first, at_last;
};

static void drop_until(struct doubted *doubted, int64_t host_ns)
{
	doubted->first_ns = host_ns > doubted->first_ns ? host_ns : doubted->first_ns;
}

static void drop_from(struct doubted *doubted, int64_t host_ns)
{
	doubted->last_ns = host_ns < doubted->last_ns ? host_ns : doubted->last_ns;
}

/* Where a clock is certainly broken from its first knot on, or up to its last one. */
static void find_broken(const struct mesh *mesh, uint32_t clock, struct broken *broken,
                        struct doubted *doubted)
{
	const struct paces *paces = &mesh->paces[clock];
	int64_t first_ns = mesh->knots[mesh->first_knot[clock]].host_ns;
	int64_t last_ns = mesh->knots[mesh->first_knot[clock + 1] - 1].host_ns;

	for (uint32_t i = 0; paces->has_left && i < paces->n_paces; i++) {
		const struct pace *pace = &paces->paces[i];
		bool is_first = pace->host_ns <= first_ns;
		bool is_last = i + 1 == paces->n_paces || pace[1].host_ns > last_ns;

		if (!pace->is_doubtful || is_first == is_last)
			continue;
		if (is_first)
			drop_until(doubted, pace[1].host_ns - 1);
		else
			drop_from(doubted, pace->host_ns);
		doubted->is_broken = true;
		broken->at_first = broken->at_first || is_first;
		broken->at_last = broken->at_last || is_last;
	}
}

/* -- the others -------------------------------------------------------------------------------- */

/* Of knots at an end, or all over the run. */
static double median_width(const struct mesh *mesh, uint32_t clock, bool is_last, bool is_all)
{
	uint32_t first = mesh->first_knot[clock], n_knots = mesh->first_knot[clock + 1] - first;
	uint32_t n = n_knots < NEAR ? n_knots : NEAR, step = is_all ? n_knots / n : 1;
	double widths[NEAR];

	for (uint32_t i = 0; i < n; i++) {
		const struct knot *knot =
			&mesh->knots[first + (is_last ? n_knots - 1 - i * step : i * step)];

		widths[i] = (double)knot->hi - (double)knot->lo;
	}
	return select_median(widths, n);
}

/* What is usual at an end, unless bounds are wide there because little is known. */
static double usual_width(const struct mesh *mesh, uint32_t clock, bool is_last)
{
	double near = median_width(mesh, clock, is_last, false);
	double all = median_width(mesh, clock, is_last, true);

	return near < all ? near : all;
}

/* Whether another clock bounds a knot, nearly as well as anything does on that side. */
static bool is_tight(const struct mesh *mesh, uint32_t clock, const struct knot *knot, double width)
{
	const struct moment *moment = &mesh->moments[knot->event];
	uint32_t from = knot->is_exit ? moment->lo_from : moment->hi_from;

	if (!knot->is_kept || from == FLEXTRACE_NONE || mesh->graph->parts[from].clock == clock)
		return false;
	return knot->is_exit ? (double)moment->lo >= (double)knot->hi - TIGHT * width
	                     : (double)moment->hi <= (double)knot->lo + TIGHT * width;
}

/* Goes from an end until there was a tight bound on either side. */
static void doubt_end(const struct mesh *mesh, uint32_t clock, bool is_last,
                      struct doubted *doubted)
{
	uint32_t first = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - first;
	double width = usual_width(mesh, clock, is_last);
	bool has_lo = false, has_hi = false;
	const struct knot *knot = NULL;

	for (uint32_t i = 0; i < n && (i < LEAST_KNOTS || !has_lo || !has_hi); i++) {
		knot = &mesh->knots[is_last ? first + n - 1 - i : first + i];
		if (!is_tight(mesh, clock, knot, width))
			continue;
		has_lo = has_lo || knot->is_exit;
		has_hi = has_hi || !knot->is_exit;
	}
	if (is_last)
		drop_from(doubted, knot->host_ns);
	else
		drop_until(doubted, knot->host_ns);
}

/* -- clocks that left their rate --------------------------------------------------------------- */

/* Whether a clock jumped, or was slewed by more than is likely. */
static bool is_wild(const struct paces *paces)
{
	const double likely = LIKELY_RATE * (double)(INT64_C(1) << PACE_BITS);

	for (uint32_t i = 0; i < paces->n_paces; i++) {
		const struct pace *pace = &paces->paces[i];

		if (pace->is_doubtful || (double)(pace->rate - pace->slack) > likely ||
		    (double)(pace->rate + pace->slack) < -likely)
			return true;
	}
	return false;
}

static int mistrust(struct mesh *mesh, uint32_t clock, struct doubted *doubted)
{
	struct broken broken = {false, false};

	find_broken(mesh, clock, &broken, doubted);
	if (!broken.at_first)
		doubt_end(mesh, clock, false, doubted);
	if (!broken.at_last)
		doubt_end(mesh, clock, true, doubted);
	doubted->is_broken = is_wild(&mesh->paces[clock]);
	return doubted->is_broken ? FLEXTRACE_OK
	                          : mesh_loosen(mesh, clock, doubted->first_ns, doubted->last_ns);
}

/* -- the sentences ----------------------------------------------------------------------------- */

int ends_find(const struct mesh *mesh, struct doubted *doubted)
{
	const struct graph *graph = mesh->graph;
	struct broken *broken = calloc(graph->n_components + 1ull, sizeof(*broken));

	if (!broken)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		if (has_knots(mesh, clock))
			find_broken(mesh, clock, &broken[graph->component[clock]], &doubted[clock]);
	}
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		const struct broken *ends = &broken[graph->component[clock]];

		if (!has_knots(mesh, clock) || doubted[clock].is_broken)
			continue;
		if (ends->at_first)
			doubt_end(mesh, clock, false, &doubted[clock]);
		if (ends->at_last)
			doubt_end(mesh, clock, true, &doubted[clock]);
	}
	free(broken);
	return FLEXTRACE_OK;
}

bool ends_drop(struct mesh *mesh, const struct doubted *doubted, bool is_of_broken)
{
	bool has_dropped = false;

	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		for (uint32_t i = mesh->first_knot[clock];
		     doubted[clock].is_broken == is_of_broken && i < mesh->first_knot[clock + 1];
		     i++) {
			struct knot *knot = &mesh->knots[i];

			if (knot->host_ns > doubted[clock].first_ns &&
			    knot->host_ns < doubted[clock].last_ns)
				continue;
			knot->is_kept = false;
			has_dropped = true;
		}
	}
	return has_dropped;
}

int ends_mistrust(struct mesh *mesh)
{
	uint32_t n = mesh->graph->n_clocks;
	struct doubted *doubted = malloc((n + 1ull) * sizeof(*doubted));
	bool has_left = false;
	int code = FLEXTRACE_OK;

	if (!doubted)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t clock = 0; clock < n; clock++) {
		doubted[clock] = (struct doubted){INT64_MIN, INT64_MAX, false};
		has_left = has_left || mesh->paces[clock].has_left;
	}
	if (has_left) {
		mesh_clear_bounds(mesh);
		mesh_spread(mesh);
	}
	for (uint32_t clock = 0; clock < n && code >= 0; clock++) {
		if (mesh->paces[clock].has_left && has_knots(mesh, clock))
			code = mistrust(mesh, clock, &doubted[clock]);
	}
	if (has_left) {
		ends_drop(mesh, doubted, true);
		mesh_clear_bounds(mesh);
	}
	free(doubted);
	return code;
}
