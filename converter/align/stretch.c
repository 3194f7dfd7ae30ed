/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promise: the rate of a host clock against the root's stays within rho of its mean. So it lies
 * within rho of the slope between the first and the last spot of a stretch; their bounds give an
 * interval of slopes, which makes the bounds tighter, and so on. Every step of that is sound, so it
 * may be stopped at any.
 */
#include <math.h>

#include "proof.h"

#define MAX_ROUNDS 8
#define ENOUGH     0.97 /* an interval that shrinks by less is not made shorter */

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

double stretch_least(const struct proof *proof, const struct stretch *stretch)
{
	return fmax(stretch->least - proof->rho, -proof->fastest);
}

double stretch_most(const struct proof *proof, const struct stretch *stretch)
{
	return fmin(stretch->most + proof->rho, proof->fastest);
}

bool stretch_leaves_room(struct proof *proof, const struct stretch *stretch)
{
	double more = 1.25 * proof->rho; /* see smooth() in room.c */
	double width = stretch->most - stretch->least;
	int n = (int)fmax(1, fmin(MAX_SLICES, ceil(width / (SLICE * proof->rho))));

	for (int i = 0; i < n; i++) {
		double least = stretch->least + width * i / n, most = least + width / n;

		if (spots_leave_room(&proof->spots, stretch->from, stretch->to,
		                     fmax(least - more, -proof->fastest),
		                     fmin(most + more, proof->fastest)))
			return true;
	}
	return false;
}

bool stretch_find_rates(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret)
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
	return sift(proof, ret);
}

bool stretch_prove(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret)
{
	return stretch_find_rates(proof, from, to, ret) && stretch_leaves_room(proof, ret);
}
