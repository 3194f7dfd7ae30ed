/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h: how a stamp is placed behind a knot of its clock's map. All inline: it stands on the
 * path of every stamp.
 */
#ifndef FLEXTRACE_PLACE_H
#define FLEXTRACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

#define MAP_SLOPE_BITS    44
#define MAP_FRACTION_BITS 20
#define MAP_NO_HALF       UINT32_MAX

struct placed { /* a stamp on its host's clock */
	int64_t host_ns;
	uint32_t err_ns;         /* certified half-width; UINT32_MAX = no bound */
	enum time_status status; /* CERTIFIED, ASSUMED, UNMATCHED: the counter has no evidence */
};

struct map_knot { /* where a map bends */
	uint64_t ticks;
	int64_t host_ns;
	uint32_t fraction : MAP_FRACTION_BITS; /* 2^-20 ns */
	uint32_t is_doubtful : 1;              /* nothing up to the next knot is certified */
	uint32_t half_ns;                      /* certified half-width here; UINT32_MAX = none */
	uint64_t slope; /* up to the next knot, 2^-44 ns per tick, rounded down */
	/* d ticks behind it, up to the next one, the half-width is half_ns + d (grow - d bend). */
	double grow; /* ns per tick */
	double bend; /* ns per tick and tick */
};

/* What a map says of the stamps behind a knot. */
struct map_quality {
	uint32_t tick_ns; /* a tick's length, rounded up: a stamp stands somewhere in its tick */
	bool is_assumed;  /* the evidence did not fit the assumptions, or is only soft */
};

/* Where the last stamp was. Zeroes: nowhere yet. */
struct clock_near {
	const struct map_knot *knot;   /* weak */
	uint64_t first_ticks, n_ticks; /* from the knot to the next one */
	uint32_t at;                   /* index of the knot */
	struct map_quality quality;
	uint32_t counter;
	uint16_t segment;
};

static inline int64_t map_clamp_ns(__int128 ns)
{
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* The half-width at a distance from a knot; MAP_NO_HALF: none that fits. */
static inline uint32_t map_grown(uint32_t half_ns, uint64_t distance, double grow, double bend)
{
	double far = (double)(int64_t)distance;
	double grown = (double)half_ns + far * (grow - far * bend);

	if (half_ns == MAP_NO_HALF || (int64_t)distance < 0 || !(grown < MAP_NO_HALF - 2.0))
		return MAP_NO_HALF;
	return (uint32_t)grown + 1;
}

/* Rounds: a time between two whole ns bounds stays between them. */
static inline int64_t map_behind(const struct map_knot *knot, uint64_t distance)
{
	uint64_t rounding = (uint64_t)(knot->fraction + ((uint32_t)1 << MAP_FRACTION_BITS) / 2)
	                    << (MAP_SLOPE_BITS - MAP_FRACTION_BITS);
	unsigned __int128 ahead = ((unsigned __int128)distance * knot->slope + rounding) >>
	                          MAP_SLOPE_BITS;
	int64_t host_ns;

	if (__builtin_expect(ahead <= INT64_MAX && !__builtin_add_overflow(
							   knot->host_ns, (int64_t)ahead, &host_ns),
	                     1))
		return host_ns;
	return map_clamp_ns(knot->host_ns + (__int128)ahead);
}

/* Stores the error and status of a stamp in its map. */
static inline void map_judge(struct placed *placed, uint32_t half_ns, struct map_quality quality)
{
	placed->err_ns = UINT32_MAX;
	placed->status = TIME_ASSUMED;
	if (!quality.is_assumed && half_ns < MAP_NO_HALF - quality.tick_ns) {
		placed->err_ns = half_ns + quality.tick_ns;
		placed->status = TIME_CERTIFIED;
	}
}

/* Places a stamp at or behind a knot and before the next one, if there is one. */
static inline struct placed map_place(const struct map_knot *knot, uint64_t ticks,
                                      struct map_quality quality)
{
	uint64_t distance = ticks - knot->ticks;
	struct placed placed = {.host_ns = map_behind(knot, distance)};

	map_judge(&placed, map_grown(knot->half_ns, distance, knot->grow, knot->bend), quality);
	return placed;
}

#endif
