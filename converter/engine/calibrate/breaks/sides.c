/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A break may be farther inside an era than its evidence shows. A rate that is off by more than rho
 * contradicts nothing until it has taken the clock out of the room that evidence leaves. So for as
 * long as that takes at most, evidence in front of a place and evidence behind it may be of two
 * clocks: the truth is in what the one leaves or in what the other leaves, and the bounds cover
 * both. Where rates are loose, they do already.
 */
#include <math.h>

#include "engine/calibrate/calibrate_impl.h"
#include "engine/calibrate/step.h"

struct knot side_next(struct walk *walk, const struct knot *left, const struct knot *at,
                      bool is_forward)
{
	struct step step = is_forward ? band_range_step(walk, left->x, at->x)
	                              : band_range_step(walk, at->x, left->x);
	int64_t lo = left->lo - (is_forward ? step.fall : step.rise);
	int64_t hi = left->hi + (is_forward ? step.rise : step.fall);

	lo = left->lo == -PHI_UNBOUNDED || lo < -PHI_UNBOUNDED ? -PHI_UNBOUNDED : lo;
	hi = left->hi == PHI_UNBOUNDED || hi > PHI_UNBOUNDED ? PHI_UNBOUNDED : hi;
	return (struct knot){at->x, at->lo > lo ? at->lo : lo, at->hi < hi ? at->hi : hi};
}

/* How many ticks it takes a rate that is twice rho off to cross some room. */
static uint64_t margin_of(const struct attempt *attempt, int64_t room)
{
	double slope = slope_ns(attempt->reference.pieces[0].slope);
	double ticks = ldexp((double)room, -PHI_BITS) / (2 * attempt->rho * slope);

	return (uint64_t)fmax(0, fmin(ticks, 0x1p62));
}

/* Whether a place is that near to where an era ends, or beyond. */
static bool is_near_end(const struct era *era, uint64_t x, uint64_t margin)
{
	return (era->core_from > 0 && (x < era->core_from || x - era->core_from < margin)) ||
	       (era->core_to < UINT64_MAX && (x > era->core_to || era->core_to - x < margin));
}

void sides_join(const struct attempt *attempt, const struct era *era, uint32_t from, uint32_t to,
                int64_t room, struct knot *bounds)
{
	const struct reference told = reference_told(&attempt->reference);
	uint64_t margin = margin_of(attempt, room);

	for (int side = 0; side < 2; side++) {
		struct walk walk = {.reference = &told}, loose = {.reference = &attempt->reference};
		uint32_t n = to - from + 1, first = side == 0 ? from : to;
		struct knot left = {attempt->knots[first].x, -PHI_UNBOUNDED, PHI_UNBOUNDED};

		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = side == 0 ? from + i : to - i;

			left = side_next(&walk, &left, &attempt->knots[at], side == 0);
			if (left.lo == -PHI_UNBOUNDED || left.hi == PHI_UNBOUNDED ||
			    !is_near_end(era, left.x, margin) || walk_to(&loose, left.x)->is_loose)
				continue;
			bounds[at].lo = left.lo < bounds[at].lo ? left.lo : bounds[at].lo;
			bounds[at].hi = left.hi > bounds[at].hi ? left.hi : bounds[at].hi;
		}
	}
}
