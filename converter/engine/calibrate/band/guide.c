/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path inside a band of few wide reads. Reads as wide and as far apart as round trips leave a
 * band whose width varies a lot, and its middle moves up and down with the width. Two facts show
 * where the clock went. First, its rate hardly changes: a band for a rate that wanders little more
 * than the reads require is narrower. Second, estimates that are all off by the same time show the
 * shape of the clock, if one shift moves them to where the reads are. The shape is used if one
 * clock explains all estimates, or if it says more than the narrow band. (How narrow that is says
 * little, as it is the last one that is not empty.) The bounds stay those of the band, around that
 * path.
 */
#include <math.h>
#include <stdlib.h>

#include "base/blocks.h"
#include "engine/calibrate/calibrate_impl.h"
#include "base/marzullo.h"

#define MAX_HALVES 10 /* of rho, until the rate is as good as steady */
#define MUCH       2  /* times wider than the band: estimates that are off in other ways */

/* -- a rate that hardly wanders -------------------------------------------------------------- */

/* A band around one slope. */
struct stiff {
	struct reference reference;
	struct knot *knots; /* owned, of blocks.h; NULL: there is none */
	uint32_t n;
};

static void stiff_release(struct stiff *stiff)
{
	reference_release(&stiff->reference);
	blocks_free(stiff->knots);
	*stiff = (struct stiff){.knots = NULL};
}

/* 1: all evidence meets, 0: it does not. */
static int stiff_try(const struct evidence *hard, double slope, double slack,
                     struct stiff *ret_stiff)
{
	*ret_stiff = (struct stiff){.knots = NULL};
	FLEXTRACE_TRY(reference_init_straight(&ret_stiff->reference, slope, slack));
	FLEXTRACE_TRY(band_constrain(hard, &ret_stiff->reference, false, &ret_stiff->knots,
	                             &ret_stiff->n));
	return ret_stiff->n > 0 &&
	       band_close(ret_stiff->knots, ret_stiff->n, &ret_stiff->reference) >= 0;
}

/* The stiffest of some bands in which all evidence meets. */
static int stiff_fit(const struct evidence *hard, double slope, double rho, struct stiff *ret_stiff)
{
	*ret_stiff = (struct stiff){.knots = NULL};
	for (int i = 0; i <= MAX_HALVES; i++) {
		struct stiff stiff;
		int is_met = stiff_try(hard, slope, ldexp(2 * rho, -i), &stiff);

		if (is_met <= 0) {
			stiff_release(&stiff);
			return is_met;
		}
		stiff_release(ret_stiff);
		*ret_stiff = stiff;
	}
	return FLEXTRACE_OK;
}

static bool is_bounded(const struct knot *knots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (knots[i].lo == -PHI_UNBOUNDED || knots[i].hi == PHI_UNBOUNDED)
			return false;
	}
	return n > 0;
}

static double mean_width_ns(const struct stiff *stiff)
{
	double sum = 0;

	for (uint32_t i = 0; i < stiff->n; i++)
		sum += ldexp((double)(stiff->knots[i].hi - stiff->knots[i].lo), -PHI_BITS);
	return sum / stiff->n;
}

static double middle_of(const struct knot *knot)
{
	return (double)((knot->lo + knot->hi) >> 1);
}

/* Between two of its knots it is straight. */
static int64_t stiff_phi(const struct stiff *stiff, uint64_t x, uint32_t *at)
{
	const struct knot *left, *right;

	while (*at + 1 < stiff->n && stiff->knots[*at + 1].x <= x)
		++*at;
	left = &stiff->knots[*at];
	right = *at + 1 < stiff->n ? left + 1 : left;
	if (x <= left->x || right->x <= left->x)
		return (int64_t)middle_of(left);
	return (int64_t)(middle_of(left) +
	                 (middle_of(right) - middle_of(left)) *
	                         ((double)(x - left->x) / (double)(right->x - left->x)));
}

/* -- a shape --------------------------------------------------------------------------------- */

static int64_t host_at(const struct evidence *hard, const struct clock_map *shape, uint64_t x,
                       uint32_t *knot)
{
	return clock_map_place_near(shape, x + hard->ticks0, knot).host_ns - hard->host0;
}

/* By how much a read lets the times of a shape be later. */
static struct interval offset_of(const struct evidence *hard, const struct clock_map *shape,
                                 const struct claim *claim, uint32_t *knot)
{
	struct interval interval = {-MARZULLO_MAX, MARZULLO_MAX};

	if (claim->before != INT64_MIN)
		interval.lo = claim->before - host_at(hard, shape, claim->first, knot);
	if (claim->after != INT64_MAX)
		interval.hi = claim->after - host_at(hard, shape, claim->last, knot);
	return interval;
}

/* Finds what moves a shape to where the reads are. 1: found, 0: nothing does. */
static int find_offset(const struct evidence *hard, const struct clock_map *shape,
                       struct interval *ret_offset)
{
	struct interval *intervals = malloc(((size_t)hard->n + 1) * sizeof(*intervals));
	int64_t *spare = malloc(2 * ((size_t)hard->n + 1) * sizeof(*spare));
	uint32_t knot = 0, n = 0, depth = 0;
	bool has_memory = intervals && spare;

	for (uint32_t i = 0; i < hard->n && has_memory; i++) {
		if (!hard->is_false[i])
			intervals[n++] = offset_of(hard, shape, &hard->claims[i], &knot);
	}
	if (has_memory)
		depth = marzullo_hull(intervals, n, 1, spare, ret_offset);
	free(intervals);
	free(spare);
	if (!has_memory)
		return FLEXTRACE_E_MEMORY;
	return n > 0 && depth == n && ret_offset->lo > -MAX_NS && ret_offset->hi < MAX_NS;
}

/* -- the path -------------------------------------------------------------------------------- */

/* What says where the clock went. */
struct guide {
	const struct evidence *hard;   /* weak */
	const struct clock_map *shape; /* weak */
	const struct stiff *stiff;     /* weak */
	int64_t offset_ns;             /* of the shape */
	bool has_shape;                /* else it is the stiff band */
};

static wide_int host_of(const struct guide *guide, uint64_t x, uint32_t *at)
{
	if (guide->has_shape)
		return ((wide_int)host_at(guide->hard, guide->shape, x, at) + guide->offset_ns)
		       << PHI_BITS;
	return reference_at(&guide->stiff->reference, x) + stiff_phi(guide->stiff, x, at);
}

/* Gives a band a middle. */
static int follow(const struct guide *guide, struct attempt *band)
{
	struct knot *knots;
	uint32_t at = 0;

	FLEXTRACE_TRY(BLOCKS_NEW(knots, band->n_knots));
	for (uint32_t i = 0; i < band->n_knots; i++) {
		uint64_t x = band->knots[i].x;
		wide_int phi = host_of(guide, x, &at) - reference_at(&band->reference, x);

		phi = phi < -PHI_UNBOUNDED ? -PHI_UNBOUNDED : phi;
		phi = phi > PHI_UNBOUNDED ? PHI_UNBOUNDED : phi;
		knots[i] = (struct knot){x, (int64_t)phi, (int64_t)phi};
	}
	band->middles = knots;
	return FLEXTRACE_OK;
}

static int choose_guide(const struct stiff *stiff, struct guide *guide, struct attempt *band)
{
	struct interval offset = {0};
	int is_found = 0;

	if (guide->shape->n_knots > 0)
		is_found = find_offset(guide->hard, guide->shape, &offset);
	FLEXTRACE_TRY(is_found);
	if (is_found && (!stiff->knots || !guide->shape->is_contradicted ||
	                 (double)(offset.hi - offset.lo) < MUCH * mean_width_ns(stiff))) {
		guide->has_shape = true;
		guide->offset_ns = offset.lo + (offset.hi - offset.lo) / 2;
	} else if (!stiff->knots || !is_bounded(stiff->knots, stiff->n)) {
		return FLEXTRACE_OK;
	}
	return follow(guide, band);
}

/* The mean slope of a map. */
static double slope_of(const struct clock_map *map)
{
	const struct map_knot *first = &map->knots[0], *last = &map->knots[map->n_knots - 1];

	if (last->ticks <= first->ticks || last->host_ns <= first->host_ns)
		return 0;
	return (double)(last->host_ns - first->host_ns) / (double)(last->ticks - first->ticks);
}

/* Makes the map anew, if there is something to follow. */
static int refit(const struct evidence *hard, const struct prior *prior, struct guide *guide,
                 struct attempt *band, struct clock_map *map)
{
	struct clock_map before = *map;
	struct stiff stiff;
	double slope = slope_of(map);
	int code = FLEXTRACE_OK;

	if (slope < MIN_SLOPE || slope > MAX_SLOPE)
		return FLEXTRACE_OK;
	code = stiff_fit(hard, slope, prior->rho, &stiff);
	guide->stiff = &stiff; /* cppcheck-suppress autoVariables; until the end of this */
	if (code >= 0)
		code = choose_guide(&stiff, guide, band);
	guide->stiff = NULL;
	stiff_release(&stiff);
	if (code < 0 || !band->middles)
		return code;
	blocks_free(map->knots);
	code = fit_map(band, hard, prior, map);
	map->is_after_gap = before.is_after_gap;
	map->quality.is_assumed |= before.quality.is_assumed;
	return code;
}

int guide_fit(struct evidence *hard, const struct prior *prior, const struct clock_map *shape,
              struct clock_map *map)
{
	struct guide guide = {.hard = hard, .shape = shape};
	struct attempt band;
	int code = fit_band(hard, prior, &band);

	if (code >= 0 && band.n_knots > 0 && !band.middles && band.reference.n_eras <= 1)
		code = refit(hard, prior, &guide, &band, map);
	fit_release(&band);
	return code;
}
