/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock of one stretch has one mean rate, and is within rho of it everywhere. Nobody knows the
 * mean: what holds for any is what a pair of places leaves between them, for each pair (posts.c).
 * Where the first and the last knot can be, by that, leaves an interval of means.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/align/align_impl.h"
#include "engine/posts.h"

#define NOWHERE (FINE_NONE / 2)

struct narrowing {
	struct mesh *mesh;
	uint32_t clock;
	double rho;
	struct spots spots;
	struct post posts[MAX_SPOTS];
	uint32_t spot_of[MAX_SPOTS]; /* of each post */
};

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

/* Tells a knot that one of its bounds is closer by `gain`. */
static void tell_knot(struct knot *knot, bool is_upper, double gain)
{
	int64_t fine = (int64_t)((gain - ROUNDING_NS) * FINE_NS);

	if (fine <= 0)
		return;
	if (is_upper)
		knot->hi -= fine;
	else
		knot->lo += fine;
}

static uint32_t make_posts(struct narrowing *narrowing, bool is_upper)
{
	const struct spots *spots = &narrowing->spots;
	uint32_t n = 0;

	for (uint32_t i = 0; i < spots->n; i++) {
		double bound = is_upper ? spots->all[i].hi : -spots->all[i].lo;

		if (bound == INFINITY)
			continue;
		narrowing->spot_of[n] = i;
		posts_add(narrowing->posts, n++, spots->all[i].x, bound, narrowing->rho);
	}
	return n;
}

static void narrow_side(struct narrowing *narrowing, bool is_upper)
{
	uint32_t n = make_posts(narrowing, is_upper);

	for (uint32_t i = n; i-- > 0;) {
		double gain = posts_gain(narrowing->posts, i, n, narrowing->rho);
		uint32_t knot = narrowing->spots.all[narrowing->spot_of[i]].knot;

		tell_knot(&narrowing->mesh->knots[knot], is_upper, gain);
	}
}

static void narrow_clock(struct narrowing *narrowing)
{
	double least, most;

	if (!find_rates(narrowing, &least, &most))
		return;
	spots_fill(&narrowing->spots, narrowing->mesh, narrowing->clock, (least + most) / 2, true);
	narrow_side(narrowing, true);
	narrow_side(narrowing, false);
	if (find_rates(narrowing, &least, &most))
		mesh_narrow(narrowing->mesh, narrowing->clock, least - narrowing->rho,
		            most + narrowing->rho);
}

int narrow_run(struct mesh *mesh, double rho, const struct proven *proven)
{
	struct narrowing *narrowing = malloc(sizeof(*narrowing));

	if (!narrowing)
		return FLEXTRACE_E_MEMORY;
	*narrowing = (struct narrowing){.mesh = mesh, .rho = rho};
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		narrowing->clock = clock;
		if (mesh->first_knot[clock] < mesh->first_knot[clock + 1] &&
		    mesh->paces[clock].n_paces == 1 && !proven[clock].is_fast &&
		    !proven[clock].is_lost)
			narrow_clock(narrowing);
	}
	free(narrowing);
	return FLEXTRACE_OK;
}
