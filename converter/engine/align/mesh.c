/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest paths by sweeps: along each clock forward and back, which is exact there, and over the
 * events' moments from clock to clock, until nothing changes. Stopping early would leave bounds
 * that are true but wider.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align_impl.h"
#include "base/blocks.h"
#include "base/order.h"

#define NARROWER   0.97 /* a rate is limited if at least by so much */
#define MAX_SWEEPS 1000 /* each is a hop farther; hostile input may want more than it is worth */

static const int64_t near_ns = FINE_MAX / FINE_NS / 4;

int64_t mesh_fine(const struct mesh *mesh, uint32_t component, int64_t root_ns)
{
	wide_int fine = ((wide_int)root_ns - mesh->origin_ns[component]) * FINE_NS;

	if (fine > FINE_MAX)
		return FINE_MAX;
	return fine < -FINE_MAX ? -FINE_MAX : (int64_t)fine;
}

/* -- making ------------------------------------------------------------------------------------ */

/* Root time 0: in the middle of what its root has. */
static void find_origins(struct mesh *mesh)
{
	const struct graph *graph = mesh->graph;

	for (uint32_t i = 0; i < graph->n_components; i++) {
		uint32_t from = graph->first_of[graph->root[i]];
		uint32_t to = graph->first_of[graph->root[i] + 1];

		mesh->origin_ns[i] = 0;
		if (from < to)
			mesh->origin_ns[i] =
				part_ns(&graph->parts[graph->by_clock[(from + to) / 2]]);
	}
}

/* Near enough, whatever the curve says: its rate is 0.1 at most. */
static bool is_near(const struct curve *curve, int64_t origin_ns, int64_t host_ns)
{
	int64_t off, root;

	return curve->most_ns < (double)near_ns &&
	       !__builtin_sub_overflow(host_ns, curve->origin_ns, &off) &&
	       !__builtin_add_overflow(host_ns, curve->offset_ns, &root) &&
	       !__builtin_sub_overflow(root, origin_ns, &root) && off > -near_ns && off < near_ns &&
	       root > -near_ns * 7 / 8 && root < near_ns * 7 / 8;
}

static bool is_within(const struct mesh *mesh, const struct part *part, const struct curve *curve,
                      int64_t host_ns)
{
	uint32_t component = mesh->graph->component[part->clock];
	wide_int off = (wide_int)host_ns - curve->origin_ns;
	int64_t fine;

	if (is_near(curve, mesh->origin_ns[component], host_ns))
		return true;
	fine = mesh_fine(mesh, component, curve_at(curve, host_ns));
	if (curve->is_known && (off > FINE_MAX / FINE_NS || off < -(FINE_MAX / FINE_NS)))
		return false;
	return fine > -FINE_MAX && fine < FINE_MAX;
}

/* Whether all stamps of a clock are: the first and the last one say so. */
static bool are_near(const struct mesh *mesh, uint32_t clock, const struct curve *curve)
{
	const struct graph *graph = mesh->graph;
	int64_t origin_ns = mesh->origin_ns[graph->component[clock]];
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
		const struct part *part = &graph->parts[graph->by_clock[i]];
		int64_t from_ns = part->role & PART_BEFORE ? part->enter_ns : part->exit_ns;
		int64_t to_ns = part->role & PART_AFTER ? part->exit_ns : part->enter_ns;

		first_ns = from_ns < first_ns ? from_ns : first_ns;
		last_ns = to_ns > last_ns ? to_ns : last_ns;
	}
	return is_near(curve, origin_ns, first_ns) && is_near(curve, origin_ns, last_ns);
}

/* Stamps that cannot be of the same trace as the rest are no evidence. */
static void drop_far_parts(struct mesh *mesh, const struct curve *curves)
{
	struct graph *graph = mesh->graph;

	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		const struct curve *curve = &curves[clock];
		uint32_t i = graph->first_of[clock], end = graph->first_of[clock + 1];

		for (i = are_near(mesh, clock, curve) ? end : i; i < end; i++) {
			struct part *part = &graph->parts[graph->by_clock[i]];

			if ((part->role & PART_BEFORE &&
			     !is_within(mesh, part, curve, part->enter_ns)) ||
			    (part->role & PART_AFTER &&
			     !is_within(mesh, part, curve, part->exit_ns)))
				part->fate = PART_FILTERED;
		}
	}
}

struct moment_of_clock { /* to sort by */
	int64_t host_ns;
	uint32_t part;
	bool is_exit;
};

ORDER_BY(compare_moments, struct moment_of_clock, host_ns, part, is_exit);

/* Nearly in order: an exit often stands behind enters that come before it. */
ORDER_NEARLY_DEFINE(sort_moments, struct moment_of_clock, compare_moments);

static uint32_t list_moments(const struct graph *graph, uint32_t clock,
                             struct moment_of_clock *moments)
{
	uint32_t n = 0;

	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
		uint32_t at = graph->by_clock[i];
		const struct part *part = &graph->parts[at];

		if (part->fate != PART_KEPT)
			continue;
		if (part->role & PART_BEFORE)
			moments[n++] = (struct moment_of_clock){part->enter_ns, at, false};
		if (part->role & PART_AFTER)
			moments[n++] = (struct moment_of_clock){part->exit_ns, at, true};
	}
	sort_moments(moments, n);
	return n;
}

static void add_knots(struct mesh *mesh, uint32_t clock, struct moment_of_clock *spare)
{
	struct graph *graph = mesh->graph;
	uint32_t n = clock_is_root(graph, clock) ? 0 : list_moments(graph, clock, spare);

	for (uint32_t i = 0; i < n; i++) {
		struct part *part = &graph->parts[spare[i].part];

		mesh->knots[mesh->n_knots] = (struct knot){
			.host_ns = spare[i].host_ns,
			.part = spare[i].part,
			.event = part->event,
			.is_exit = spare[i].is_exit,
		};
		if (spare[i].is_exit)
			part->exit_knot = mesh->n_knots++;
		else
			part->enter_knot = mesh->n_knots++;
	}
}

static int make_knots(struct mesh *mesh)
{
	struct graph *graph = mesh->graph;
	struct moment_of_clock *spare = blocks_allocate(2ull * graph->n_most, sizeof(*spare));

	mesh->knots = blocks_allocate(2ull * graph->n_parts, sizeof(*mesh->knots));
	if (!spare || !mesh->knots) {
		blocks_free(spare);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		mesh->first_knot[clock] = mesh->n_knots;
		add_knots(mesh, clock, spare);
	}
	mesh->first_knot[graph->n_clocks] = mesh->n_knots;
	blocks_free(spare);
	return FLEXTRACE_OK;
}

void mesh_compact(struct mesh *mesh)
{
	struct graph *graph = mesh->graph;
	uint32_t n = 0, at = 0;

	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		uint32_t end = mesh->first_knot[clock + 1];

		mesh->first_knot[clock] = n;
		for (; at < end; at++) {
			struct part *part = &graph->parts[mesh->knots[at].part];

			if (part->fate == PART_FILTERED)
				continue;
			if (mesh->knots[at].is_exit)
				part->exit_knot = n;
			else
				part->enter_knot = n;
			mesh->knots[n++] = mesh->knots[at];
		}
	}
	mesh->first_knot[graph->n_clocks] = n;
	mesh->n_knots = n;
}

static void sum_paces(struct mesh *mesh, uint32_t clock)
{
	const struct pace *pace = mesh->paces[clock].paces;
	const struct pace *last = pace + mesh->paces[clock].n_paces - 1;

	for (uint32_t i = mesh->first_knot[clock]; i < mesh->first_knot[clock + 1]; i++) {
		struct knot *knot = &mesh->knots[i];
		struct pace_sum sum;

		while (pace < last && pace[1].host_ns <= knot->host_ns)
			pace++;
		sum = pace_at(pace, knot->host_ns);
		knot->slow = (int64_t)(sum.base - sum.wide);
		knot->fast = (int64_t)(sum.base + sum.wide);
	}
}

void mesh_set_paces(struct mesh *mesh, uint32_t clock, struct paces *paces)
{
	paces_release(&mesh->paces[clock]);
	mesh->paces[clock] = *paces;
	*paces = (struct paces){0};
	sum_paces(mesh, clock);
}

void mesh_add_slack(struct mesh *mesh, uint32_t clock, double slack)
{
	paces_add_slack(&mesh->paces[clock], slack);
	sum_paces(mesh, clock);
}

int mesh_loosen(struct mesh *mesh, uint32_t clock, int64_t first_ns, int64_t last_ns)
{
	FLEXTRACE_TRY(paces_loosen(&mesh->paces[clock], first_ns, last_ns));
	sum_paces(mesh, clock);
	return FLEXTRACE_OK;
}

bool mesh_narrow(struct mesh *mesh, uint32_t clock, double least, double most)
{
	struct paces *paces = &mesh->paces[clock];
	double rate = ldexp((double)paces->paces->rate, -PACE_BITS);
	double slack = ldexp((double)paces->paces->slack, -PACE_BITS);
	int64_t host_ns = paces->paces->host_ns;

	least = fmax(least, rate - slack);
	most = fmin(most, rate + slack);
	if (most - least > NARROWER * 2 * slack || most < least)
		return false;
	paces->n_paces = 0;
	paces_add(paces, host_ns, (least + most) / 2, (most - least) / 2);
	sum_paces(mesh, clock);
	return true;
}

static int make_paces(struct mesh *mesh)
{
	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++)
		FLEXTRACE_TRY(paces_init_straight(&mesh->paces[clock], 0, 0, 0));
	return FLEXTRACE_OK;
}

int mesh_init(struct mesh *mesh, struct graph *graph, const struct curve *curves)
{
	*mesh = (struct mesh){.graph = graph};
	mesh->first_knot = calloc(graph->n_clocks + 1ull, sizeof(*mesh->first_knot));
	mesh->moments = blocks_allocate(graph->n_events, sizeof(*mesh->moments));
	mesh->origin_ns = malloc((graph->n_components + 1ull) * sizeof(*mesh->origin_ns));
	mesh->paces = calloc(graph->n_clocks + 1ull, sizeof(*mesh->paces));
	mesh->swept_at = calloc(graph->n_clocks + 1ull, sizeof(*mesh->swept_at));
	if (!mesh->first_knot || !mesh->moments || !mesh->origin_ns || !mesh->paces ||
	    !mesh->swept_at)
		return FLEXTRACE_E_MEMORY;
	find_origins(mesh);
	drop_far_parts(mesh, curves);
	FLEXTRACE_TRY(make_knots(mesh));
	return make_paces(mesh);
}

void mesh_release(struct mesh *mesh)
{
	if (mesh->paces) {
		for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++)
			paces_release(&mesh->paces[clock]);
	}
	blocks_free(mesh->knots);
	free(mesh->first_knot);
	blocks_free(mesh->moments);
	free(mesh->origin_ns);
	free(mesh->paces);
	free(mesh->swept_at);
	*mesh = (struct mesh){0};
}

/* -- bounds ------------------------------------------------------------------------------------ */

static void raise_moment(struct moment *moment, int64_t lo, uint32_t part)
{
	if (lo > moment->lo) {
		moment->lo = lo;
		moment->lo_from = part;
	}
}

static void lower_moment(struct moment *moment, int64_t hi, uint32_t part)
{
	if (hi < moment->hi) {
		moment->hi = hi;
		moment->hi_from = part;
	}
}

void mesh_clear_moments(struct mesh *mesh)
{
	const struct graph *graph = mesh->graph;

	for (uint32_t i = 0; i < graph->n_events; i++)
		mesh->moments[i] = (struct moment){-FINE_NONE, FINE_NONE, FLEXTRACE_NONE,
		                                   FLEXTRACE_NONE};
	for (uint32_t component = 0; component < graph->n_components; component++) {
		uint32_t root = graph->root[component];

		for (uint32_t i = graph->first_of[root]; i < graph->first_of[root + 1]; i++) {
			uint32_t at = graph->by_clock[i];
			const struct part *part = &graph->parts[at];
			struct moment *moment = &mesh->moments[part->event];

			if (part->fate != PART_KEPT)
				continue;
			if (part->role & PART_BEFORE)
				raise_moment(moment, mesh_fine(mesh, component, part->enter_ns),
				             at);
			if (part->role & PART_AFTER)
				lower_moment(moment, mesh_fine(mesh, component, part->exit_ns), at);
		}
	}
}

void mesh_clear_bounds(struct mesh *mesh)
{
	mesh_clear_moments(mesh);
	for (uint32_t i = 0; i < mesh->n_knots; i++) {
		struct knot *knot = &mesh->knots[i];

		knot->lo = -FINE_NONE;
		knot->hi = FINE_NONE;
		knot->lo_from = FLEXTRACE_NONE;
		knot->hi_from = FLEXTRACE_NONE;
	}
}

void mesh_clear(struct mesh *mesh)
{
	mesh_clear_bounds(mesh);
	for (uint32_t i = 0; i < mesh->n_knots; i++) {
		struct knot *knot = &mesh->knots[i];

		knot->is_kept = mesh->graph->parts[knot->part].fate == PART_KEPT;
	}
}

/* -- sweeps ------------------------------------------------------------------------------------ */

/* Bounds on their way from knot to knot, and the parts that set them. */
struct carried {
	int64_t lo, hi;
	uint32_t lo_from, hi_from;
};

static inline struct carried carried_from(const struct knot *knot)
{
	return (struct carried){knot->lo, knot->hi, knot->lo_from, knot->hi_from};
}

/* Leaves the closer bounds in both. */
static inline void carry_to(struct knot *knot, struct carried *carried)
{
	if (carried->lo > knot->lo) {
		knot->lo = carried->lo;
		knot->lo_from = carried->lo_from;
	} else {
		carried->lo = knot->lo;
		carried->lo_from = knot->lo_from;
	}
	if (carried->hi < knot->hi) {
		knot->hi = carried->hi;
		knot->hi_from = carried->hi_from;
	} else {
		carried->hi = knot->hi;
		carried->hi_from = knot->hi_from;
	}
}

/* What an event's moment tells a knot that is kept. */
static inline void hear_moment(const struct moment *moment, struct knot *knot,
                               struct carried *carried)
{
	if (knot->is_exit) {
		if (moment->lo > carried->lo) {
			carried->lo = knot->lo = moment->lo;
			carried->lo_from = knot->lo_from = knot->part;
		}
	} else if (moment->hi < carried->hi) {
		carried->hi = knot->hi = moment->hi;
		carried->hi_from = knot->hi_from = knot->part;
	}
}

/* Of one knot at least. */
static void sweep_forward(struct mesh *mesh, uint32_t from, uint32_t to)
{
	struct knot *knot = &mesh->knots[from], *end = &mesh->knots[to];
	const struct moment *moments = mesh->moments;
	struct carried carried = carried_from(knot);

	for (;;) {
		if (knot->is_kept)
			hear_moment(&moments[knot->event], knot, &carried);
		if (++knot == end)
			break;
		carried.lo += knot->slow - knot[-1].slow;
		carried.hi += knot->fast - knot[-1].fast;
		carry_to(knot, &carried);
	}
}

struct sweep {
	bool has_changed;       /* any moment */
	bool has_contradiction; /* any knot */
};

struct sweeping {            /* of all clocks, until nothing changes */
	uint64_t n_swept;    /* clocks, so far */
	uint64_t changed_at; /* `n_swept` of the last that changed a moment */
	bool has_contradiction;
};

static inline bool tell_moment(const struct knot *knot, struct moment *moment)
{
	if (knot->is_exit) {
		if (knot->hi >= moment->hi)
			return false;
		moment->hi = knot->hi;
		moment->hi_from = knot->part;
	} else {
		if (knot->lo <= moment->lo)
			return false;
		moment->lo = knot->lo;
		moment->lo_from = knot->part;
	}
	return true;
}

static struct sweep sweep_back(struct mesh *mesh, uint32_t from, uint32_t to)
{
	struct knot *first = &mesh->knots[from], *knot = &mesh->knots[to - 1];
	struct carried carried = carried_from(knot);
	struct moment *moments = mesh->moments;
	struct sweep sweep = {false, false};

	for (;;) {
		if (knot->is_kept && tell_moment(knot, &moments[knot->event]))
			sweep.has_changed = true;
		if (knot_contradicts(knot))
			sweep.has_contradiction = true;
		if (knot-- == first)
			break;
		carried.lo -= knot[1].fast - knot->fast;
		carried.hi -= knot[1].slow - knot->slow;
		carry_to(knot, &carried);
	}
	return sweep;
}

void mesh_sweep(struct mesh *mesh, uint32_t clock)
{
	uint32_t from = mesh->first_knot[clock], to = mesh->first_knot[clock + 1];

	sweep_forward(mesh, from, to);
	sweep_back(mesh, from, to);
}

/* Sweeps all clocks, one time outwards, the next inwards, except those without new bounds from
 * others since. Returns whether any was swept. */
static bool sweep_all(struct mesh *mesh, bool is_inwards, struct sweeping *sweeping)
{
	const struct graph *graph = mesh->graph;
	bool has_swept = false;

	for (uint32_t i = 0; i < graph->n_clocks; i++) {
		uint32_t clock = graph->order[is_inwards ? graph->n_clocks - 1 - i : i];
		uint32_t from = mesh->first_knot[clock], to = mesh->first_knot[clock + 1];
		struct sweep sweep;

		if (from == to || mesh->swept_at[clock] >= sweeping->changed_at)
			continue;
		sweep_forward(mesh, from, to);
		sweep = sweep_back(mesh, from, to);
		mesh->swept_at[clock] = ++sweeping->n_swept;
		if (sweep.has_changed)
			sweeping->changed_at = sweeping->n_swept;
		sweeping->has_contradiction = sweeping->has_contradiction ||
		                              sweep.has_contradiction;
		has_swept = true;
	}
	return has_swept;
}

static struct sweeping begin_sweeping(struct mesh *mesh)
{
	memset(mesh->swept_at, 0, (mesh->graph->n_clocks + 1ull) * sizeof(*mesh->swept_at));
	return (struct sweeping){.changed_at = 1};
}

bool mesh_close(struct mesh *mesh)
{
	struct sweeping sweeping = begin_sweeping(mesh);

	for (int i = 0; i < MAX_SWEEPS && !sweeping.has_contradiction; i++) {
		if (!sweep_all(mesh, i % 2, &sweeping))
			break;
	}
	return !sweeping.has_contradiction;
}

void mesh_spread(struct mesh *mesh)
{
	struct sweeping sweeping = begin_sweeping(mesh);

	for (int i = 0; i < MAX_SWEEPS && sweep_all(mesh, i % 2, &sweeping); i++)
		;
}
