/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What enters and exits prove of how fast a clock runs. Nothing that is only likely may enter: that
 * ranks leave together, or take as long each time, is no fact.
 *
 * The promise: the rate of a host clock against the root's stays within rho of its mean over the
 * run. So it lies within rho of the slope between the first and the last knot; their bounds give an
 * interval of slopes, which makes the bounds tighter, and so on. Every step of that is sound, so it
 * may be stopped at any.
 *
 * Where no rate explains all evidence, the promise was broken: by a step of the rate or of the
 * time. Then the run is cut into as few stretches as will do, once from its begin and once from its
 * end. A step is behind the last evidence that contradicts what comes after, and before the first
 * that contradicts what was before. There, both rates are allowed; if that explains no more, the
 * clock jumped: nothing is joined over such a break, and nothing within is believed.
 *
 * The promise holds for each stretch by itself then. A stretch of few parts that its neighbours can
 * do without was a lie.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"

#define MAX_STRETCHES 32u
#define MAX_LIE       3u /* spots */
#define MAX_ROUNDS    8
#define MAX_SLICES    16
#define SLICE         0.25 /* of rho */
#define MANY_SPOTS    64u
#define SQUEEZED      0.3  /* of what either side leaves; honest clocks keep 0.35 and more */
#define THIN          0.07 /* of the usual width: how much a clock may wander between two spots */
#define TIGHT         1.5  /* times the usual width */
#define N_GUARDS      1
#define ENOUGH        0.97 /* an interval that shrinks by less is not made shorter */

struct stretch { /* spots [from, to] of one rate */
	uint32_t from, to;
	double least, most; /* its mean rate */
	bool is_joined;     /* to the one before: by a step of the rate, not a break */
};

struct proof {
	struct mesh *mesh;
	uint32_t clock;
	double rho, fastest;
	struct spots spots;
	struct stretch stretches[MAX_STRETCHES];
	uint32_t n_stretches;
	bool has_lies;
};

/* -- rates ------------------------------------------------------------------------------------- */

/* Leaves those of a stretch's mean rates that explain all of it; false: none does. */
static bool sift(struct proof *proof, struct stretch *stretch)
{
	double least = stretch->least, width = stretch->most - least, first = INFINITY, last = 0;
	int n = (int)fmin(MAX_SLICES, ceil(width / (SLICE * proof->rho)));

	for (int i = 0; i < n; i++) {
		double from = least + width * i / n, to = least + width * (i + 1) / n;

		if (!spots_take_rate(&proof->spots, stretch->from, stretch->to, from, to,
		                     proof->rho))
			continue;
		first = fmin(first, from);
		last = to;
	}
	stretch->least = first;
	stretch->most = last;
	return isfinite(first);
}

static int compare_widths(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* How wide most of a stretch is. */
static double usual_width(const struct proof *proof, const struct stretch *stretch)
{
	double widths[MAX_SPOTS];
	uint32_t n = 0;

	for (uint32_t i = stretch->from; i <= stretch->to; i++)
		widths[n++] = proof->spots.all[i].tight_hi - proof->spots.all[i].tight_lo;
	/* cppcheck-suppress uninitvar; a stretch has at least one */
	qsort(widths, n, sizeof(*widths), compare_widths);
	return widths[n / 2];
}

/* Whether what is before some spot and what is behind it agree on little of what either allows: who
 * tells of the end later than at once leaves more, so that a clock has jumped by nearly as much as
 * can be seen. Evidence that is thin agrees on little by chance. */
static bool is_squeezed(struct proof *proof, const struct stretch *stretch)
{
	const struct spot *first = &proof->spots.all[stretch->from];
	const struct spot *last = &proof->spots.all[stretch->to];
	double most = stretch->most + proof->rho, least = stretch->least - proof->rho;
	uint32_t n = stretch->to - stretch->from;
	double narrowest;

	if (n < MANY_SPOTS)
		return false;
	narrowest = spots_squeeze(&proof->spots, stretch->from, stretch->to, least, most);
	if (!(narrowest < SQUEEZED))
		return false;
	spots_tighten(&proof->spots, stretch->from, stretch->to, least, most);
	return (last->x - first->x) / n * (most - least) < THIN * usual_width(proof, stretch);
}

/* Finds the mean rates that a stretch may have; false: none. */
static bool prove(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret)
{
	const struct spot *first = &proof->spots.all[from], *last = &proof->spots.all[to];
	double fastest = proof->fastest, length = last->x - first->x;

	*ret = (struct stretch){from, to, -fastest, fastest, true};
	for (int round = 0; round < MAX_ROUNDS; round++) {
		double before = ret->most - ret->least;

		if (!spots_tighten(&proof->spots, from, to, fmax(ret->least - proof->rho, -fastest),
		                   fmin(ret->most + proof->rho, fastest)))
			return false;
		if (length <= 0)
			return true;
		ret->least = fmax(ret->least,
		                  (last->tight_lo - first->tight_hi - ROUNDING_NS) / length);
		ret->most = fmin(ret->most,
		                 (last->tight_hi - first->tight_lo + ROUNDING_NS) / length);
		if (ret->most < ret->least)
			return false;
		if (ret->most - ret->least > ENOUGH * before)
			break;
	}
	return sift(proof, ret) && !is_squeezed(proof, ret);
}

/* -- stretches --------------------------------------------------------------------------------- */

static bool holds(struct proof *proof, uint32_t anchor, int64_t end)
{
	struct stretch stretch;
	uint32_t other = (uint32_t)end;

	return prove(proof, anchor < other ? anchor : other, anchor < other ? other : anchor,
	             &stretch);
}

/* The farthest spot in a direction that one rate reaches. */
static uint32_t reach(struct proof *proof, uint32_t anchor, int direction)
{
	int64_t last = direction > 0 ? (int64_t)proof->spots.n - 1 : 0;
	int64_t good = anchor, step = 1, bad;

	if (holds(proof, anchor, last))
		return (uint32_t)last;
	bad = last;
	while ((bad - good) * direction > step && holds(proof, anchor, good + direction * step)) {
		good += direction * step;
		step *= 2;
	}
	if ((bad - good) * direction > step)
		bad = good + direction * step;
	while ((bad - good) * direction > 1) {
		int64_t middle = good + (bad - good) / 2;

		if (holds(proof, anchor, middle))
			good = middle;
		else
			bad = middle;
	}
	return (uint32_t)good;
}

/* Cuts from the begin and from the end; what both agree on is the stretches. False: they do not
 * agree, or there are too many. */
static bool cut(struct proof *proof)
{
	uint32_t ends[MAX_STRETCHES], begins[MAX_STRETCHES], n = 0, n_back = 0;

	for (uint32_t at = 0; at < proof->spots.n; at = ends[n++] + 1) {
		if (n == MAX_STRETCHES)
			return false;
		ends[n] = reach(proof, at, 1);
	}
	for (uint32_t at = proof->spots.n; at > 0; at = begins[n_back++]) {
		if (n_back == MAX_STRETCHES)
			return false;
		begins[n_back] = reach(proof, at - 1, -1);
	}
	if (n != n_back)
		return false;
	proof->n_stretches = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = i > 0 ? ends[i - 1] + 1 : 0;
		uint32_t to = i + 1 < n ? begins[n - 2 - i] - 1 : proof->spots.n - 1;

		if (from > to || !prove(proof, from, to, &proof->stretches[proof->n_stretches]))
			return false;
		proof->n_stretches++;
	}
	return true;
}

/* Whether bounds from before and from behind leave more than a clock that jumped would. */
static bool do_agree(double lo, double hi, const struct spot *spot)
{
	double both = fmin(hi, spot->tight_hi) - fmax(lo, spot->tight_lo);
	double either = fmin(hi - lo, spot->tight_hi - spot->tight_lo);

	return both > -ROUNDING_NS && (!isfinite(either) || both >= SQUEEZED * either);
}

/* Whether rates that either of two stretches may have explain both and what is between. */
static bool is_step(struct proof *proof, const struct stretch *left, const struct stretch *right)
{
	double least = fmax(fmin(left->least, right->least) - proof->rho, -proof->fastest);
	double most = fmin(fmax(left->most, right->most) + proof->rho, proof->fastest);
	struct spot *spots = proof->spots.all;
	double lo, hi;

	spots_tighten(&proof->spots, left->from, left->to, left->least - proof->rho,
	              left->most + proof->rho);
	lo = spots[left->to].tight_lo;
	hi = spots[left->to].tight_hi;
	spots_tighten(&proof->spots, right->from, right->to, right->least - proof->rho,
	              right->most + proof->rho);
	for (uint32_t i = left->to + 1; i <= right->from; i++) {
		double dx = spots[i].x - spots[i - 1].x;

		lo = fmax(lo + least * dx, i < right->from ? spots[i].lo : -INFINITY);
		hi = fmin(hi + most * dx, i < right->from ? spots[i].hi : INFINITY);
		if (lo > hi + ROUNDING_NS)
			return false;
	}
	return do_agree(lo, hi, &spots[right->from]);
}

/* -- guards ------------------------------------------------------------------------------------ */

/* A clock that leaves its rate is seen only where its bounds are tight. So the last of either side
 * that fit a stretch may be of a clock that has left it already: goes from an end towards the other
 * one until there were enough. */
static uint32_t guard(const struct proof *proof, uint32_t at, uint32_t other, double width)
{
	int n_lo = 0, n_hi = 0, direction = other > at ? 1 : -1;

	for (; at != other; at = (uint32_t)((int64_t)at + direction)) {
		const struct spot *spot = &proof->spots.all[at];

		n_lo += spot->lo >= spot->tight_hi - TIGHT * width;
		n_hi += spot->hi <= spot->tight_lo + TIGHT * width;
		if (n_lo >= N_GUARDS && n_hi >= N_GUARDS)
			return at;
	}
	return at;
}

/* Keeps off the ends that are next to others. False: nothing explains what is left. */
static bool guard_ends(struct proof *proof)
{
	for (uint32_t i = 0; i < proof->n_stretches && proof->n_stretches > 1; i++) {
		struct stretch *stretch = &proof->stretches[i];
		uint32_t from = stretch->from, to = stretch->to;
		bool was_joined;
		double width;

		spots_tighten(&proof->spots, from, to, stretch->least - proof->rho,
		              stretch->most + proof->rho);
		width = usual_width(proof, stretch);
		if (i > 0)
			from = guard(proof, from, stretch->to, width);
		if (i + 1 < proof->n_stretches)
			to = guard(proof, to, stretch->from, width);
		if (from > to)
			from = to = (from + to) / 2;
		was_joined = stretch->is_joined;
		if (!prove(proof, from, to, stretch))
			return false;
		stretch->is_joined = was_joined;
	}
	return true;
}

/* What was a break stays one. */
static void join(struct proof *proof)
{
	for (uint32_t i = 1; i < proof->n_stretches; i++) {
		struct stretch *stretch = &proof->stretches[i];

		stretch->is_joined = stretch->is_joined && is_step(proof, stretch - 1, stretch);
	}
}

/* -- lies -------------------------------------------------------------------------------------- */

static bool is_explained(struct proof *proof, const struct stretch *left,
                         const struct stretch *right)
{
	struct stretch both;

	return prove(proof, left->from, right->to, &both);
}

/* Forgets spots between two stretches if one rate explains these without them; no more than it
 * must. */
static bool forget(struct proof *proof, const struct stretch *left, const struct stretch *right)
{
	struct spot *spots = &proof->spots.all[left->to + 1], kept[MAX_LIE];
	uint32_t n = right->from - left->to - 1;
	bool is_good;

	for (uint32_t i = 0; i < n; i++) {
		kept[i] = spots[i];
		spots[i].lo = -INFINITY;
		spots[i].hi = INFINITY;
	}
	is_good = is_explained(proof, left, right);
	for (uint32_t i = 0; i < n; i++) {
		spots[i] = kept[i];
		if (!is_good || is_explained(proof, left, right))
			continue;
		spots[i].lo = -INFINITY;
		spots[i].hi = INFINITY;
		proof->mesh->knots[spots[i].knot].is_kept = false;
	}
	return is_good;
}

static bool forget_lies(struct proof *proof)
{
	for (uint32_t i = 0; i + 2 < proof->n_stretches; i++) {
		const struct stretch *left = &proof->stretches[i];

		for (uint32_t j = i + 2; j < proof->n_stretches; j++) {
			const struct stretch *right = &proof->stretches[j];

			if (right->from - left->to - 1 > MAX_LIE)
				break;
			if (forget(proof, left, right)) {
				proof->has_lies = true;
				return true;
			}
		}
	}
	return false;
}

/* -- paces ------------------------------------------------------------------------------------- */

static int64_t spot_ns(const struct proof *proof, uint32_t spot)
{
	return proof->mesh->knots[proof->spots.all[spot].knot].host_ns;
}

static void add_rates(const struct proof *proof, int64_t host_ns, double least, double most,
                      struct paces *paces)
{
	least = fmax(least - proof->rho, -proof->fastest);
	most = fmin(most + proof->rho, proof->fastest);
	paces_add(paces, host_ns, (least + most) / 2, (most - least) / 2);
}

static int make_paces(const struct proof *proof, struct paces *paces)
{
	FLEXTRACE_TRY(paces_reserve(paces, 2 * proof->n_stretches));
	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		const struct stretch *stretch = &proof->stretches[i], *left = stretch - 1;
		int64_t from_ns = spot_ns(proof, stretch->from);

		if (i > 0 && stretch->is_joined)
			add_rates(proof, spot_ns(proof, left->to),
			          fmin(left->least, stretch->least),
			          fmax(left->most, stretch->most), paces);
		else if (i > 0)
			paces_add_break(paces, spot_ns(proof, left->to) + 1, from_ns);
		add_rates(proof, from_ns, stretch->least, stretch->most, paces);
	}
	return FLEXTRACE_OK;
}

/* Nothing within a break is evidence. */
static void drop_breaks(struct proof *proof, const struct paces *paces)
{
	struct mesh *mesh = proof->mesh;
	uint32_t end = mesh->first_knot[proof->clock + 1];

	for (uint32_t i = 1; i < proof->n_stretches; i++) {
		const struct stretch *right = &proof->stretches[i], *left = right - 1;

		if (right->is_joined)
			continue;
		for (uint32_t at = proof->spots.all[left->to].knot + 1;
		     at < end && mesh->knots[at].host_ns < spot_ns(proof, right->from); at++)
			mesh->knots[at].is_kept = !paces_are_doubtful(paces,
			                                              mesh->knots[at].host_ns) &&
			                          mesh->knots[at].is_kept;
	}
}

/* Finds the stretches with rates up to a limit; false: there are none. */
static bool find_stretches(struct proof *proof, double fastest)
{
	proof->fastest = fastest;
	proof->n_stretches = 1;
	if (prove(proof, 0, proof->spots.n - 1, &proof->stretches[0]))
		return true;
	do {
		if (!cut(proof))
			return false;
		join(proof);
	} while (proof->n_stretches > 2 && forget_lies(proof));
	if (!guard_ends(proof))
		return false;
	join(proof);
	return true;
}

static bool has_break(const struct proof *proof)
{
	for (uint32_t i = 1; i < proof->n_stretches; i++) {
		if (!proof->stretches[i].is_joined)
			return true;
	}
	return false;
}

/* Whether a clock was faster than is likely of any, for certain. */
static bool is_fast(const struct proof *proof)
{
	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		if (proof->stretches[i].least > LIKELY_RATE ||
		    proof->stretches[i].most < -LIKELY_RATE)
			return true;
	}
	return false;
}

static int make_all_paces(struct proof *proof, struct proven *proven, struct paces *paces)
{
	if (proven->is_lost || (proven->is_fast && proof->n_stretches == 1)) {
		FLEXTRACE_TRY(paces_init_straight(paces, 0, 0, FREE_RATE));
		paces->paces->is_doubtful = proven->is_lost;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(make_paces(proof, paces));
	drop_breaks(proof, paces);
	return FLEXTRACE_OK;
}

static int prove_clock(struct proof *proof, double likely_rate, struct proven *ret)
{
	struct paces paces = {0};

	proof->has_lies = false;
	spots_fill(&proof->spots, proof->mesh, proof->clock, likely_rate, false);
	*ret = (struct proven){.is_lost = false};
	if (!find_stretches(proof, LIKELY_RATE) || has_break(proof)) {
		ret->is_lost = !find_stretches(proof, FREE_RATE);
		ret->is_fast = !ret->is_lost && is_fast(proof);
		ret->has_break = !ret->is_lost && has_break(proof);
	}
	ret->has_lies = proof->has_lies;
	FLEXTRACE_TRY(make_all_paces(proof, ret, &paces));
	mesh_set_paces(proof->mesh, proof->clock, &paces);
	return FLEXTRACE_OK;
}

int prove_run(struct mesh *mesh, const struct curve *curves, double rho, struct proven *proven)
{
	const struct graph *graph = mesh->graph;
	struct proof *proof = malloc(sizeof(*proof));
	int code = proof ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	if (proof)
		*proof = (struct proof){.mesh = mesh, .rho = rho};
	mesh_clear(mesh);
	for (uint32_t i = 0; i < graph->n_clocks && code >= 0; i++) {
		uint32_t clock = graph->order[i];

		if (mesh->first_knot[clock] == mesh->first_knot[clock + 1])
			continue;
		proof->clock = clock;
		code = prove_clock(proof, curves[clock].rate, &proven[clock]);
		mesh_sweep(mesh, clock);
	}
	free(proof);
	return code;
}
