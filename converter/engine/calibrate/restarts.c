/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments of a counter that begins anew again and again. A few operations leave their rate open,
 * and then a restart among them passes for another rate. All segments together tell the rate: it is
 * the one with which most of them agree. A segment that leaves its rate open is fitted with that
 * one. It is assumed if its evidence contradicts it then, as a segment of another rate is that has
 * no proof. If they do not agree, or on another rate than the stated one, that one may be wrong as
 * well: nothing is fitted with it, and a segment of another rate is assumed.
 *
 * A restart that takes the counter by a whole wrap, to within what brackets leave, contradicts no
 * rate. Where a counter begins anew every few operations, some do that by chance. So there each
 * operation is bounded by its own bracket, in which the counter did not begin anew, and by no
 * other.
 */
#include "restarts.h"

#include <math.h>
#include <stdlib.h>

#include "base/marzullo.h"

#define MIN_SEGMENTS 8u    /* a counter of fewer does not begin anew all the time */
#define MOST_OPEN    2     /* times the least slope: of a map that tells something */
#define MIN_VOTES    3u    /* segments that agree */
#define NEAR         0.005 /* that rates of one counter are apart */
#define LONG         64u   /* operations that can prove a rate by themselves */
#define FEW          128u  /* operations of a segment */
#define VOTE_BITS    30

static bool tells(const struct clock_map *map)
{
	return map->n_knots > 0 && map->slope_hi < MOST_OPEN * map->slope_lo;
}

/* The slopes with which most of the segments agree that tell one. */
static int find_slopes(const struct clock_map *maps, uint32_t n, struct slopes *ret_slopes,
                       bool *ret_is_agreed)
{
	struct interval *votes = malloc(n * sizeof(*votes)), hull;
	int64_t *spare = malloc(2ull * n * sizeof(*spare));
	uint32_t n_votes = 0, n_agree = 0;

	for (uint32_t i = 0; i < n && votes && spare; i++) {
		if (tells(&maps[i]))
			votes[n_votes++] =
				(struct interval){(int64_t)ldexp(maps[i].slope_lo, VOTE_BITS),
			                          (int64_t)ldexp(maps[i].slope_hi, VOTE_BITS)};
	}
	if (votes && spare)
		n_agree = marzullo_hull(votes, n_votes, 1, spare, &hull);
	*ret_is_agreed = n_agree >= MIN_VOTES && n_agree > n_votes / 2;
	if (*ret_is_agreed)
		*ret_slopes = (struct slopes){ldexp((double)hull.lo, -VOTE_BITS) * (1 - NEAR),
		                              ldexp((double)hull.hi, -VOTE_BITS) * (1 + NEAR)};
	free(votes);
	free(spare);
	return votes && spare ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int restarts_find(const struct clock_map *maps, uint32_t n, double nominal,
                  struct slopes *ret_slopes, bool *ret_is_agreed)
{
	struct slopes stated = {nominal * (1 - PROOF_NEAR), nominal * (1 + PROOF_NEAR)};

	*ret_slopes = (struct slopes){0, INFINITY};
	*ret_is_agreed = true;
	if (n < MIN_SEGMENTS)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_slopes(maps, n, ret_slopes, ret_is_agreed));
	if (nominal <= 0)
		return FLEXTRACE_OK;
	if (ret_slopes->lo > stated.hi || ret_slopes->hi < stated.lo)
		*ret_is_agreed = false;
	if (!*ret_is_agreed)
		*ret_slopes = stated;
	return FLEXTRACE_OK;
}

bool restarts_hold(const struct clock_map *map, const struct slopes *slopes)
{
	return map->slope_lo >= slopes->lo * (1 - NEAR) && map->slope_hi <= slopes->hi * (1 + NEAR);
}

bool restarts_prove(const struct clock_map *map, const struct evidence *evidence,
                    const struct slopes *slopes)
{
	struct slopes own = {map->slope_lo, map->slope_hi};

	return evidence->n >= LONG && !map_has_open_rate(map) &&
	       proof_of(evidence, (slopes->lo + slopes->hi) / 2, &own) == PROOF_NOT_NEEDED;
}

bool restarts_all_the_time(uint32_t n_maps, uint64_t n_claims)
{
	return n_maps >= MIN_SEGMENTS && n_claims < (uint64_t)FEW * n_maps;
}

/* What one bracket leaves at a knot. */
static void widen(struct knot *knot, wide_int lo, wide_int hi)
{
	int64_t middle, half;

	if (knot->lo == -PHI_UNBOUNDED || knot->hi == PHI_UNBOUNDED)
		return;
	lo = lo > -PHI_UNBOUNDED ? lo : -PHI_UNBOUNDED;
	hi = hi < PHI_UNBOUNDED ? hi : PHI_UNBOUNDED;
	middle = (knot->lo + knot->hi) >> 1;
	half = (knot->hi - knot->lo + 1) >> 1;
	half = middle - lo > half ? (int64_t)(middle - lo) : half;
	half = hi - middle > half ? (int64_t)(hi - middle) : half;
	knot->lo = middle - half;
	knot->hi = middle + half;
}

/* Leaves one knot at each place. */
static void merge(struct attempt *band)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < band->n_knots; i++) {
		struct knot *last = n > 0 ? &band->knots[n - 1] : NULL, knot = band->knots[i];

		if (!last || last->x < knot.x) {
			band->knots[n++] = knot;
			continue;
		}
		last->lo = knot.lo > last->lo ? knot.lo : last->lo;
		last->hi = knot.hi < last->hi ? knot.hi : last->hi;
	}
	band->n_knots = n;
}

/* Widens the bounds from the first stamp of an operation to its last, where knots of others may
 * be. */
static void widen_all(struct attempt *band, const struct claim *claim)
{
	const struct piece *piece = reference_piece(&band->reference, claim->first);
	double slack = (double)(claim->last - claim->first) *
	               wander_ns(piece->rise > piece->fall ? piece->rise : piece->fall);
	wide_int wander = (wide_int)ldexp(slack, PHI_BITS);
	wide_int first = reference_at(&band->reference, claim->first);
	wide_int last = reference_at(&band->reference, claim->last);

	for (uint32_t i = knots_find(band, claim->first);
	     i < band->n_knots && band->knots[i].x <= claim->last; i++) {
		wide_int at = reference_at(&band->reference, band->knots[i].x);
		wide_int behind = at - first - wander, ahead = last - at - wander;

		widen(&band->knots[i],
		      (wide_int)claim->before * (1 << PHI_BITS) + (behind > 0 ? behind : 0) - at,
		      (wide_int)claim->after * (1 << PHI_BITS) - (ahead > 0 ? ahead : 0) - at);
	}
}

void restarts_widen(struct attempt *band, const struct evidence *evidence)
{
	merge(band);
	for (uint32_t i = 0; i < evidence->n; i++) {
		if (evidence->claims[i].before != INT64_MIN &&
		    evidence->claims[i].after != INT64_MAX)
			widen_all(band, &evidence->claims[i]);
	}
}
