/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path inside the band. The likeliest path may leave the band, so it is held inside, and it
 * goes up and down no more than the band's limits allow. Both borders obey these limits themselves,
 * so there is always a way on.
 *
 * The bound of a time is the distance from the path to the farther border, so each step off the
 * middle widens it. Where the band is narrow, the path stays near the middle, because little can be
 * gained. Where the band is wide, one side of the brackets there is loose, and the path follows the
 * likely clock, except for the last bit of the way, which would gain hardly anything. The threshold
 * of "narrow" is chosen so that the median of all bounds, and the bounds right beside the median,
 * stay what they were without the rule of one mean rate. Only places of operations count in that
 * median; reads of the counter, which are narrow, do not.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/calibrate/room.h"
#include "base/select_kth.h"
#include "engine/calibrate/step.h"

#define WORTH    0.035 /* how much wider a bound becomes for a better estimate */
#define NEAR     0.2   /* of the half-width of narrow places: near enough */
#define HALVINGS 9
#define STEEP    2   /* how much farther the path may go in a band that is wider */
#define FEW      64u /* places */
#define N_PARTS  4u

/* Percent of all bounds, about the median, which is chance where half of them are wide. The last
 * one counts where there are few. */
static const uint32_t parts[N_PARTS] = {48, 50, 52, 75};

struct limits {
	double least_us;  /* half-width of the narrow tenth of the band */
	double median_us; /* of all of it */
	double usual_us;  /* width: see room_half() */
	double free_us;   /* the path may go as far as a half-width is beyond that */
	double worth;     /* how much wider a bound may become besides */
};

/* How far the path should be off the middle at a knot, as far as that is worth its cost. In us. */
struct wish {
	double half; /* of the band */
	double off;
};

/* A place in the band, between two knots that are left of it. Half-widths in us. */
struct place {
	uint32_t left, right; /* knots */
	double share;         /* how far it is on the way to the right one */
	double half;
	struct wish at_left, at_right;
};

/* What is being followed. */
struct follower {
	struct attempt *band; /* weak */
	const double *path;   /* weak: us */
	struct place places[N_WIDTHS];
	uint32_t n_places;
	struct limits limits;
	bool bends; /* see reference_bends() */
};

static double half_us(const struct knot *knot)
{
	return phi_us(knot->hi - knot->lo) / 2;
}

/* Whether both bounds of a read of the counter, or of an operation of one stamp, meet there. */
static bool is_read(const struct attempt *band, uint32_t at)
{
	const struct knot *knot = &band->knots[at];

	return (at > 0 && knot[-1].x == knot->x) ||
	       (at + 1 < band->n_knots && knot[1].x == knot->x);
}

void widths_sample(struct widths *widths, const struct attempt *band)
{
	uint32_t stride = band->n_knots / N_WIDTHS + 1, end;

	widths->n = 0;
	for (uint32_t from = 0; from < band->n_knots; from = end) {
		uint32_t at = from;

		end = band->n_knots - from > stride ? from + stride : band->n_knots;
		while (at < end && band->has_reads && is_read(band, at))
			at++;
		if (at < end)
			widths->knots[widths->n++] = band->knots[at];
	}
	if (widths->n > 0)
		return;
	for (uint32_t i = 0; i < band->n_knots; i += stride)
		widths->knots[widths->n++] = band->knots[i];
}

/* -- how far it may go ----------------------------------------------------------------------- */

/* Of two numbers, and no NaN: without calls. */
static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double positive(double value)
{
	return value > 0 ? value : 0;
}

static struct wish wish_at(const struct follower *follower, uint32_t at)
{
	const struct knot *knot = &follower->band->knots[at];
	const struct limits *limits = &follower->limits;
	double half = half_us(knot), beyond = positive(half - limits->median_us);
	double off = follower->path[at] - phi_us(knot->lo) / 2 - phi_us(knot->hi) / 2;
	double near = lesser(beyond / 2, NEAR * limits->least_us);

	return (struct wish){half, copysign(positive(fabs(off) - near), off)};
}

/* How far it is worth to go. */
static inline double worth(const struct follower *follower, const struct wish *wish)
{
	const struct limits *limits = &follower->limits;
	double most = limits->worth * wish->half + STEEP * positive(wish->half - limits->free_us);

	return lesser(most, fabs(wish->off));
}

/* The least half-width of a knot, which is that around its middle: see room_half(). */
static double least_half(const struct follower *follower, uint32_t at)
{
	double half = half_us(&follower->band->knots[at]);

	return half + positive(follower->limits.usual_us - 2 * half);
}

/* `at` is the last knot at `x` or in front of it. */
static struct place place_at(const struct follower *follower, struct walk *walk, uint32_t at,
                             uint64_t x)
{
	const struct attempt *band = follower->band;
	const struct knot *knot = &band->knots[at];
	struct place place = {.left = at, .right = at + (at + 1 < band->n_knots)};
	double left = least_half(follower, at), right = least_half(follower, place.right);
	double far = (double)(x - knot->x);

	if (place.right > at)
		place.share = far / (double)(knot[1].x - knot->x);
	place.half = left + (right - left) * place.share +
	             piece_spread(walk_to(walk, x), band->rho) * far * (1 - place.share) * 1e-3;
	return place;
}

/* The half-width at a place, if the path goes as far as is worth it. */
static double half_at(const struct follower *follower, const struct place *at)
{
	double left = worth(follower, &at->at_left), right = worth(follower, &at->at_right);

	return at->half + left + (right - left) * at->share;
}

/* The place in order of the width that `part` percent of some are narrower than. */
static uint32_t rank_of(uint32_t n, uint32_t part)
{
	return (uint32_t)((uint64_t)n * part / 100);
}

/* Whether no more bounds than were are wider than each of some widths. */
static bool is_narrow(const struct follower *follower, const double most[N_PARTS])
{
	uint32_t n_narrow[N_PARTS] = {0}, n_parts = N_PARTS - (follower->n_places >= FEW);

	for (uint32_t i = 0; i < follower->n_places; i++) {
		double half = half_at(follower, &follower->places[i]);

		for (uint32_t j = 0; j < n_parts; j++)
			n_narrow[j] += half <= most[j];
	}
	for (uint32_t j = 0; j < n_parts; j++) {
		if (n_narrow[j] <= rank_of(follower->n_places, parts[j]))
			return false;
	}
	return true;
}

/* Takes a limit as far from `safe` to `best` as leaves so many narrow. */
static void seek(struct follower *follower, const double most_us[N_PARTS], double *limit,
                 double best, double safe)
{
	for (int i = 0; i < HALVINGS; i++) {
		*limit = (best + safe) / 2;
		if (is_narrow(follower, most_us))
			safe = *limit;
		else
			best = *limit;
	}
	*limit = safe;
}

static void find_limits(struct follower *follower, const struct widths *widths)
{
	const struct attempt *band = follower->band;
	double wide[N_WIDTHS], narrow[N_WIDTHS], most_us[N_PARTS];
	struct limits *limits = &follower->limits;
	struct walk walk = {.reference = &band->reference};
	uint32_t at = 0;

	for (uint32_t i = 0; i < widths->n; i++) {
		uint64_t x = widths->knots[i].x;

		while (at + 1 < band->n_knots && band->knots[at + 1].x <= x)
			at++;
		follower->places[i] = place_at(follower, &walk, at, x);
		wide[i] = half_us(&widths->knots[i]);
		narrow[i] = follower->places[i].half;
	}
	follower->n_places = widths->n;
	limits->median_us = select_kth(narrow, widths->n, widths->n / 2);
	limits->least_us = select_kth(narrow, widths->n, widths->n / 10);
	for (uint32_t i = 0; i < widths->n; i++) {
		follower->places[i].at_left = wish_at(follower, follower->places[i].left);
		follower->places[i].at_right = wish_at(follower, follower->places[i].right);
	}
	for (uint32_t i = 0; i < N_PARTS; i++)
		most_us[i] = (1 + WORTH) *
		             select_kth(wide, widths->n, rank_of(widths->n, parts[i]));
	limits->worth = WORTH;
	seek(follower, most_us, &limits->free_us, 0, 2 * limits->median_us);
	if (!is_narrow(follower, most_us))
		seek(follower, most_us, &limits->worth, WORTH, 0);
}

/* -- going ----------------------------------------------------------------------------------- */

/* Where the path should go at a knot, whatever came before. */
static int64_t aim(const struct follower *follower, const struct piece *piece, uint32_t at)
{
	const struct knot *knot = &follower->band->knots[at];
	struct wish wish = wish_at(follower, at);
	double off = copysign(worth(follower, &wish), wish.off);

	if (piece->is_bridge && follower->bends) /* the rate does not walk here, it steps */
		off = 0;
	return knot->lo / 2 + knot->hi / 2 + (int64_t)(off * 1e3 * (1 << PHI_BITS));
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

int band_follow(struct attempt *band, const struct widths *widths, const double *path)
{
	struct follower follower = {.band = band, .path = path};
	const struct knot *strict = band->strict, *strict_end = strict + band->n_strict;
	struct walk walk = {.reference = &band->reference};
	int64_t before = 0, usual;
	uint64_t x = 0;

	FLEXTRACE_TRY(band_usual_room(band->knots, band->n_knots, band->bracket_room, &usual));
	usual = usual > band->shares_room ? usual : band->shares_room;
	follower.limits.usual_us = phi_us(usual);
	follower.bends = reference_bends(&band->reference, band->rho);
	find_limits(&follower, widths);
	for (uint32_t i = 0; i < band->n_knots; i++) {
		struct knot *knot = &band->knots[i];
		int64_t at = aim(&follower, walk_to(&walk, knot->x), i), half;

		if (i > 0) {
			struct step step = band_step(&walk, x, knot->x);

			at = clamp(at, before - step.fall, before + step.rise);
		}
		while (strict < strict_end && strict->x < knot->x)
			strict++;
		if (strict < strict_end)
			at = clamp(at, strict->lo, strict->hi);
		at = clamp(at, knot->lo, knot->hi);
		half = room_half(knot, at, usual);
		knot->lo = at - half;
		knot->hi = at + half;
		before = at;
		x = knot->x;
	}
	return FLEXTRACE_OK;
}
