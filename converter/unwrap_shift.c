/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reset that happens to leave the counter within the tolerance of where it would have been
 * contradicts no epoch. But a steady rate leaves no room for it: before it, most facts agree on
 * one offset between counter and host, behind it on another. There a segment begins.
 *
 * Blocks of facts are compared with the block after the next, so that one of the two sides of a
 * shift never lies in the middle of either. Facts around the shift that could be of both sides
 * are only assumed.
 */
#include <math.h>
#include <stdlib.h>

#include "marzullo.h"
#include "unwrap_window.h"

#define BLOCK        16u
#define SPAN         (3 * BLOCK)
#define AGREEING     0.75
#define WANDER       500e-6 /* of the rate, at most, from one block to the next but one */
#define MAX_UNKNOWN  1e-3   /* of the rate: beyond, nothing is told */
#define NS           16     /* intervals are in 1/16 ns */
#define MIN_SHIFT_NS 100
#define MAX_FAR_NS   1e12
#define MAX_SEGMENTS 65535u

struct shifter {
	struct axis *axis;
	struct fact **facts; /* owned; certified facts with both bounds, in order */
	uint32_t n;
	double slope, slack; /* ns per tick; relative */
};

/* The offset of the counter from a pivot that a fact leaves; widened by what the rate may do on
 * the way. */
static struct interval offset_of(const struct shifter *shifter, const struct fact *pivot,
                                 const struct fact *fact)
{
	double first_ns = (double)(int64_t)(fact->first - pivot->first) * shifter->slope;
	double last_ns = first_ns + (double)fact->span * shifter->slope;
	double lo = (double)(fact->before_ns - pivot->before_ns) - first_ns;
	double hi = (double)(fact->after_ns - pivot->before_ns) - last_ns;
	double wide = shifter->slack * (fabs(first_ns) + (last_ns - first_ns)) + 1;

	lo = fmin(fmax(lo - wide, -MAX_FAR_NS), MAX_FAR_NS);
	hi = fmin(fmax(hi + wide, -MAX_FAR_NS), MAX_FAR_NS);
	return (struct interval){(int64_t)(lo * NS), (int64_t)(hi * NS)};
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

/* A shift in a span of facts. */
struct shift {
	struct interval left, right; /* where both sides stand */
	uint32_t at, n_unclear;      /* first fact behind it; before that, could be of both */
};

/* The place in the span that has most facts on their side. */
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

/* Looks for a shift in the span from `from` on. */
static bool find_shift(const struct shifter *shifter, uint32_t from, struct shift *shift)
{
	const struct fact *pivot = shifter->facts[from + SPAN / 2];
	struct interval intervals[SPAN];
	int64_t lo = INT64_MIN, hi = INT64_MAX;

	for (uint32_t i = 0; i < SPAN; i++) {
		const struct fact *fact = shifter->facts[from + i];

		if (fact->segment != pivot->segment)
			return false;
		intervals[i] = offset_of(shifter, pivot, fact);
		lo = intervals[i].lo > lo ? intervals[i].lo : lo;
		hi = intervals[i].hi < hi ? intervals[i].hi : hi;
	}
	if (lo <= hi || !agree(intervals, &shift->left) ||
	    !agree(intervals + 2 * BLOCK, &shift->right) || !is_apart(&shift->left, &shift->right))
		return false;
	find_edge(intervals, shift);
	shift->at += from;
	return shift->at > from && shift->at < from + SPAN;
}

/* Begins a segment at a fact: all later ones move up by one. */
static int split(const struct shifter *shifter, const struct shift *shift)
{
	struct axis *axis = shifter->axis;
	struct fact *first = shifter->facts[shift->at];
	uint32_t segment = first->segment;

	FLEXTRACE_TRY(axis_add_segment(axis));
	for (uint32_t i = axis->n_segments - 1; i > segment; i--)
		axis->segments[i] = axis->segments[i - 1];
	axis->segments[segment + 1].is_after_gap = false;
	for (struct fact *fact = first; fact < axis->facts + axis->n_facts; fact++) {
		fact->segment += fact->segment >= segment && fact->status == TIME_CERTIFIED;
		fact_tell_run(fact);
	}
	for (uint32_t i = 0; i < shift->n_unclear; i++)
		shifter->facts[shift->at + i]->status = TIME_ASSUMED;
	return FLEXTRACE_OK;
}

static int list_facts(struct shifter *shifter)
{
	const struct axis *axis = shifter->axis;

	shifter->facts = malloc((axis->n_facts + 1ull) * sizeof(*shifter->facts));
	if (!shifter->facts)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < axis->n_facts; i++) {
		if (axis->facts[i].status == TIME_CERTIFIED && fact_is_bounded(&axis->facts[i]))
			shifter->facts[shifter->n++] = &axis->facts[i];
	}
	return FLEXTRACE_OK;
}

int axis_split_shifts(struct axis *axis)
{
	const struct rate *rate = &axis->rate;
	double unknown = (rate->hi - rate->lo) / rate->hi;
	struct shifter shifter = {
		.axis = axis, .slope = 2 / (rate->lo + rate->hi), .slack = WANDER + unknown};
	struct shift shift = {.n_unclear = 0};
	int code;

	if (!rate->is_known || !rate->is_steady || unknown > MAX_UNKNOWN || axis->n_facts < SPAN)
		return FLEXTRACE_OK;
	code = list_facts(&shifter);
	for (uint32_t i = 0; i + SPAN <= shifter.n && code >= 0; i += BLOCK) {
		if (axis->n_segments < MAX_SEGMENTS && find_shift(&shifter, i, &shift))
			code = split(&shifter, &shift);
	}
	free(shifter.facts);
	return code;
}
