/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much room evidence usually leaves a clock: along any straight line, within some seconds. A
 * clock that keeps its rate leaves as much, or nearly, over all of them; one that jumps or is
 * slewed takes from it. So where bounds leave less than a share of it, the clock is suspected,
 * long before bounds contradict.
 *
 * Nothing here bounds a time. A clock that is suspected in error costs width.
 *
 * - The share: of the room, a is between the truth and what bounds it from below, b between it and
 *   what bounds it from above. A clock that left its rate by d moves bounds beyond the truth by
 *   d - a or d - b, and is suspected where d is more than (1 - share) (a + b). So nothing is
 *   outside as long as the smaller of a and b is at least 1 - share of both.
 * - How long: as bounds are carried on, rho eats the room. So evidence says of a moment what it
 *   says within that time, and as much is looked at together: less would leave more room by chance.
 * - A window with a break in it leaves less room than there is. So a dip that is not longer than
 *   the windows that see the same break is filled. What grows over time, as exits that come
 *   later and
 *   later, is no dip.
 */
#include <math.h>
#include <string.h>

#include "align_impl.h"

#define SHARE       0.7
#define LESS_SHARE  0.5 /* where less is said than would be enough */
#define LEAST_BLOCK 8u
#define BLOCKS      3u /* in a window; a window begins at each block */
#define LONGEST_DIP 6u /* windows that see a break, or two that are near each other */
#define NEAR        8u
#define LEAST_N     8u /* windows that say what is usual */
#define MAX_N       (MAX_SPOTS / LEAST_BLOCK + 1)
#define ENOUGH      12
#define N_TRIALS    32
#define GOLDEN      0.382
#define AT_ENDS     1.5 /* a dip at an end may be of what grows: it is filled up to so much */

struct rooms {
	struct spots *spots;
	double rho;
	double heights[MAX_N]; /* of windows: they begin every `block` spots */
	double counts[MAX_N];  /* of bounds that say so */
	uint32_t n, block;
	double share;
};

/* -- windows ----------------------------------------------------------------------------------- */

/* What bounds of spots [from, to) leave to rates that differ from one by up to `slack`. */
static double height_along(const struct spot *spots, uint32_t from, uint32_t to, double rate,
                           double slack)
{
	double lo = -INFINITY, hi = INFINITY, height = INFINITY;

	for (uint32_t i = from; i < to; i++) {
		double dx = i > from ? spots[i].x - spots[i - 1].x : 0;

		lo = fmax(lo + (rate - slack) * dx, spots[i].lo);
		hi = fmin(hi + (rate + slack) * dx, spots[i].hi);
		height = fmin(height, hi - lo);
	}
	return height;
}

/* The rate that leaves most: what is left is a concave function of it. */
static double best_rate(const struct spot *spots, uint32_t from, uint32_t to, double slack)
{
	double least = -FREE_RATE, most = FREE_RATE;

	for (int i = 0; i < N_TRIALS; i++) {
		double step = (most - least) * GOLDEN;

		if (height_along(spots, from, to, least + step, slack) >
		    height_along(spots, from, to, most - step, slack))
			most -= step;
		else
			least += step;
	}
	return (least + most) / 2;
}

/* How many bounds of the side that has fewer are as near to what is left as that is wide. */
static double count_near(const struct spot *spots, uint32_t from, uint32_t to, double rate,
                         double height)
{
	double lo = -INFINITY, hi = INFINITY;
	uint32_t n_lo = 0, n_hi = 0;

	for (uint32_t i = from; i < to; i++) {
		lo = fmax(lo, spots[i].lo - rate * (spots[i].x - spots[from].x));
		hi = fmin(hi, spots[i].hi - rate * (spots[i].x - spots[from].x));
	}
	for (uint32_t i = from; i < to; i++) {
		n_lo += spots[i].lo - rate * (spots[i].x - spots[from].x) >= lo - height;
		n_hi += spots[i].hi - rate * (spots[i].x - spots[from].x) <= hi + height;
	}
	return n_lo < n_hi ? n_lo : n_hi;
}

static void measure_window(struct rooms *rooms, uint32_t at)
{
	const struct spot *spots = rooms->spots->all;
	double slack = 1.25 * rooms->rho, rate;
	uint32_t from = at * rooms->block, to = (at + BLOCKS) * rooms->block;

	if (at + 1 == rooms->n)
		to = rooms->spots->n;
	rooms->heights[at] = INFINITY;
	rooms->counts[at] = 0;
	if (isinf(height_along(spots, from, to, 0, slack)))
		return;
	rate = best_rate(spots, from, to, slack);
	rooms->heights[at] = height_along(spots, from, to, rate, slack);
	rooms->counts[at] = count_near(spots, from, to, rate, rooms->heights[at]);
}

static void measure_windows(struct rooms *rooms)
{
	rooms->n = rooms->spots->n / rooms->block;
	rooms->n = rooms->n >= BLOCKS ? rooms->n - BLOCKS + 1 : 0;
	for (uint32_t i = 0; i < rooms->n; i++)
		measure_window(rooms, i);
}

static double median(const double *values, uint32_t n)
{
	double copy[MAX_N];

	memcpy(copy, values, n * sizeof(*values));
	return stats_quantile(copy, n, 0.5);
}

/* Whether rho takes as much in the time of a window as it leaves, and so much is said in it. */
static bool are_long(const struct rooms *rooms, double enough)
{
	const struct spots *spots = rooms->spots;
	double length = spots->all[spots->n - 1].x * BLOCKS * rooms->block / spots->n;

	return 4 * rooms->rho * length >= median(rooms->heights, rooms->n) &&
	       median(rooms->counts, rooms->n) >= enough;
}

/* Makes windows long enough, if there are as many as it takes then; false: they say nothing. */
static bool find_windows(struct rooms *rooms)
{
	uint32_t n_blocks = rooms->spots->n / rooms->block;

	if (n_blocks < LEAST_N + BLOCKS - 1)
		return false;
	for (measure_windows(rooms); !are_long(rooms, ENOUGH); measure_windows(rooms)) {
		if (rooms->spots->n / (2 * rooms->block) < LEAST_N + BLOCKS - 1) {
			rooms->share = LESS_SHARE;
			return are_long(rooms, ENOUGH / 2);
		}
		rooms->block *= 2;
	}
	return true;
}

/* -- dips -------------------------------------------------------------------------------------- */

/* The highest of the windows that see a break, and of one more. */
static double highest_from(const struct rooms *rooms, uint32_t at)
{
	double highest = rooms->heights[at];

	for (uint32_t i = at + 1; i <= at + LONGEST_DIP && i < rooms->n; i++)
		highest = fmax(highest, rooms->heights[i]);
	return highest;
}

/* The height of a window if a dip of so many is filled. */
static double fill_dip(const struct rooms *rooms, uint32_t at)
{
	double height = INFINITY;

	for (uint32_t i = at > LONGEST_DIP ? at - LONGEST_DIP : 0;
	     i <= at && i + LONGEST_DIP < rooms->n; i++)
		height = fmin(height, highest_from(rooms, i));
	if (at < LONGEST_DIP || at + LONGEST_DIP >= rooms->n)
		height = fmin(height, AT_ENDS * rooms->heights[at]);
	return fmax(height, rooms->heights[at]);
}

/* -- spots ------------------------------------------------------------------------------------- */

/* Of all windows near a spot, the lowest. */
static double room_at(const double *filled, const struct rooms *rooms, uint32_t spot)
{
	uint32_t block = spot / rooms->block;
	uint32_t to = block + NEAR < rooms->n ? block + NEAR : rooms->n - 1;
	double room = filled[to];

	for (uint32_t i = to; i-- > 0 && i + BLOCKS + NEAR > block;)
		room = fmin(room, filled[i]);
	return room;
}

/* Room that changes moves the middle between bounds as a rate would: by half of rho at most. */
static void smooth(struct spots *spots, double rho)
{
	struct spot *all = spots->all;

	for (uint32_t i = 1; i < spots->n; i++)
		all[i].room = fmin(all[i].room,
		                   all[i - 1].room + rho / 2 * (all[i].x - all[i - 1].x));
	for (uint32_t i = spots->n; --i > 0;)
		all[i - 1].room = fmin(all[i - 1].room,
		                       all[i].room + rho / 2 * (all[i].x - all[i - 1].x));
}

void spots_find_room(struct spots *spots, double rho)
{
	struct rooms rooms = {spots, rho, .block = LEAST_BLOCK, .share = SHARE};
	double filled[MAX_N];

	for (uint32_t i = 0; i < spots->n; i++)
		spots->all[i].room = 0;
	spots->n_least = 0;
	if (!find_windows(&rooms))
		return;
	spots->n_least = 2 * LEAST_BLOCK;
	for (uint32_t i = 0; i < rooms.n; i++)
		filled[i] = fill_dip(&rooms, i);
	for (uint32_t i = 0; i < spots->n; i++)
		spots->all[i].room = room_at(filled, &rooms, i);
	smooth(spots, rho);
	for (uint32_t i = 0; i < spots->n; i++) {
		double room = rooms.share * spots->all[i].room;

		spots->all[i].room = isfinite(room) ? fmax(0, room) : 0;
	}
}
