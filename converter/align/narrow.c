/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock of one stretch has one mean rate. Of an interval of rates, each slice gives tighter
 * bounds than the whole; the true rate is in one of them, so what holds in any of them holds: of
 * each bound, the widest. Slices that nothing explains are not the true one.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"

#define MAX_SLICES 64
#define SLICE      0.125 /* of rho */
#define NOWHERE    (FINE_NONE / 2)

struct narrowing {
	struct mesh *mesh;
	uint32_t clock;
	double rho;
	struct spots spots;
	double lo[MAX_SPOTS], hi[MAX_SPOTS]; /* of any slice so far */
	double least, most;                  /* rates of slices that something explains */
};

static void take_slice(struct narrowing *narrowing, double least, double most)
{
	struct spots *spots = &narrowing->spots;

	if (!spots_take_rate(spots, 0, spots->n - 1, least, most, narrowing->rho))
		return;
	narrowing->least = fmin(narrowing->least, least);
	narrowing->most = fmax(narrowing->most, most);
	for (uint32_t i = 0; i < spots->n; i++) {
		narrowing->lo[i] = fmin(narrowing->lo[i], spots->all[i].tight_lo);
		narrowing->hi[i] = fmax(narrowing->hi[i], spots->all[i].tight_hi);
	}
}

/* Where the first and the last knot can be leaves an interval of mean rates; false: none. */
static bool find_rates(const struct narrowing *narrowing, double *ret_least, double *ret_most)
{
	const struct mesh *mesh = narrowing->mesh;
	const struct pace *pace = mesh->paces[narrowing->clock].paces;
	const struct knot *first = &mesh->knots[mesh->first_knot[narrowing->clock]];
	const struct knot *last = &mesh->knots[mesh->first_knot[narrowing->clock + 1] - 1];
	int64_t elapsed = (last->host_ns - first->host_ns) * FINE_NS;
	double rate = ldexp((double)pace->rate, -PACE_BITS);
	double slack = ldexp((double)pace->slack, -PACE_BITS);

	*ret_least = rate - slack;
	*ret_most = rate + slack;
	if (elapsed <= 0)
		return false;
	if (first->hi < NOWHERE && last->lo > -NOWHERE)
		*ret_least = fmax(*ret_least, (double)(last->lo - first->hi - elapsed - FINE_NS) /
		                                      (double)elapsed);
	if (first->lo > -NOWHERE && last->hi < NOWHERE)
		*ret_most = fmin(*ret_most, (double)(last->hi - first->lo - elapsed + FINE_NS) /
		                                    (double)elapsed);
	return *ret_least < *ret_most;
}

static int64_t to_fine(double ns)
{
	return (int64_t)llrint(ns * FINE_NS);
}

/* Tells the knots what is known of the spots; returns whether that is news. */
static bool tell_knots(const struct narrowing *narrowing)
{
	struct mesh *mesh = narrowing->mesh;
	int64_t first_ns = mesh->knots[mesh->first_knot[narrowing->clock]].host_ns;
	bool has_changed = false;

	for (uint32_t i = 0; i < narrowing->spots.n; i++) {
		struct knot *knot = &mesh->knots[narrowing->spots.all[i].knot];
		int64_t host = (knot->host_ns - first_ns) * FINE_NS;
		int64_t lo = -FINE_NONE, hi = FINE_NONE;

		if (isfinite(narrowing->lo[i]))
			lo = host + to_fine(narrowing->lo[i] - ROUNDING_NS);
		if (isfinite(narrowing->hi[i]))
			hi = host + to_fine(narrowing->hi[i] + ROUNDING_NS);
		has_changed = has_changed || lo > knot->lo + FINE_NS || hi < knot->hi - FINE_NS;
		knot->lo = lo > knot->lo ? lo : knot->lo;
		knot->hi = hi < knot->hi ? hi : knot->hi;
	}
	return has_changed;
}

static bool narrow_clock(struct narrowing *narrowing)
{
	double least, most;
	int n_slices;

	if (!find_rates(narrowing, &least, &most))
		return false;
	spots_fill(&narrowing->spots, narrowing->mesh, narrowing->clock, (least + most) / 2, true);
	n_slices = (int)fmin(MAX_SLICES, ceil((most - least) / (SLICE * narrowing->rho)));
	for (uint32_t i = 0; i < narrowing->spots.n; i++) {
		narrowing->lo[i] = INFINITY;
		narrowing->hi[i] = -INFINITY;
	}
	narrowing->least = INFINITY;
	narrowing->most = -INFINITY;
	for (int i = 0; i < n_slices; i++)
		take_slice(narrowing, least + (most - least) * i / n_slices,
		           least + (most - least) * (i + 1) / n_slices);
	if (narrowing->least >= narrowing->most)
		return false;
	mesh_narrow(narrowing->mesh, narrowing->clock, narrowing->least - narrowing->rho,
	            narrowing->most + narrowing->rho);
	return tell_knots(narrowing);
}

int narrow_run(struct mesh *mesh, double rho, const struct proven *proven, bool *ret_has_changed)
{
	struct narrowing *narrowing = malloc(sizeof(*narrowing));

	*ret_has_changed = false;
	if (!narrowing)
		return FLEXTRACE_E_MEMORY;
	*narrowing = (struct narrowing){.mesh = mesh, .rho = rho};
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		narrowing->clock = clock;
		if (mesh->first_knot[clock] < mesh->first_knot[clock + 1] &&
		    mesh->paces[clock].n_paces == 1 && !proven[clock].is_fast &&
		    !proven[clock].is_lost)
			*ret_has_changed = narrow_clock(narrowing) || *ret_has_changed;
	}
	free(narrowing);
	return FLEXTRACE_OK;
}
