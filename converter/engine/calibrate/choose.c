/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of the counter or estimates: which of the two a map is made of.
 *
 * Reads that are as wide as a whole round trip say less about the place of work than a good
 * estimate does. But reads are facts. If a map along the estimates contradicts them, the estimates
 * are wrong, and the middle of the band of the reads is used. There are two exceptions. If the
 * reads contradict each other, work was attributed to the wrong round trips, because its own are
 * missing, and the estimates are used. If the reads leave the rate open, it is the rate of the
 * estimates, unless the reads contradict that.
 */
#include <math.h>
#include <stdlib.h>

#include "base/blocks.h"
#include "calibrate_impl.h"

#define ROUNDING_NS 1000 /* that estimates may be beside a read without contradicting it */
#define MUCH        8    /* times wider than what estimates leave */
#define FEW         20u  /* one in so many reads may be a lie */

/* How far a map is from where a read says, at most; 0: it is there. */
static int64_t outside_ns(const struct evidence *hard, const struct claim *claim,
                          const struct clock_map *map, uint32_t *knot)
{
	int64_t first_ns = clock_map_place_near(map, claim->first + hard->ticks0, knot).host_ns -
	                   hard->host0;
	int64_t last_ns = clock_map_place_near(map, claim->last + hard->ticks0, knot).host_ns -
	                  hard->host0;
	int64_t early_ns = claim->before == INT64_MIN ? 0 : claim->before - first_ns;
	int64_t late_ns = claim->after == INT64_MAX ? 0 : last_ns - claim->after;
	int64_t most_ns = early_ns > late_ns ? early_ns : late_ns;

	return most_ns > 0 ? most_ns : 0;
}

/* How far a map is from where reads say, in all. */
static double outside_all_ns(const struct evidence *hard, const struct clock_map *map)
{
	uint32_t knot = 0;
	double sum = 0;

	for (uint32_t i = 0; i < hard->n; i++)
		sum += (double)outside_ns(hard, &hard->claims[i], map, &knot);
	return sum;
}

static bool are_met(const struct evidence *hard, const struct clock_map *map)
{
	uint32_t n = 0, n_bad = 0, knot = 0;

	for (uint32_t i = 0; i < hard->n; i++) {
		if (hard->is_false[i])
			continue;
		n++;
		n_bad += outside_ns(hard, &hard->claims[i], map, &knot) > ROUNDING_NS;
	}
	return n_bad <= n / FEW;
}

/* How wide a map's band is, in the mean of its knots; INFINITY: without end. */
static double mean_half_ns(const struct clock_map *map)
{
	double sum = 0;

	for (uint32_t i = 0; i < map->n_knots; i++) {
		if (map->knots[i].half_ns == MAP_NO_HALF)
			return INFINITY;
		sum += map->knots[i].half_ns;
	}
	return map->n_knots ? sum / map->n_knots : INFINITY;
}

/* Whether the map along the estimates is the better one. It is not if the estimates scatter
 * farther than the reads are wide: estimates of a wrong frequency, which makes work seem too
 * short, contradict no read. Where reads contradict each other, estimates that leave much less
 * are better, and so are those that the reads, the ones that were turned away included, are nearer
 * to. */
static bool is_better(const struct evidence *hard, const struct clock_map *soft,
                      const struct clock_map *map)
{
	double half_ns = mean_half_ns(map), soft_half_ns = mean_half_ns(soft);

	if (map->n_knots == 0 || map->is_wandering ||
	    (map->is_contradicted && (!soft->is_contradicted || half_ns > MUCH * soft_half_ns ||
	                              outside_all_ns(hard, soft) < outside_all_ns(hard, map))))
		return true;
	return soft_half_ns <= fmax(half_ns, ROUNDING_NS) && are_met(hard, soft);
}

/* Estimates that lie beside what a map leaves. */
static uint64_t count_off(const struct evidence *soft, const struct clock_map *map)
{
	uint64_t n = 0;
	uint32_t knot = 0;

	for (uint32_t i = 0; i < soft->n; i++) {
		const struct claim *claim = &soft->claims[i];
		struct placed placed = clock_map_place_near(map, claim->first + soft->ticks0,
		                                            &knot);
		int64_t off_ns = (claim->before + claim->after) / 2 + soft->host0 - placed.host_ns;

		n += placed.err_ns != UINT32_MAX &&
		     llabs(off_ns) > (int64_t)placed.err_ns + ROUNDING_NS;
	}
	return n;
}

static int fit(struct evidence *evidence, const struct prior *prior, struct clock_map *ret_map)
{
	struct attempt band;
	int code = fit_band(evidence, prior, &band);

	if (code >= 0)
		code = fit_map(&band, evidence, prior, ret_map);
	fit_release(&band);
	return code;
}

/* Reads that leave the rate open get the rate of the estimates, if these have one and the reads
 * do not contradict it. */
static int fit_rate(struct evidence *hard, const struct prior *prior, const struct clock_map *other,
                    struct clock_map *map)
{
	struct prior of_other = *prior;

	if (!map->n_knots || !other->n_knots || !map_has_open_rate(map) || map_has_open_rate(other))
		return FLEXTRACE_OK;
	of_other.slope_lo = other->slope_lo;
	of_other.slope_hi = other->slope_hi;
	blocks_free(map->knots);
	*map = (struct clock_map){.is_after_gap = map->is_after_gap};
	return fit(hard, &of_other, map);
}

int choose_soft(struct evidence *hard, struct evidence *soft, const struct prior *prior,
                struct clock_map *map, uint64_t *n_off)
{
	struct clock_map other = {.knots = NULL};
	int code;

	if (soft->n == 0 || soft->n < hard->n)
		return FLEXTRACE_OK;
	code = fit(soft, prior, &other);
	if (code >= 0)
		code = fit_rate(hard, prior, &other, map);
	if (code >= 0 && other.n_knots > 0 && is_better(hard, &other, map)) {
		struct clock_map loser = *map;

		other.quality.is_assumed = true;
		other.is_after_gap = loser.is_after_gap;
		*map = other;
		other = loser;
	} else if (code >= 0 && map->n_knots > 0) {
		code = guide_fit(hard, prior, &other, map);
		*n_off += count_off(soft, map);
	}
	blocks_free(other.knots);
	return code;
}
