/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.h: how far phi may go from one place to another. All inline but for what is rare: it stands
 * on the path of every knot.
 */
#ifndef FLEXTRACE_STEP_H
#define FLEXTRACE_STEP_H

#include "calibrate_impl.h"

struct step {
	int64_t rise, fall;
};

static inline int64_t step_wander(uint64_t dx, uint64_t rate)
{
	uint64_t near;
	wide_int far;

	if (!__builtin_mul_overflow(dx, rate, &near))
		return (int64_t)(near >> (WANDER_BITS - PHI_BITS)) + 1;
	far = (((wide_int)dx * rate) >> (WANDER_BITS - PHI_BITS)) + 1;
	return far > PHI_UNBOUNDED / 4 ? PHI_UNBOUNDED / 4 : (int64_t)far;
}

static inline struct step step_of_piece(const struct piece *piece, uint64_t dx)
{
	struct step step = {step_wander(dx, piece->rise), step_wander(dx, piece->fall)};
	wide_int ahead;

	if (dx == 0)
		return (struct step){0, 0};
	/* Below half the slope, and no slope is less than MIN_SLOPE, rounding does not matter. */
	if (piece->fall >> (WANDER_BITS - SLOPE_BITS + 1) < piece->slope >> 2)
		return step;
	ahead = ((wide_int)dx * piece->slope) >> (SLOPE_BITS - PHI_BITS);
	if (step.fall > ahead)
		step.fall = (int64_t)ahead;
	return step;
}

/* Whether all between two places is in the piece that a walk is in. */
static inline bool walk_holds(const struct walk *walk, uint64_t from, uint64_t to)
{
	return from >= walk->from && to <= walk->to && walk->piece;
}

/* The way of band_step() over several pieces, or where the clock may have jumped. */
struct step band_step_far(struct walk *walk, uint64_t from, uint64_t to);

/* The same of all pieces, whatever is free. */
struct step band_range_step(struct walk *walk, uint64_t from, uint64_t to);

/* How far phi may go from `from` to `to`, which lies behind. */
static inline struct step band_step(struct walk *walk, uint64_t from, uint64_t to)
{
	if (walk_holds(walk, from, to) && !walk->piece->is_free)
		return step_of_piece(walk->piece, to - from);
	return band_step_far(walk, from, to);
}

#endif
