/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The middle of the band meets every constraint, since both of its edges do. Where the band is
 * wide (somebody always comes last, so nothing bounds the others on one side) the curve is a
 * better guess, but need not meet them. So each knot gets a target, the curve's value clamped
 * into the band there, else the middle; then the highest solution below all targets and the
 * lowest one above them are found, by the same sweeps. Their middle meets every constraint, and
 * where the targets did already it is the targets.
 */
#include <stdlib.h>

#include "align_impl.h"
#include "base/blocks.h"

#define WIDE       (2 * SOFT_ABOVE_NS * FINE_NS)
#define LOOSE      (2 * ONE_SIDED_NS * FINE_NS)
#define EXTREME    (FINE_NONE / 2)
#define CERTAIN_NS 2 /* for stamps that are cut to whole ns, and sums */

static bool has_lo(const struct knot *knot)
{
	return knot->lo > -EXTREME;
}

static bool has_hi(const struct knot *knot)
{
	return knot->hi < EXTREME;
}

/* Whether a curve says more than the bounds. */
static bool is_wide(const struct knot *knot, const struct curve *curve)
{
	return !has_lo(knot) || !has_hi(knot) ||
	       (knot->hi - knot->lo > WIDE &&
	        (double)(knot->hi - knot->lo) > 2 * FINE_NS * curve->noise_ns);
}

static int64_t middle_of(int64_t lo, int64_t hi)
{
	return lo + ((hi - lo) >> 1);
}

static int64_t target_of(const struct mesh *mesh, const struct knot *knot, uint32_t clock,
                         const struct curve *curve)
{
	bool is_soft = curve->is_known && !curve->is_rough;
	int64_t soft;

	if (has_lo(knot) && has_hi(knot) && (!is_wide(knot, curve) || !is_soft))
		return middle_of(knot->lo, knot->hi);
	soft = mesh_fine(mesh, mesh->graph->component[clock], curve_at(curve, knot->host_ns));
	if (has_lo(knot) && (!is_soft || soft < knot->lo))
		return knot->lo; /* messages take little time */
	if (has_hi(knot) && (!is_soft || soft > knot->hi))
		return knot->hi;
	return soft;
}

/* The bounds move into the maps, the targets take their place. */
struct bounds {
	int64_t lo, hi;
};

static void set_targets(struct mesh *mesh, uint32_t clock, const struct curve *curve,
                        struct bounds *bounds)
{
	for (uint32_t i = mesh->first_knot[clock]; i < mesh->first_knot[clock + 1]; i++) {
		struct knot *knot = &mesh->knots[i];
		int64_t target = target_of(mesh, knot, clock, curve);

		bounds[i] = (struct bounds){has_lo(knot) ? knot->lo : -FINE_NONE,
		                            has_hi(knot) ? knot->hi : FINE_NONE};
		knot->lo = target;
		knot->hi = target;
	}
}

static uint32_t half_ns(const struct bounds *bounds, int64_t time, uint32_t more_ns)
{
	int64_t below = time - bounds->lo, above = bounds->hi - time;
	int64_t half = below > above ? below : above;

	if (bounds->lo == -FINE_NONE || bounds->hi == FINE_NONE)
		return UINT32_MAX;
	half = ((half < 0 ? 0 : half) + FINE_NS - 1) / FINE_NS + CERTAIN_NS;
	half += more_ns;
	return half < UINT32_MAX ? (uint32_t)half : UINT32_MAX;
}

/* A clock without constraints has only its curve. Its map must not go back either. */
static void follow_curve(const struct mesh *mesh, uint32_t clock, const struct curve *curve,
                         struct host_map *map)
{
	uint32_t component = mesh->graph->component[clock];
	int64_t time = -FINE_MAX;

	for (uint32_t i = 0; i < map->n_knots; i++) {
		int64_t soft = mesh_fine(mesh, component, curve_at(curve, map->knots[i].host_ns));

		time = soft > time ? soft : time;
		map->knots[i].time = time;
	}
}

static void fill_map(const struct mesh *mesh, uint32_t clock, const struct bounds *bounds,
                     struct host_map *map)
{
	uint32_t from = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - from;

	for (uint32_t i = 0; i < n; i++) {
		const struct knot *knot = &mesh->knots[from + i];
		int64_t time = middle_of(knot->lo, knot->hi);

		map->knots[i] = (struct map_knot){
			.host_ns = knot->host_ns,
			.time = time,
			.err_ns = paces_are_doubtful(&mesh->paces[clock], knot->host_ns) ||
		                                  stops_hold(map->stops, map->n_stops,
		                                             knot->host_ns)
		                          ? UINT32_MAX
		                          : half_ns(&bounds[from + i], time,
		                                    paces_find(&mesh->paces[clock], knot->host_ns)
		                                            ->more_ns),
			.is_turned = knot->is_turned,
		};
	}
	map->n_knots = n;
	map->origin_ns = mesh->origin_ns[mesh->graph->component[clock]];
}

/* Whether most of a clock's evidence leaves one side loose. */
static bool is_loose(const struct bounds *bounds, uint32_t n)
{
	uint32_t n_wide = 0;

	for (uint32_t i = 0; i < n; i++)
		n_wide += bounds[i].lo == -FINE_NONE || bounds[i].hi == FINE_NONE ||
		          bounds[i].hi - bounds[i].lo > LOOSE;
	return 2 * n_wide > n;
}

/* Maps stand in the memory of the knots and bounds that they are made of. */
static int make_maps(struct mesh *mesh, const struct curve *curves, const bool *is_lost,
                     struct bounds *bounds, struct host_map *maps)
{
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		uint32_t from = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - from;

		if (n == 0)
			continue;
		FLEXTRACE_TRY(BLOCKS_NEW(maps[clock].knots, n));
		fill_map(mesh, clock, bounds, &maps[clock]);
		blocks_drop(mesh->knots, (from + n) * sizeof(*mesh->knots));
		blocks_drop(bounds, (from + n) * sizeof(*bounds));
		maps[clock].paces = mesh->paces[clock];
		mesh->paces[clock] = (struct paces){0};
		FLEXTRACE_TRY(host_map_index(&maps[clock]));
		host_map_fill_breaks(&maps[clock]);
		if (is_lost[clock])
			follow_curve(mesh, clock, &curves[clock], &maps[clock]);
	}
	return FLEXTRACE_OK;
}

/* While bounds and moments are those of the band. */
static int find_stops(const struct mesh *mesh, struct host_map *maps)
{
	bool is_seldom = lies_are_seldom(mesh->graph);

	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		if (mesh->first_knot[clock] < mesh->first_knot[clock + 1])
			FLEXTRACE_TRY(stops_find(mesh, clock, is_seldom, &maps[clock].stops,
			                         &maps[clock].n_stops));
	}
	return FLEXTRACE_OK;
}

int estimate_run(struct mesh *mesh, const struct curve *curves, const bool *is_lost,
                 struct host_map *maps, bool *is_one_sided)
{
	struct bounds *bounds;
	int code;

	FLEXTRACE_TRY(find_stops(mesh, maps));
	FLEXTRACE_TRY(BLOCKS_NEW(bounds, mesh->n_knots));
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++)
		set_targets(mesh, clock, &curves[clock], bounds);
	mesh_clear_moments(mesh);
	mesh_spread(mesh);
	doubt_turned(mesh);
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		uint32_t from = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - from;

		is_one_sided[clock] = n && !is_lost[clock] && is_loose(&bounds[from], n);
	}
	code = make_maps(mesh, curves, is_lost, bounds, maps);
	blocks_free(bounds);
	return code;
}
