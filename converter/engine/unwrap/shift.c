/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resets that contradict no epoch, because they leave the counter within the tolerance of where it
 * would have been. A steady rate leaves no room for them: before the reset, most samples agree on
 * one offset between counter and host, behind it on another. There a segment begins.
 *
 * Blocks of samples are compared with the block after the next, so that the place of the shift is
 * in the middle of neither. Samples around the shift that fit both sides are only assumed. Both
 * sides also have to show where they are: in a queue whose operations have the completions of
 * others, one side is loose.
 */
#include <math.h>
#include <stdlib.h>

#include "base/marzullo.h"
#include "window.h"

#define BLOCK         16u
#define SPAN          (3 * BLOCK)
#define AGREEING      0.75
#define WANDER        3e-3 /* of the rate, at most, from one block to the next but one */
#define MAX_UNKNOWN   4e-3 /* of the rate: beyond, nothing is told */
#define NS            16   /* intervals are in 1/16 ns */
#define MIN_SHIFT_NS  100
#define TIGHT         4
#define MAX_STOP_NS   5000000
#define MAX_FAR_NS    1e12
#define MIN_GAP_NS    INT64_C(1000000000)
#define BESIDE        256u  /* samples on either side of a gap that tell the rate there */
#define MIN_BESIDE_NS 2e7   /* that they must span */
#define MIN_DRIFT     50e-6 /* more than what a steady rate does in a gap */
#define MAX_SEGMENTS  65535u

struct shifter {
	struct axis *axis;
	struct sample_list list; /* owned; certified samples with both bounds */
	double slope, slack;     /* ns per tick; relative */
};

static double clamp(double ns)
{
	if (ns > MAX_FAR_NS)
		return MAX_FAR_NS;
	return ns < -MAX_FAR_NS ? -MAX_FAR_NS : ns;
}

/* The offset of the counter from a pivot that a sample leaves; widened by what the rate may do on
 * the way. */
static struct interval offset_of(const struct shifter *shifter, const struct sample *pivot,
                                 const struct sample *sample)
{
	double first_ns = (double)(int64_t)(sample->first - pivot->first) * shifter->slope;
	double last_ns = first_ns + (double)sample->span * shifter->slope;
	double lo = (double)(sample->before_ns - pivot->before_ns) - first_ns;
	double hi = (double)(sample->after_ns - pivot->before_ns) - last_ns;
	double wide = shifter->slack * (fabs(first_ns) + (last_ns - first_ns)) + 1;

	return (struct interval){(int64_t)(clamp(lo - wide) * NS),
	                         (int64_t)(clamp(hi + wide) * NS)};
}

/* Whether one bounds the counter's offset about as well as the other. */
static bool is_as_tight(const struct interval *a, const struct interval *b)
{
	return a->hi - a->lo <= TIGHT * (b->hi - b->lo);
}

static bool is_apart(const struct interval *a, const struct interval *b)
{
	return a->lo > b->hi + MIN_SHIFT_NS * NS || b->lo > a->hi + MIN_SHIFT_NS * NS;
}

static bool meets(const struct interval *a, const struct interval *b)
{
	return a->lo <= b->hi && b->lo <= a->hi;
}

/* Wherever most of a block may agree; false: they do not. */
static bool agree(const struct interval *intervals, struct interval *ret_hull)
{
	int64_t spare[2 * BLOCK];

	return marzullo_hull(intervals, BLOCK, AGREEING, spare, ret_hull) >= AGREEING * BLOCK;
}

/* A shift in a span of samples. */
struct shift {
	struct interval left, right; /* where both sides stand */
	uint32_t at, n_unclear;      /* first sample behind it; before that, could be of both */
};

/* The place in the span that has most samples on their side. */
static void find_edge(const struct interval *intervals, struct shift *shift)
{
	uint32_t score = 0, best;

	for (uint32_t i = 0; i < SPAN; i++)
		score += meets(&intervals[i], &shift->right);
	best = score;
	shift->at = shift->n_unclear = 0;
	for (uint32_t i = 0; i < SPAN; i++) {
		score += meets(&intervals[i], &shift->left);
		score -= meets(&intervals[i], &shift->right);
		if (score > best) {
			best = score;
			shift->at = i + 1;
			shift->n_unclear = 0;
		} else if (score == best && shift->at + shift->n_unclear == i) {
			shift->n_unclear++;
		}
	}
}

/* Where a block of samples stands if the rate is the mean one. In ns from its first sample. */
struct block {
	const struct sample *pivot; /* weak: its first sample */
	double lo, hi;              /* offsets that all its samples leave */
	double least, most;         /* between these its samples begin */
};

static struct block block_of(const struct shifter *shifter, uint32_t from)
{
	const struct sample *pivot = sample_list_at(&shifter->list, from);
	struct block block = {pivot, -INFINITY, INFINITY, INFINITY, -INFINITY};

	for (uint32_t i = 0; i < BLOCK; i++) {
		const struct sample *sample = sample_list_at(&shifter->list, from + i);
		double first_ns = (double)(int64_t)(sample->first - pivot->first) * shifter->slope;
		double last_ns = first_ns + (double)sample->span * shifter->slope;
		double lo = (double)(sample->before_ns - pivot->before_ns) - first_ns;
		double hi = (double)(sample->after_ns - pivot->before_ns) - last_ns;

		block.lo = lo > block.lo ? lo : block.lo;
		block.hi = hi < block.hi ? hi : block.hi;
		block.least = first_ns < block.least ? first_ns : block.least;
		block.most = first_ns > block.most ? first_ns : block.most;
	}
	return block;
}

/* Whether all samples of the span from `from` on leave one offset, as nearly always: then nothing
 * shifts. It is sure of that, as it widens each sample's interval only by the distance of the
 * nearest one of its block from the pivot, and find_shift() by that of the sample itself. */
static bool is_one(const struct shifter *shifter, const struct block blocks[3], uint32_t from)
{
	const struct sample *pivot = sample_list_at(&shifter->list, from + SPAN / 2);
	double lo = -INFINITY, hi = INFINITY;

	for (int i = 0; i < 3; i++) {
		const struct block *block = &blocks[i];
		double ns = (double)(int64_t)(block->pivot->first - pivot->first) * shifter->slope;
		double off = (double)(block->pivot->before_ns - pivot->before_ns) - ns;
		double near_ns = fmax(ns + block->least, -(ns + block->most));
		double wide = shifter->slack * fmax(near_ns, 0);

		lo = fmax(lo, block->lo + off - wide);
		hi = fmin(hi, block->hi + off + wide);
	}
	return lo <= hi;
}

/* Looks for a shift in the span from `from` on. */
static bool find_shift(const struct shifter *shifter, uint32_t from, struct shift *shift)
{
	const struct sample *pivot = sample_list_at(&shifter->list, from + SPAN / 2);
	struct interval intervals[SPAN];
	int64_t lo = INT64_MIN, hi = INT64_MAX;

	for (uint32_t i = 0; i < SPAN; i++) {
		const struct sample *sample = sample_list_at(&shifter->list, from + i);

		if (sample->segment != pivot->segment)
			return false;
		intervals[i] = offset_of(shifter, pivot, sample);
		lo = intervals[i].lo > lo ? intervals[i].lo : lo;
		hi = intervals[i].hi < hi ? intervals[i].hi : hi;
	}
	if (lo <= hi || !agree(intervals, &shift->left) ||
	    !agree(intervals + 2 * BLOCK, &shift->right) ||
	    !is_apart(&shift->left, &shift->right) || !is_as_tight(&shift->left, &shift->right) ||
	    !is_as_tight(&shift->right, &shift->left))
		return false;
	find_edge(intervals, shift);
	shift->at += from;
	return shift->at > from && shift->at < from + SPAN;
}

static int split(const struct shifter *shifter, const struct shift *shift)
{
	struct sample *first = sample_list_at(&shifter->list, shift->at);

	FLEXTRACE_TRY(axis_split(shifter->axis, first->segment, first));
	/* What was at work then may have seen the counter stand still. */
	if (shift->right.lo > shift->left.hi && shift->right.lo - shift->left.hi < MAX_STOP_NS * NS)
		sample_list_at(&shifter->list, shift->at - 1)->status = TIME_ASSUMED;
	for (uint32_t i = 0; i < shift->n_unclear; i++)
		sample_list_at(&shifter->list, shift->at + i)->status = TIME_ASSUMED;
	return FLEXTRACE_OK;
}

/* -- gaps ------------------------------------------------------------------------------------ */

/* Across a gap, little is known of what the rate did. But if it was the same before and after,
 * and the mean over the gap is another, the counter began anew. */

/* Where a block of samples stands. */
struct stand {
	struct interval offset; /* from the pivot, at the mean rate */
	double ns;              /* from the pivot */
};

/* How far a rate is off the mean one, relative. */
struct drift {
	double lo, hi;
};

static bool stand_of(const struct shifter *shifter, const struct sample *pivot, uint32_t from,
                     struct stand *ret_stand)
{
	const struct sample *centre = sample_list_at(&shifter->list, from + BLOCK / 2);
	double ns = (double)(int64_t)(centre->first - pivot->first) * shifter->slope;
	int64_t ahead = (int64_t)(((double)(centre->before_ns - pivot->before_ns) - ns) * NS);
	struct interval intervals[BLOCK];

	for (uint32_t i = 0; i < BLOCK; i++) {
		intervals[i] = offset_of(shifter, centre, sample_list_at(&shifter->list, from + i));
		intervals[i].lo += ahead;
		intervals[i].hi += ahead;
	}
	ret_stand->ns = ns;
	return agree(intervals, &ret_stand->offset);
}

static struct drift drift_of(const struct stand *from, const struct stand *to)
{
	double span = (to->ns - from->ns) * NS;

	return (struct drift){(double)(to->offset.lo - from->offset.hi) / span,
	                      (double)(to->offset.hi - from->offset.lo) / span};
}

/* The drift between a block whose place is known and another on the same side of the gap. */
static struct drift drift_beside(const struct shifter *shifter, const struct sample *pivot,
                                 uint32_t other, const struct stand *stand)
{
	struct drift unknown = {-shifter->slack, shifter->slack}, drift;
	struct stand far;

	if (sample_list_at(&shifter->list, other)->segment != pivot->segment ||
	    !stand_of(shifter, pivot, other, &far) || fabs(far.ns - stand->ns) < MIN_BESIDE_NS)
		return unknown;
	drift = far.ns < stand->ns ? drift_of(&far, stand) : drift_of(stand, &far);
	drift.lo = fmax(drift.lo, unknown.lo);
	drift.hi = fmin(drift.hi, unknown.hi);
	return drift.lo <= drift.hi ? drift : unknown;
}

/* Whether the counter began anew in the gap before a sample. */
static bool is_reset_gap(const struct shifter *shifter, uint32_t at)
{
	const struct sample *pivot = sample_list_at(&shifter->list, at);
	uint32_t back = at < BESIDE ? 0 : at - BESIDE;
	uint32_t ahead = shifter->list.n - at < BESIDE ? shifter->list.n - BLOCK
	                                               : at + BESIDE - BLOCK;
	struct stand before, after;
	struct drift left, gap, right;

	if (sample_list_at(&shifter->list, at - BLOCK)->segment != pivot->segment ||
	    sample_list_at(&shifter->list, at + BLOCK - 1)->segment != pivot->segment ||
	    !stand_of(shifter, pivot, at - BLOCK, &before) ||
	    !stand_of(shifter, pivot, at, &after) ||
	    after.ns <= before.ns) /* long brackets: work of both blocks is mixed */
		return false;
	left = drift_beside(shifter, pivot, back, &before);
	right = drift_beside(shifter, pivot, ahead, &after);
	gap = drift_of(&before, &after);
	return gap.lo > fmax(left.hi, right.hi) + MIN_DRIFT ||
	       gap.hi < fmin(left.lo, right.lo) - MIN_DRIFT;
}

static bool is_gap(const struct shifter *shifter, uint32_t at)
{
	return at >= BLOCK && at + BLOCK <= shifter->list.n &&
	       sample_list_at(&shifter->list, at)->before_ns -
	                       sample_list_at(&shifter->list, at - 1)->after_ns >
	               MIN_GAP_NS;
}

static int split_gaps(const struct shifter *shifter)
{
	struct shift shift = {.n_unclear = 0};

	for (shift.at = 1; shift.at < shifter->list.n; shift.at++) {
		if (is_gap(shifter, shift.at) && shifter->axis->n_segments < MAX_SEGMENTS &&
		    is_reset_gap(shifter, shift.at))
			FLEXTRACE_TRY(split(shifter, &shift));
	}
	return FLEXTRACE_OK;
}

/* -- all ------------------------------------------------------------------------------------- */

int axis_split_shifts(struct axis *axis)
{
	const struct rate *rate = &axis->rate;
	double unknown = (rate->hi - rate->lo) / rate->hi;
	struct shifter shifter = {
		.axis = axis, .slope = 2 / (rate->lo + rate->hi), .slack = WANDER + unknown};
	struct block blocks[3] = {{.pivot = NULL}};
	struct shift shift = {.n_unclear = 0};
	int code;

	/* Estimates of a counter that goes on shift as well: their tool was wrong. */
	if (axis->is_soft || !rate->is_known || unknown > MAX_UNKNOWN || axis->n_samples < SPAN)
		return FLEXTRACE_OK;
	code = sample_list_init(&shifter.list, axis, sample_is_certified);
	if (code >= 0)
		code = split_gaps(&shifter);
	for (uint32_t end = BLOCK; end <= shifter.list.n && code >= 0; end += BLOCK) {
		blocks[0] = blocks[1];
		blocks[1] = blocks[2];
		blocks[2] = block_of(&shifter, end - BLOCK);
		if (end >= SPAN && axis->n_segments < MAX_SEGMENTS &&
		    !is_one(&shifter, blocks, end - SPAN) &&
		    find_shift(&shifter, end - SPAN, &shift))
			code = split(&shifter, &shift);
	}
	sample_list_release(&shifter.list);
	return code;
}
