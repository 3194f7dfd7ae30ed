/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where no rate explains all evidence, a clock left its rate: it jumped, or was slewed. Then the
 * run is cut into as few stretches as possible, once from its begin and once from its end. Evidence
 * in front of a break is never joined with evidence behind it. The same is done where bounds leave
 * much less room than usual, and where the two sides of a place overlap by less than usual
 * (room.c).
 *
 * A stretch of few spots is false evidence if its neighbours fit together without it.
 */
#include <math.h>
#include <string.h>

#include "proof.h"

#define MAX_LIE    3u   /* spots */
#define LOOSE      0.35 /* times the usual width */
#define NARROW     0.6  /* times the usual width */
#define NEAR       96u  /* spots whose widths are usual */
#define BESIDE     16u  /* spots that a break makes narrow */
#define LEAST_N    16u  /* spots of a stretch that says what its rate is */
#define LEAST_SIDE 8u   /* of one that has the rate of its neighbours */
#define SMALL      8u   /* of so few spots, one in so many does */

/* -- stretches --------------------------------------------------------------------------------- */

static bool holds(struct proof *proof, uint32_t anchor, int64_t end)
{
	struct stretch stretch;
	uint32_t other = (uint32_t)end;

	return stretch_prove(proof, anchor < other ? anchor : other,
	                     anchor < other ? other : anchor, &stretch);
}

/* The farthest spot in a direction that one rate reaches; not the last one, if that is known. */
static uint32_t reach(struct proof *proof, uint32_t anchor, int direction, bool is_short)
{
	int64_t last = direction > 0 ? (int64_t)proof->spots.n - 1 : 0;
	int64_t good = anchor, step = 1, bad;

	if (!is_short && holds(proof, anchor, last))
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

/* Cuts from the begin and from the end, each time into as few stretches as possible, so equally
 * many. A break is between the last spot that the stretch behind it reaches and the first one
 * that the stretch in front does not reach. Marks what is between; false: there are too many. */
static bool find_breaks(struct proof *proof)
{
	uint32_t n = proof->spots.n, before[MAX_STRETCHES], n_cuts = 0;

	memset(proof->is_broken, 0, sizeof(proof->is_broken));
	for (uint32_t at = reach(proof, 0, 1, false); at + 1 < n;
	     at = reach(proof, at + 1, 1, false)) {
		if (n_cuts == MAX_STRETCHES)
			return false;
		before[n_cuts++] = at + 1;
	}
	for (uint32_t at = reach(proof, n - 1, -1, n_cuts > 0); at > 0;
	     at = reach(proof, at - 1, -1, false)) {
		if (n_cuts-- == 0)
			return false;
		for (uint32_t i = at - 1; i < before[n_cuts]; i++)
			proof->is_broken[i] = true;
	}
	return n_cuts == 0;
}

/* Makes stretches of what breaks leave; false: they cannot be. */
static bool make_stretches(struct proof *proof)
{
	uint32_t n = proof->spots.n, to;

	proof->n_stretches = 0;
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

/* Drops spots between two stretches if one rate explains the stretches without them; as few as
 * possible. Returns whether it dropped any. */
static bool forget(struct proof *proof, const struct stretch *left, const struct stretch *right)
{
	struct spot *spots = &proof->spots.all[left->to + 1], kept[MAX_LIE];
	uint32_t n = right->from - left->to - 1;
	bool is_good, has_forgotten = false;

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
		has_forgotten = true;
	}
	return has_forgotten;
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

/* Spots that a stretch has to have. */
static uint32_t least_spots(const struct proof *proof)
{
	uint32_t least = proof->is_proven ? LEAST_N : LEAST_SIDE, n = proof->spots.n / SMALL;

	return n < least ? n : least;
}

/* -- guards ------------------------------------------------------------------------------------ */

struct guarded { /* an end of a stretch */
	uint32_t at, sure;
	double more_ns; /* that times between the two may be off by */
};

/* How wide most of a stretch is, of so many spots from one on, towards another one. */
static double usual_width(const struct proof *proof, uint32_t from, uint32_t to)
{
	double widths[NEAR];
	uint32_t n = 0;
	int direction = to > from ? 1 : -1;

	for (uint32_t i = from; n < NEAR; i = (uint32_t)((int64_t)i + direction)) {
		widths[n++] = proof->spots.all[i].tight_hi - proof->spots.all[i].tight_lo;
		if (i == to)
			break;
	}
	return select_quantile(widths, n, 0.5);
}

/* A clock that leaves its rate is seen only where its bounds are tight. So the last bounds of a
 * stretch may belong to a clock that has left its rate already, or not yet come back to it. This
 * goes from one end towards the other. Evidence of a place itself is true of any clock, and what is
 * carried there is not. If the former is the tightest bound on one side, the clock is not off that
 * way from there on, as it came back evenly; and where it is less tight by a gap, it is off by no
 * more than that. So once both gaps are small the stretch begins, and times are off by no more than
 * the larger one until both are 0. Where there is no such evidence at all, no gap is small, even if
 * nothing bounds most of the stretch. */
static struct guarded guard(const struct proof *proof, uint32_t at, uint32_t other, double width)
{
	double gap_lo = INFINITY, gap_hi = INFINITY;
	int direction = other > at ? 1 : -1;
	struct guarded guarded = {.at = other};
	bool has_at = false;

	for (; at != other; at = (uint32_t)((int64_t)at + direction)) {
		const struct spot *spot = &proof->spots.all[at];
		double gap;

		gap_lo = fmin(gap_lo, spot->tight_lo - spot->lo);
		gap_hi = fmin(gap_hi, spot->hi - spot->tight_hi);
		gap = fmax(gap_lo, gap_hi);
		if (!has_at && gap < INFINITY && gap <= LOOSE * width) {
			guarded.at = at;
			guarded.more_ns = fmax(gap, 0);
			has_at = true;
		}
		if (gap <= 0)
			break;
	}
	guarded.sure = at;
	return guarded;
}

/* Whether bounds at the first spots on the way to another one are nowhere much narrower than they
 * usually are. */
static bool is_as_wide(struct proof *proof, const struct stretch *stretch, uint32_t from,
                       uint32_t to, double width)
{
	int direction = to > from ? 1 : -1;

	if (!spots_tighten(&proof->spots, from < to ? from : to, from < to ? to : from,
	                   stretch_least(proof, stretch), stretch_most(proof, stretch)))
		return false;
	for (uint32_t n = 0; n < BESIDE; n++) {
		const struct spot *spot = &proof->spots.all[from];

		if (spot->tight_hi - spot->tight_lo < NARROW * width)
			return false;
		if (from == to)
			break;
		from = (uint32_t)((int64_t)from + direction);
	}
	return true;
}

/* Evidence of a clock that is slewed makes bounds narrow before it contradicts them. So this goes
 * from an end that is next to a break until they are as wide as usual. Farther away bounds may be
 * narrow by chance. */
static uint32_t trim(struct proof *proof, const struct stretch *stretch, uint32_t at,
                     uint32_t other)
{
	int64_t direction = other > at ? 1 : -1, n = ((int64_t)other - at) * direction;
	uint32_t inner = n > NEAR ? (uint32_t)(at + direction * NEAR) : other;
	double width = usual_width(proof, at, other);

	while (at != inner && !is_as_wide(proof, stretch, at, inner, width))
		at = (uint32_t)((int64_t)at + direction);
	return at;
}

/* One end of a stretch, but for what is next to a break. */
static struct guarded guard_end(struct proof *proof, const struct stretch *stretch, uint32_t at,
                                uint32_t other)
{
	spots_tighten(&proof->spots, stretch->from, stretch->to, stretch_least(proof, stretch),
	              stretch_most(proof, stretch));
	if (proof->is_proven)
		at = trim(proof, stretch, at, other);
	spots_tighten(&proof->spots, at < other ? at : other, at < other ? other : at,
	              stretch_least(proof, stretch), stretch_most(proof, stretch));
	return guard(proof, at, other, usual_width(proof, at, other));
}

/* Makes a stretch of spots [from, to], but for what is next to a break at either end; false: it is
 * too short to say what its rate is, or whether it has one. */
static bool make_guarded(struct proof *proof, uint32_t from, uint32_t to, bool is_from_guarded,
                         bool is_to_guarded, struct stretch *ret)
{
	struct guarded first = {.at = from, .sure = from}, last = {.at = to, .sure = to};

	if (from >= to || !stretch_find_rates(proof, from, to, ret))
		return false;
	if (is_from_guarded)
		first = guard_end(proof, ret, from, to);
	if (is_to_guarded && first.at < to)
		last = guard_end(proof, ret, to, first.at);
	if (first.at >= last.at || last.at - first.at < least_spots(proof) ||
	    !stretch_find_rates(proof, first.at, last.at, ret))
		return false;
	ret->sure_from = first.sure;
	ret->from_more_ns = first.more_ns;
	ret->sure_to = last.sure;
	ret->to_more_ns = last.more_ns;
	return true;
}

/* -- room -------------------------------------------------------------------------------------- */

/* Makes breaks between stretches of one rate as short as they can be, but for guards. A step of the
 * rate can be anywhere between. */
static void shorten_breaks(struct proof *proof)
{
	uint32_t n_old = proof->n_stretches, n = proof->spots.n, from, to, next = 0;
	struct stretch old[MAX_STRETCHES];

	memcpy(old, proof->stretches, sizeof(old));
	from = old[0].from;
	proof->n_stretches = 0;
	for (uint32_t i = 0; i < n_old; i++) {
		struct stretch *stretch = &proof->stretches[proof->n_stretches];

		to = old[i].to;
		if (i + 1 < n_old)
			next = old[i + 1].from;
		if (i + 1 < n_old && old[i].least <= old[i + 1].most &&
		    old[i + 1].least <= old[i].most)
			room_find_break(proof, &old[i], &old[i + 1], &to, &next);
		proof->n_stretches += make_guarded(proof, from, to, from > 0, to + 1 < n,
		                                   stretch) ||
		                      make_guarded(proof, old[i].from, old[i].to, old[i].from > 0,
		                                   old[i].to + 1 < n, stretch);
		from = next;
	}
}

/* A clock that is only suspected jumped no farther than the bounds on either side of a break leave
 * together, which contradict nothing. */
static void limit_jumps(struct proof *proof)
{
	for (uint32_t i = 1; i < proof->n_stretches; i++) {
		struct stretch *stretch = &proof->stretches[i];
		struct spot_range shift = stretch_find_shift(proof, stretch - 1, stretch);

		stretch->jump_ns = MOST_JUMP * fmax(shift.hi, -shift.lo);
	}
}

/* Makes two stretches of one; false: it cannot be cut there. */
static bool split_at(struct proof *proof, uint32_t at, uint32_t front, uint32_t behind,
                     double jump_ns, bool is_guarded)
{
	struct stretch *stretch = &proof->stretches[at], parts[2];

	if (proof->n_stretches == MAX_STRETCHES ||
	    !make_guarded(proof, stretch->from, front, false, is_guarded, &parts[0]) ||
	    !make_guarded(proof, behind, stretch->to, is_guarded, false, &parts[1]))
		return false;
	if (!is_guarded) {
		parts[0].sure_from = stretch->sure_from;
		parts[0].from_more_ns = stretch->from_more_ns;
		parts[1].sure_to = stretch->sure_to;
		parts[1].to_more_ns = stretch->to_more_ns;
	}
	parts[0].jump_ns = stretch->jump_ns;
	parts[1].jump_ns = jump_ns;
	memmove(stretch + 2, stretch + 1, (proof->n_stretches - at - 1) * sizeof(*stretch));
	memcpy(stretch, parts, sizeof(parts));
	proof->n_stretches++;
	return true;
}

/* Cuts a stretch where it leaves too little room; false: nowhere, or it cannot be cut. */
static bool split(struct proof *proof, uint32_t at)
{
	double jump_ns;
	uint32_t spot;

	return proof->share > 0 &&
	       room_find_least(proof, &proof->stretches[at], &spot, &jump_ns) < proof->share &&
	       split_at(proof, at, spot, spot + 1, jump_ns, true);
}

static int64_t host_at(const struct proof *proof, uint32_t spot)
{
	return proof->mesh->knots[proof->spots.all[spot].knot].host_ns;
}

/* Whether a clock may have jumped, or changed its rate, by as much as another one seems to. */
static bool may_move(struct proof *proof, const struct stretch *stretch, uint32_t front,
                     uint32_t behind, const struct cut *cut)
{
	struct stretch left, right;
	struct spot_range shift;

	if (!stretch_find_rates(proof, stretch->from, front, &left) ||
	    !stretch_find_rates(proof, behind, stretch->to, &right))
		return false;
	if (cut->is_step)
		return fmax(right.most - left.least, left.most - right.least) >= cut->least;
	shift = stretch_find_shift(proof, &left, &right);
	return fmax(shift.hi, -shift.lo) >= cut->least;
}

/* Cuts the stretch within which another clock may have taken this one along. */
static void split_shared(struct proof *proof, const struct cut *cut)
{
	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		const struct stretch *stretch = &proof->stretches[i];
		uint32_t front = stretch->from, behind = stretch->to;

		while (front < stretch->to && host_at(proof, front + 1) <= cut->from_ns)
			front++;
		while (behind > stretch->from && host_at(proof, behind - 1) >= cut->to_ns)
			behind--;
		if (host_at(proof, front) > cut->from_ns || host_at(proof, behind) < cut->to_ns ||
		    front >= behind || !may_move(proof, stretch, front, behind, cut) ||
		    !split_at(proof, i, front, behind,
		              room_find_jump(proof, stretch, front, behind), false))
			continue;
		proof->has_step = proof->has_step || cut->is_step;
		return;
	}
}

/* -- the sentence ------------------------------------------------------------------------------ */

static bool cut(struct proof *proof)
{
	do {
		if (!find_breaks(proof) || !make_stretches(proof))
			return false;
	} while (forget_lies(proof));
	return true;
}

/* Cuts again where bounds leave much less room than usual, or leaves the cuts as they are. Returns
 * whether anything says what is usual. */
static bool cut_again(struct proof *proof)
{
	struct stretch old[MAX_STRETCHES];
	uint32_t n_old = proof->n_stretches;
	bool is_good = true;

	if (!room_find(proof))
		return false;
	memcpy(old, proof->stretches, n_old * sizeof(*old));
	for (uint32_t i = 0; i < n_old && is_good; i++)
		is_good = spots_leave_room(&proof->spots, old[i].from, old[i].to,
		                           stretch_least(proof, &old[i]),
		                           stretch_most(proof, &old[i]));
	if (!is_good && !cut(proof)) {
		memcpy(proof->stretches, old, n_old * sizeof(*old));
		proof->n_stretches = n_old;
	}
	room_forget(proof);
	return true;
}

bool proof_cut(struct proof *proof)
{
	uint32_t n = proof->spots.n;
	bool is_long;

	room_forget(proof);
	proof->is_proven = !stretch_find_rates(proof, 0, n - 1, &proof->stretches[0]);
	proof->n_stretches = 1;
	if (proof->is_proven && !cut(proof))
		return false;
	is_long = cut_again(proof);
	proof->is_proven = proof->is_proven &&
	                   (proof->n_stretches > 1 || proof->stretches[0].from > 0 ||
	                    proof->stretches[0].to + 1 < n);
	if (proof->n_stretches > 1)
		shorten_breaks(proof);
	if (!proof->is_proven)
		limit_jumps(proof);
	proof->share = proof->n_stretches > 1 || is_long ? room_find_share(proof) : 0;
	for (uint32_t i = 0; i < proof->n_stretches;)
		i += !split(proof, i);
	proof->has_step = false;
	for (uint32_t i = 0; i < proof->cuts.n; i++) {
		if (proof->cuts.all[i].clock == proof->clock)
			split_shared(proof, &proof->cuts.all[i]);
	}
	return proof->n_stretches > 0;
}
