/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where no rate explains all evidence, or it leaves less room than it usually does, a clock left
 * its rate: it jumped, or was slewed. Then the run is cut into as few stretches as will do,
 * once from
 * its begin and once from its end, and what was before a break is never joined with the rest.
 *
 * A stretch of few spots that its neighbours can do without was a lie.
 */
#include <math.h>
#include <string.h>

#include "proof.h"

#define MAX_LIE 3u  /* spots */
#define TIGHT   1.5 /* times the usual width */

/* -- stretches --------------------------------------------------------------------------------- */

static bool holds(struct proof *proof, uint32_t anchor, int64_t end)
{
	struct stretch stretch;
	uint32_t other = (uint32_t)end;

	return stretch_prove(proof, anchor < other ? anchor : other,
	                     anchor < other ? other : anchor, &stretch);
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

/* Cuts from the begin and from the end, as seldom as will do, so equally often. A break is behind
 * the last spot that those behind it reach, and before the first one that those before it do not.
 * Marks what is between; false: there are too many. */
static bool find_breaks(struct proof *proof)
{
	uint32_t n = proof->spots.n, before[MAX_STRETCHES], n_cuts = 0;

	memset(proof->is_broken, 0, sizeof(proof->is_broken));
	for (uint32_t at = reach(proof, 0, 1); at + 1 < n; at = reach(proof, at + 1, 1)) {
		if (n_cuts == MAX_STRETCHES)
			return false;
		before[n_cuts++] = at + 1;
	}
	for (uint32_t at = reach(proof, n - 1, -1); at > 0; at = reach(proof, at - 1, -1)) {
		if (n_cuts-- == 0)
			return false;
		for (uint32_t i = at - 1; i < before[n_cuts]; i++)
			proof->is_broken[i] = true;
	}
	return n_cuts == 0;
}

/* Makes stretches of what breaks leave. */
static bool cut(struct proof *proof)
{
	uint32_t n = proof->spots.n, to;

	proof->n_stretches = 0;
	if (!find_breaks(proof))
		return false;
	for (uint32_t from = 0; from < n; from = to + 1) {
		for (to = from; to + 1 < n && !proof->is_broken[to];)
			to++;
		if (from == to)
			continue; /* next to others over breaks on either side */
		if (proof->n_stretches == MAX_STRETCHES ||
		    !stretch_prove(proof, from, to, &proof->stretches[proof->n_stretches]))
			return false;
		proof->n_stretches++;
	}
	return proof->n_stretches > 0;
}

/* -- lies -------------------------------------------------------------------------------------- */

static bool is_explained(struct proof *proof, const struct stretch *left,
                         const struct stretch *right)
{
	struct stretch both;

	return stretch_prove(proof, left->from, right->to, &both);
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
	for (uint32_t i = 1; i < proof->n_stretches; i++) {
		const struct stretch *right = &proof->stretches[i], *left = right - 1;

		if (right->from - left->to - 1 <= MAX_LIE && right->from > left->to + 1 &&
		    forget(proof, left, right)) {
			proof->has_lies = true;
			return true;
		}
	}
	return false;
}

/* -- guards ------------------------------------------------------------------------------------ */

/* How wide most of a stretch is. */
static double usual_width(const struct proof *proof, const struct stretch *stretch)
{
	double widths[MAX_SPOTS];
	uint32_t n = 0;

	for (uint32_t i = stretch->from; i <= stretch->to; i++)
		widths[n++] = proof->spots.all[i].tight_hi - proof->spots.all[i].tight_lo;
	return stats_quantile(widths, n, 0.5);
}

/* A clock that leaves its rate is seen only where its bounds are tight. So the last of either side
 * that fit a stretch may be of a clock that has left it already: goes from an end towards the other
 * one until there was one of either. */
static uint32_t guard(const struct proof *proof, uint32_t at, uint32_t other, double width)
{
	bool has_lo = false, has_hi = false;
	int direction = other > at ? 1 : -1;

	for (; at != other; at = (uint32_t)((int64_t)at + direction)) {
		const struct spot *spot = &proof->spots.all[at];

		has_lo = has_lo || spot->lo >= spot->tight_hi - TIGHT * width;
		has_hi = has_hi || spot->hi <= spot->tight_lo + TIGHT * width;
		if (has_lo && has_hi)
			return at;
	}
	return at;
}

/* Keeps off the ends that are next to breaks. Of what is left, a stretch that is too short to say
 * what its rate is, or whether it has one, is none. */
static void guard_ends(struct proof *proof)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		struct stretch *stretch = &proof->stretches[i];
		uint32_t from = stretch->from, to = stretch->to;
		double width;

		spots_tighten(&proof->spots, from, to, stretch_least(proof, stretch),
		              stretch_most(proof, stretch));
		width = usual_width(proof, stretch);
		if (from > 0)
			from = guard(proof, from, stretch->to, width);
		if (to + 1 < proof->spots.n)
			to = guard(proof, to, stretch->from, width);
		if (from < to && (!proof->is_proven || to - from >= proof->spots.n_least) &&
		    stretch_prove(proof, from, to, &proof->stretches[n]))
			n++;
	}
	proof->n_stretches = n;
}

/* -- the sentence ------------------------------------------------------------------------------ */

bool proof_cut(struct proof *proof)
{
	struct stretch all;

	do {
		if (!cut(proof))
			return false;
	} while (forget_lies(proof));
	proof->is_proven = !stretch_find_rates(proof, 0, proof->spots.n - 1, &all);
	guard_ends(proof);
	return proof->n_stretches > 0;
}
