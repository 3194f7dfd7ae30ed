/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where evidence contradicts, either a bracket is false or the clock broke its promise.
 *
 * The constraints are visited in order of time. What they leave of phi so far is carried on: a
 * track. A constraint objects if it leaves the track too little room. The first one that objects
 * begins a second track. The constraints behind it decide:
 * - If a constraint leaves room to the old track and not to the new one, the objections were false.
 * - If a few in a row leave room to the new track and not to the old one, the clock jumped. One era
 *   ends in front of the first objection, and the next begins with the new track.
 * - If a constraint leaves room to neither, the new track begins again at it. If a clock seems to
 *   jump and is back on its old track some time later, it did not jump. The evidence in between is
 *   false, and the stretch is in doubt. The exception is a clock that was on the other track for
 *   long, and that track is as tight: then the host's clock jumped to and fro.
 *
 * So false brackets come one by one, among evidence that denies them. Where some come in a row and
 * nothing between them denies any, the clock may have been there, and that stretch is in doubt.
 * Where both tracks can go on behind objections, the clock jumped: nothing denies the one piece of
 * evidence that denies the old track. That is so where work is rare, and where brackets are tight
 * on one side only.
 *
 * Where false brackets are close together, those between them may be false as well, by less than
 * can be seen. Then all of them are left out, and the stretch is in doubt: see doubt_near().
 *
 * All pairs of constraints meet: the later of two is compared with what the earlier one left of the
 * track.
 */
#include <stdlib.h>

#include "base/array.h"
#include "engine/calibrate/calibrate_impl.h"
#include "engine/calibrate/step.h"

#define PROOFS   3u  /* as many in a row are no chance */
#define NEAR     16u /* knots: eight operations */
#define LONG     64u /* knots of a track that is the clock's for certain, if it is tight */
#define TIGHT    4   /* times as wide as another track */
#define MAX_LEFT 8u
#define BETWEEN  128u /* knots from one stretch in doubt to the next: they are one */

struct way {
	int64_t lo, hi;
};

/* A track that the clock left, carried on as if nothing had been evidence since then. */
struct left {
	struct way way;
	int64_t width;     /* when it was left */
	uint32_t from, at; /* knots: its first one, the one that objected first */
};

struct tracker {
	struct attempt *attempt; /* weak */
	struct doubts *jumps;    /* weak */
	struct way old, new;
	uint32_t *objects; /* owned: knots that object, since the last that did not */
	uint32_t n_objects, n_allocated;
	uint32_t n_denials; /* of these: what leaves the track nothing, not only too little */
	uint32_t new_from, n_proofs; /* of the new track */
	uint32_t n_lies;
	/* Lies that are near each other: their first knot, the one behind the last, how many. */
	uint32_t near_from, near_to, n_near;
	struct way clean;           /* the old track without what stands among them */
	struct left left[MAX_LEFT]; /* since the old track of the first one, none was long */
	uint32_t n_left, old_from;  /* first knot of the old track */
};

static const struct way unbounded = {-PHI_UNBOUNDED, PHI_UNBOUNDED};

static void carry(struct way *track, const struct step *step)
{
	track->lo = track->lo <= -PHI_UNBOUNDED + step->fall ? -PHI_UNBOUNDED
	                                                     : track->lo - step->fall;
	track->hi = track->hi >= PHI_UNBOUNDED - step->rise ? PHI_UNBOUNDED
	                                                    : track->hi + step->rise;
}

/* Narrows a track by a constraint; false: that would leave too little, so it does not. */
static bool take(struct way *track, int64_t lo, int64_t hi, int64_t room)
{
	struct way next = {lo > track->lo ? lo : track->lo, hi < track->hi ? hi : track->hi};

	if (next.hi - next.lo < room && (next.lo > track->lo || next.hi < track->hi))
		return false;
	*track = next;
	return true;
}

/* -- what becomes of objections -------------------------------------------------------------- */

/*
 * Leaves out all knots in front of `end` that are among false ones, if these are many, and
 * continues the old track without them. This is the case where operations are paired with the
 * evidence of the next one.
 */
static int doubt_near(struct tracker *tracker, uint32_t end)
{
	struct attempt *attempt = tracker->attempt;
	struct knot *knots = attempt->knots;
	uint32_t from = tracker->near_from;

	tracker->near_to = end;
	tracker->n_near += tracker->n_denials;
	if (tracker->n_near < PROOFS)
		return FLEXTRACE_OK;
	for (uint32_t i = from; i < end; i++) {
		knots[i].lo = -PHI_UNBOUNDED;
		knots[i].hi = PHI_UNBOUNDED;
	}
	tracker->old = tracker->clean;
	if (end < attempt->n_knots)
		take(&tracker->old, knots[end].lo, knots[end].hi, attempt->room);
	return doubts_add(&attempt->doubts, from > 0 ? knots[from - 1].x : 0,
	                  end < attempt->n_knots ? knots[end].x : UINT64_MAX);
}

/* They were lies, all in front of knot `end`. */
static int drop(struct tracker *tracker, uint32_t end, bool is_certain)
{
	struct attempt *attempt = tracker->attempt;
	struct knot *knots = attempt->knots;
	uint32_t first = tracker->objects[0];

	for (uint32_t i = 0; i < tracker->n_objects; i++) {
		struct knot *knot = &knots[tracker->objects[i]];

		knot->lo = -PHI_UNBOUNDED;
		knot->hi = PHI_UNBOUNDED;
	}
	tracker->n_lies++;
	FLEXTRACE_TRY(doubt_near(tracker, end));
	if (tracker->n_denials > 0 &&
	    (tracker->n_objects >= (is_certain ? PROOFS : 2) || end == attempt->n_knots))
		FLEXTRACE_TRY(doubts_add(&attempt->doubts, first > 0 ? knots[first - 1].x : 0,
		                         end < attempt->n_knots ? knots[end].x : UINT64_MAX));
	tracker->n_objects = tracker->n_denials = 0;
	return FLEXTRACE_OK;
}

static int64_t width_of(const struct way *way)
{
	return way->hi - way->lo;
}

static bool meets(const struct way *way, const struct way *other, int64_t room)
{
	struct way both = *way;

	return take(&both, other->lo, other->hi, room);
}

/* Whether the clock was on the old track for long, and that track is as tight as the one before. */
static bool is_believed(const struct tracker *tracker)
{
	if (tracker->n_left == 0)
		return true;
	return tracker->new_from - tracker->old_from >= LONG &&
	       width_of(&tracker->old) / TIGHT <= tracker->left[tracker->n_left - 1].width;
}

/* How far two tracks are apart; negative: they meet. */
static int64_t gap_of(const struct way *way, const struct way *other)
{
	return way->lo > other->lo ? way->lo - other->hi : other->lo - way->hi;
}

/* Whether the clock goes on where it was left before, as the new track says and the old one
 * denies. Wide tracks that are near each other may meet by chance. */
static bool goes_on(const struct tracker *tracker, const struct left *left)
{
	return left->at - left->from >= LONG && width_of(&left->way) / TIGHT <= left->width &&
	       meets(&left->way, &tracker->new, tracker->attempt->room) &&
	       gap_of(&left->way, &tracker->old) > width_of(&left->way) + width_of(&tracker->new);
}

/* No clock returns to its old track by chance. It never left it, and the evidence that it did is
 * false. */
static int go_back(struct tracker *tracker, uint32_t to)
{
	struct attempt *attempt = tracker->attempt;
	struct knot *knots = attempt->knots;
	const struct left *left = &tracker->left[to];
	uint32_t end = tracker->new_from;

	while (tracker->jumps->n > 0 &&
	       tracker->jumps->stretches[tracker->jumps->n - 1].from >= knots[left->at].x)
		tracker->jumps->n--;
	for (uint32_t i = left->at; i < end; i++) {
		knots[i].lo = -PHI_UNBOUNDED;
		knots[i].hi = PHI_UNBOUNDED;
	}
	tracker->old = left->way;
	take(&tracker->old, tracker->new.lo, tracker->new.hi, attempt->room);
	tracker->old_from = left->from;
	tracker->n_left = to;
	tracker->n_lies++;
	return doubts_add(&attempt->doubts, left->at > 0 ? knots[left->at - 1].x : 0, knots[end].x);
}

/* The clock goes on with the new track. It jumped in front of that track, or at its first place,
 * which then belongs to neither track; or it is back on an earlier track. */
static int jump(struct tracker *tracker)
{
	const struct knot *knots = tracker->attempt->knots;
	const struct knot *to = &knots[tracker->new_from];
	uint32_t at = tracker->objects[0], back = 0;

	if (is_believed(tracker))
		tracker->n_left = 0;
	while (back < tracker->n_left && !goes_on(tracker, &tracker->left[back]))
		back++;
	if (back < tracker->n_left) {
		FLEXTRACE_TRY(go_back(tracker, back));
	} else {
		if (tracker->n_left < MAX_LEFT)
			tracker->left[tracker->n_left++] = (struct left){
				tracker->clean, width_of(&tracker->clean), tracker->old_from, at};
		tracker->old = tracker->new;
		tracker->old_from = tracker->new_from;
		FLEXTRACE_TRY(doubts_add(tracker->jumps, knots[at].x,
		                         to->x + (to > knots && to[-1].x == to->x)));
	}
	tracker->clean = tracker->old;
	tracker->near_from = tracker->near_to = tracker->new_from;
	tracker->n_near = tracker->n_objects = tracker->n_denials = 0;
	return FLEXTRACE_OK;
}

static int object(struct tracker *tracker, uint32_t at, bool is_proof)
{
	const struct knot *knot = &tracker->attempt->knots[at];

	if (tracker->n_objects == 0 && at > tracker->near_to + NEAR) {
		tracker->near_from = at;
		tracker->n_near = 0;
		tracker->clean = tracker->old;
	}
	FLEXTRACE_TRY(
		ARRAY_RESERVE(tracker->objects, tracker->n_allocated, tracker->n_objects + 1ull));
	tracker->objects[tracker->n_objects++] = at;
	tracker->n_denials += knot->lo > tracker->old.hi || knot->hi < tracker->old.lo;
	if (!is_proof) {
		tracker->new = (struct way){knot->lo, knot->hi};
		tracker->new_from = at;
		tracker->n_proofs = 0;
	}
	return ++tracker->n_proofs >= PROOFS ? jump(tracker) : FLEXTRACE_OK;
}

/* -- the way --------------------------------------------------------------------------------- */

static int go_on(struct tracker *tracker, uint32_t at)
{
	const struct knot *knot = &tracker->attempt->knots[at];
	int64_t room = tracker->attempt->room;
	bool fits_old = take(&tracker->old, knot->lo, knot->hi, room);
	bool fits_new = tracker->n_objects > 0 && take(&tracker->new, knot->lo, knot->hi, room);

	if (!fits_old)
		return object(tracker, at, fits_new);
	if (tracker->n_objects == 0)
		return FLEXTRACE_OK;
	if (!fits_new)
		return drop(tracker, at, true);
	if (!meets(&tracker->old, &tracker->new, room))
		return FLEXTRACE_OK;
	if (tracker->n_denials > 0)
		return jump(tracker);
	return drop(tracker, at, false);
}

/* Nothing that is left of an era denies its last objections: it ends in front of the first. */
static int keep_objections(struct tracker *tracker, uint64_t *ret_end_x)
{
	*ret_end_x = tracker->attempt->knots[tracker->objects[0]].x;
	tracker->n_objects = tracker->n_denials = 0;
	return FLEXTRACE_OK;
}

/* Goes along the knots from `*at` on that are in front of `*end_x`, which becomes where the era
 * ends. */
static int go_along(struct tracker *tracker, uint32_t *at, uint64_t *end_x)
{
	const struct attempt *attempt = tracker->attempt;
	const struct knot *knots = attempt->knots;
	struct walk walk = {.reference = &attempt->reference};
	struct step step = {0, 0};
	uint32_t i = *at;

	tracker->old = tracker->new = tracker->clean = unbounded;
	tracker->near_from = tracker->near_to = tracker->old_from = *at;
	tracker->n_near = tracker->n_left = 0;
	for (; i < attempt->n_knots && knots[i].x < *end_x; i++) {
		if (i > *at)
			step = band_range_step(&walk, knots[i - 1].x, knots[i].x);
		carry(&tracker->old, &step);
		carry(&tracker->new, &step);
		carry(&tracker->clean, &step);
		for (uint32_t k = 0; k < tracker->n_left; k++)
			carry(&tracker->left[k].way, &step);
		FLEXTRACE_TRY(go_on(tracker, i));
	}
	*at = i;
	if (i < attempt->n_knots && tracker->n_denials > 0)
		return keep_objections(tracker, end_x);
	if (tracker->n_denials > 0)
		return jump(tracker);
	return tracker->n_objects > 0 ? drop(tracker, i, false) : FLEXTRACE_OK;
}

/* Few knots between two stretches in doubt are in doubt as well, and so are very few in front of
 * the first one, and behind the last one. */
static int doubt_between(struct attempt *attempt)
{
	const struct doubts *doubts = &attempt->doubts;
	const struct knot *knots = attempt->knots;
	uint32_t i = 0, from = 0;

	while (doubts->n > 0 && i <= doubts->n) {
		uint64_t begin_x = i > 0 ? doubts->stretches[i - 1].to : 0;
		uint64_t end_x = i < doubts->n ? doubts->stretches[i].from : UINT64_MAX;
		uint32_t most = i > 0 && i < doubts->n ? BETWEEN : NEAR, to;

		while (from < attempt->n_knots && knots[from].x < begin_x)
			from++;
		for (to = from; to < attempt->n_knots && knots[to].x <= end_x; to++)
			;
		if (to - from > most || begin_x >= end_x)
			i++;
		else
			FLEXTRACE_TRY(doubts_add(&attempt->doubts, begin_x, end_x));
	}
	return FLEXTRACE_OK;
}

int track_run(struct attempt *attempt, struct doubts *jumps, uint32_t *ret_n_lies)
{
	const struct reference *reference = &attempt->reference;
	struct era *eras = reference->n_uncut ? reference->uncut : reference->eras;
	uint32_t n_eras = reference->n_uncut ? reference->n_uncut : reference->n_eras, i = 0;
	uint64_t all = UINT64_MAX;
	struct tracker tracker = {.attempt = attempt, .jumps = jumps};
	int code = FLEXTRACE_OK;

	for (uint32_t era = 0; era < n_eras && n_eras > 1 && code >= 0; era++) {
		while (i < attempt->n_knots && attempt->knots[i].x < eras[era].core_from)
			i++;
		code = go_along(&tracker, &i, &eras[era].core_to);
	}
	if (n_eras <= 1)
		code = go_along(&tracker, &i, &all);
	*ret_n_lies = tracker.n_lies;
	if (code >= 0)
		code = doubt_between(attempt);
	free(tracker.objects);
	return code;
}
