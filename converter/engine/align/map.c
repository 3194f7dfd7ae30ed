/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Straight from knot to knot. Between two the truth may leave either by what its pace may be off,
 * and the line leaves the pace by what it does: the sum is the bound, from the nearer end.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"
#include "base/blocks.h"

#define NO_BOUND       UINT32_MAX
#define KNOTS_PER_CELL 4u

void host_map_release(struct host_map *map)
{
	blocks_free(map->knots);
	grid_release(&map->grid);
	paces_release(&map->paces);
	free(map->stops);
	*map = (struct host_map){0};
}

static uint64_t key_of(const struct host_map *map, int64_t host_ns)
{
	return (uint64_t)host_ns - (uint64_t)map->knots[0].host_ns;
}

int host_map_index(struct host_map *map)
{
	FLEXTRACE_TRY(grid_init(&map->grid, key_of(map, map->knots[map->n_knots - 1].host_ns),
	                        map->n_knots / KNOTS_PER_CELL + 1));
	for (uint32_t i = 0; i < map->n_knots; i++)
		grid_count(&map->grid, key_of(map, map->knots[i].host_ns));
	grid_sum(&map->grid);
	return FLEXTRACE_OK;
}

/* Returns the last knot at or before `host_ns`; n_knots: there is none. */
static uint32_t find(const struct host_map *map, int64_t host_ns)
{
	uint32_t lo, n;

	if (host_ns < map->knots[0].host_ns)
		return map->n_knots;
	grid_find(&map->grid, key_of(map, host_ns), &lo, &n);
	for (n -= lo; n > 1;) {
		uint32_t half = n / 2;

		lo += map->knots[lo + half].host_ns <= host_ns ? half : 0;
		n -= half;
	}
	return lo;
}

struct placing {            /* fine */
	wide_int time, err; /* a negative err is none */
};

static wide_int distance(wide_int a, wide_int b)
{
	return a > b ? a - b : b - a;
}

/* Where a knot's pace leads, and how far that may be off. */
static struct placing follow(const struct host_map *map, const struct map_knot *knot,
                             int64_t host_ns)
{
	struct pace_sum to = paces_at(&map->paces, host_ns);
	struct pace_sum from = paces_at(&map->paces, knot->host_ns);
	struct placing placing = {knot->time + to.base - from.base, -1};

	if (knot->err_ns != NO_BOUND)
		placing.err = (wide_int)knot->err_ns * FINE_NS + distance(to.wide, from.wide);
	return placing;
}

/* The same beyond all knots. The rate is within rho of a mean there as well, but that is not the
 * mean between the knots: the two may be rho apart. */
static struct placing follow_beyond(const struct host_map *map, const struct map_knot *knot,
                                    int64_t host_ns)
{
	struct placing placing = follow(map, knot, host_ns);
	wide_int far = distance(host_ns, knot->host_ns);

	if (placing.err >= 0)
		placing.err += (wide_int)ceil((double)far * map->rho * FINE_NS);
	return placing;
}

static struct placing between(const struct host_map *map, const struct map_knot *knot,
                              int64_t host_ns)
{
	struct placing left = follow(map, &knot[0], host_ns),
		       right = follow(map, &knot[1], host_ns);
	wide_int length = (wide_int)knot[1].host_ns - knot[0].host_ns;
	wide_int rise = (wide_int)knot[1].time - knot[0].time;
	struct placing placing = {
		knot[0].time + rise * ((wide_int)host_ns - knot[0].host_ns) / length, -1};

	if (left.err >= 0)
		placing.err = left.err + distance(placing.time, left.time);
	if (right.err >= 0) {
		wide_int err = right.err + distance(placing.time, right.time);

		if (placing.err < 0 || err < placing.err)
			placing.err = err;
	}
	return placing;
}

/* -- breaks ------------------------------------------------------------------------------------ */

struct range { /* fine */
	wide_int lo, hi;
};

/* Where a knot and a pace on the other side of a break's edge lead; false: nothing bounds it. */
static bool reach_into(const struct host_map *map, uint32_t at, const struct pace *pace,
                       int64_t host_ns, struct range *ret)
{
	const struct map_knot *knot = &map->knots[at];
	struct pace_sum from = pace_at(pace, knot->host_ns), to = pace_at(pace, host_ns);
	wide_int time = knot->time + to.base - from.base;
	wide_int err = (wide_int)knot->err_ns * FINE_NS + distance(to.wide, from.wide);

	*ret = (struct range){time - err, time + err};
	return knot->err_ns != NO_BOUND;
}

/* How far a time within a break may be off. Where the clock is only suspected to have left its
 * rate, once, the truth is where one side leads, or the other. Where it did for certain, nobody
 * knows how often it did. */
static wide_int err_in_break(const struct host_map *map, int64_t host_ns, wide_int time)
{
	const struct pace *pace = paces_find(&map->paces, host_ns);
	const struct pace *first = map->paces.paces, *last = first + map->paces.n_paces - 1;
	struct range left, right;
	wide_int lo, hi;
	uint32_t at;

	if (map->paces.has_left || pace == first || pace == last)
		return -1;
	at = find(map, pace->host_ns - 1);
	if (at == map->n_knots || !reach_into(map, at, pace - 1, host_ns, &left) ||
	    !reach_into(map, find(map, pace[1].host_ns), pace + 1, host_ns, &right) ||
	    left.lo > right.hi || right.lo > left.hi)
		return -1;
	lo = time - (left.lo < right.lo ? left.lo : right.lo);
	hi = (left.hi > right.hi ? left.hi : right.hi) - time;
	return lo > hi ? lo : hi;
}

void host_map_fill_breaks(struct host_map *map)
{
	for (uint32_t i = 0; map->paces.n_paces > 1 && i < map->n_knots; i++) {
		struct map_knot *knot = &map->knots[i];
		wide_int err;

		if (knot->is_turned || !paces_are_doubtful(&map->paces, knot->host_ns))
			continue;
		err = err_in_break(map, knot->host_ns, knot->time);
		if (err >= 0 && err < (wide_int)(NO_BOUND - 1) * FINE_NS)
			knot->err_ns = (uint32_t)((err + FINE_NS - 1) / FINE_NS);
	}
}

struct aligned host_map_place(const struct host_map *map, int64_t host_ns)
{
	struct aligned aligned = {.err_ns = NO_BOUND, .status = TIME_ASSUMED};
	uint32_t at = find(map, host_ns);
	bool is_knot = at < map->n_knots && map->knots[at].host_ns == host_ns;
	struct placing placing;
	wide_int time_ns;

	if (is_knot) {
		const struct map_knot *knot = &map->knots[at];

		placing = (struct placing){knot->time, knot->err_ns == NO_BOUND
		                                               ? -1
		                                               : (wide_int)knot->err_ns * FINE_NS};
	} else if (at == map->n_knots) {
		placing = follow_beyond(map, &map->knots[0], host_ns);
	} else if (at + 1 == map->n_knots) {
		placing = follow_beyond(map, &map->knots[at], host_ns);
	} else {
		placing = between(map, &map->knots[at], host_ns);
	}
	if (!is_knot && paces_are_doubtful(&map->paces, host_ns))
		placing.err = err_in_break(map, host_ns, placing.time);
	else if (!is_knot && placing.err >= 0)
		placing.err += (wide_int)paces_find(&map->paces, host_ns)->more_ns * FINE_NS;
	if (stops_hold(map->stops, map->n_stops, host_ns))
		placing.err = -1;
	time_ns = (placing.time >> FINE_BITS) + map->origin_ns;
	aligned.time_ns = time_ns > INT64_MAX   ? INT64_MAX
	                  : time_ns < INT64_MIN ? INT64_MIN
	                                        : (int64_t)time_ns;
	if (placing.err >= 0 && time_ns == aligned.time_ns &&
	    placing.err + FINE_NS < (wide_int)NO_BOUND * FINE_NS) {
		aligned.err_ns = (uint32_t)((placing.err + FINE_NS - 1) >> FINE_BITS);
		aligned.status = TIME_CERTIFIED;
	}
	return aligned;
}

/* -- from the other side -------------------------------------------------------------------- */

/* Returns the last knot at or before a time (fine); n_knots: there is none. */
static uint32_t find_time(const struct host_map *map, wide_int time)
{
	uint32_t lo = 0, n = map->n_knots;

	if (time < map->knots[0].time)
		return map->n_knots;
	while (n > 1) {
		uint32_t half = n / 2;

		lo += map->knots[lo + half].time <= time ? half : 0;
		n -= half;
	}
	return lo;
}

/* A host time that is placed there, or close by: beyond the knots as if both clocks ran alike. */
static wide_int host_at(const struct host_map *map, wide_int time)
{
	uint32_t at = find_time(map, time), next = at == map->n_knots ? 0 : at + 1;
	const struct map_knot *knot = &map->knots[at == map->n_knots ? 0 : at];
	wide_int past = time - knot->time;

	/* Times are cut to whole ns, and knots may be where a break ends. */
	if (next < map->n_knots && map->knots[next].time - time < FINE_NS)
		return map->knots[next].host_ns;
	if (at + 1 < map->n_knots)
		return knot->host_ns + past * ((wide_int)knot[1].host_ns - knot->host_ns) /
		                               ((wide_int)knot[1].time - knot->time);
	return knot->host_ns + (past >> FINE_BITS);
}

uint32_t host_map_bound(const struct host_map *map, int64_t time_ns)
{
	wide_int time = ((wide_int)time_ns - map->origin_ns) * FINE_NS;
	wide_int host_ns = host_at(map, time);
	struct aligned aligned;

	if (host_ns > INT64_MAX || host_ns < INT64_MIN)
		return NO_BOUND;
	aligned = host_map_place(map, (int64_t)host_ns);
	return aligned.err_ns < NO_BOUND - 1 ? aligned.err_ns + 1 : NO_BOUND;
}
