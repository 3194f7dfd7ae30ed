/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds segments that were not begun by a reset: a counter that goes on where it would be without
 * the interruption was not reset.
 *
 * If two segments are on one axis, up to whole wraps, the segments between them do not come from
 * resets, because no device returns to its old axis by chance. There are two other causes:
 * - The host's clock jumped and came back. Then the rate in between is the same, and nothing
 *   contradicts it.
 * - The evidence in between is false, as where operations are paired with the host times of the
 *   next ones. Nothing that follows from that is certified.
 *
 * Two segments are on one axis by chance as often as their room is part of a wrap. Where that is
 * more than one in SURE, as with long pauses and loose rates, the coincidence proves nothing.
 */
#include <math.h>

#include "engine/calibrate/calibrate_impl.h"

#define SURE       1000.0
#define SLACK_NS   1e5  /* bounds are seldom wider; those that are say nothing here */
#define FAR        64u  /* segments */
#define MOST_OPEN  1e-3 /* of a rate that is known well enough to tell it from others */
#define LEAST_OPEN 1e-2 /* of one that is not known at all */

static bool has_rate(const struct clock_map *map)
{
	return map->n_knots > 1 && !map->quality.is_assumed && map->slope_lo > 0 &&
	       map->slope_hi < (1 + LEAST_OPEN) * map->slope_lo;
}

/* Whether the later of two maps is where the other one goes, up to whole wraps. */
static bool goes_on(const struct clock_map *map, const struct clock_map *later, double wrap)
{
	const struct map_knot *from = &map->knots[map->n_knots - 1], *to = later->knots;
	double dt_ns, dx, least, most, n;

	if (!has_rate(later)) /* nor need it have a knot */
		return false;
	dt_ns = (double)(to->host_ns - from->host_ns);
	dx = (double)to->ticks - (double)from->ticks;
	if (dt_ns < 0)
		return false;
	least = (dt_ns - SLACK_NS) / fmax(map->slope_hi, later->slope_hi);
	most = (dt_ns + SLACK_NS) / fmin(map->slope_lo, later->slope_lo);
	if (most - least > wrap / SURE)
		return false;
	n = ceil((least - dx) / wrap);
	return dx + n * wrap <= most;
}

/* Whether a map has a rate of its own, and it is that of the other one. */
static bool is_of_rate(const struct clock_map *map, const struct clock_map *other)
{
	double slack = 2 * map->rho * map->slope_hi;

	return has_rate(map) && !map->is_contradicted &&
	       map->slope_hi < (1 + MOST_OPEN) * map->slope_lo &&
	       map->slope_lo - slack < other->slope_hi && other->slope_lo < map->slope_hi + slack;
}

/* Returns the last segment that is on the axis of the first one. */
static uint32_t find_return(const struct clock_map *maps, uint32_t n, double wrap)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < n && i <= FAR; i++)
		if (goes_on(&maps[0], &maps[i], wrap))
			found = i;
	return found;
}

void returns_doubt(struct clocks *clocks, const struct identity *identity)
{
	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		struct clock_map *maps = &clocks->maps[clocks->first_map[i]];
		uint32_t n = clocks->first_map[i + 1] - clocks->first_map[i];
		double wrap = ldexp(1, (int)identity->counters[i].counter_bits);

		for (uint32_t from = 0; from + 2 < n; from++) {
			uint32_t to = has_rate(&maps[from])
			                      ? find_return(&maps[from], n - from, wrap)
			                      : 0;

			for (uint32_t j = from + 1; j < from + to; j++)
				maps[j].quality.is_assumed |= !goes_on(&maps[from], &maps[j],
				                                       wrap) &&
				                              !is_of_rate(&maps[j], &maps[from]);
		}
	}
}
