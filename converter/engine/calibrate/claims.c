/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence by map. Brackets are read once, in the order that unwrap gave them, and become claims.
 * The claims are stored map by map in the memory that the brackets had.
 */
#include <stdlib.h>

#include "base/blocks.h"
#include "calibrate_impl.h"

#define MAX_TICKS_APART (UINT64_C(1) << 60) /* so that products of a fit fit */
#define MAX_NS_APART    (INT64_C(1) << 58)
#define CLAIMS_PER_FILL 4096u

void groups_release(struct groups *groups)
{
	blocks_free(groups->claims);
	blocks_free(groups->is_false);
	free(groups->first);
	free(groups->n_soft);
	free(groups->has_hard);
	free(groups->has_ops);
	free(groups->is_after_gap);
}

static uint32_t map_of(const struct clocks *clocks, const struct bracket *bracket)
{
	return clocks->first_map[bracket->counter] + bracket->segment;
}

/* Soft evidence is used where there is no hard evidence, and once more beside reads of the
 * counter, if these are the only hard evidence. */
static bool is_used(const struct groups *groups, uint32_t map, enum bracket_source source)
{
	bool is_hard = source != BRACKET_ESTIMATE;

	if (groups->is_second)
		return !is_hard && groups->has_hard[map] && !groups->has_ops[map];
	return is_hard || !groups->has_hard[map];
}

/* Finds out which evidence each map has. */
static int look_at(const struct clocks *clocks, struct table *brackets, struct groups *groups)
{
	groups->first = calloc(clocks->n_maps + 2ull, sizeof(*groups->first));
	groups->n_soft = calloc(clocks->n_maps + 1ull, sizeof(*groups->n_soft));
	groups->has_hard = calloc(clocks->n_maps + 1ull, 1);
	groups->has_ops = calloc(clocks->n_maps + 1ull, 1);
	groups->is_after_gap = calloc(clocks->n_maps + 1ull, 1);
	if (!groups->first || !groups->n_soft || !groups->has_hard || !groups->has_ops ||
	    !groups->is_after_gap)
		return FLEXTRACE_E_MEMORY;
	TABLE_EACH(struct bracket, bracket, brackets) {
		uint32_t map = map_of(clocks, bracket);
		bool is_hard = bracket->source != BRACKET_ESTIMATE;

		groups->first[map + 1] += is_hard && !groups->is_second;
		groups->n_soft[map] += !is_hard;
		groups->has_hard[map] |= is_hard;
		groups->has_ops[map] |= is_hard && bracket->source != BRACKET_SYNC;
		groups->is_after_gap[map] |= bracket->is_after_gap;
	}
	for (uint32_t i = 0; i < clocks->n_maps; i++)
		groups->first[i + 1] += groups->first[i] + (is_used(groups, i, BRACKET_ESTIMATE)
		                                                    ? groups->n_soft[i]
		                                                    : 0);
	return FLEXTRACE_OK;
}

/* Makes room for one more claim, if it has none: in the memory of the brackets that were taken. */
static int make_room(struct groups *groups, uint64_t at, uint64_t *n_filled)
{
	if (at < *n_filled)
		return FLEXTRACE_OK;
	*n_filled = at + CLAIMS_PER_FILL < groups->n ? at + CLAIMS_PER_FILL : groups->n;
	return blocks_fill(groups->claims, *n_filled * sizeof(*groups->claims));
}

/* Turns brackets into claims, in absolute numbers yet; uses them up, if nobody else will. */
static int take_claims(const struct clocks *clocks, struct table *brackets, struct groups *groups)
{
	uint64_t n_filled = 0;

	groups->n = groups->first[clocks->n_maps];
	groups->claims = blocks_reserve(groups->n + 1, sizeof(*groups->claims));
	FLEXTRACE_TRY(BLOCKS_NEW(groups->is_false, groups->n + 1));
	if (!groups->claims)
		return FLEXTRACE_E_MEMORY;
	/* first[m] is where the next of map m goes, and ends as its end: shift back afterwards. */
	TABLE_ROWS(const struct bracket, bracket, brackets, !groups->is_second)
	{
		uint32_t map = map_of(clocks, bracket);
		uint64_t at = groups->first[map];

		if (!is_used(groups, map, (enum bracket_source)bracket->source))
			continue;
		groups->first[map]++;
		FLEXTRACE_TRY(make_room(groups, at, &n_filled));
		groups->claims[at] = (struct claim){bracket->first_ticks, bracket->last_ticks,
		                                    bracket->before_host_ns,
		                                    bracket->after_host_ns};
	}
	for (uint32_t i = clocks->n_maps; i > 0; i--)
		groups->first[i] = groups->first[i - 1];
	groups->first[0] = 0;
	return FLEXTRACE_OK;
}

int groups_init(struct groups *groups, struct groups *second, const struct clocks *clocks,
                struct table *brackets)
{
	bool has_soft = false, has_second = false;

	FLEXTRACE_TRY(look_at(clocks, brackets, groups));
	for (uint32_t i = 0; i < clocks->n_maps; i++) {
		bool is_soft = !groups->has_ops[i] && groups->n_soft[i];

		has_soft |= is_soft;
		has_second |= is_soft && groups->has_hard[i];
	}
	if (has_soft)
		soft_widen(clocks, groups->has_ops, brackets);
	if (has_second) {
		second->is_second = true;
		FLEXTRACE_TRY(look_at(clocks, brackets, second));
		FLEXTRACE_TRY(take_claims(clocks, brackets, second));
	}
	return take_claims(clocks, brackets, groups);
}

/* -- what of it can be used ------------------------------------------------------------------ */

static bool is_near(int64_t host_ns, int64_t pivot_ns)
{
	wide_int apart = (wide_int)host_ns - pivot_ns;

	return apart > -MAX_NS_APART && apart < MAX_NS_APART && host_ns > -MAX_NS &&
	       host_ns < MAX_NS;
}

static int64_t some_host_ns(const struct claim *claim)
{
	return claim->after != INT64_MAX ? claim->after : claim->before;
}

/* A claim that is in order in itself, and near enough to `pivot` for exact products. */
static bool is_usable(const struct claim *claim, const struct claim *pivot)
{
	if (claim->first > claim->last || claim->before > claim->after)
		return false;
	if ((claim->first < pivot->last && pivot->last - claim->first > MAX_TICKS_APART) ||
	    (claim->last > pivot->last && claim->last - pivot->last > MAX_TICKS_APART))
		return false;
	if (claim->before == INT64_MIN && claim->after == INT64_MAX)
		return false;
	return (claim->before == INT64_MIN || is_near(claim->before, some_host_ns(pivot))) &&
	       (claim->after == INT64_MAX || is_near(claim->after, some_host_ns(pivot)));
}

struct evidence groups_evidence(const struct groups *groups, uint32_t map)
{
	struct evidence evidence = {
		.claims = groups->claims + groups->first[map],
		.is_false = groups->is_false + groups->first[map],
	};
	uint64_t n = groups->first[map + 1] - groups->first[map];
	struct claim pivot;

	if (n == 0)
		return evidence;
	pivot = evidence.claims[n / 2];
	for (uint64_t i = 0; i < n; i++) {
		if (!is_usable(&evidence.claims[i], &pivot))
			continue;
		if (evidence.n < i)
			evidence.claims[evidence.n] = evidence.claims[i];
		evidence.n++;
	}
	return evidence;
}
