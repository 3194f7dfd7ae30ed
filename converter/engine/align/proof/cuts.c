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

#define NOWHERE (FINE_NONE / 2)

struct span { /* fine */
	int64_t from, to;
	bool is_step;
	double least;
};

static bool has_knots(const struct mesh *mesh, uint32_t clock)
{
	return mesh->first_knot[clock] < mesh->first_knot[clock + 1];
}

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

/* The host time of a clock before, or behind, a time (fine); none where no bound says so. */
static int64_t host_before(const struct mesh *mesh, uint32_t clock, int64_t time)
{
	uint32_t first = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - first, lo = 0;

	while (n > 0) { /* upper bounds grow with time */
		uint32_t half = n / 2;

		if (mesh->knots[first + lo + half].hi <= time) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo > 0 ? mesh->knots[first + lo - 1].host_ns : INT64_MIN;
}

static int64_t host_after(const struct mesh *mesh, uint32_t clock, int64_t time)
{
	uint32_t end = mesh->first_knot[clock + 1], at = end;

	while (at > mesh->first_knot[clock] && mesh->knots[at - 1].lo >= time)
		at--;
	return at < end ? mesh->knots[at].host_ns : INT64_MAX;
}

static int add_cut(const struct mesh *mesh, uint32_t clock, const struct span *span,
                   struct cuts *cuts)
{
	struct cut cut = {clock, host_before(mesh, clock, span->from),
	                  host_after(mesh, clock, span->to), span->is_step, span->least};

	if (cut.from_ns == INT64_MIN || cut.to_ns == INT64_MAX)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_RESERVE(cuts->all, cuts->n_allocated, cuts->n + 1ull));
	cuts->all[cuts->n++] = cut;
	return FLEXTRACE_OK;
}

static int cut_all(const struct mesh *mesh, uint32_t component, const struct span *span,
                   struct cuts *cuts)
{
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		if (has_knots(mesh, clock) && mesh->graph->component[clock] == component)
			FLEXTRACE_TRY(add_cut(mesh, clock, span, cuts));
	}
	return FLEXTRACE_OK;
}

static int find_of(const struct mesh *mesh, uint32_t clock, struct cuts *cuts)
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
			FLEXTRACE_TRY(cut_all(mesh, mesh->graph->component[clock], &span, cuts));
	}
	return FLEXTRACE_OK;
}

int cuts_find(const struct mesh *mesh, struct cuts *cuts)
{
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		if (has_knots(mesh, clock) && mesh->paces[clock].has_left)
			FLEXTRACE_TRY(find_of(mesh, clock, cuts));
	}
	return FLEXTRACE_OK;
}
