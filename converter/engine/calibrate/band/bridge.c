/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds that follow from one mean rate. The band of band.c lets the rate be anywhere between two
 * limits at any place. But if the rate stays within rho of one mean, its means over any two
 * stretches differ by no more than `spread`, which is 2 rho of the rate, whatever the mean is.
 *
 * Take a place x between two others, at distances d and e from them. Host time at x is off the
 * chord between those two by d e / (d + e) times the difference of the mean slopes on both sides of
 * x. So, with upper bounds u and v at the two,
 *
 *   host time at x  <=  (e u + d v) / (d + e)  +  spread d e / (d + e)
 *
 * whatever the mean rate is; and likewise from below. Each pair of places around x gives such a
 * bound. The least of them is the bound of the union of the bands of all mean rates, as long as the
 * limits of the mean itself do not matter; band.c applies those. posts.c finds the least bound.
 *
 * Most constraints follow from others and are left out before. Of a closed band only those places
 * matter where a bound is tighter than its neighbours make it. Between two such places the upper
 * border is concave and the lower one convex, so a straight line from border to border keeps all
 * that is left out. But the map is wider than the band there: it allows for spread d e / (d + e)
 * beside that line. Where the band is wide and that would be much, some places that follow from
 * others are kept. They tell nothing new, so the smoother does not measure there. Near the floors
 * none are kept: little would be gained, and a clock that breaks its promise for a moment could
 * leave the narrower bounds.
 */
#include <math.h>

#include "base/array.h"
#include "base/blocks.h"
#include "engine/calibrate/room.h"
#include "engine/posts.h"
#include "engine/calibrate/step.h"

#define CALM     3 /* places beside an edge that are all kept */
#define MAX_LOOK 64
#define FAR      0.1 /* of the half-width: what a map may be wider between two knots */
#define NARROW   2   /* twentieths of places */
#define WIDE     1.3 /* times the width of narrow places: where that is worth a knot */

double piece_spread(const struct piece *piece, double rho)
{
	double rise = wander_ns(piece->rise);
	double fall = wander_ns(piece->fall);
	double most = slope_ns(piece->slope) + rise;

	if (piece->is_bridge)
		return rise + fall;
	return fmin(rise + fall, most * (2 * rho / (1 + rho)));
}

/* -- which knots matter ---------------------------------------------------------------------- */

/* A knot and its two neighbours: no other is stored in their places yet. */
struct triple {
	const struct knot *left, *at, *right; /* weak */
	struct step before, behind;           /* from the left one, to the right one */
};

/* Without branches: which of its bounds does is not predictable. */
static inline bool binds(const struct triple *triple)
{
	const struct knot *left = triple->left, *at = triple->at, *right = triple->right;
	bool is_upper = (at->hi < PHI_UNBOUNDED) & (at->hi < left->hi + triple->before.rise) &
	                (at->hi < right->hi + triple->behind.fall);
	bool is_lower = (at->lo > -PHI_UNBOUNDED) & (at->lo > left->lo - triple->before.fall) &
	                (at->lo > right->lo - triple->behind.rise);

	return is_upper | is_lower;
}

/* Goes along the knots of a band. */
struct thinner {
	const struct attempt *band; /* weak */
	struct walk walk;
	uint32_t stretch, exact, era; /* where that is: of doubts, of exact ones, eras */
	bool has_jumps, has_stretches;
	uint64_t lean_x; /* of the piece that `lean` is of: see lean_of() */
	double lean;
};

/* Whether one era alone explains a knot and the next few places: bounds of others end there. */
static bool is_calm(struct thinner *thinner, uint32_t at)
{
	const struct attempt *band = thinner->band;
	const struct era *era = &band->reference.eras[thinner->era];
	uint32_t places = 0, to = at;

	for (; thinner->era + 1 < band->reference.n_eras && era->core_to <= band->knots[at].x;
	     thinner->era++)
		era++;
	while (places < CALM && to - at < MAX_LOOK && to + 1 < band->n_knots) {
		to++;
		places += band->knots[to].x != band->knots[to - 1].x;
	}
	return places == CALM && era->core_from <= band->knots[at].x &&
	       band->knots[to].x < era->core_to;
}

/* Whether both ends of the way to a knot have to be kept for a rare reason: doubt, a jump, or
 * evidence that was dropped. */
static bool is_odd(struct thinner *thinner, uint64_t from, uint32_t at)
{
	const struct attempt *band = thinner->band;
	uint64_t to = band->knots[at].x;

	return (band->doubts.n > 0 && doubts_meet(&band->doubts, from, to, &thinner->stretch)) ||
	       (thinner->has_jumps && !is_calm(thinner, at)) ||
	       (band->exact.n > 0 && doubts_meet(&band->exact, from, to + 1, &thinner->exact));
}

/* Whether both ends of the way to a knot have to be kept: the reference bends there, no single
 * rate is known, or one of the reasons above. */
static bool is_edge(struct thinner *thinner, uint64_t from, uint32_t at)
{
	const struct piece *piece = walk_to(&thinner->walk, from);

	return piece->is_bridge || thinner->band->knots[at].x >= thinner->walk.to ||
	       (thinner->has_stretches && is_odd(thinner, from, at));
}

/* Finds the piece that a knot is in, and returns up to where only its rate matters; 0: nowhere. */
static uint64_t end_of_plain(struct thinner *thinner, uint64_t x, struct piece *ret_piece)
{
	*ret_piece = *walk_to(&thinner->walk, x);
	if (ret_piece->is_bridge || ret_piece->is_free || thinner->has_stretches)
		return 0;
	return thinner->walk.to;
}

/* How near each other knots have to be where the band is so wide, as its width by their distance,
 * phi per tick; 0: the rate is open. Between two that are D apart a map is wider than both by up to
 * spread D / 4. */
static double lean_of(struct thinner *thinner, const struct piece *piece)
{
	double spread;

	if (piece->x == thinner->lean_x)
		return thinner->lean;
	spread = piece_spread(piece, thinner->band->rho);
	thinner->lean_x = piece->x;
	thinner->lean = ldexp(spread / (2 * FAR), PHI_BITS);
	if (piece->is_bridge || piece->is_free || spread > SLOPE_OPEN * slope_ns(piece->slope))
		thinner->lean = 0;
	return thinner->lean;
}

/* The width from which on a band is wide; without memory nothing is. */
static int64_t wide_of(const struct attempt *band)
{
	int64_t width;

	if (band->reference.n_eras > 1 ||
	    band_quantile(band->knots, band->n_knots, NARROW, &width) < 0)
		return INT64_MAX;
	return (int64_t)(WIDE * (double)width);
}

/* Notes that a knot follows from others; false: there is no memory, and bounds are wider. */
static bool keep_spare(struct attempt *band, uint32_t knot)
{
	if (ARRAY_RESERVE(band->spares, band->n_spares_allocated, band->n_spares + 1ull) < 0)
		return false;
	band->spares[band->n_spares++] = knot;
	return true;
}

uint32_t band_thin(struct attempt *band)
{
	struct knot *knots = band->knots;
	struct triple triple = {.left = knots, .at = knots};
	bool has_jumps = band->reference.n_eras > 1, is_first = true;
	struct thinner thinner = {
		.band = band,
		.walk = {.reference = &band->reference},
		.has_jumps = has_jumps,
		.has_stretches = has_jumps || band->doubts.n > 0 || band->exact.n > 0,
		.lean_x = UINT64_MAX,
	};
	uint32_t n = 1, n_knots = band->n_knots, margin = has_jumps ? CALM : 1, since_edge = CALM;
	struct piece piece = {.x = 0};
	uint64_t plain_to = 0, last_x = 0;
	int64_t wide = wide_of(band);
	double lean = 0;

	for (uint32_t i = 1; i < n_knots; i++) {
		bool edge = false, was_near = since_edge < margin;

		triple.right = &knots[i];
		if (triple.right->x == triple.at->x)
			continue;
		if (triple.right->x < plain_to) { /* as nearly always */
			triple.behind = step_of_piece(&piece, triple.right->x - triple.at->x);
		} else {
			edge = is_edge(&thinner, triple.at->x, i);
			triple.behind = band_step(&thinner.walk, triple.at->x, triple.right->x);
			plain_to = end_of_plain(&thinner, triple.right->x, &piece);
			lean = lean_of(&thinner, &piece);
		}
		if (!is_first) {
			bool is_kept = edge | was_near | binds(&triple);
			int64_t width = triple.at->hi - triple.at->lo;

			if (width > wide && !is_kept && /* seldom */
			    (double)(int64_t)(triple.at->x - last_x) * lean > (double)width)
				is_kept = keep_spare(band, n);
			knots[n] = *triple.at;
			n += is_kept;
			last_x = is_kept ? triple.at->x : last_x;
		}
		triple.left = triple.at;
		triple.before = triple.behind;
		triple.at = triple.right;
		since_edge = edge ? 0 : since_edge + 1;
		is_first = false;
	}
	if (!is_first)
		knots[n++] = *triple.at;
	band->n_knots = n;
	return n;
}

/* -- bridges --------------------------------------------------------------------------------- */

/* Knots of one mean rate, with nothing in doubt between them. */
struct run {
	const struct knot *knots;                /* weak */
	const struct piece *pieces, *last_piece; /* weak: of the first knot, and of the last */
	struct post *posts;                      /* owned by the caller */
	uint32_t n;
	double lean; /* half the spread, phi per tick */
};

/* Puts one side's bounds beside the line of the run's first piece. */
static void make_posts(const struct run *run, bool is_upper)
{
	const struct piece *first = run->pieces, *piece = first;
	int64_t origin = is_upper ? run->knots[0].hi : run->knots[0].lo;

	for (uint32_t i = 0; i < run->n; i++) {
		const struct knot *knot = &run->knots[i];
		double u = (double)((is_upper ? knot->hi : knot->lo) - origin);
		double x = (double)(knot->x - run->knots[0].x);

		while (piece < run->last_piece && piece[1].x <= knot->x)
			piece++;
		if (piece != first)
			u += (double)(piece_value(piece, knot->x) - piece_value(first, knot->x));
		u = is_upper ? u : -u;
		posts_add(run->posts, i, x, u, run->lean);
	}
}

/* Stores the bounds that are left of one side, rounded away. */
static void bridge_side(const struct run *run, bool is_upper, int64_t *bounds)
{
	make_posts(run, is_upper);
	for (uint32_t i = run->n; i-- > 0;) {
		const struct post *post = &run->posts[i];
		double gain;

		bounds[i] = is_upper ? run->knots[i].hi : run->knots[i].lo;
		gain = posts_gain(run->posts, i, run->n, run->lean);
		gain -= 2 + (fabs(post->u_left) + fabs(post->u_right)) * 1e-12;
		if (gain > 0)
			bounds[i] += is_upper ? -(int64_t)gain : (int64_t)gain;
	}
}

/* Where bounds would cross, one mean rate does not explain everything, and nothing is narrowed. */
static void take(struct knot *knots, const int64_t *lo, const int64_t *hi, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (lo[i] > hi[i])
			return;
	}
	for (uint32_t i = 0; i < n; i++) {
		knots[i].lo = lo[i];
		knots[i].hi = hi[i];
	}
}

/*
 * A rate that wanders within rho of its mean can leave no straight line: then the reference follows
 * it in pieces, whose slopes are all within rho of that mean. Only those are joined that are nearer
 * to each other by half: what drifts further does not stay within rho.
 */
static bool is_joined(const struct attempt *band, const struct run *run, const struct piece *piece)
{
	uint64_t least = piece->slope, most = least;

	for (const struct piece *other = run->pieces; other < piece; other++) {
		if (other->is_bridge)
			return false;
		least = other->slope < least ? other->slope : least;
		most = other->slope > most ? other->slope : most;
	}
	return !piece->is_bridge && (double)(most - least) <= band->rho * (double)least;
}

static uint32_t end_of_run(const struct attempt *band, uint32_t from, struct run *run,
                           uint32_t *stretch)
{
	const struct piece *end = band->reference.pieces + band->reference.n_pieces;
	uint32_t to = from + 1;

	for (; to < band->n_knots; to++) {
		const struct knot *knot = &band->knots[to];
		const struct piece *piece = run->last_piece;

		while (piece + 1 < end && piece[1].x <= knot->x)
			piece++;
		if ((piece != run->last_piece && !is_joined(band, run, piece)) ||
		    (band->doubts.n > 0 &&
		     doubts_meet(&band->doubts, knot[-1].x, knot->x, stretch)))
			break;
		run->last_piece = piece;
	}
	return to;
}

static double spread_of(const struct attempt *band, const struct run *run)
{
	double spread = 0;

	for (const struct piece *piece = run->pieces; piece <= run->last_piece; piece++)
		spread = fmax(spread, piece_spread(piece, band->rho));
	return ldexp(spread, PHI_BITS);
}

int band_bridge(struct attempt *band)
{
	struct post *posts = blocks_allocate(band->n_knots, sizeof(*posts));
	int64_t *bounds = blocks_allocate(2ull * band->n_knots, sizeof(*bounds));
	uint32_t stretch = 0, end;

	for (uint32_t from = 0; posts && bounds && from < band->n_knots; from = end) {
		struct knot *knots = &band->knots[from];
		const struct piece *piece = reference_piece(&band->reference, knots->x);
		struct run run = {knots, piece, piece, posts, 0, 0};

		end = end_of_run(band, from, &run, &stretch);
		run.n = end - from;
		run.lean = spread_of(band, &run) / 2;
		if (run.n < 3 || knots->lo == -PHI_UNBOUNDED || knots->hi == PHI_UNBOUNDED)
			continue;
		bridge_side(&run, false, bounds);
		bridge_side(&run, true, bounds + run.n);
		take(knots, bounds, bounds + run.n, run.n);
	}
	blocks_free(bounds);
	blocks_free(posts);
	if (!posts || !bounds)
		return FLEXTRACE_E_MEMORY;
	band_close(band->knots, band->n_knots, &band->reference);
	return FLEXTRACE_OK;
}
