/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups the evidence by counter and segment and fits each on its own. Soft evidence (host times
 * some other tool estimated) is used only where there is no hard evidence, and what is placed by
 * it is assumed.
 */
#include <math.h>
#include <stdlib.h>

#include "blocks.h"
#include "calibrate_impl.h"

#define MAX_TICKS_APART (UINT64_C(1) << 60) /* so that products of a fit fit */
#define MAX_NS_APART    (INT64_C(1) << 58)
#define MAX_NS          (INT64_C(1) << 61)
#define DEFAULT_SLOPE   1.0 /* ns per tick, where nothing at all is known */
#define CLAIMS_PER_FILL 4096u
#define WORTH_SHARING   2 /* how much wider than all together leave it a slope is fitted anew */

/* All evidence of a conversion, grouped: that of map m stands at [first[m], first[m + 1]). */
struct groups {
	struct claim *claims; /* owned, of blocks.h */
	uint8_t *is_false;    /* owned, of blocks.h */
	uint64_t n;
	uint64_t *first;       /* owned, one more than maps */
	uint64_t *n_soft;      /* owned, one of each map: estimates */
	uint8_t *has_hard;     /* owned, one of each map */
	uint8_t *is_after_gap; /* owned, one of each map */
};

static void release_groups(struct groups *groups)
{
	blocks_free(groups->claims);
	blocks_free(groups->is_false);
	free(groups->first);
	free(groups->n_soft);
	free(groups->has_hard);
	free(groups->is_after_gap);
}

/* -- which maps there are -------------------------------------------------------------------- */

/* Counts the segments of each counter into first_map, and sums them up. All but a counter's first
 * have evidence. */
static int number_maps(struct clocks *clocks, const struct identity *identity,
                       struct table *brackets)
{
	struct table_cursor cursor;
	const struct bracket *bracket;
	uint32_t sum = 0;

	clocks->n_counters = identity->n_counters;
	clocks->first_map = calloc(clocks->n_counters + 1ull, sizeof(*clocks->first_map));
	if (!clocks->first_map)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < clocks->n_counters; i++)
		clocks->first_map[i] = 1;
	table_read(&cursor, brackets, false);
	while ((bracket = table_next(&cursor, sizeof(*bracket)))) {
		if (bracket->segment >= clocks->first_map[bracket->counter])
			clocks->first_map[bracket->counter] = bracket->segment + 1u;
	}
	for (uint32_t i = 0; i <= clocks->n_counters; i++) {
		uint32_t n = clocks->first_map[i];

		clocks->first_map[i] = sum;
		sum += n;
	}
	clocks->n_maps = sum;
	clocks->maps = calloc(sum + 1ull, sizeof(*clocks->maps));
	clocks->reports = calloc(sum + 1ull, sizeof(*clocks->reports));
	return clocks->maps && clocks->reports ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static uint32_t map_of(const struct clocks *clocks, const struct bracket *bracket)
{
	return clocks->first_map[bracket->counter] + bracket->segment;
}

/* -- the claims of each ---------------------------------------------------------------------- */

/* Soft evidence is used where there is no hard evidence. */
static bool is_used(const struct groups *groups, uint32_t map, const struct bracket *bracket)
{
	return bracket->source != BRACKET_ESTIMATE || !groups->has_hard[map];
}

/* Finds out which evidence each map has. */
static int look_at(const struct clocks *clocks, struct table *brackets, struct groups *groups)
{
	struct table_cursor cursor;
	const struct bracket *bracket;

	groups->first = calloc(clocks->n_maps + 2ull, sizeof(*groups->first));
	groups->n_soft = calloc(clocks->n_maps + 1ull, sizeof(*groups->n_soft));
	groups->has_hard = calloc(clocks->n_maps + 1ull, 1);
	groups->is_after_gap = calloc(clocks->n_maps + 1ull, 1);
	if (!groups->first || !groups->n_soft || !groups->has_hard || !groups->is_after_gap)
		return FLEXTRACE_E_MEMORY;
	table_read(&cursor, brackets, false);
	while ((bracket = table_next(&cursor, sizeof(*bracket)))) {
		uint32_t map = map_of(clocks, bracket);
		bool is_hard = bracket->source != BRACKET_ESTIMATE;

		groups->first[map + 1] += is_hard;
		groups->n_soft[map] += !is_hard;
		groups->has_hard[map] |= is_hard;
		groups->is_after_gap[map] |= bracket->is_after_gap;
	}
	for (uint32_t i = 0; i < clocks->n_maps; i++)
		groups->first[i + 1] += groups->first[i] +
		                        (groups->has_hard[i] ? 0 : groups->n_soft[i]);
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

/* Turns brackets into claims, in absolute numbers yet, and uses them up. */
static int take_claims(const struct clocks *clocks, struct table *brackets, struct groups *groups)
{
	struct table_cursor cursor;
	const struct bracket *bracket;
	uint64_t n_filled = 0;

	groups->n = groups->first[clocks->n_maps];
	groups->claims = blocks_reserve(groups->n + 1, sizeof(*groups->claims));
	groups->is_false = blocks_allocate(groups->n + 1, sizeof(*groups->is_false));
	if (!groups->claims || !groups->is_false)
		return FLEXTRACE_E_MEMORY;
	/* first[m] is where the next of map m goes, and ends as its end: shift back afterwards. */
	table_read(&cursor, brackets, true);
	while ((bracket = table_next(&cursor, sizeof(*bracket)))) {
		uint32_t map = map_of(clocks, bracket);
		uint64_t at = groups->first[map];

		if (!is_used(groups, map, bracket))
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

static int group(const struct clocks *clocks, struct table *brackets, struct groups *groups)
{
	bool has_soft = false;

	FLEXTRACE_TRY(look_at(clocks, brackets, groups));
	for (uint32_t i = 0; i < clocks->n_maps; i++)
		has_soft |= !groups->has_hard[i] && groups->n_soft[i];
	if (has_soft)
		soft_widen(clocks, groups->has_hard, brackets);
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

static struct evidence evidence_of(const struct groups *groups, uint32_t map)
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

/* -- floors ---------------------------------------------------------------------------------- */

/* Takes known latencies off what a bracket leaves. A run's firmware begins before TS1, so that
 * floor is not its. */
static void take_both(const struct clock_settings *settings, struct bracket *bracket)
{
	if (bracket->source == BRACKET_OP && bracket->before_host_ns > -MAX_NS)
		bracket->before_host_ns += settings->submit_floor_ns;
	if ((bracket->source == BRACKET_OP || bracket->source == BRACKET_RUN) &&
	    bracket->after_host_ns < MAX_NS)
		bracket->after_host_ns -= settings->complete_floor_ns;
}

/*
 * Their sum alone takes nothing off: with a submit floor of a, which may be all of the sum R or
 * nothing of it, the band is [lo + a, hi - (R - a)], and over all a those cover [lo, hi]. It only
 * says how short no bracket can be.
 */
static bool is_too_short(const struct clock_settings *settings, const struct bracket *bracket)
{
	return bracket->source == BRACKET_OP && bracket->before_host_ns > -MAX_NS &&
	       bracket->after_host_ns < MAX_NS &&
	       bracket->after_host_ns - bracket->before_host_ns < settings->round_trip_floor_ns;
}

static void take_floors(const struct calibrate_input *input)
{
	const struct clock_settings *all = &input->options->all;
	struct clock_settings settings = *all;
	uint32_t counter = FLEXTRACE_NONE;
	struct table_cursor cursor;
	struct bracket *bracket;

	if (!all->has_floors && all->round_trip_floor_ns == 0 && input->options->n_overrides == 0)
		return;
	table_read(&cursor, input->brackets, false);
	while ((bracket = table_next(&cursor, sizeof(*bracket)))) {
		bool was_good = bracket->before_host_ns <= bracket->after_host_ns;

		if (bracket->counter != counter)
			settings = clock_options_of(input->options, input->identity,
			                            bracket->counter);
		counter = bracket->counter;
		if (settings.has_floors)
			take_both(&settings, bracket);
		input->ledger->warnings[WARNING_LARGE_FLOOR] +=
			was_good && (bracket->before_host_ns > bracket->after_host_ns ||
		                     is_too_short(&settings, bracket));
	}
}

/* -- fitting --------------------------------------------------------------------------------- */

/* One conversion's fits. */
struct fitter {
	const struct calibrate_input *input;
	struct clocks *clocks;
	struct groups groups;
	struct evidence *evidence; /* owned, one of each map */
	struct prior *priors;      /* owned, one of each counter */
	bool is_each_alone;        /* no map is fitted again for what others say */
};

static struct prior prior_of(const struct calibrate_input *input, uint32_t counter)
{
	const struct counter *of = &input->identity->counters[counter];
	struct clock_settings settings = clock_options_of(input->options, input->identity, counter);
	uint64_t core_hz = input->identity->devices[of->device].core_hz;
	struct prior prior = {
		.hint = DEFAULT_SLOPE,
		.rho = settings.rho_ppm * 1e-6,
	};

	if (settings.nominal_mhz > 0)
		prior.hint = 1e3 / settings.nominal_mhz;
	else if (of->nominal_hz)
		prior.hint = 1e9 / (double)of->nominal_hz;
	else if (core_hz)
		prior.hint = 1e9 / (double)core_hz;
	return prior;
}

static int fit_one(struct fitter *fitter, uint32_t map, const struct prior *prior)
{
	const struct groups *groups = &fitter->groups;
	struct clock_map *of = &fitter->clocks->maps[map];
	struct attempt band;
	int code;

	blocks_free(of->knots);
	of->knots = NULL;
	code = fit_band(&fitter->evidence[map], prior, &band);
	if (code >= 0 && fitter->is_each_alone)
		blocks_drop(groups->claims, groups->first[map + 1] * sizeof(*groups->claims));
	if (code >= 0)
		code = fit_map(&band, &fitter->evidence[map], prior, of);
	fit_release(&band);
	FLEXTRACE_TRY(code);
	of->is_assumed |= !fitter->groups.has_hard[map];
	of->is_after_gap = fitter->groups.is_after_gap[map];
	return FLEXTRACE_OK;
}

/* Whether a map has evidence wherever another has. */
static bool covers(const struct clock_map *map, const struct clock_map *other)
{
	if (map->n_knots == 0 || other->n_knots == 0)
		return false;
	return map->knots[0].host_ns <= other->knots[0].host_ns &&
	       map->knots[map->n_knots - 1].host_ns >= other->knots[other->n_knots - 1].host_ns;
}

/* Narrows the slopes of `prior` to what one map leaves. Returns whether that is anything. */
static bool share_slopes(const struct clock_map *map, struct prior *prior)
{
	if (prior->slope_hi == 0) {
		prior->slope_lo = map->slope_lo;
		prior->slope_hi = map->slope_hi;
	}
	prior->slope_lo = fmax(prior->slope_lo, map->slope_lo);
	prior->slope_hi = fmin(prior->slope_hi, map->slope_hi);
	return prior->slope_lo < prior->slope_hi;
}

/* Leaves to a map only what the maps of equal rate leave of the slope, as far as they saw all of
 * its time. Where they do not agree it is not one rate, and nobody knows whose is this one's. */
static int fit_shared(struct fitter *fitter, uint32_t counter, uint32_t index)
{
	const struct clocks *clocks = fitter->clocks;
	const struct clock_map *map = &clocks->maps[index];
	struct prior prior = fitter->priors[counter];

	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		if (!identity_share_rate(fitter->input->identity, counter, i))
			continue;
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++) {
			if (covers(&clocks->maps[j], map) && !clocks->maps[j].is_assumed &&
			    !share_slopes(&clocks->maps[j], &prior))
				return FLEXTRACE_OK;
		}
	}
	if (prior.slope_hi == 0 ||
	    map->slope_hi - map->slope_lo <= WORTH_SHARING * (prior.slope_hi - prior.slope_lo))
		return FLEXTRACE_OK;
	return fit_one(fitter, index, &prior);
}

/* Whether no two maps are of equal rate. */
static bool is_each_alone(const struct fitter *fitter)
{
	uint32_t n = fitter->clocks->n_counters;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = i + 1; j < n; j++) {
			if (identity_share_rate(fitter->input->identity, i, j))
				return false;
		}
	}
	return fitter->clocks->n_maps == n;
}

static int fit_each(struct fitter *fitter)
{
	struct clocks *clocks = fitter->clocks;

	fitter->evidence = calloc(clocks->n_maps + 1ull, sizeof(*fitter->evidence));
	fitter->priors = calloc(clocks->n_counters + 1ull, sizeof(*fitter->priors));
	if (!fitter->evidence || !fitter->priors)
		return FLEXTRACE_E_MEMORY;
	fitter->is_each_alone = is_each_alone(fitter);
	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		fitter->priors[i] = prior_of(fitter->input, i);
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++) {
			fitter->evidence[j] = evidence_of(&fitter->groups, j);
			FLEXTRACE_TRY(fit_one(fitter, j, &fitter->priors[i]));
		}
	}
	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++)
			FLEXTRACE_TRY(fit_shared(fitter, i, j));
	}
	return FLEXTRACE_OK;
}

static int fit_all(const struct calibrate_input *input, struct clocks *clocks)
{
	struct fitter fitter = {.input = input, .clocks = clocks};
	int code;

	take_floors(input);
	code = number_maps(clocks, input->identity, input->brackets);
	if (code >= 0)
		code = group(clocks, input->brackets, &fitter.groups);
	if (code >= 0)
		code = fit_each(&fitter);
	release_groups(&fitter.groups);
	free(fitter.evidence);
	free(fitter.priors);
	return code;
}

int calibrate_run(const struct calibrate_input *input, struct clocks **ret_clocks,
                  struct flextrace_error *error)
{
	struct clocks *clocks = calloc(1, sizeof(*clocks));
	int code = clocks ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	uint64_t n_brackets = input->brackets->n_rows;

	if (code >= 0)
		code = fit_all(input, clocks);
	if (code >= 0)
		code = report_judge(clocks, input);
	if (code < 0) {
		clocks_free(clocks);
		return error_set(error, code, "Cannot fit the device clocks: brackets=%llu",
		                 (unsigned long long)n_brackets);
	}
	*ret_clocks = clocks;
	return FLEXTRACE_OK;
}

void clocks_free(struct clocks *clocks)
{
	if (!clocks)
		return;
	for (uint32_t i = 0; i < clocks->n_maps && clocks->maps; i++)
		blocks_free(clocks->maps[i].knots);
	free(clocks->maps);
	free(clocks->first_map);
	free(clocks->reports);
	free(clocks);
}

const struct clock_report *clocks_report(const struct clocks *clocks, uint32_t *ret_n)
{
	*ret_n = clocks->n_maps;
	return clocks->reports;
}
