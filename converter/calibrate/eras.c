/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a clock jumps (its PLL stood still, its host was set) or its rate steps, what is known of
 * it before says nothing of it behind. So each era is closed alone: over its core both ways, and
 * from there outward, over the evidence on the way, as far as it may have held. Where several eras
 * can have held, the truth is in one of them: the bounds there are those of all together.
 *
 * A jump can be between two knots. Then the truth between them is on the one era's way on from the
 * knot before, or on the other's way back from the knot behind; or a stamp stands in the jump
 * itself, at one of the two. So each era is carried to two places beyond its last, without the
 * evidence there, and counts for the half-width there: that of a stamp is the less of two.
 *
 * Where no era can have held, nothing is known of the clock: all up to the next era is in doubt.
 */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "calibrate_impl.h"

#define BEYOND   2u              /* places */
#define MIN_CORE (2 * MIN_BLOCK) /* knots: fewer do not tell where an era stands */

struct closing {
	struct attempt *attempt;
	struct knot *tight;   /* owned: bounds of the eras that hold there */
	struct knot *carried; /* owned: of those that are carried there, too */
	struct knot *work;    /* owned: of one era */
	struct knot *joined;  /* owned: as if the clock never jumped; NULL: it did */
	struct walk walk;
};

/* Host time that an era leaves at a place, 2^-20 ns, or PHI_UNBOUNDED beyond what is known. */
struct left {
	uint64_t x;
	wide_int lo, hi;
	bool has_lo, has_hi;
};

static void join(struct knot *knot, int64_t lo, int64_t hi)
{
	knot->lo = lo < knot->lo ? lo : knot->lo;
	knot->hi = hi > knot->hi ? hi : knot->hi;
}

static wide_int ahead(uint64_t dx, uint64_t slope, bool rounds_up)
{
	wide_int ticks = (wide_int)dx * slope;

	return (ticks >> (WANDER_BITS - PHI_BITS)) + rounds_up;
}

/* Goes on to a place, outward from the core. */
static void go_to(struct left *left, const struct era *era, uint64_t x)
{
	if (x >= left->x) {
		left->lo += ahead(x - left->x, era->least[1], false);
		left->hi += ahead(x - left->x, era->most[1], true);
	} else {
		left->lo -= ahead(left->x - x, era->most[0], true);
		left->hi -= ahead(left->x - x, era->least[0], false);
	}
	left->x = x;
}

static int64_t phi_of(wide_int value, wide_int reference, bool is_known, int64_t unbounded)
{
	wide_int phi = value - reference;

	if (!is_known || phi > PHI_UNBOUNDED || phi < -PHI_UNBOUNDED)
		return unbounded;
	return (int64_t)phi;
}

/* What an era leaves at a knot's place. */
static struct knot at_knot(const struct left *left, wide_int reference)
{
	return (struct knot){left->x, phi_of(left->lo, reference, left->has_lo, -PHI_UNBOUNDED),
	                     phi_of(left->hi, reference, left->has_hi, PHI_UNBOUNDED)};
}

/* Takes in the evidence of a knot; false: nothing is left. */
static bool take(struct left *left, const struct knot *knot, wide_int reference)
{
	if (knot->lo > -PHI_UNBOUNDED && (!left->has_lo || reference + knot->lo > left->lo)) {
		left->lo = reference + knot->lo;
		left->has_lo = true;
	}
	if (knot->hi < PHI_UNBOUNDED && (!left->has_hi || reference + knot->hi < left->hi)) {
		left->hi = reference + knot->hi;
		left->has_hi = true;
	}
	return !left->has_lo || !left->has_hi || left->lo <= left->hi;
}

/* Goes outward from the core's last knot on that side. */
static void go_outward(struct closing *closing, const struct era *era, uint32_t core, int direction)
{
	const struct knot *knots = closing->attempt->knots;
	uint32_t n = closing->attempt->n_knots;
	wide_int reference = reference_at(&closing->attempt->reference, knots[core].x);
	const struct knot *from = &closing->work[core];
	struct left left = {knots[core].x, reference + from->lo, reference + from->hi,
	                    from->lo > -PHI_UNBOUNDED, from->hi < PHI_UNBOUNDED};
	uint32_t n_beyond = 0;

	for (uint32_t i = core + (uint32_t)direction; i < n && n_beyond < BEYOND;) {
		uint32_t end = i;
		struct left before;
		struct knot bounds;
		bool holds = n_beyond == 0;

		go_to(&left, era, knots[i].x);
		before = left;
		reference = piece_value(walk_to(&closing->walk, left.x), left.x);
		holds &= direction > 0 ? left.x < era->reach_to
		                       : left.x > era->reach_from || era->reach_from == 0;
		for (; end < n && knots[end].x == left.x; end += (uint32_t)direction)
			holds = holds && take(&left, &knots[end], reference);
		n_beyond += !holds;
		left = holds ? left : before;
		bounds = at_knot(&left, reference);
		for (; i != end; i += (uint32_t)direction) {
			join(&closing->carried[i], bounds.lo, bounds.hi);
			if (holds)
				join(&closing->tight[i], bounds.lo, bounds.hi);
		}
	}
}

/* The first knot at `x` or behind it. */
static uint32_t find(const struct attempt *attempt, uint64_t x)
{
	uint32_t lo = 0, n = attempt->n_knots;

	while (n > 0) {
		uint32_t half = n / 2;

		if (attempt->knots[lo + half].x < x) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/* Returns how many knots there are from `x` to `x_to`. */
static uint32_t find_range(const struct attempt *attempt, uint64_t x, uint64_t x_to,
                           uint32_t *ret_from)
{
	uint32_t to = x_to == UINT64_MAX ? attempt->n_knots : find(attempt, x_to);

	*ret_from = find(attempt, x);
	return to > *ret_from ? to - *ret_from : 0;
}

static bool close_era(struct closing *closing, const struct era *era)
{
	const struct attempt *attempt = closing->attempt;
	uint32_t from, n = find_range(attempt, era->core_from, era->core_to, &from), to;
	bool has_core = n >= MIN_CORE, meets;

	if (!has_core)
		n = find_range(attempt, era->own_from, era->own_to, &from);
	if (n == 0)
		return true;
	to = from + n;
	memcpy(closing->work + from, attempt->knots + from, (to - from) * sizeof(*closing->work));
	meets = band_close_range(closing->work, from, to, &attempt->reference);
	if (!meets && !has_core)
		return true; /* it did not hold, so others did */
	for (uint32_t i = from; i < to; i++) {
		join(&closing->tight[i], closing->work[i].lo, closing->work[i].hi);
		join(&closing->carried[i], closing->work[i].lo, closing->work[i].hi);
	}
	go_outward(closing, era, to - 1, 1);
	go_outward(closing, era, from, -1);
	return meets;
}

/* -- what is left of all --------------------------------------------------------------------- */

static bool is_known(const struct knot *knot)
{
	return knot->lo <= knot->hi;
}

/* Between two places that an era explains nothing does: all that is between them is in doubt. */
static int doubt_gaps(struct closing *closing)
{
	struct attempt *attempt = closing->attempt;
	uint32_t n = attempt->n_knots;

	for (uint32_t i = 0, last = n; i < n; i++) {
		uint32_t next = i;
		struct knot around = {0, PHI_UNBOUNDED, -PHI_UNBOUNDED};

		if (is_known(&closing->tight[i])) {
			last = i;
			continue;
		}
		while (next < n && !is_known(&closing->tight[next]))
			next++;
		FLEXTRACE_TRY(doubts_add(&attempt->doubts, last < n ? attempt->knots[last].x : 0,
		                         next < n ? attempt->knots[next].x : UINT64_MAX));
		if (last < n)
			join(&around, closing->tight[last].lo, closing->tight[last].hi);
		if (next < n)
			join(&around, closing->tight[next].lo, closing->tight[next].hi);
		for (; i < next; i++) {
			closing->tight[i].lo = closing->carried[i].lo = around.lo;
			closing->tight[i].hi = closing->carried[i].hi = around.hi;
		}
		last = next;
	}
	return FLEXTRACE_OK;
}

/* Most likely the clock did not jump where it did not have to. */
static int64_t middle_of(const struct closing *closing, uint32_t at)
{
	const struct knot *tight = &closing->tight[at];
	int64_t middle = (tight->lo + tight->hi) >> 1;

	if (!closing->joined || closing->joined[at].lo == -PHI_UNBOUNDED ||
	    closing->joined[at].hi == PHI_UNBOUNDED)
		return middle;
	middle = (closing->joined[at].lo + closing->joined[at].hi) >> 1;
	if (middle < tight->lo)
		return tight->lo;
	return middle > tight->hi ? tight->hi : middle;
}

/* Where eras meet, the middle is that of the bounds that hold, and not before the one in front; the
 * half-width is that of all. */
static int settle(struct closing *closing)
{
	struct attempt *attempt = closing->attempt;
	struct walk walk = {.reference = &attempt->reference};
	wide_int least = 0;

	for (uint32_t i = 0; i < attempt->n_knots; i++) {
		const struct knot *tight = &closing->tight[i], *carried = &closing->carried[i];
		struct knot *knot = &attempt->knots[i];
		wide_int reference = piece_value(walk_to(&walk, knot->x), knot->x);
		int64_t middle = middle_of(closing, i), half;

		knot->lo = carried->lo;
		knot->hi = carried->hi;
		if (knot->lo == -PHI_UNBOUNDED || knot->hi == PHI_UNBOUNDED)
			continue;
		if (i > 0 && reference + middle < least)
			middle = (int64_t)(least - reference);
		if (middle > tight->hi)
			FLEXTRACE_TRY(
				doubts_add(&attempt->doubts, attempt->knots[i - 1].x, knot->x + 1));
		least = reference + middle;
		if (middle == (carried->lo + carried->hi) >> 1)
			continue;
		FLEXTRACE_TRY(doubts_add(&attempt->exact, knot->x, knot->x + 1));
		half = middle - knot->lo > knot->hi - middle ? middle - knot->lo
		                                             : knot->hi - middle;
		knot->lo = middle - half;
		knot->hi = middle + half;
	}
	return FLEXTRACE_OK;
}

static void release(struct closing *closing)
{
	blocks_free(closing->tight);
	blocks_free(closing->carried);
	blocks_free(closing->work);
	blocks_free(closing->joined);
}

static int close_all(struct closing *closing)
{
	const struct attempt *attempt = closing->attempt;
	const struct reference *reference = &attempt->reference;
	int meets = 1;

	for (uint32_t i = 0; i < attempt->n_knots; i++)
		closing->tight[i] = closing->carried[i] =
			(struct knot){attempt->knots[i].x, PHI_UNBOUNDED, -PHI_UNBOUNDED};
	for (uint32_t i = 0; i < reference->n_eras; i++)
		meets &= close_era(closing, &reference->eras[i]);
	memcpy(closing->joined, attempt->knots, attempt->n_knots * sizeof(*closing->joined));
	if (!band_close(closing->joined, attempt->n_knots, reference)) {
		blocks_free(closing->joined);
		closing->joined = NULL;
	}
	if (!meets && closing->joined) /* one clock explains all, and these eras do not */
		memcpy(attempt->knots, closing->joined,
		       attempt->n_knots * sizeof(*closing->joined));
	if (!meets)
		return closing->joined != NULL;
	FLEXTRACE_TRY(doubt_gaps(closing));
	FLEXTRACE_TRY(settle(closing));
	return 1;
}

int eras_close(struct attempt *attempt)
{
	struct closing closing = {.attempt = attempt, .walk = {.reference = &attempt->reference}};
	uint32_t n = attempt->n_knots;
	int code = FLEXTRACE_E_MEMORY;

	if (attempt->reference.n_eras <= 1)
		return band_close(attempt->knots, n, &attempt->reference);
	closing.tight = blocks_allocate(n, sizeof(*closing.tight));
	closing.carried = blocks_allocate(n, sizeof(*closing.carried));
	closing.work = blocks_allocate(n, sizeof(*closing.work));
	closing.joined = blocks_allocate(n, sizeof(*closing.joined));
	if (closing.tight && closing.carried && closing.work && closing.joined)
		code = close_all(&closing);
	release(&closing);
	return code;
}
