/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a clock jumps (its PLL stood still, its host was set) or its rate steps, evidence in front
 * of that place says nothing about the clock behind it. So each era is closed alone: over its core
 * in both directions, and from there outward, over the evidence on the way, as far as the era may
 * have lasted. Where several eras may have lasted, the truth is in one of them, and the bounds
 * cover all of them.
 *
 * A jump can be between two knots. Then the truth between the knots is on the way on of the one era
 * from the knot before, or on the way back of the other era from the knot behind; or a stamp is in
 * the jump itself, at one of the two. So each era is carried on to two places beyond its last one,
 * without the evidence there, and counts for the half-width there. The half-width of a stamp is the
 * smaller of the two.
 *
 * A jump may also take time: the clock can have been on its way from one era to the next. So each
 * era is carried on to the place where the next one is proven, and the next one back in the same
 * way. An era is proven where its own bounds follow from the evidence behind its begin. On its way
 * the clock was between the two eras, or evidence denies both.
 *
 * Where no era can have lasted, nothing is known about the clock, and all up to the next era is in
 * doubt.
 */
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "engine/calibrate/room.h"

#define FORWARD  1u         /* from knot to knot */
#define BACKWARD UINT32_MAX /* likewise: 1 less */
#define BEYOND   2u         /* places */
#define PROVEN   1.3        /* times as wide as all evidence leaves it */
#define USUAL    10u        /* twentieths of places that are narrower than what is usual */

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

static bool is_known(const struct knot *knot)
{
	return knot->lo <= knot->hi;
}

static wide_int ahead(uint64_t dx, uint64_t slope, bool rounds_up)
{
	wide_int ticks = (wide_int)dx * slope;

	return (ticks >> (WANDER_BITS - PHI_BITS)) + rounds_up;
}

/* How fast host time goes, 2^-44 ns per tick. */
struct pace {
	uint64_t least, most;
};

static struct pace pace_of(const struct era *era, bool is_forward)
{
	return (struct pace){era->least[is_forward], era->most[is_forward]};
}

/* The same where the rate of an era is no fact: see loose.c. */
static struct pace loosened(struct pace pace, double looseness)
{
	pace.least -= (uint64_t)((double)pace.least * looseness);
	pace.most += (uint64_t)((double)pace.most * looseness);
	return pace;
}

/* Goes on to a place, outward from the core. */
static void go_to(struct left *left, struct pace pace, uint64_t x)
{
	if (x >= left->x) {
		left->lo += ahead(x - left->x, pace.least, false);
		left->hi += ahead(x - left->x, pace.most, true);
	} else {
		left->lo -= ahead(left->x - x, pace.most, true);
		left->hi -= ahead(left->x - x, pace.least, false);
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

/* Takes in the evidence of a knot; false: that leaves too little. */
static bool take(struct left *left, const struct knot *knot, wide_int reference, int64_t room)
{
	const struct left before = *left;

	if (knot->lo > -PHI_UNBOUNDED && (!left->has_lo || reference + knot->lo > left->lo)) {
		left->lo = reference + knot->lo;
		left->has_lo = true;
	}
	if (knot->hi < PHI_UNBOUNDED && (!left->has_hi || reference + knot->hi < left->hi)) {
		left->hi = reference + knot->hi;
		left->has_hi = true;
	}
	return !left->has_lo || !left->has_hi || left->hi - left->lo >= room ||
	       (left->lo == before.lo && left->hi == before.hi);
}

/* What is left of one era, where it was carried to. */
struct held {
	uint32_t from, to;               /* knots where it holds; none: not from < to */
	uint32_t proven_from, proven_to; /* of them */
	struct left ends[2];             /* what it leaves at both ends */
	struct left told[2];             /* the same if no rate is loose */
};

static struct left left_of(const struct knot *knot, wide_int reference)
{
	return (struct left){knot->x, reference + knot->lo, reference + knot->hi,
	                     knot->lo > -PHI_UNBOUNDED, knot->hi < PHI_UNBOUNDED};
}

static bool reaches(const struct era *era, uint64_t x, uint32_t direction)
{
	return direction == FORWARD ? x < era->reach_to
	                            : x > era->reach_from || era->reach_from == 0;
}

/* Whether a bound is of the side that comes last of those at one place. */
static bool comes_last(const struct knot *knot, uint32_t direction)
{
	return direction == FORWARD ? knot->lo > -PHI_UNBOUNDED : knot->hi < PHI_UNBOUNDED;
}

/*
 * Takes in the evidence of the place of `at`, and stores what to show there. Returns the first knot
 * beyond.
 *
 * A counter that stands still shows one tick for as long as it does. So what an operation that ends
 * on a tick says of its end is not true of another one that begins on it, nor the other way round.
 * What both say holds beyond the tick, and on it only what comes first.
 */
static uint32_t take_place(struct closing *closing, uint32_t at, uint32_t direction,
                           struct left *left, struct left *ret_shown)
{
	const struct attempt *attempt = closing->attempt;
	const struct knot *knots = attempt->knots;
	wide_int reference = piece_value(walk_to(&closing->walk, left->x), left->x);
	bool is_one_side = comes_last(&knots[at], direction);
	uint32_t i = at;

	*ret_shown = *left;
	for (; i < attempt->n_knots && knots[i].x == left->x; i += direction) {
		take(left, &knots[i], reference, 0);
		if (is_one_side || !comes_last(&knots[i], direction))
			*ret_shown = *left;
	}
	return i;
}

/* Goes outward from the core's last knot on that side as far as the era lasts at its own rate.
 * The middle rests on that rate, the bounds do not. Returns the last knot where the era lasts,
 * and stores what it leaves there. */
static uint32_t go_outward(struct closing *closing, const struct era *era, uint32_t core,
                           uint32_t direction, struct held *held)
{
	const struct knot *knots = closing->attempt->knots;
	uint32_t n = closing->attempt->n_knots, last = core;
	/* reach.c proved how far an era lasts whose rate steps. */
	int64_t room = era->is_jump[direction == FORWARD] ? closing->attempt->room : 0;
	struct pace pace = pace_of(era, direction == FORWARD);
	struct pace loose_pace =
		loosened(pace, reference_looseness(&closing->attempt->reference, knots[core].x));
	wide_int reference = reference_at(&closing->attempt->reference, knots[core].x);
	struct left left = left_of(&closing->work[core], reference), loose = left, shown;
	struct left told = left_of(&closing->joined[core], reference);

	held->ends[direction == FORWARD] = loose;
	held->told[direction == FORWARD] = told;
	for (uint32_t i = core + direction; i < n; i = last + direction) {
		bool holds = reaches(era, knots[i].x, direction);
		uint32_t end;

		go_to(&left, pace, knots[i].x);
		go_to(&told, pace, knots[i].x);
		go_to(&loose, loose_pace, knots[i].x);
		reference = piece_value(walk_to(&closing->walk, left.x), left.x);
		end = take_place(closing, i, direction, &loose, &shown);
		for (uint32_t k = i; k != end; k += direction) {
			holds = holds && take(&left, &knots[k], reference, room);
			take(&told, &knots[k], reference, 0);
		}
		if (!holds)
			break;
		held->ends[direction == FORWARD] = loose;
		held->told[direction == FORWARD] = told;
		for (; i != end; last = i, i += direction) {
			closing->joined[i] = at_knot(&told, reference);
			closing->work[i] = at_knot(&shown, reference);
		}
	}
	return last;
}

/*
 * An era lasts from where it is proven by evidence behind its begin alone (or, in the other
 * direction, up to where evidence in front of its end alone proves it). Outside of that, evidence
 * from farther inside proves nothing, because the clock may still have been on its way.
 */
static uint32_t proven_from(struct closing *closing, uint32_t from, uint32_t to, uint32_t direction)
{
	const struct knot *knots = closing->attempt->knots;
	struct knot left = {knots[from].x, -PHI_UNBOUNDED, PHI_UNBOUNDED};

	for (uint32_t i = from; i != to; i += direction) {
		const struct knot *all = &closing->work[i];

		left = side_next(&closing->walk, &left, &knots[i], direction == FORWARD);
		if ((double)(left.hi - left.lo) <= PROVEN * (double)(all->hi - all->lo))
			return i;
	}
	return to;
}

/* Closes knots [from, to) as if no rate was loose, or as the pieces say. */
static int64_t close_knots(const struct attempt *attempt, bool is_told, uint32_t from, uint32_t to,
                           struct knot *knots)
{
	const struct reference told = reference_told(&attempt->reference);

	memcpy(knots + from, attempt->knots + from, (to - from) * sizeof(*knots));
	return band_close_range(knots, from, to, is_told ? &told : &attempt->reference);
}

/* Closes an era alone, and finds where it holds. False: it contradicts itself. */
static bool hold_era(struct closing *closing, const struct era *era, struct held *held)
{
	struct attempt *attempt = closing->attempt;
	uint32_t from, n = era_core(attempt, era, &from), to = from + n;
	int64_t width;

	if (n == 0)
		return true;
	width = close_knots(attempt, true, from, to, closing->joined);
	if (width < 0)
		return false;
	close_knots(attempt, false, from, to, closing->work);
	attempt->width = width < attempt->width ? width : attempt->width;
	held->to = go_outward(closing, era, to - 1, FORWARD, held);
	held->from = go_outward(closing, era, from, BACKWARD, held);
	held->proven_from = held->from;
	held->proven_to = held->to;
	if (era->is_jump[0])
		held->proven_from = proven_from(closing, held->from, held->to, FORWARD);
	if (era->is_jump[1])
		held->proven_to = proven_from(closing, held->to, held->from, BACKWARD);
	if (held->proven_from >= held->proven_to)
		held->from = held->to;
	for (uint32_t i = held->from; i <= held->to && held->from < held->to; i++) {
		if (is_known(&closing->joined[i]))
			join(&closing->tight[i], closing->joined[i].lo, closing->joined[i].hi);
		join(&closing->carried[i], closing->work[i].lo, closing->work[i].hi);
	}
	return true;
}

/* Carries an era on beyond where it holds, up to where the next one is proven. */
static void go_beyond(struct closing *closing, const struct era *era, const struct held *held,
                      uint32_t until, bool is_forward)
{
	const struct knot *knots = closing->attempt->knots;
	uint32_t n = closing->attempt->n_knots, direction = is_forward ? FORWARD : BACKWARD;
	struct left left = held->ends[is_forward];
	struct pace pace = pace_of(era, is_forward);
	uint32_t n_beyond = 0, i = (is_forward ? held->to : held->from) + direction;

	while (i < n && (n_beyond < BEYOND || (is_forward ? i <= until : i >= until))) {
		wide_int reference;
		struct knot bounds;

		go_to(&left, pace, knots[i].x);
		reference = piece_value(walk_to(&closing->walk, left.x), left.x);
		bounds = at_knot(&left, reference);
		for (; i < n && knots[i].x == left.x; i += direction)
			join(&closing->carried[i], bounds.lo, bounds.hi);
		n_beyond++;
	}
}

/* An era also ends where it leaves less room than usual, which proves nothing. Its bounds still
 * count as long as no evidence contradicts it. */
static void go_narrow(struct closing *closing, const struct era *era, const struct held *held,
                      bool is_forward)
{
	const struct attempt *attempt = closing->attempt;
	const struct knot *knots = attempt->knots;
	uint32_t n = attempt->n_knots, direction = is_forward ? FORWARD : BACKWARD, end;
	struct left left = held->ends[is_forward], told = held->told[is_forward], shown;
	struct pace pace = pace_of(era, is_forward);

	for (uint32_t i = (is_forward ? held->to : held->from) + direction;
	     i < n && reaches(era, knots[i].x, direction); i = end) {
		struct knot bounds;

		go_to(&told, pace, knots[i].x);
		end = take_place(closing, i, direction, &told, &shown);
		if (told.has_lo && told.has_hi && told.hi < told.lo)
			break;
		go_to(&left, pace, knots[i].x);
		take_place(closing, i, direction, &left, &shown);
		bounds = at_knot(&shown, reference_at(&attempt->reference, shown.x));
		for (uint32_t k = i; k != end; k += direction)
			join(&closing->carried[k], bounds.lo, bounds.hi);
	}
}

/* Closes all eras. 1: some hold and none contradicts itself, 0: not. */
static int hold_eras(struct closing *closing)
{
	const struct reference *reference = &closing->attempt->reference;
	struct held *held = calloc(reference->n_eras, sizeof(*held));
	const struct held *last = NULL;
	int meets = 1, code;
	int64_t usual;

	if (!held)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < reference->n_eras; i++)
		meets &= hold_era(closing, &reference->eras[i], &held[i]);
	for (uint32_t i = 0; i < closing->attempt->n_knots; i++) {
		if (!is_known(&closing->tight[i]))
			closing->tight[i] = closing->carried[i];
	}
	code = band_quantile(closing->tight, closing->attempt->n_knots, USUAL, &usual);
	for (uint32_t i = 0; i < reference->n_eras && code >= 0; i++) {
		if (held[i].from >= held[i].to)
			continue;
		sides_join(closing->attempt, &reference->eras[i], held[i].from, held[i].to, usual,
		           closing->carried);
		go_narrow(closing, &reference->eras[i], &held[i], false);
		go_narrow(closing, &reference->eras[i], &held[i], true);
		go_beyond(closing, &reference->eras[i], &held[i],
		          last ? last->proven_to : UINT32_MAX, false);
		if (last)
			go_beyond(closing, &reference->eras[last - held], last, held[i].proven_from,
			          true);
		last = &held[i];
	}
	if (last)
		go_beyond(closing, &reference->eras[last - held], last, 0, true);
	free(held);
	return code < 0 ? code : meets && last;
}

/* -- what is left of all --------------------------------------------------------------------- */

/* Whether evidence is so near what an era leaves that it tells where the clock was. */
static bool tells(const struct closing *closing, uint32_t at)
{
	const struct knot *said = &closing->attempt->knots[at], *tight = &closing->tight[at];
	int64_t width = tight->hi - tight->lo;

	return said->lo >= tight->lo - width || said->hi <= tight->hi + width;
}

/* Doubts all between two places that eras explain. Evidence that does not show whether the clock
 * was already or still in an era is in doubt as well. */
static int doubt_between(struct closing *closing, uint32_t last, uint32_t next)
{
	struct attempt *attempt = closing->attempt;
	uint32_t n = attempt->n_knots;

	while (last < n && is_known(&closing->tight[last]) && !tells(closing, last))
		last--;
	while (next < n && is_known(&closing->tight[next]) && !tells(closing, next))
		next++;
	return doubts_add(&attempt->doubts, last < n ? attempt->knots[last].x : 0,
	                  next < n ? attempt->knots[next].x : UINT64_MAX);
}

/* No era explains what is between two places that eras explain: all of it is in doubt. */
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
		FLEXTRACE_TRY(doubt_between(closing, last, next));
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

/*
 * Where eras meet, the middle is that of the bounds that hold, and not before the previous middle.
 * The half-width covers all eras, and what room_half() adds where they are narrower than usual.
 */
static int settle(struct closing *closing)
{
	struct attempt *attempt = closing->attempt;
	struct walk walk = {.reference = &attempt->reference};
	int64_t usual;
	wide_int least = 0;

	FLEXTRACE_TRY(band_quantile(closing->tight, attempt->n_knots, USUAL, &usual));

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
		if (i > 0 && middle > tight->hi)
			FLEXTRACE_TRY(
				doubts_add(&attempt->doubts, attempt->knots[i - 1].x, knot->x + 1));
		least = reference + middle;
		half = room_half(knot, middle, usual);
		if (middle == (carried->lo + carried->hi) >> 1 &&
		    half <= (carried->hi - carried->lo + 1) >> 1)
			continue;
		FLEXTRACE_TRY(doubts_add(&attempt->exact, knot->x, knot->x + 1));
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
	int meets;

	for (uint32_t i = 0; i < attempt->n_knots; i++)
		closing->tight[i] = closing->carried[i] =
			(struct knot){attempt->knots[i].x, PHI_UNBOUNDED, -PHI_UNBOUNDED};
	meets = hold_eras(closing);
	FLEXTRACE_TRY(meets);
	if (close_knots(attempt, true, 0, attempt->n_knots, closing->joined) < 0) {
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

	if (attempt->reference.n_eras <= 1) {
		attempt->width = band_close(attempt->knots, n, &attempt->reference);
		return attempt->width >= 0;
	}
	eras_find_cores(attempt);
	FLEXTRACE_TRY(reference_loosen(attempt));
	attempt->width = PHI_UNBOUNDED;
	closing.tight = blocks_allocate(n, sizeof(*closing.tight));
	closing.carried = blocks_allocate(n, sizeof(*closing.carried));
	closing.work = blocks_allocate(n, sizeof(*closing.work));
	closing.joined = blocks_allocate(n, sizeof(*closing.joined));
	if (closing.tight && closing.carried && closing.work && closing.joined)
		code = close_all(&closing);
	release(&closing);
	return code;
}
