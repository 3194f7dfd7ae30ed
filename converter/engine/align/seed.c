/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks are seen one after the other, nearest to the root first, each against those already
 * known: all leave a barrier at about the same time. Where there are only messages, the middle
 * between what was sent and what was received bounds it from both sides. A second look takes the
 * median exit of all that took part.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align_impl.h"
#include "base/blocks.h"

/* What is known of an event by the clocks seen so far, on the root's clock. */
struct seen {
	int64_t exit_ns;                      /* about when everybody leaves */
	int64_t last_enter_ns, first_exit_ns; /* of who is before, of who is after */
	bool has_exit, has_enter, has_any_exit;
};

struct seeding {
	const struct graph *graph;
	struct curve *curves;
	struct seen *seen; /* owned, of each event */
	struct sighting *sightings;
	uint32_t n;
	double *halves;  /* owned, of each sighting: half the distances of bounds that made it */
	bool has_bounds; /* there are parts that only bound: those of a message, a broadcast */
	double rough_ns; /* how far the roughest curve so far may be off */
	double rho;
};

static void sight(struct seeding *seeding, int64_t host_ns, int64_t root_ns)
{
	struct sighting *sighting = &seeding->sightings[seeding->n];

	if (__builtin_sub_overflow(root_ns, host_ns, &sighting->theta_ns))
		return;
	sighting->t_ns = host_ns;
	seeding->n++;
}

/* -- by exits ---------------------------------------------------------------------------------- */

static const struct part *clock_part(const struct graph *graph, uint32_t i)
{
	return &graph->parts[graph->by_clock[i]];
}

static void sight_exits(struct seeding *seeding, uint32_t clock)
{
	const struct graph *graph = seeding->graph;

	seeding->n = 0;
	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
		const struct part *part = clock_part(graph, i);

		if (part->role == PART_BOTH && seeding->seen[part->event].has_exit)
			sight(seeding, part->exit_ns, seeding->seen[part->event].exit_ns);
	}
}

/* -- by bounds --------------------------------------------------------------------------------- */

static int64_t middle_ns(int64_t a, int64_t b)
{
	return (int64_t)(((__int128)a + b) >> 1);
}

/* A bound from each side, met one after the other, makes an observation; if all are on one side,
 * each does. Returns whether there are both sides. */
static bool sight_bounds(struct seeding *seeding, uint32_t clock)
{
	const struct graph *graph = seeding->graph;
	int64_t theta[2] = {0, 0};
	bool has[2] = {false, false}, is_two_sided = false;

	for (int pass = 0; pass < 2 && seeding->n == 0; pass++) {
		for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
			const struct part *part = clock_part(graph, i);
			const struct seen *seen = &seeding->seen[part->event];
			bool is_upper = part->role & PART_BEFORE && seen->has_any_exit;
			int64_t own = is_upper ? part->enter_ns : part->exit_ns;
			int64_t root = is_upper ? seen->first_exit_ns : seen->last_enter_ns;

			if (!is_upper && !(part->role & PART_AFTER && seen->has_enter))
				continue;
			if (pass == 1) {
				sight(seeding, own, root);
				continue;
			}
			if (__builtin_sub_overflow(root, own, &theta[is_upper]))
				continue;
			has[is_upper] = true;
			if (has[!is_upper] &&
			    !__builtin_add_overflow(own, middle_ns(theta[0], theta[1]), &root)) {
				seeding->halves[seeding->n] =
					fabs((double)theta[1] - (double)theta[0]) / 2;
				sight(seeding, own, root);
				has[!is_upper] = false;
				is_two_sided = true;
			}
		}
	}
	return is_two_sided;
}

/* -- looking ----------------------------------------------------------------------------------- */

static void show(struct seeding *seeding, uint32_t clock)
{
	const struct graph *graph = seeding->graph;
	const struct curve *curve = &seeding->curves[clock];
	uint32_t near_exit = 0, near_enter = 0;

	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++) {
		const struct part *part = clock_part(graph, i);
		struct seen *seen = &seeding->seen[part->event];
		int64_t exit_ns = curve_at_near(curve, part->exit_ns, &near_exit), enter_ns;

		if (part->role == PART_BOTH && !seen->has_exit) {
			seen->exit_ns = exit_ns;
			seen->has_exit = true;
		}
		if (!seeding->has_bounds)
			continue;
		enter_ns = curve_at_near(curve, part->enter_ns, &near_enter);
		if (part->role & PART_AFTER &&
		    (!seen->has_any_exit || exit_ns < seen->first_exit_ns)) {
			seen->first_exit_ns = exit_ns;
			seen->has_any_exit = true;
		}
		if (part->role & PART_BEFORE &&
		    (!seen->has_enter || enter_ns > seen->last_enter_ns)) {
			seen->last_enter_ns = enter_ns;
			seen->has_enter = true;
		}
	}
}

/* How far a curve made of bounds may be off: a few times what is usual, on top of what it was
 * measured against. */
static double roughness(struct seeding *seeding, bool is_two_sided)
{
	if (!is_two_sided || seeding->n == 0)
		return INFINITY;
	return 3 * select_median(seeding->halves, seeding->n) + seeding->rough_ns;
}

static int look(struct seeding *seeding, uint32_t clock)
{
	double rough_ns = 0;
	bool has_exits;

	if (!clock_is_root(seeding->graph, clock)) {
		sight_exits(seeding, clock);
		has_exits = seeding->n > 0;
		if (!has_exits)
			rough_ns = roughness(seeding, sight_bounds(seeding, clock));
		if (seeding->n)
			FLEXTRACE_TRY(curve_fit(&seeding->curves[clock], seeding->sightings,
			                        seeding->n, !has_exits));
		seeding->curves[clock].is_rough = rough_ns > 0;
		seeding->curves[clock].rough_ns = rough_ns;
		seeding->rough_ns = fmax(seeding->rough_ns, rough_ns);
	}
	if (clock_is_root(seeding->graph, clock) || seeding->curves[clock].is_known)
		show(seeding, clock);
	return FLEXTRACE_OK;
}

/* -- the second look --------------------------------------------------------------------------- */

static int64_t clamp_ns(int64_t origin_ns, double more_ns)
{
	wide_int sum = origin_ns + (wide_int)more_ns;

	if (sum > INT64_MAX)
		return INT64_MAX;
	return sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

static void take_median_exits(struct seeding *seeding, double *spare)
{
	const struct graph *graph = seeding->graph;

	for (uint32_t event = 0; event < graph->n_events; event++) {
		int64_t origin_ns = seeding->seen[event].exit_ns;
		uint32_t n = 0;

		for (uint32_t i = graph->first_part[event]; i < graph->first_part[event + 1]; i++) {
			const struct part *part = &graph->parts[i];
			const struct curve *curve = &seeding->curves[part->clock];

			if (part->role == PART_BOTH)
				spare[n++] = (double)((wide_int)curve_at(curve, part->exit_ns) -
				                      origin_ns);
		}
		if (n > 0)
			seeding->seen[event].exit_ns = clamp_ns(origin_ns, select_median(spare, n));
	}
}

/* How far a clock may wander within the time that a running median takes. */
static double lag_ns(const struct seeding *seeding)
{
	const struct sighting *sightings = seeding->sightings;
	double length = (double)sightings[seeding->n - 1].t_ns - (double)sightings[0].t_ns;

	return seeding->rho * length * fmin(1, CURVE_WINDOW / 2.0 / seeding->n);
}

static int look_again(struct seeding *seeding, uint32_t clock)
{
	if (clock_is_root(seeding->graph, clock))
		return FLEXTRACE_OK;
	sight_exits(seeding, clock);
	if (seeding->n == 0 || seeding->curves[clock].is_rough)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(curve_fit(&seeding->curves[clock], seeding->sightings, seeding->n, true));
	seeding->curves[clock].rough_ns = lag_ns(seeding) + seeding->curves[clock].noise_ns;
	return FLEXTRACE_OK;
}

static int look_at_all(struct seeding *seeding)
{
	const struct graph *graph = seeding->graph;

	for (uint32_t i = 0; i < graph->n_parts && !seeding->has_bounds; i++)
		seeding->has_bounds = graph->parts[i].role != PART_BOTH;
	for (uint32_t i = 0; i < graph->n_clocks; i++)
		FLEXTRACE_TRY(look(seeding, graph->order[i]));
	take_median_exits(seeding, seeding->halves);
	for (uint32_t i = 0; i < graph->n_clocks; i++)
		FLEXTRACE_TRY(look_again(seeding, graph->order[i]));
	return FLEXTRACE_OK;
}

int seed_run(const struct graph *graph, double rho, struct curve *curves)
{
	struct seeding seeding = {.graph = graph, .curves = curves, .rho = rho};
	int code = FLEXTRACE_E_MEMORY;

	seeding.seen = blocks_allocate(graph->n_events, sizeof(*seeding.seen));
	seeding.sightings = blocks_allocate(graph->n_most, sizeof(*seeding.sightings));
	seeding.halves = blocks_allocate(graph->n_most, sizeof(*seeding.halves));
	if (seeding.seen && seeding.sightings && seeding.halves) {
		memset(seeding.seen, 0, graph->n_events * sizeof(*seeding.seen));
		code = look_at_all(&seeding);
	}
	blocks_free(seeding.seen);
	blocks_free(seeding.sightings);
	blocks_free(seeding.halves);
	return code;
}
