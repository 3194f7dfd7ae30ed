/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the rate steps, a boundary between two parts is only near the step. A part can include some
 * evidence from behind the step and still be fitted by a line, which is slightly wrong then.
 *
 * How long a part's rate can have lasted does not depend on its boundary. What its evidence leaves
 * of host time is carried on over the evidence of the next part, by all rates within rho of the
 * part's slopes. Where nothing is left, the rate must have changed before. The part reaches up to
 * there, in both directions.
 *
 * If each rate that the clock had has a part whose slopes are right, then the rate at any place is
 * that of one of the parts that reach it, because no evidence contradicts the true map while its
 * rate lasts. Nothing needs to reach beyond the next part: either the rate changes before it, or
 * the next part has the same rate.
 *
 * The slopes of a part are right if no step is inside it. A step inside lies where the part beyond
 * the step reaches. So the slopes come from a part's core, the blocks where no other part reaches.
 * Of n steps each is inside of at most one part, and there are n + 1 rates, so at least one rate
 * has a part without a step inside. That makes the cores beside it right, and those make theirs
 * right, one more in each round. Cores only shrink, and slopes from less evidence only leave more,
 * so the rounds end. A part without a core keeps its slopes. They may be wrong, which widens the
 * bounds where it reaches and has no other effect. A rate that lasts for less than a part is not
 * seen.
 */
#include <math.h>

#include "engine/calibrate/calibrate_impl.h"

#define ROUNDING_NS 1.0
#define MIN_STEP    1u  /* blocks that tell no rate beside parts that do */
#define BENT        4   /* times the room beside it, that a jump or a lie bends a part's line */
#define MAX_FALSE   32u /* blocks of false evidence, behind which the clock is where it was */
#define MAX_BLIPS   8u  /* blocks between two parts of one rate that are none of another */

/* What is left of host time at x, on the way over the evidence. */
struct carried {
	double x, lo, hi;
	double least, most; /* ns per tick, in front: the rates that hold on the way */
	bool is_forward;
};

static struct carried start(const struct parts *parts, const struct part *part, bool is_forward)
{
	return (struct carried){
		.x = is_forward ? -INFINITY : INFINITY,
		.lo = -INFINITY,
		.hi = INFINITY,
		.least = slope_least(part->line.slope_lo, parts->rho),
		.most = slope_most(part->line.slope_hi, parts->rho),
		.is_forward = is_forward,
	};
}

/* How far host time can go at least, and at most, over dx, which may be negative. */
static double least_over(const struct carried *carried, double dx)
{
	return dx * (dx > 0 ? carried->least : carried->most);
}

static double most_over(const struct carried *carried, double dx)
{
	return dx * (dx > 0 ? carried->most : carried->least);
}

/* Takes in a bound; those out of order are carried to where the others are. */
static void take(struct carried *carried, const struct hull_point *point, bool is_upper)
{
	double x = (double)point->x, dx = x - carried->x;

	if (carried->is_forward ? dx > 0 : dx < 0) {
		if (isfinite(carried->x)) {
			carried->lo += least_over(carried, dx);
			carried->hi += most_over(carried, dx);
		}
		carried->x = x;
		dx = 0;
	}
	if (is_upper)
		carried->hi = fmin(carried->hi, (double)point->t + most_over(carried, -dx));
	else
		carried->lo = fmax(carried->lo, -(double)point->t + least_over(carried, -dx));
}

/* Takes in a block in order of x, until nothing is left. Returns whether anything is. */
static bool take_block(struct carried *carried, const struct hulls *hulls, uint32_t block)
{
	const struct hull_block *from = &hulls->blocks[block], *to = from + 1;
	uint32_t lower = from->lower, upper = from->upper;
	uint32_t n = to->lower - lower + to->upper - upper;
	bool is_forward = carried->is_forward;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at_lower = is_forward ? lower : to->lower - 1 - (lower - from->lower);
		uint32_t at_upper = is_forward ? upper : to->upper - 1 - (upper - from->upper);
		bool is_upper = lower == to->lower;

		if (!is_upper && upper < to->upper)
			is_upper = (hulls->upper[at_upper].x < hulls->lower[at_lower].x) ==
			           is_forward;
		take(carried, is_upper ? &hulls->upper[at_upper] : &hulls->lower[at_lower],
		     is_upper);
		*(is_upper ? &upper : &lower) += 1;
		if (carried->hi + ROUNDING_NS < carried->lo)
			return false;
	}
	return true;
}

/* Adds the evidence that a part is known from, whatever that leaves. All of its evidence is
 * carried on by the same rates, so its hulls give the same as its blocks one by one. */
static void take_core(struct carried *carried, const struct hulls *hulls, const struct part *part)
{
	uint32_t from = part->core_from, to = part->core_to, n;

	for (; from < to; from += n) {
		struct hull_span span = hulls_span(hulls, from, to, &n);

		for (uint32_t i = 0; i < span.n_lower; i++)
			take(carried, &hulls->lower[span.lower + i], false);
		for (uint32_t i = 0; i < span.n_upper; i++)
			take(carried, &hulls->upper[span.upper + i], true);
	}
}

/* -- reach ----------------------------------------------------------------------------------- */

static void reach_forward(const struct parts *parts, struct part *part, const struct part *next)
{
	struct carried carried = start(parts, part, true);
	uint32_t end = part->is_before_step ? next->to : next->from;

	take_core(&carried, parts->hulls, part);
	for (uint32_t i = part->core_to; i < end; i++) {
		if (take_block(&carried, parts->hulls, i))
			continue;
		part->reach_to = (uint64_t)fmax(carried.x, 0);
		return;
	}
	part->reach_to = block_x(parts->hulls, end);
}

static void reach_backward(const struct parts *parts, struct part *part, const struct part *last)
{
	struct carried carried = start(parts, part, false);
	uint32_t end = last->is_before_step ? last->from : last->to;

	take_core(&carried, parts->hulls, part);
	for (uint32_t i = part->core_from; i-- > end;) {
		if (take_block(&carried, parts->hulls, i))
			continue;
		part->reach_from = (uint64_t)fmax(carried.x, 0);
		return;
	}
	part->reach_from = block_x(parts->hulls, end);
}

static void reach_all(struct parts *parts)
{
	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->parts[i];
		const struct part *last = part_near(parts, i, -1), *next = part_near(parts, i, 1);

		part->reach_from = 0;
		part->reach_to = UINT64_MAX;
		if (part->has_rate && next)
			reach_forward(parts, part, next);
		if (part->has_rate && last)
			reach_backward(parts, part, last);
	}
}

/* -- cores ----------------------------------------------------------------------------------- */

/* Where a block's evidence begins: operations begin before they end. */
static uint64_t begin_of(const struct hulls *hulls, uint32_t block)
{
	const struct hull_block *at = &hulls->blocks[block];
	int64_t x = at->x;

	if (at[1].lower > at->lower && hulls->lower[at->lower].x < x)
		x = hulls->lower[at->lower].x;
	return (uint64_t)x;
}

/* Leaves out what the parts on both sides reach. 1: the slopes changed, 0: not. */
static int shrink(const struct parts *parts, struct part *part, const struct part *last,
                  const struct part *next)
{
	uint32_t from = part->core_from, to = part->core_to;

	while (last && last->is_before_step && from < to &&
	       begin_of(parts->hulls, from) < last->reach_to)
		from++;
	while (next && part->is_before_step && from < to &&
	       block_x(parts->hulls, to) > next->reach_from)
		to--;
	if (from == part->core_from && to == part->core_to)
		return 0;
	part->core_from = part->from;
	part->core_to = part->to;
	part->has_core = from < to;
	if (part->has_core) {
		part->core_from = from;
		part->core_to = to;
	}
	FLEXTRACE_TRY(part_fit(parts, part->core_from, part->core_to, &part->line));
	return 1;
}

static int shrink_all(struct parts *parts)
{
	int n_changed = 0;

	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->parts[i];
		int changed;

		if (!part->has_rate || !part->has_core)
			continue;
		changed = shrink(parts, part, part_near(parts, i, -1), part_near(parts, i, 1));
		FLEXTRACE_TRY(changed);
		n_changed += changed;
	}
	return n_changed;
}

/* -- steps ----------------------------------------------------------------------------------- */

static bool steps(const struct parts *parts, const struct part *part, const struct part *next)
{
	return fabs(next->line.slope - part->line.slope) > 2 * parts->rho * part->line.slope;
}

/* Whether a part leaves its rate so open that it may be the same. */
static bool may_be_same(const struct parts *parts, const struct part *before,
                        const struct part *part)
{
	double apart = 2 * parts->rho * before->line.slope;

	return part->line.slope_lo - before->line.slope_hi <= apart &&
	       before->line.slope_lo - part->line.slope_hi <= apart;
}

/* Whether a part has another rate only because the clock jumped in it, or a false bracket bends
 * its line. Either moves host time by no more than a few times the room that brackets leave. A
 * single block does not show a rate. */
static bool is_blip(const struct parts *parts, const struct part *before, const struct part *part)
{
	double from = (double)block_x(parts->hulls, part->from);
	double to = (double)block_x(parts->hulls, part->to);
	double far_ns = fabs(part->line.slope - before->line.slope) * (to - from);

	return part->to - part->from <= MIN_STEP || may_be_same(parts, before, part) ||
	       far_ns < 2 * BENT * before->line.margin_ns;
}

/* How far the line of a part is off that of another one, where it begins. */
static double off_ns(const struct parts *parts, const struct part *before, const struct part *part)
{
	double x = (double)block_x(parts->hulls, part->from);

	return fabs(part->line.offset_ns - before->line.offset_ns +
	            (part->line.slope - before->line.slope) * x);
}

/* How far it can be if both are of one clock. */
static double room_ns(const struct parts *parts, const struct part *before, const struct part *part)
{
	const struct line *line = &before->line;
	double dx = (double)block_x(parts->hulls, part->from) -
	            (double)block_x(parts->hulls, before->to);

	return line->margin_ns + part->line.margin_ns +
	       (line->slope_hi - line->slope_lo + 2 * parts->rho * line->slope) * dx;
}

/* The first part that is where the clock would be had it kept the rate of `part`, with parts in
 * front of it that are far off. No clock returns to its old line by chance, so evidence that it
 * left the line is false. NULL: there is none. */
static struct part *find_back(const struct parts *parts, const struct part *part)
{
	struct part *end = parts->parts + parts->n;
	double most_ns = 0;

	for (struct part *far = parts->parts + (part - parts->parts) + 1;
	     far < end && far->from - part->to <= MAX_FALSE; far++) {
		double room = room_ns(parts, part, far);

		if (!far->has_rate)
			continue;
		if (far->to - far->from > MIN_STEP && !steps(parts, part, far) &&
		    off_ns(parts, part, far) < room && most_ns > 2 * BENT * room)
			return far;
		most_ns = fmax(most_ns, off_ns(parts, part, far));
	}
	return NULL;
}

/* Returns the first part behind blips, or the next one: there are none. */
static struct part *skip_blips(const struct parts *parts, const struct part *part,
                               struct part *next)
{
	struct part *end = parts->parts + parts->n, *far = find_back(parts, part);

	if (far && part->to - part->from > MIN_STEP) {
		for (struct part *lie = next; lie < far; lie++)
			lie->has_rate = false;
		return far;
	}
	far = next;
	while (far < end && (!far->has_rate || steps(parts, part, far))) {
		if (far->has_rate && !is_blip(parts, part, far))
			return next;
		far++;
	}
	if (far == end || far->from - part->to > MAX_BLIPS)
		return next;
	for (struct part *blip = next; blip < far; blip++)
		blip->has_rate = false;
	return far;
}

/* Finds where the rate steps. (A clock that jumps and goes on at its rate is for track.c.) */
static void find_steps(struct parts *parts)
{
	struct part *part = NULL, *end = parts->parts + parts->n;

	for (struct part *next = parts->parts; next < end; next++) {
		if (!next->has_rate)
			continue;
		if (part && steps(parts, part, next)) {
			struct part *far = skip_blips(parts, part, next);

			part->is_before_step = far == next && steps(parts, part, far);
			next = far;
		}
		part = next;
	}
}

/* Leaves of a part's slopes what that of one of the same rate leaves. */
static void share(const struct parts *parts, struct part *part, const struct part *by)
{
	struct line *line = &part->line;
	double apart = 2 * parts->rho * line->slope;
	double lo = fmax(line->slope_lo, by->line.slope_lo - apart);
	double hi = fmin(line->slope_hi, by->line.slope_hi + apart);

	if (lo > hi)
		return;
	line->slope_lo = lo;
	line->slope_hi = hi;
	line->slope = fmin(fmax(line->slope, lo), hi);
}

/*
 * A part whose core is a block or two leaves its slopes so open that a jump in it contradicts
 * nothing. Neighbours that no step separates from it give better slopes.
 */
static void share_all(struct parts *parts)
{
	struct part *last = NULL, *end = parts->parts + parts->n;

	for (struct part *part = parts->parts; part < end; part++) {
		if (!part->has_rate)
			continue;
		if (last && !last->is_before_step) {
			share(parts, part, last);
			share(parts, last, part);
		}
		last = part;
	}
}

int parts_reach(struct parts *parts)
{
	int n_changed = 1;

	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->parts[i];

		part->core_from = part->from;
		part->core_to = part->to;
		part->has_core = true;
		part->is_before_step = false;
	}
	find_steps(parts);
	while (n_changed > 0) {
		reach_all(parts);
		n_changed = shrink_all(parts);
	}
	if (n_changed < 0)
		return n_changed;
	share_all(parts);
	reach_all(parts);
	return FLEXTRACE_OK;
}
