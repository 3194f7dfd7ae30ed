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

/* Leaves those of a stretch's mean rates that explain all of it; false: none does. They are an
 * interval, as what lies between two explanations is one, too. */
static bool sift(struct proof *proof, struct stretch *stretch)
{
	double least = stretch->least, step;
	int n = (int)fmin(MAX_SLICES, ceil((stretch->most - least) / (SLICE * proof->rho)));
	int first = 0, last = n - 1;

	if (n < 1)
		return false;
	step = (stretch->most - least) / n;
	while (first < n &&
	       !spots_take_rate(&proof->spots, stretch->from, stretch->to, least + step * first,
	                        least + step * (first + 1), proof->rho))
		first++;
	while (last > first &&
	       !spots_take_rate(&proof->spots, stretch->from, stretch->to, least + step * last,
	                        least + step * (last + 1), proof->rho))
		last--;
	stretch->least = least + step * first;
	stretch->most = least + step * (last + 1);
	return first < n;
}

double stretch_least(const struct proof *proof, const struct stretch *stretch)
{
	return fmax(stretch->least - proof->rho, -proof->fastest);
}

double stretch_most(const struct proof *proof, const struct stretch *stretch)
{
	return fmin(stretch->most + proof->rho, proof->fastest);
}

bool stretch_find_rates(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret)
{
	double fastest = proof->fastest, length = proof->spots.all[to].x - proof->spots.all[from].x;
	struct spot_range ends[2];

	*ret = (struct stretch){
		.from = from,
		.to = to,
		.least = -fastest,
		.most = fastest,
		.sure_from = from,
		.sure_to = to,
		.is_joined = true,
		.jump_ns = INFINITY,
	};
	for (int round = 0; round < MAX_ROUNDS; round++) {
		double before = ret->most - ret->least;

		if (!spots_bound_ends(&proof->spots, from, to,
		                      fmax(ret->least - proof->rho, -fastest),
		                      fmin(ret->most + proof->rho, fastest), ends))
			return false;
		if (length <= 0)
			return true;
		ret->least = fmax(ret->least, (ends[1].lo - ends[0].hi - ROUNDING_NS) / length);
		ret->most = fmin(ret->most, (ends[1].hi - ends[0].lo + ROUNDING_NS) / length);
		if (ret->most < ret->least)
			return false;
		if (ret->most - ret->least > ENOUGH * before)
			break;
	}
	return sift(proof, ret);
}

struct spot_range stretch_find_shift(const struct proof *proof, const struct stretch *left,
                                     const struct stretch *right)
{
	double least = fmin(stretch_least(proof, left), stretch_least(proof, right));
	double most = fmax(stretch_most(proof, left), stretch_most(proof, right));
	double length = proof->spots.all[right->from].x - proof->spots.all[left->to].x;
	struct spot_range front[2], behind[2];

	if (!spots_bound_ends(&proof->spots, left->from, left->to, stretch_least(proof, left),
	                      stretch_most(proof, left), front) ||
	    !spots_bound_ends(&proof->spots, right->from, right->to, stretch_least(proof, right),
	                      stretch_most(proof, right), behind))
		return (struct spot_range){-INFINITY, INFINITY};
	return (struct spot_range){behind[0].lo - front[1].hi - most * length,
	                           behind[0].hi - front[1].lo - least * length};
}

bool stretch_prove(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret)
{
	return stretch_find_rates(proof, from, to, ret) &&
	       spots_leave_room(&proof->spots, from, to, stretch_least(proof, ret),
	                        stretch_most(proof, ret));
}
