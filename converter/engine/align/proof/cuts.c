/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose break it was. If the evidence of a clock contradicts, it left its rate itself, or the
 * root's clock did, or any clock that it met: each explains all with one break. The evidence of
 * that one may be too loose to show it. So no clock is joined over the break of any if it may have
 * moved by as much, and it is bounded by what it is in front of it and behind it. That costs those
 * that kept their rate some width there, and no certificate.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "proof.h"

#define NOWHERE  (FINE_NONE / 2)
#define NARROWER 2 /* times, at most */

struct span { /* fine */
	int64_t from, to;
	bool is_step;
	double least;
};

/* Whether a clock left its rate for certain within a pace. */
static bool is_off(const struct pace *pace)
{
	return pace->is_step || (pace->is_doubtful && pace->jump_ns >= ANY_JUMP_NS);
}

/* Or may have near it. */
static bool is_beside(const struct pace *pace)
{
	return is_off(pace) || pace->more_ns > 0;
}

static bool ends_by(const void *row, const void *key)
{
	return ((const struct knot *)row)->hi <= *(const int64_t *)key;
}

static bool begins_before(const void *row, const void *key)
{
	return ((const struct knot *)row)->lo < *(const int64_t *)key;
}

/* The last knot that is before a time (fine), and the first one behind it; FLEXTRACE_NONE where no
 * bound says so. Bounds grow with time. */
static uint32_t last_before(const struct mesh *mesh, uint32_t clock, int64_t time)
{
	uint32_t first = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - first;
	uint32_t at = array_count_before(mesh->knots + first, n, sizeof(*mesh->knots), ends_by,
	                                 &time);

	return at > 0 ? first + at - 1 : FLEXTRACE_NONE;
}

static uint32_t first_behind(const struct mesh *mesh, uint32_t clock, int64_t time)
{
	uint32_t first = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - first;
	uint32_t at = array_count_before(mesh->knots + first, n, sizeof(*mesh->knots),
	                                 begins_before, &time);

	return at < n ? first + at : FLEXTRACE_NONE;
}

static double width_ns(const struct knot *knot)
{
	return (double)(knot->hi - knot->lo) / FINE_NS;
}

/* Whether bounds on either side are so wide that it is worth a proof whether the clock moved as
 * much. What joins them has made them narrower than those of one side alone. */
static bool is_loose(const struct mesh *mesh, uint32_t clock, uint32_t front, uint32_t behind,
                     double rho, const struct span *span)
{
	const struct knot *knots = mesh->knots;
	int64_t before_ns = knots[front].host_ns - knots[mesh->first_knot[clock]].host_ns;
	int64_t after_ns = knots[mesh->first_knot[clock + 1] - 1].host_ns - knots[behind].host_ns;
	double most = width_ns(&knots[front]) + width_ns(&knots[behind]);

	if (!span->is_step)
		return NARROWER * most >= span->least;
	return most / (double)(before_ns < after_ns ? before_ns : after_ns) + rho >= span->least;
}

static int add_cut(const struct mesh *mesh, uint32_t clock, double rho, const struct span *span,
                   struct cuts *cuts)
{
	uint32_t front = last_before(mesh, clock, span->from);
	uint32_t behind = first_behind(mesh, clock, span->to);

	if (front == FLEXTRACE_NONE || behind == FLEXTRACE_NONE ||
	    !is_loose(mesh, clock, front, behind, rho, span))
		return FLEXTRACE_OK;
	return ARRAY_PUSH(cuts->all, cuts->n,
	                  (struct cut){clock, mesh->knots[front].host_ns,
	                               mesh->knots[behind].host_ns, span->is_step, span->least});
}

static int cut_all(const struct mesh *mesh, uint32_t component, double rho, const struct span *span,
                   struct cuts *cuts)
{
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		if (mesh_has_knots(mesh, clock) && mesh->graph->component[clock] == component)
			FLEXTRACE_TRY(add_cut(mesh, clock, rho, span, cuts));
	}
	return FLEXTRACE_OK;
}

static int find_of(const struct mesh *mesh, uint32_t clock, double rho, struct cuts *cuts)
{
	const struct paces *paces = &mesh->paces[clock];
	uint32_t knot = mesh->first_knot[clock], end = mesh->first_knot[clock + 1], to;

	for (uint32_t from = 0; from < paces->n_paces; from = to + 1) {
		struct span span = {FINE_NONE, -FINE_NONE, false, INFINITY};

		for (to = from; to < paces->n_paces && is_beside(&paces->paces[to]); to++) {
			const struct pace *pace = &paces->paces[to];

			span.is_step = span.is_step || pace->is_step;
			if (is_off(pace))
				span.least = fmin(span.least, pace->least);
		}
		if (span.least == INFINITY || from == 0 || to == paces->n_paces)
			continue;
		while (knot < end && mesh->knots[knot].host_ns < paces->paces[from].host_ns)
			knot++;
		if (knot > mesh->first_knot[clock])
			span.from = mesh->knots[knot - 1].lo;
		while (knot < end && mesh->knots[knot].host_ns < paces->paces[to].host_ns)
			knot++;
		if (knot < end)
			span.to = mesh->knots[knot].hi;
		if (span.from > -NOWHERE && span.to < NOWHERE && span.from < span.to)
			FLEXTRACE_TRY(
				cut_all(mesh, mesh->graph->component[clock], rho, &span, cuts));
	}
	return FLEXTRACE_OK;
}

int cuts_find(const struct mesh *mesh, double rho, struct cuts *cuts)
{
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		if (mesh_has_knots(mesh, clock) && mesh->paces[clock].has_left)
			FLEXTRACE_TRY(find_of(mesh, clock, rho, cuts));
	}
	return FLEXTRACE_OK;
}
