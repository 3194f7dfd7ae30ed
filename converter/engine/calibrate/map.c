/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map is straight from knot to knot, through the middles of the bounds there. Between two knots
 * the truth is off the straight line between its own values there by spread d (D - d) / D at most,
 * d from the one of two knots that are D apart: see bridge.c.
 */
#include <math.h>
#include <stdlib.h>

#include "base/blocks.h"
#include "calibrate_impl.h"

#define KNOTS_PER_FILL 1024u
#define ONE_NS         (INT64_C(1) << PHI_BITS)

static uint64_t wander_of(const struct piece *piece)
{
	return piece->rise > piece->fall ? piece->rise : piece->fall;
}

static int64_t middle_of(const struct knot *knot)
{
	if (knot->lo == -PHI_UNBOUNDED)
		return knot->hi == PHI_UNBOUNDED ? 0 : knot->hi;
	if (knot->hi == PHI_UNBOUNDED)
		return knot->lo;
	return (knot->lo + knot->hi) >> 1;
}

static uint32_t half_of(const struct knot *knot)
{
	uint64_t half_ns;

	if (knot->lo == -PHI_UNBOUNDED || knot->hi == PHI_UNBOUNDED)
		return MAP_NO_HALF;
	half_ns = ((uint64_t)llabs(knot->hi - knot->lo) + 2 * ONE_NS - 1) >> (PHI_BITS + 1);
	return half_ns < MAP_NO_HALF ? (uint32_t)half_ns : MAP_NO_HALF;
}

/* -- making ---------------------------------------------------------------------------------- */

/* A knot on its way into the map: its absolute value beside its bounds. */
struct corner {
	const struct knot *knot;
	const struct piece *piece;
	wide_int value;   /* t, 2^-20 ns */
	int64_t middle;   /* phi */
	bool is_doubtful; /* what is behind it */
};

/* What a map is made of, and how far that is done. */
struct maker {
	const struct knot *end; /* weak; behind the last knot */
	const struct doubts *doubts;
	uint32_t next_stretch; /* of doubts */
	struct walk walk;
	double rho;
};

static bool is_doubtful(const struct knot *knot, struct maker *maker)
{
	uint64_t next_x = knot + 1 < maker->end ? knot[1].x : UINT64_MAX;

	return maker->doubts->n > 0 &&
	       doubts_meet(maker->doubts, knot->x, next_x, &maker->next_stretch);
}

static struct corner corner_of(const struct knot *knot, struct maker *maker)
{
	struct corner corner = {
		.knot = knot, .piece = walk_to(&maker->walk, knot->x), .middle = middle_of(knot)};

	corner.value = piece_value(corner.piece, knot->x) + corner.middle;
	corner.is_doubtful = is_doubtful(knot, maker);
	return corner;
}

/* No clock goes backwards. Where a map would, what it was made of contradicts itself. */
static void keep_forward(struct corner *corner, struct corner *next)
{
	if (next->value >= corner->value)
		return;
	next->middle += (int64_t)(corner->value - next->value);
	next->value = corner->value;
	corner->is_doubtful = next->is_doubtful = true;
}

/* How far apart the rates can be between two knots, in ns per tick. */
static double spread_between(const struct corner *from, const struct corner *to, double rho)
{
	double least = INFINITY, most = 0;

	if (from->piece == to->piece)
		return piece_spread(from->piece, rho);
	for (const struct piece *piece = from->piece; piece <= to->piece; piece++) {
		double slope = slope_ns(piece->slope);

		least = fmin(least, slope - wander_ns(piece->fall));
		most = fmax(most, slope + wander_ns(piece->rise));
	}
	return most - least;
}

static struct map_knot finish_knot(const struct corner *corner, const struct corner *next,
                                   const struct evidence *evidence, double rho)
{
	struct map_knot knot = {
		.ticks = corner->knot->x + evidence->ticks0,
		.host_ns = (int64_t)(corner->value >> PHI_BITS) + evidence->host0,
		.fraction = (uint32_t)corner->value & ((1u << MAP_FRACTION_BITS) - 1),
		.is_doubtful = corner->is_doubtful,
		.half_ns = half_of(corner->knot),
		.slope = corner->piece->slope << (WANDER_BITS - SLOPE_BITS),
		.grow = wander_ns(wander_of(corner->piece)),
	};
	uint32_t half_ns = half_of(next->knot);

	if (next->knot != corner->knot) {
		uint64_t dx = next->knot->x - corner->knot->x;
		double spread = spread_between(corner, next, rho);

		knot.slope = (uint64_t)((next->value - corner->value) *
		                        (1 << (WANDER_BITS - PHI_BITS)) / dx);
		knot.grow = ((double)half_ns - knot.half_ns) / (double)dx + spread;
		knot.bend = spread / (double)dx;
		if (half_ns == MAP_NO_HALF)
			knot.half_ns = MAP_NO_HALF;
	}
	return knot;
}

/*
 * Where a clock may have jumped, bounds can become wider or narrower at once. Then the half-width
 * is the less of what both knots leave (see eras.c): another knot is added where these are equal.
 * Stores it; false: none is needed. A clock that is only known to change its rate may have jumped
 * there as well, by more than that rate takes it: then a knot says nothing about the other's place.
 */
static bool split(struct map_knot *knot, const struct corner *corner, const struct corner *next,
                  bool jumps, struct map_knot *ret_knot)
{
	double dx = (double)(next->knot->x - corner->knot->x), half_ns = half_of(next->knot);
	double grow = wander_ns(wander_of(corner->piece)) +
	              ldexp(fabs((double)(next->middle - corner->middle)), -PHI_BITS) / dx;
	double at = (half_ns - knot->half_ns + grow * dx) / (2 * grow);
	wide_int value;

	if (dx == 0 || knot->half_ns == MAP_NO_HALF ||
	    fabs(half_ns - knot->half_ns) <= knot->bend * dx * dx ||
	    (!jumps && (at < 1 || at >= dx - 1)))
		return false;
	knot->grow = grow;
	knot->bend = 0;
	if (at < 1) { /* the next one says all */
		knot->half_ns = (uint32_t)ceil(half_ns + grow * dx);
		knot->grow = -grow;
	}
	if (at < 1 || at >= dx - 1)
		return false;
	*ret_knot = *knot;
	ret_knot->ticks += (uint64_t)at;
	value = corner->value +
	        (((wide_int)(uint64_t)at * knot->slope) >> (WANDER_BITS - PHI_BITS));
	ret_knot->host_ns += (int64_t)(value >> PHI_BITS) - (int64_t)(corner->value >> PHI_BITS);
	ret_knot->fraction = (uint32_t)value & ((1u << MAP_FRACTION_BITS) - 1);
	ret_knot->half_ns = map_grown(knot->half_ns, (uint64_t)at, grow, 0);
	ret_knot->grow = (half_ns - ret_knot->half_ns) / (dx - floor(at));
	return true;
}

/* Memory of a map's knots, some more of which are usable as those of the band are done. */
struct room {
	uint64_t n_filled, n_most;
};

/* Makes room for two more knots of the map. */
static int make_room(struct room *room, struct clock_map *map, struct attempt *band,
                     const struct knot *next)
{
	uint64_t n = map->n_knots + KNOTS_PER_FILL;

	if (map->n_knots + 2 <= room->n_filled || room->n_filled == room->n_most)
		return FLEXTRACE_OK;
	room->n_filled = n < room->n_most ? n : room->n_most;
	blocks_drop(band->knots, (size_t)(next - band->knots) * sizeof(*next));
	return blocks_fill(map->knots, room->n_filled * sizeof(*map->knots));
}

int clock_map_init(struct clock_map *map, struct attempt *band, const struct evidence *evidence)
{
	const struct piece *first = &band->reference.pieces[0];
	bool has_eras = band->reference.n_eras > 1, jumps = band->reference.n_uncut > 0;
	struct room room = {0, band->n_knots * (has_eras ? 2ull : 1)};
	struct maker maker = {
		.end = band->knots + band->n_knots,
		.doubts = &band->doubts,
		.walk = {.reference = &band->reference},
		.rho = band->rho,
	};
	struct corner corner = corner_of(&band->knots[0], &maker);

	map->knots = blocks_reserve(room.n_most, sizeof(*map->knots));
	if (!map->knots)
		return FLEXTRACE_E_MEMORY;
	map->n_knots = 0;
	map->slope_before = first->slope << (WANDER_BITS - SLOPE_BITS);
	map->grow_before = wander_ns(wander_of(first));
	map->is_doubtful_before = band->doubts.n > 0 && band->doubts.stretches[0].from == 0;
	map->quality.tick_ns = (uint32_t)ceil(slope_ns(first->slope));
	for (const struct knot *knot = band->knots; knot < maker.end; knot++) {
		struct corner next = knot + 1 < maker.end ? corner_of(knot + 1, &maker) : corner;
		struct map_knot made, other;
		bool is_split;

		keep_forward(&corner, &next);
		made = finish_knot(&corner, &next, evidence, maker.rho);
		is_split = has_eras && split(&made, &corner, &next, jumps, &other);
		FLEXTRACE_TRY(make_room(&room, map, band, knot));
		map->knots[map->n_knots++] = made;
		if (is_split)
			map->knots[map->n_knots++] = other;
		corner = next;
	}
	return FLEXTRACE_OK;
}

/* -- placing --------------------------------------------------------------------------------- */

/* Returns the last of knots [lo, end) at or before `ticks`; the first one is. */
static uint32_t find_between(const struct clock_map *map, uint32_t lo, uint32_t end, uint64_t ticks)
{
	uint32_t n = end - lo;

	while (n > 1) {
		uint32_t half = n / 2;

		lo += map->knots[lo + half].ticks <= ticks ? half : 0;
		n -= half;
	}
	return lo;
}

/* Returns the last knot at or before `ticks`; n_knots: there is none. */
static uint32_t find(const struct clock_map *map, uint64_t ticks)
{
	if (ticks < map->knots[0].ticks)
		return map->n_knots;
	return find_between(map, 0, map->n_knots, ticks);
}

/* The same, looked for in steps that double from `*knot` on, which becomes where it was found. It
 * may be of another segment's map. */
static uint32_t find_near(const struct clock_map *map, uint64_t ticks, uint32_t *knot)
{
	uint32_t lo = *knot < map->n_knots ? *knot : map->n_knots - 1, from = lo, end = lo + 1;

	if (map->knots[lo].ticks <= ticks && (end == map->n_knots || ticks < map->knots[end].ticks))
		return *knot = lo;
	if (ticks < map->knots[0].ticks)
		return map->n_knots;
	for (uint32_t step = 1; map->knots[lo].ticks > ticks; step *= 2) {
		end = lo;
		lo = lo > step ? lo - step : 0;
	}
	if (lo == from) {
		for (uint32_t step = 1; end < map->n_knots && map->knots[end].ticks <= ticks;
		     step *= 2) {
			lo = end;
			end = map->n_knots - end > step ? end + step : map->n_knots;
		}
	}
	return *knot = find_between(map, lo, end, ticks);
}

static int64_t before(const struct clock_map *map, uint64_t distance)
{
	const struct map_knot *knot = &map->knots[0];
	wide_int back = (wide_int)(((unsigned __int128)distance * map->slope_before) >>
	                           (WANDER_BITS - PHI_BITS));

	return map_clamp_ns(knot->host_ns + ((knot->fraction - back + ONE_NS / 2 - 1) >> PHI_BITS));
}

static struct map_quality quality_of(const struct clock_map *map, bool is_doubtful)
{
	struct map_quality quality = map->quality;

	quality.is_assumed |= is_doubtful;
	return quality;
}

/* In front of the first knot. */
static struct placed place_before(const struct clock_map *map, uint64_t ticks)
{
	uint64_t distance = map->knots[0].ticks - ticks;
	struct placed placed = {.host_ns = before(map, distance)};

	map_judge(&placed, map_grown(map->knots[0].half_ns, distance, map->grow_before, 0),
	          quality_of(map, map->is_doubtful_before));
	return placed;
}

static struct placed place(const struct clock_map *map, uint64_t ticks, uint32_t at)
{
	const struct map_knot *knot = &map->knots[at];

	if (at == map->n_knots)
		return place_before(map, ticks);
	return map_place(knot, ticks, quality_of(map, knot->is_doubtful));
}

struct placed clock_map_place_near(const struct clock_map *map, uint64_t ticks, uint32_t *knot)
{
	return place(map, ticks, find_near(map, ticks, knot));
}

const struct clock_map *clocks_map(const struct clocks *clocks, uint32_t counter, uint16_t segment)
{
	uint32_t first;

	if (counter >= clocks->n_counters)
		return NULL;
	first = clocks->first_map[counter];
	if (segment >= clocks->first_map[counter + 1] - first)
		return NULL;
	return clocks->maps[first + segment].n_knots ? &clocks->maps[first + segment] : NULL;
}

struct placed clocks_place(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                           uint64_t ticks)
{
	const struct clock_map *map = clocks_map(clocks, counter, segment);

	if (!map || ticks == 0)
		return (struct placed){0, UINT32_MAX, TIME_UNMATCHED};
	return place(map, ticks, find(map, ticks));
}

/* Notes what the knot at `near->at` says of the stamps behind it. */
static void note_near(struct clock_near *near, const struct clock_map *map)
{
	const struct map_knot *knot = &map->knots[near->at];
	bool is_last = near->at + 1 == map->n_knots;

	near->knot = knot;
	near->first_ticks = knot->ticks;
	near->n_ticks = (is_last ? UINT64_MAX : knot[1].ticks) - knot->ticks;
	near->quality = quality_of(map, knot->is_doubtful);
}

struct placed clocks_place_far(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                               uint64_t ticks, struct clock_near *near)
{
	const struct clock_map *map = clocks_map(clocks, counter, segment);
	uint32_t at;

	if (!map || ticks == 0)
		return (struct placed){0, UINT32_MAX, TIME_UNMATCHED};
	at = find_near(map, ticks, &near->at);
	near->counter = counter;
	near->segment = segment;
	near->n_ticks = 0;
	if (at < map->n_knots)
		note_near(near, map);
	return place(map, ticks, at);
}
