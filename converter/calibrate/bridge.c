/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one mean rate leaves. The band of band.c lets the rate be anywhere between two limits at
 * any place. But if it stays within rho of one mean, whatever that is, then its mean over one
 * stretch and its mean over another differ by no more than `spread`, which is 2 rho of the rate.
 *
 * Take a place x between two others, at distances d and e from them. Host time at x is off the
 * chord between those two by d e / (d + e) times the difference of the mean slopes on both sides
 * of x. So, with upper bounds u and v at the two,
 *
 *   host time at x  <=  (e u + d v) / (d + e)  +  spread d e / (d + e)
 *
 * whatever the mean rate is; and likewise from below. All pairs of places around x say so. The
 * least of them is what the union of the bands of all mean rates has there, as far as the limits
 * of the mean do not bind, and for these band.c stands.
 *
 * The right side is the height at x of the chord between two points of which the left one is
 * raised by spread / 2 for each tick from x, and the right one as well. So the least is where the
 * common tangent of two lower hulls passes x: that of the points on the left, which lean to one
 * side, and of those on the right, which lean to the other. Any pair bounds; where the search ends
 * too soon the bound is only wider.
 *
 * Most constraints follow from others and are left out before: of a closed band only those places
 * matter where a bound is not what its neighbours leave. Between two such the upper border is
 * concave and the lower one convex, so a straight line from border to border keeps all that is
 * left out.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"

#define NONE      UINT32_MAX
#define MAX_MOVES 256
#define CALM      3 /* places beside an edge that are all kept */
#define MAX_LOOK  64

double piece_spread(const struct piece *piece, double rho)
{
	double rise = ldexp((double)piece->rise, -WANDER_BITS);
	double fall = ldexp((double)piece->fall, -WANDER_BITS);
	double most = ldexp((double)piece->slope, -SLOPE_BITS) + rise;

	if (piece->is_bridge)
		return rise + fall;
	return fmin(rise + fall, most * (2 * rho / (1 + rho)));
}

/* -- which knots matter ---------------------------------------------------------------------- */

/* A knot and its two neighbours, as they were before any was left out. */
struct triple {
	struct knot left, at, right;
	struct step before, behind; /* from the left one, to the right one */
};

static bool binds(const struct triple *triple)
{
	const struct knot *left = &triple->left, *at = &triple->at, *right = &triple->right;

	return (at->hi < PHI_UNBOUNDED && at->hi < left->hi + triple->before.rise &&
	        at->hi < right->hi + triple->behind.fall) ||
	       (at->lo > -PHI_UNBOUNDED && at->lo > left->lo - triple->before.fall &&
	        at->lo > right->lo - triple->behind.rise);
}

/* Whether what lies between a knot and the next one has to be told by these two: the reference
 * bends there, or no one rate is known, or it is in doubt. */
static bool is_edge(const struct attempt *band, struct walk *walk, uint64_t from, uint64_t to,
                    uint32_t *stretch)
{
	const struct piece *piece = walk_to(walk, from);

	return piece->is_bridge || walk_to(walk, to) != piece ||
	       (band->doubts.n > 0 && doubts_meet(&band->doubts, from, to, stretch));
}

/* Whether one era alone explains a knot and the next few places: bounds of others end there. */
static bool is_calm(const struct attempt *band, uint32_t at, uint32_t *era)
{
	const struct era *eras = band->reference.eras;
	uint32_t places = 0, to = at;

	if (band->reference.n_eras <= 1)
		return true;
	while (*era + 1 < band->reference.n_eras && eras[*era].core_to <= band->knots[at].x)
		++*era;
	while (places < CALM && to - at < MAX_LOOK && to + 1 < band->n_knots) {
		to++;
		places += band->knots[to].x != band->knots[to - 1].x;
	}
	return places == CALM && eras[*era].core_from <= band->knots[at].x &&
	       band->knots[to].x < eras[*era].core_to;
}

uint32_t band_thin(struct attempt *band)
{
	struct knot *knots = band->knots;
	struct walk walk = {.reference = &band->reference};
	struct triple triple = {.at = knots[0]};
	uint32_t n = 1, stretch = 0, exact = 0, era = 0, since_edge = CALM;
	uint32_t margin = band->reference.n_eras > 1 ? CALM : 1;
	bool is_first = true;

	for (uint32_t i = 1; i < band->n_knots; i++) {
		bool edge, was_near = since_edge < margin;

		if (knots[i].x == triple.at.x)
			continue;
		triple.right = knots[i];
		edge = is_edge(band, &walk, triple.at.x, triple.right.x, &stretch) ||
		       doubts_meet(&band->exact, triple.at.x, triple.right.x + 1, &exact) ||
		       !is_calm(band, i, &era);
		triple.behind = band_step(&walk, triple.at.x, triple.right.x);
		if (!is_first && (edge || was_near || binds(&triple)))
			knots[n++] = triple.at;
		triple.left = triple.at;
		triple.before = triple.behind;
		triple.at = triple.right;
		since_edge = edge ? 0 : since_edge + 1;
		is_first = false;
	}
	if (!is_first)
		knots[n++] = triple.at;
	band->n_knots = n;
	return n;
}

/* -- bridges --------------------------------------------------------------------------------- */

/* An upper bound, and the next on the hull of those on each side. Lower ones stand negated. */
struct post {
	double x, u; /* ticks and phi from the run's first knot */
	uint32_t left, right;
};

/* Knots of one mean rate, with nothing in doubt between them. */
struct run {
	const struct knot *knots;                /* weak */
	const struct piece *pieces, *last_piece; /* weak: of the first knot, and of the last */
	struct post *posts;                      /* owned by the caller */
	uint32_t n;
	double spread; /* phi per tick */
};

static double height(const struct run *run, uint32_t left, uint32_t right, double x)
{
	const struct post *a = &run->posts[left], *b = &run->posts[right];
	double share = (x - a->x) / (b->x - a->x);

	return a->u + (b->u - a->u) * share + run->spread * (x - a->x) * (1 - share);
}

/* Whether b is not below the chord from a to c, when all lean by `lean`. */
static bool is_above(const struct post *a, const struct post *b, const struct post *c, double lean)
{
	double ux = b->x - a->x, vx = c->x - a->x;

	return (b->u - a->u + lean * ux) * vx >= (c->u - a->u + lean * vx) * ux;
}

static void make_hulls(const struct run *run)
{
	struct post *posts = run->posts;

	for (uint32_t i = 0; i < run->n; i++) {
		uint32_t at = i ? i - 1 : NONE;

		while (at != NONE && posts[at].left != NONE &&
		       is_above(&posts[posts[at].left], &posts[at], &posts[i], -run->spread / 2))
			at = posts[at].left;
		posts[i].left = at;
	}
	for (uint32_t i = run->n; i-- > 0;) {
		uint32_t at = i + 1 < run->n ? i + 1 : NONE;

		while (at != NONE && posts[at].right != NONE &&
		       is_above(&posts[i], &posts[at], &posts[posts[at].right], run->spread / 2))
			at = posts[at].right;
		posts[i].right = at;
	}
}

/* The least that any pair of others found leaves at one post. */
static double bridge(const struct run *run, uint32_t at)
{
	uint32_t left = at - 1, right = at + 1;
	double x = run->posts[at].x, best = height(run, left, right, x);

	for (uint32_t moves = 0; moves < MAX_MOVES;) {
		uint32_t before = moves, next = run->posts[left].left;

		if (next != NONE && height(run, next, right, x) < best) {
			best = height(run, next, right, x);
			left = next;
			moves++;
		}
		next = run->posts[right].right;
		if (next != NONE && height(run, left, next, x) < best) {
			best = height(run, left, next, x);
			right = next;
			moves++;
		}
		if (moves == before)
			break;
	}
	return best;
}

/* Puts one side's bounds beside the line of the run's first piece. */
static void make_posts(const struct run *run, bool is_upper)
{
	const struct piece *first = run->pieces, *piece = first;
	int64_t origin = is_upper ? run->knots[0].hi : run->knots[0].lo;

	for (uint32_t i = 0; i < run->n; i++) {
		const struct knot *knot = &run->knots[i];
		double u = (double)((is_upper ? knot->hi : knot->lo) - origin);

		while (piece < run->last_piece && piece[1].x <= knot->x)
			piece++;
		if (piece != first)
			u += (double)(piece_value(piece, knot->x) - piece_value(first, knot->x));
		run->posts[i].x = (double)(knot->x - run->knots[0].x);
		run->posts[i].u = is_upper ? u : -u;
	}
}

/* Stores the bounds that are left of one side, rounded away. */
static void bridge_side(const struct run *run, bool is_upper, int64_t *bounds)
{
	make_posts(run, is_upper);
	make_hulls(run);
	for (uint32_t i = 0; i < run->n; i++) {
		bounds[i] = is_upper ? run->knots[i].hi : run->knots[i].lo;
		if (i > 0 && i + 1 < run->n) {
			double gain = run->posts[i].u - bridge(run, i);

			gain -= 2 + fabs(run->posts[i].u) * 1e-12;
			if (gain > 0)
				bounds[i] += is_upper ? -(int64_t)gain : (int64_t)gain;
		}
	}
}

/* One mean rate cannot explain everything where bounds would cross: then nothing is gained. */
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
	struct post *posts = malloc(band->n_knots * sizeof(*posts));
	int64_t *bounds = malloc(2 * (size_t)band->n_knots * sizeof(*bounds));
	uint32_t stretch = 0, end;

	for (uint32_t from = 0; posts && bounds && from < band->n_knots; from = end) {
		struct knot *knots = &band->knots[from];
		const struct piece *piece = reference_piece(&band->reference, knots->x);
		struct run run = {knots, piece, piece, posts, 0, 0};

		end = end_of_run(band, from, &run, &stretch);
		run.n = end - from;
		run.spread = spread_of(band, &run);
		if (run.n < 3 || knots->lo == -PHI_UNBOUNDED || knots->hi == PHI_UNBOUNDED)
			continue;
		bridge_side(&run, false, bounds);
		bridge_side(&run, true, bounds + run.n);
		take(knots, bounds, bounds + run.n, run.n);
	}
	free(bounds);
	free(posts);
	if (!posts || !bounds)
		return FLEXTRACE_E_MEMORY;
	band_close(band->knots, band->n_knots, &band->reference);
	return FLEXTRACE_OK;
}
