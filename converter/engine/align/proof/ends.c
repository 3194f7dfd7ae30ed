/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A break at an end of a run cannot be attributed to one clock. If the evidence of one clock
 * contradicts there, that clock may have jumped, or another one whose own evidence does not deny
 * it, or the root's: each explains all with one break. So no clock is believed there.
 *
 * The same holds if a clock is only suspected up to an end (room.c), or most clocks are at one
 * time: what one clock tells the others is shifted if it jumps, and its own evidence may not show
 * that.
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

#include "base/order.h"
#include "engine/align/align_impl.h"

#define LEAST_KNOTS 4u  /* that are dropped: two events, which doubt.c takes for a stop */
#define NEAR        96u /* knots whose widths are usual */
#define TIGHT       1.5 /* times the usual width */
#define NOWHERE     (FINE_NONE / 2)

/* -- breaks ------------------------------------------------------------------------------------ */

struct broken { /* fine: when what nobody knows the clock of begins and ends */
	int64_t from, to;
};

static const struct broken nowhere = {INT64_MAX, INT64_MIN}, everywhere = {INT64_MIN, INT64_MAX};

static void drop_until(struct doubted *doubted, int64_t host_ns)
{
	doubted->first_ns = host_ns > doubted->first_ns ? host_ns : doubted->first_ns;
}

static void drop_from(struct doubted *doubted, int64_t host_ns)
{
	doubted->last_ns = host_ns < doubted->last_ns ? host_ns : doubted->last_ns;
}

/* Where a knot is, about; `if_loose`: nothing bounds it. */
static int64_t time_of(const struct knot *knot, int64_t if_loose)
{
	if (knot->lo > -NOWHERE)
		return knot->lo;
	return knot->hi < NOWHERE ? knot->hi : if_loose;
}

struct edge {         /* of a break */
	int64_t time; /* fine */
	uint32_t component;
	int32_t step; /* 1: it begins; -1: it ends */
};

struct edges {
	struct edge *all; /* owned */
	uint32_t n;
};

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	return ORDER(a->component, b->component) ?: ORDER(a->time, b->time) ?: b->step - a->step;
}

/* A break of a clock, with what is beside it. */
static bool is_off(const struct pace *pace, const struct pace *first, const struct pace *last)
{
	return pace->is_doubtful || (pace->more_ns > 0 && ((pace > first && pace[-1].is_doubtful) ||
	                                                   (pace < last && pace[1].is_doubtful)));
}

static int64_t time_at(const struct mesh *mesh, uint32_t clock, uint32_t knot, int64_t if_loose)
{
	return knot < mesh->first_knot[clock] || knot >= mesh->first_knot[clock + 1]
	               ? if_loose
	               : time_of(&mesh->knots[knot], if_loose);
}

/* Adds where a clock may be off. */
static void add_breaks(const struct mesh *mesh, uint32_t clock, struct edges *edges)
{
	const struct pace *first = mesh->paces[clock].paces;
	const struct pace *last = first + mesh->paces[clock].n_paces - 1;
	uint32_t component = mesh->graph->component[clock], at = mesh->first_knot[clock];
	bool was_off = false;

	for (const struct pace *pace = first; pace <= last; pace++) {
		bool is = is_off(pace, first, last);

		while (at < mesh->first_knot[clock + 1] && mesh->knots[at].host_ns < pace->host_ns)
			at++;
		if (is && !was_off)
			edges->all[edges->n++] = (struct edge){
				time_at(mesh, clock, at - 1u, INT64_MIN), component, 1};
		if (!is && was_off)
			edges->all[edges->n++] = (struct edge){time_at(mesh, clock, at, INT64_MAX),
			                                       component, -1};
		was_off = is;
	}
	if (was_off)
		edges->all[edges->n++] = (struct edge){INT64_MAX, component, -1};
}

/* Where most clocks of a component are off at a time, another one may have jumped, as that shifts
 * what it tells all others. */
static void see_common_breaks(const struct edges *edges, const uint32_t *n_clocks,
                              struct broken *broken)
{
	uint32_t n_open = 0;

	ORDER_ARRAY(edges->all, edges->n, compare_edges);
	for (uint32_t i = 0; i < edges->n; i++) {
		const struct edge *edge = &edges->all[i];
		struct broken *ret = &broken[edge->component];
		uint32_t most = n_clocks[edge->component] / 2;

		n_open += (uint32_t)edge->step;
		if (edge->step > 0 && n_open > most && n_open > 1)
			ret->from = edge->time < ret->from ? edge->time : ret->from;
		if (edge->step < 0 && n_open + 1 > most && n_open > 0)
			ret->to = edge->time > ret->to ? edge->time : ret->to;
	}
}

/* Whether a clock is broken from its first knot on, and up to its last one. */
static bool is_end(const struct mesh *mesh, uint32_t clock, const struct pace *pace,
                   bool *ret_is_last)
{
	const struct paces *paces = &mesh->paces[clock];
	const struct pace *last = paces->paces + paces->n_paces - 1;
	bool is_first = pace->host_ns <= mesh->knots[mesh->first_knot[clock]].host_ns;

	*ret_is_last = pace == last ||
	               pace[1].host_ns > mesh->knots[mesh->first_knot[clock + 1] - 1].host_ns;
	return pace->is_doubtful && is_first != *ret_is_last;
}

/* Adds the breaks of a clock at an end, and doubts it there if it is broken for certain. */
static void find_ends(const struct mesh *mesh, uint32_t clock, struct broken *broken,
                      struct doubted *doubted)
{
	const struct paces *paces = &mesh->paces[clock];
	bool is_last;

	for (const struct pace *pace = paces->paces; pace < paces->paces + paces->n_paces; pace++) {
		if (!is_end(mesh, clock, pace, &is_last))
			continue;
		if (is_last)
			broken->to = INT64_MAX;
		else
			broken->from = INT64_MIN;
		doubted->is_broken = paces->has_left;
		if (paces->has_left && is_last)
			drop_from(doubted, pace->host_ns);
		else if (paces->has_left)
			drop_until(doubted, pace[1].host_ns - 1);
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

double ends_usual_width(const struct mesh *mesh, uint32_t clock)
{
	return median_width(mesh, clock, false, true);
}

/* What is usual at an end, unless bounds are wide there because little is known. */
static double usual_width(const struct mesh *mesh, uint32_t clock, bool is_last)
{
	double near = median_width(mesh, clock, is_last, false);
	double all = median_width(mesh, clock, is_last, true);

	return near < all ? near : all;
}

/* Whether another clock bounds a knot, nearly as well as anything does on that side. */
bool ends_are_tight(const struct mesh *mesh, uint32_t clock, const struct knot *knot, double width)
{
	const struct moment *moment = &mesh->moments[knot->event];
	uint32_t from = knot->is_exit ? moment->lo_from : moment->hi_from;

	if (!knot->is_kept || from == FLEXTRACE_NONE || mesh->graph->parts[from].clock == clock)
		return false;
	return knot->is_exit ? (double)moment->lo >= (double)knot->hi - TIGHT * width
	                     : (double)moment->hi <= (double)knot->lo + TIGHT * width;
}

/* Goes from an end until there was a tight bound on either side: no jump between there and the rest
 * of the run can be of this clock. */
static const struct knot *find_tight(const struct mesh *mesh, uint32_t clock, bool is_last)
{
	uint32_t first = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - first;
	double width = usual_width(mesh, clock, is_last);
	bool has_lo = false, has_hi = false;
	const struct knot *knot = NULL;

	for (uint32_t i = 0; i < n && (i < LEAST_KNOTS || !has_lo || !has_hi); i++) {
		knot = &mesh->knots[is_last ? first + n - 1 - i : first + i];
		if (!ends_are_tight(mesh, clock, knot, width))
			continue;
		has_lo = has_lo || knot->is_exit;
		has_hi = has_hi || !knot->is_exit;
	}
	return knot;
}

/* Doubts a clock there, unless all breaks are farther inside. */
static void doubt_end(const struct mesh *mesh, uint32_t clock, bool is_last,
                      const struct broken *broken, struct doubted *doubted)
{
	const struct knot *knot;

	if (is_last ? broken->to == INT64_MIN : broken->from == INT64_MAX)
		return;
	knot = find_tight(mesh, clock, is_last);
	if (is_last && time_of(knot, INT64_MIN) < broken->to)
		drop_from(doubted, knot->host_ns);
	if (!is_last && time_of(knot, INT64_MAX) > broken->from)
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
	struct broken broken = nowhere;

	find_ends(mesh, clock, &broken, doubted);
	if (broken.from != INT64_MIN)
		doubt_end(mesh, clock, false, &everywhere, doubted);
	if (broken.to != INT64_MAX)
		doubt_end(mesh, clock, true, &everywhere, doubted);
	doubted->is_broken = is_wild(&mesh->paces[clock]);
	return doubted->is_broken ? FLEXTRACE_OK
	                          : mesh_loosen(mesh, clock, doubted->first_ns, doubted->last_ns);
}

/* -- the sentences ----------------------------------------------------------------------------- */

/* Finds where nobody knows which clock of a component is broken, for each, and which clocks are. */
static int find_broken(const struct mesh *mesh, struct broken *broken, struct doubted *doubted)
{
	const struct graph *graph = mesh->graph;
	uint32_t *n_clocks = calloc(graph->n_components + 1ull, sizeof(*n_clocks)), n_paces = 0;
	struct edges edges = {.n = 0};

	for (uint32_t i = 0; i < graph->n_components; i++)
		broken[i] = nowhere;
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
		n_paces += mesh->paces[clock].n_paces;
	edges.all = malloc(2ull * n_paces * sizeof(*edges.all));
	if (!n_clocks || !edges.all) {
		free(n_clocks);
		free(edges.all);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		if (!mesh_has_knots(mesh, clock))
			continue;
		n_clocks[graph->component[clock]]++;
		add_breaks(mesh, clock, &edges);
		find_ends(mesh, clock, &broken[graph->component[clock]], &doubted[clock]);
	}
	see_common_breaks(&edges, n_clocks, broken);
	free(n_clocks);
	free(edges.all);
	return FLEXTRACE_OK;
}

int ends_find(const struct mesh *mesh, struct doubted *doubted)
{
	const struct graph *graph = mesh->graph;
	struct broken *broken = malloc((graph->n_components + 1ull) * sizeof(*broken));
	int code = broken ? find_broken(mesh, broken, doubted) : FLEXTRACE_E_MEMORY;

	for (uint32_t clock = 0; clock < graph->n_clocks && code >= 0; clock++) {
		const struct broken *ends = &broken[graph->component[clock]];

		if (!mesh_has_knots(mesh, clock) || doubted[clock].is_broken)
			continue;
		doubt_end(mesh, clock, false, ends, &doubted[clock]);
		doubt_end(mesh, clock, true, ends, &doubted[clock]);
	}
	free(broken);
	return code;
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
	struct doubted *doubted;
	bool has_left = false;
	int code = FLEXTRACE_OK;

	FLEXTRACE_TRY(ARRAY_NEW(doubted, n + 1ull));
	for (uint32_t clock = 0; clock < n; clock++) {
		doubted[clock] = (struct doubted){INT64_MIN, INT64_MAX, false};
		has_left = has_left || mesh->paces[clock].has_left;
	}
	if (has_left) {
		mesh_clear_bounds(mesh);
		mesh_spread(mesh);
	}
	for (uint32_t clock = 0; clock < n && code >= 0; clock++) {
		if (mesh->paces[clock].has_left && mesh_has_knots(mesh, clock))
			code = mistrust(mesh, clock, &doubted[clock]);
	}
	if (has_left) {
		ends_drop(mesh, doubted, true);
		mesh_clear_bounds(mesh);
	}
	free(doubted);
	return code;
}
