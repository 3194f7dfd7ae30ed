/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map is straight from knot to knot, through the middle of the band. A knot can be spared when
 * the line past it stays between its bounds; bounds near a kept knot follow from those of the
 * knot itself, so that with a limit on the distance nothing of the certified width is lost but a
 * few ns.
 */
#include <math.h>
#include <stdlib.h>

#include "blocks.h"
#include "calibrate_impl.h"

#define SPARED_NS      32  /* how much certified width thinning may cost */
#define ROUNDING       256 /* 2^-20 ns that a line keeps off the bounds it passes */
#define MAX_REACH      1e9 /* ticks */
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
	const struct doubts *doubts, *exact;
	uint32_t next_stretch, next_exact;
	struct walk walk;
	bool spares, has_jumps;
};

static bool is_doubtful(const struct knot *knot, struct maker *maker)
{
	const struct knot *next = knot + 1;

	if (maker->doubts->n == 0)
		return false;
	while (next < maker->end && next->x == knot->x)
		next++;
	return doubts_meet(maker->doubts, knot->x, next < maker->end ? next->x : UINT64_MAX,
	                   &maker->next_stretch);
}

static struct corner corner_of(const struct knot *knot, struct maker *maker)
{
	struct corner corner = {
		.knot = knot, .piece = walk_to(&maker->walk, knot->x), .middle = middle_of(knot)};

	corner.value = piece_value(corner.piece, knot->x) + corner.middle;
	corner.is_doubtful = is_doubtful(knot, maker);
	return corner;
}

static struct map_knot finish_knot(const struct corner *corner, const struct corner *next,
                                   const struct evidence *evidence)
{
	struct map_knot knot = {
		.ticks = corner->knot->x + evidence->ticks0,
		.host_ns = (int64_t)(corner->value >> PHI_BITS) + evidence->host0,
		.fraction = (uint32_t)corner->value & ((1u << MAP_FRACTION_BITS) - 1),
		.is_doubtful = corner->is_doubtful,
		.half_ns = half_of(corner->knot),
		.slope = corner->piece->slope << (WANDER_BITS - SLOPE_BITS),
		.grow = wander_of(corner->piece),
	};

	if (next->knot != corner->knot) {
		uint64_t dx = next->knot->x - corner->knot->x;
		wide_int sideways = next->middle - corner->middle;

		knot.slope =
			(uint64_t)(((next->value - corner->value) << (WANDER_BITS - PHI_BITS)) /
		                   dx);
		if (sideways < 0)
			sideways = -sideways;
		knot.grow += (uint64_t)((sideways << (WANDER_BITS - PHI_BITS)) / dx) + 1;
	}
	return knot;
}

/* The slopes (2^-20 ns per tick, relative to the reference) that pass all knots left out so far. */
struct cone {
	double lo, hi;
	uint64_t limit; /* x that a line may reach */
};

static struct cone open_cone(const struct corner *from)
{
	double wander = (double)wander_of(from->piece) * 0x1p-44;
	double reach = SPARED_NS / wander;

	return (struct cone){-INFINITY, INFINITY,
	                     from->knot->x + (uint64_t)(reach < MAX_REACH ? reach : MAX_REACH)};
}

static void narrow_cone(struct cone *cone, const struct corner *from, const struct knot *past)
{
	double dx = (double)(past->x - from->knot->x);
	double lo = (double)(past->lo + ROUNDING - from->middle) / dx;
	double hi = (double)(past->hi - ROUNDING - from->middle) / dx;

	if (past->lo != -PHI_UNBOUNDED && lo > cone->lo)
		cone->lo = lo;
	if (past->hi != PHI_UNBOUNDED && hi < cone->hi)
		cone->hi = hi;
}

static bool is_in_cone(const struct cone *cone, const struct corner *from, const struct corner *to)
{
	double slope = (double)(to->middle - from->middle) / (double)(to->knot->x - from->knot->x);

	return slope >= cone->lo && slope <= cone->hi && to->knot->x <= cone->limit &&
	       to->piece == from->piece;
}

/* Whether the band is wider or narrower at once than the rate can make it: the clock may jump. */
static bool is_abrupt(const struct corner *from, const struct corner *to)
{
	double dx = (double)(to->knot->x - from->knot->x);
	double most_ns = dx * (double)wander_of(from->piece) * 0x1p-44 + SPARED_NS;

	return fabs((double)half_of(to->knot) - (double)half_of(from->knot)) > most_ns;
}

/* Returns the last knot that the line from `from` can reach past those between; `from` itself:
 * there is none behind it. Knots at one place have equal bounds, so the first stands for all. */
static struct corner reach(const struct corner *from, struct maker *maker)
{
	struct cone cone = open_cone(from);
	struct corner reached = *from;

	for (const struct knot *knot = from->knot + 1; knot < maker->end; knot++) {
		struct corner corner;
		bool jumps;

		if (knot->x == from->knot->x)
			continue;
		corner = corner_of(knot, maker);
		jumps = maker->has_jumps && is_abrupt(&reached, &corner);
		if (reached.knot != from->knot && (jumps || !is_in_cone(&cone, from, &corner)))
			break;
		reached = corner;
		jumps |= maker->has_jumps &&
		         doubts_meet(maker->exact, knot->x, knot->x + 1, &maker->next_exact);
		if (knot->x > cone.limit || !maker->spares || jumps ||
		    corner.is_doubtful != from->is_doubtful)
			break;
		narrow_cone(&cone, from, knot);
		if (cone.lo > cone.hi)
			break;
	}
	return reached;
}

/* Makes room for some more knots of the map, in the memory of those that are done. */
static int move_memory(struct clock_map *map, struct attempt *band, const struct knot *next)
{
	uint32_t n_left = band->n_knots - map->n_knots;
	uint32_t n = map->n_knots + (n_left < KNOTS_PER_FILL ? n_left : KNOTS_PER_FILL);

	blocks_drop(band->knots, (size_t)(next - band->knots) * sizeof(*next));
	return blocks_fill(map->knots, n * sizeof(*map->knots));
}

int clock_map_init(struct clock_map *map, struct attempt *band, const struct evidence *evidence)
{
	const struct piece *first = &band->reference.pieces[0];
	struct maker maker = {
		.end = band->knots + band->n_knots,
		.doubts = &band->doubts,
		.exact = &band->exact,
		.walk = {.reference = &band->reference},
		.spares = !band->is_steady,
		.has_jumps = band->reference.n_eras > 1,
	};
	struct corner corner = corner_of(&band->knots[0], &maker), next;

	map->knots = blocks_reserve(band->n_knots, sizeof(*map->knots));
	if (!map->knots)
		return FLEXTRACE_E_MEMORY;
	map->n_knots = 0;
	map->slope_before = first->slope << (WANDER_BITS - SLOPE_BITS);
	map->grow_before = wander_of(first);
	map->is_doubtful_before = band->doubts.n > 0 && band->doubts.stretches[0].from == 0;
	map->quality.tick_ns = (uint32_t)ceil(ldexp((double)first->slope, -SLOPE_BITS));
	for (;;) {
		next = reach(&corner, &maker);
		if (map->n_knots % KNOTS_PER_FILL == 0)
			FLEXTRACE_TRY(move_memory(map, band, corner.knot));
		map->knots[map->n_knots++] = finish_knot(&corner, &next, evidence);
		if (next.knot == corner.knot)
			return FLEXTRACE_OK;
		corner = next;
	}
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

	map_judge(&placed, map_grown(map->knots[0].half_ns, distance, map->grow_before),
	          quality_of(map, map->is_doubtful_before));
	return placed;
}

static struct placed place(const struct clock_map *map, uint64_t ticks, uint32_t at)
{
	const struct map_knot *knot = &map->knots[at];

	if (at == map->n_knots)
		return place_before(map, ticks);
	return map_place(knot, at + 1 < map->n_knots ? knot + 1 : NULL, ticks,
	                 quality_of(map, knot->is_doubtful));
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
	near->next = is_last ? NULL : knot + 1;
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
