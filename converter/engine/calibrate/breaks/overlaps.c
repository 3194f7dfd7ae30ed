/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a segment happened later than whatever is in the segment in front of it. Each of the
 * two maps is right within its bounds, but where the bounds overlap the estimates may be in the
 * wrong order. What would be shown there is only assumed, in whichever of the maps that costs less.
 *
 * Beside a gap that holds always. A border that is no gap may be a jump of the host's clock: then
 * times that overlap by more than the bounds allow are true.
 */
#include "base/array.h"
#include "engine/calibrate/calibrate_impl.h"

static const struct map_knot *last_knot(const struct clock_map *map)
{
	return &map->knots[map->n_knots - 1];
}

static bool do_overlap(const struct clock_map *front, const struct clock_map *behind)
{
	const struct map_knot *last = last_knot(front), *first = behind->knots;

	if (last->host_ns <= first->host_ns)
		return false;
	return behind->is_after_gap ||
	       last->host_ns - first->host_ns <= (int64_t)last->half_ns + first->half_ns;
}

static bool is_in_front(const void *row, const void *key)
{
	return ((const struct map_knot *)row)->host_ns < *(const int64_t *)key;
}

/* How many knots of a map are in front of a time. */
static uint32_t count_before(const struct clock_map *map, int64_t host_ns)
{
	return array_count_before(map->knots, map->n_knots, sizeof(*map->knots), is_in_front,
	                          &host_ns);
}

static void doubt_overlap(struct clock_map *front, struct clock_map *behind)
{
	uint32_t n_behind = count_before(behind, last_knot(front)->host_ns);
	uint32_t kept = count_before(front, behind->knots[0].host_ns);

	kept -= kept > 0; /* a knot is asked of what is between it and the next one */
	if (n_behind <= front->n_knots - kept) {
		for (uint32_t i = 0; i < n_behind; i++)
			behind->knots[i].is_doubtful = true;
		behind->is_doubtful_before = true;
		return;
	}
	for (uint32_t i = kept; i < front->n_knots; i++)
		front->knots[i].is_doubtful = true;
}

void overlaps_doubt(struct clocks *clocks)
{
	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		struct clock_map *latest = NULL; /* which ends last of those in front */

		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++) {
			struct clock_map *map = &clocks->maps[j];

			if (map->n_knots == 0 || map->quality.is_assumed)
				continue;
			if (latest && do_overlap(latest, map))
				doubt_overlap(latest, map);
			if (!latest || last_knot(map)->host_ns > last_knot(latest)->host_ns)
				latest = map;
		}
	}
}
