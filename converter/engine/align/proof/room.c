/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much room evidence leaves a clock, and how much it usually leaves. A clock that leaves its
 * rate reduces the room long before bounds contradict. Then the clock is suspected. Nothing here
 * bounds a time, so a suspicion in error costs width only.
 *
 * - Two sides. Evidence in front of a place bounds the clock there, and so does evidence behind it.
 *   Both contain the truth, so they overlap by nearly as much as the narrower of them is wide. A
 *   jump in between shifts one against the other, and neither becomes narrower by itself. The clock
 *   is suspected if they overlap by less than a share.
 * - The share. Let a be the distance between the truth and its lower bound, b that to its upper
 *   bound. A jump by d moves bounds beyond the truth by d - a or d - b, and is suspected if d is
 *   more than (1 - share) (a + b). So nothing is outside as long as the smaller of a and b is at
 *   least 1 - share of both.
 * - Usual room. A slew, and false evidence, make each side narrow by itself. They show where bounds
 *   leave much less than they do elsewhere. Exits that come later and later leave more room at the
 *   end of a run than at its begin. So the room at the ends of a run also counts as usual, unless
 *   evidence of this clock was proven to contradict.
 * - Where bounds are tight now and then only, room varies even if nothing happened. So the shares
 *   are smaller there: the smaller, the more the room of this clock varies elsewhere.
 */
#include <math.h>
#include <string.h>

#include "proof.h"

#define SHARE        0.7 /* that two sides overlap by, at most */
#define TIMES        2.5 /* what the lower quarter lacks of a full overlap is lacked by others */
#define NARROW       0.6 /* of the usual room, at most */
#define TIMES_NARROW 4.0 /* what the lower quarter lacks of the median is lacked by others */
#define QUARTER      0.25
#define AT_END       6u  /* blocks */
#define BLOCK        8u  /* spots */
#define LEAST_BLOCKS 8u  /* that say what is usual */
#define LONG         2.5 /* times as long as evidence bounds a clock, a run says what is usual */
#define LEAST_SIDE   8u  /* spots on either side */

struct side { /* bounds at a spot that evidence on one side of it gives */
	double lo, hi;
};

static const struct side nothing = {-INFINITY, INFINITY};

static inline double width_of(const struct side *side)
{
	return side->hi - side->lo;
}

/* Stores what evidence in front of the places behind spots [from, to] gives. */
static void look_back(const struct spot *spots, uint32_t from, uint32_t to, double least,
                      double most, struct side *ret)
{
	struct side side = nothing;

	for (uint32_t i = from; i <= to; i++) {
		double dx = i > from ? spots[i].x - spots[i - 1].x : 0;

		side.lo = larger(side.lo + least * dx, spots[i].lo);
		side.hi = smaller(side.hi + most * dx, spots[i].hi);
		ret[i - from] = side;
	}
}

/* And evidence behind them, up to spot `to`. */
static void look_ahead(const struct spot *spots, uint32_t from, uint32_t to, double least,
                       double most, struct side *ret)
{
	struct side side = nothing;

	ret[to - from] = nothing;
	for (uint32_t i = to; i-- > from;) {
		double dx = spots[i + 1].x - spots[i].x;

		side.lo = larger(side.lo, spots[i + 1].lo) - most * dx;
		side.hi = smaller(side.hi, spots[i + 1].hi) - least * dx;
		ret[i - from] = side;
	}
}

/* How much two sides overlap, of the narrower one; 1: they do not say. */
static double overlap_of(const struct side *front, const struct side *behind)
{
	double room = smaller(front->hi, behind->hi) - larger(front->lo, behind->lo);
	double usual = smaller(width_of(front), width_of(behind));

	return usual < INFINITY && usual > ROUNDING_NS ? room / usual : 1;
}

struct sides {
	struct side front[MAX_SPOTS], behind[MAX_SPOTS];
};

static void find_sides(const struct proof *proof, const struct stretch *stretch, struct sides *ret)
{
	double least = stretch_least(proof, stretch), most = stretch_most(proof, stretch);

	look_back(proof->spots.all, stretch->from, stretch->to, least, most, ret->front);
	look_ahead(proof->spots.all, stretch->from, stretch->to, least, most, ret->behind);
}

/* Blocks of spots, so that a break spoils few of them. */
struct blocks {
	double overlaps[MAX_SPOTS / BLOCK]; /* the least one of each */
	double widths[MAX_SPOTS / BLOCK];   /* of the narrower side, at the begin of each */
	uint32_t n;
};

static void list_blocks(const struct proof *proof, const struct stretch *stretch,
                        struct blocks *blocks)
{
	uint32_t n = stretch->to - stretch->from + 1;
	struct sides sides;

	find_sides(proof, stretch, &sides);
	for (uint32_t from = 0; from + BLOCK <= n; from += BLOCK) {
		double least = 1;

		for (uint32_t i = from; i < from + BLOCK; i++)
			least = smaller(least, overlap_of(&sides.front[i], &sides.behind[i]));
		blocks->overlaps[blocks->n] = least;
		blocks->widths[blocks->n++] = smaller(width_of(&sides.front[from]),
		                                      width_of(&sides.behind[from]));
	}
}

/* Evidence bounds a clock for as long as rho takes to make the bounds wide. Only a longer run
 * shows what is usual. */
static bool is_long(const struct proof *proof, double *widths, uint32_t n)
{
	double length = proof->spots.all[proof->spots.n - 1].x;

	return n >= LEAST_BLOCKS && LONG * select_quantile(widths, n, 0.5) <= proof->rho * length;
}

/* The share that is left at least, if a quarter of all blocks have less than `quarter`. */
static double share_of(double quarter, double times, double most)
{
	return fmax(0, fmin(most, 1 - times * (1 - quarter)));
}

double room_find_share(const struct proof *proof)
{
	struct blocks blocks = {.n = 0};

	for (uint32_t i = 0; i < proof->n_stretches; i++)
		list_blocks(proof, &proof->stretches[i], &blocks);
	if (!is_long(proof, blocks.widths, blocks.n))
		return 0;
	return share_of(select_quantile(blocks.overlaps, blocks.n, QUARTER), TIMES, SHARE);
}

/* What bounds leave together in each block of a stretch. Returns how many blocks. */
static uint32_t list_rooms(const struct proof *proof, const struct stretch *stretch, double *rooms)
{
	uint32_t n = (stretch->to - stretch->from + 1) / BLOCK;
	struct sides sides;

	find_sides(proof, stretch, &sides);
	for (uint32_t i = 0; i < n; i++) {
		rooms[i] = INFINITY;
		for (uint32_t k = i * BLOCK; k < (i + 1) * BLOCK; k++)
			rooms[i] = smaller(rooms[i],
			                   smaller(sides.front[k].hi, sides.behind[k].hi) -
			                           larger(sides.front[k].lo, sides.behind[k].lo));
	}
	return n;
}

/* What is usual at an end: what grows over time leaves least there. */
static double room_at_end(const double *rooms)
{
	double near[AT_END];

	memcpy(near, rooms, sizeof(near));
	return select_quantile(near, AT_END, 0.5);
}

static void set_room(struct proof *proof, double room)
{
	for (uint32_t i = 0; i < proof->spots.n; i++)
		proof->spots.all[i].room = room;
}

void room_forget(struct proof *proof)
{
	set_room(proof, 0);
}

/* Whether other evidence of the clock was found to be false. */
static bool has_dropped(const struct proof *proof)
{
	const struct graph *graph = proof->mesh->graph;

	for (uint32_t i = graph->first_of[proof->clock]; i < graph->first_of[proof->clock + 1];
	     i++) {
		if (graph->parts[graph->by_clock[i]].fate != PART_KEPT)
			return true;
	}
	return false;
}

bool room_find(struct proof *proof)
{
	double rooms[MAX_SPOTS / BLOCK], least, usual, ends;
	uint32_t n = 0;

	set_room(proof, 0);
	for (uint32_t i = 0; i < proof->n_stretches; i++)
		n += list_rooms(proof, &proof->stretches[i], &rooms[n]);
	if (n < LEAST_BLOCKS)
		return false;
	ends = smaller(room_at_end(rooms), room_at_end(rooms + n - AT_END));
	if (!is_long(proof, rooms, n))
		return false;
	usual = select_quantile(rooms, n, 0.5);
	least = select_quantile(rooms, n, QUARTER);
	if (!(least > 0) || !(usual < INFINITY))
		return true;
	if (proof->is_proven || has_dropped(proof))
		set_room(proof, NARROW * least);
	else
		set_room(proof,
		         smaller(ends, least) * share_of(least / usual, TIMES_NARROW, NARROW));
	return true;
}

double room_find_least(const struct proof *proof, const struct stretch *stretch, uint32_t *ret_at,
                       double *ret_jump_ns)
{
	struct sides sides;
	double least = 1;

	find_sides(proof, stretch, &sides);
	for (uint32_t i = LEAST_SIDE; i + LEAST_SIDE <= stretch->to - stretch->from; i++) {
		double overlap = overlap_of(&sides.front[i], &sides.behind[i]);

		if (overlap >= least)
			continue;
		least = overlap;
		*ret_at = stretch->from + i;
		*ret_jump_ns = MOST_JUMP * (width_of(&sides.front[i]) + width_of(&sides.behind[i]));
	}
	return least;
}

double room_find_jump(const struct proof *proof, const struct stretch *stretch, uint32_t front,
                      uint32_t behind)
{
	struct sides sides;

	find_sides(proof, stretch, &sides);
	return MOST_JUMP * (width_of(&sides.front[front - stretch->from]) +
	                    width_of(&sides.behind[behind - 1 - stretch->from]));
}

/* One rate, if that can be: then both sides are carried alike. */
static void share_rates(struct stretch *a, struct stretch *b)
{
	double least = larger(a->least, b->least), most = smaller(a->most, b->most);

	if (least > most)
		return;
	a->least = b->least = least;
	a->most = b->most = most;
}

/* How wide a side usually is, of n places. */
static double usual_width(const struct side *sides, uint32_t n)
{
	double widths[MAX_SPOTS];

	for (uint32_t i = 0; i < n; i++)
		widths[i] = width_of(&sides[i]);
	return select_quantile(widths, n, 0.5);
}

void room_find_break(const struct proof *proof, const struct stretch *left,
                     const struct stretch *right, uint32_t *ret_front, uint32_t *ret_behind)
{
	uint32_t n_left = left->to - left->from + 1, n_right = right->to - right->from + 1;
	uint32_t front = left->to, behind = right->from;
	struct stretch before = *left, after = *right;
	struct sides sides;
	double width;

	share_rates(&before, &after);
	look_back(proof->spots.all, left->from, right->from, stretch_least(proof, &before),
	          stretch_most(proof, &before), sides.front);
	look_ahead(proof->spots.all, left->to, right->to, stretch_least(proof, &after),
	           stretch_most(proof, &after), sides.behind);
	width = SHARE * usual_width(sides.front, n_left);
	while (front + 1 < right->from && width_of(&sides.front[front + 1 - left->from]) >= width)
		front++;
	width = SHARE * usual_width(&sides.behind[right->from - left->to], n_right);
	while (behind - 1 > left->to && width_of(&sides.behind[behind - 2 - left->to]) >= width)
		behind--;
	*ret_front = front < behind ? front : behind - 1;
	*ret_behind = front < behind ? behind : front + 1;
}
