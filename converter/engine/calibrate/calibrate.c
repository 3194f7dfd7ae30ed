/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups the evidence by counter and segment, and fits each group on its own. Soft evidence is host
 * times that another tool estimated. It is used only where no operation has hard evidence, and
 * times that rest on it are assumed. Where soft evidence contradicts reads of the counter, the
 * reads are used: see choose.c.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/blocks.h"
#include "calibrate_impl.h"
#include "restarts.h"

#define DEFAULT_SLOPE 1.0  /* ns per tick, where nothing at all is known */
#define COUNTED_NEAR  5e-3 /* that a rate may be off the one of all evidence: steps */
#define WORTH_SHARING 2    /* how much wider than all together leave it a slope is fitted anew */
#define MAX_SHARING   4096 /* maps of one rate: of more, each stands for itself */

/* -- which maps there are -------------------------------------------------------------------- */

/* Counts the segments of each counter into first_map, and sums them up. All but a counter's first
 * have evidence, or are told. */
static int number_maps(struct clocks *clocks, const struct identity *identity,
                       struct table *brackets, const struct table *told)
{
	uint32_t sum = 0;

	clocks->n_counters = identity->n_counters;
	FLEXTRACE_TRY(ARRAY_NEW(clocks->first_map, clocks->n_counters + 1ull));
	for (uint32_t i = 0; i < clocks->n_counters; i++)
		clocks->first_map[i] = 1;
	TABLE_EACH(struct bracket, bracket, brackets) {
		if (bracket->segment >= clocks->first_map[bracket->counter])
			clocks->first_map[bracket->counter] = bracket->segment + 1u;
	}
	TABLE_EACH(struct clock_row, row, told) {
		if (row->of.segment >= clocks->first_map[row->of.counter])
			clocks->first_map[row->of.counter] = row->of.segment + 1u;
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

/* -- fitting --------------------------------------------------------------------------------- */

/* One conversion's fits. */
struct fitter {
	const struct calibrate_input *input;
	struct clocks *clocks;
	struct groups groups, second;
	struct evidence *evidence; /* owned, one of each map */
	struct prior *priors;      /* owned, one of each counter */
	struct rate_lists rates;   /* owned */
	uint32_t *n_of_rate;       /* owned, maps by the first counter of a rate */
	bool is_each_alone;        /* nobody asks for the evidence of a map that is made */
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
		prior.nominal = 1e3 / settings.nominal_mhz;
	else if (of->nominal_hz)
		prior.nominal = 1e9 / (double)of->nominal_hz;
	if (prior.nominal > 0)
		prior.hint = prior.nominal;
	else if (core_hz)
		prior.hint = 1e9 / (double)core_hz;
	if (settings.nominal_ppm > 0 && prior.nominal > 0) {
		prior.told_lo = prior.nominal / (1 + settings.nominal_ppm * 1e-6);
		prior.told_hi = prior.nominal / (1 - settings.nominal_ppm * 1e-6);
	}
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
	of->quality.is_assumed |= !fitter->groups.has_hard[map];
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

/* Narrows the slopes of `prior` to those that a map allows. Returns whether any are left. */
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

/* Limits the slope of a map to what all maps of equal rate allow, as far as they cover all of its
 * time. If they do not agree, there is more than one rate, and it is not known which is this
 * map's. No other segment of the same counter is asked: a counter is in one at a time, so one that
 * covers another has evidence that is false. */
static int fit_shared(struct fitter *fitter, uint32_t counter, uint32_t index)
{
	const struct clocks *clocks = fitter->clocks;
	const struct clock_map *map = &clocks->maps[index];
	const struct rate_lists *rates = &fitter->rates;
	struct prior prior = fitter->priors[counter];

	for (uint32_t i = rates->first[counter]; i != FLEXTRACE_NONE; i = rates->next[i]) {
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++) {
			if ((i != counter || j == index) && covers(&clocks->maps[j], map) &&
			    !clocks->maps[j].quality.is_assumed &&
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
		if (fitter->rates.next[i] != FLEXTRACE_NONE)
			return false;
	}
	return fitter->clocks->n_maps == n;
}

static int fit_all_shared(struct fitter *fitter)
{
	const struct clocks *clocks = fitter->clocks;

	for (uint32_t i = 0; i < clocks->n_counters; i++)
		fitter->n_of_rate[fitter->rates.first[i]] += clocks->first_map[i + 1] -
		                                             clocks->first_map[i];
	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		if (fitter->n_of_rate[fitter->rates.first[i]] > MAX_SHARING)
			continue;
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++)
			FLEXTRACE_TRY(fit_shared(fitter, i, j));
	}
	return FLEXTRACE_OK;
}

/* A segment of a counter that begins anew all the time is fitted with the slopes of the others, if
 * its own are open. It is assumed if these contradict it. */
static int fit_restarted(struct fitter *fitter, uint32_t counter, uint32_t index,
                         const struct slopes *slopes, bool is_agreed)
{
	struct clock_map *map = &fitter->clocks->maps[index];
	struct prior prior = fitter->priors[counter];
	bool holds = restarts_hold(map, slopes) || (!is_agreed && map_has_open_rate(map)) ||
	             restarts_prove(map, &fitter->evidence[index], slopes);

	if (map->n_knots == 0 || map->quality.is_assumed || (holds && !prior.is_restless))
		return FLEXTRACE_OK;
	if (!holds && !is_agreed) {
		map->quality.is_assumed = true;
		return FLEXTRACE_OK;
	}
	if (!holds) {
		prior.slope_lo = slopes->lo;
		prior.slope_hi = slopes->hi;
	}
	FLEXTRACE_TRY(fit_one(fitter, index, &prior));
	if (!holds)
		map->quality.is_assumed |= map->is_contradicted || map->n_false > 0 ||
		                           !restarts_hold(map, slopes);
	return FLEXTRACE_OK;
}

/* Whether a tool's estimates are among the evidence of some maps. */
static bool has_estimates(const struct fitter *fitter, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		if (fitter->groups.n_soft[i] > 0)
			return true;
	}
	return false;
}

static int fit_all_restarted(struct fitter *fitter)
{
	const struct clocks *clocks = fitter->clocks;

	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		uint32_t first = clocks->first_map[i], end = clocks->first_map[i + 1];
		struct slopes slopes;
		bool is_agreed;

		if (has_estimates(fitter, first, end))
			continue;
		fitter->priors[i].is_restless = restarts_all_the_time(
			end - first, fitter->groups.first[end] - fitter->groups.first[first]);
		FLEXTRACE_TRY(restarts_find(&clocks->maps[first], end - first,
		                            fitter->priors[i].nominal, &slopes, &is_agreed));
		for (uint32_t j = first; j < end; j++)
			FLEXTRACE_TRY(fit_restarted(fitter, i, j, &slopes, is_agreed));
	}
	return FLEXTRACE_OK;
}

static int fit_each(struct fitter *fitter)
{
	struct clocks *clocks = fitter->clocks;

	FLEXTRACE_TRY(ARRAY_NEW(fitter->evidence, clocks->n_maps + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(fitter->priors, clocks->n_counters + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(fitter->n_of_rate, clocks->n_counters + 1ull));
	FLEXTRACE_TRY(identity_list_rates(fitter->input->identity, &fitter->rates));
	fitter->is_each_alone = !fitter->second.n && is_each_alone(fitter);
	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		fitter->priors[i] = prior_of(fitter->input, i);
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++) {
			fitter->evidence[j] = groups_evidence(&fitter->groups, j);
			FLEXTRACE_TRY(fit_one(fitter, j, &fitter->priors[i]));
		}
	}
	FLEXTRACE_TRY(fit_all_shared(fitter));
	return fit_all_restarted(fitter);
}

/* Prefers estimates to reads of the counter, where these leave them. */
static int choose_each(struct fitter *fitter)
{
	struct clocks *clocks = fitter->clocks;

	for (uint32_t i = 0; i < clocks->n_counters && fitter->second.n; i++) {
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++) {
			struct evidence soft = groups_evidence(&fitter->second, j);

			FLEXTRACE_TRY(choose_soft(
				&fitter->evidence[j], &soft, &fitter->priors[i], &clocks->maps[j],
				&fitter->input->ledger->warnings[WARNING_ESTIMATES_OFF]));
		}
	}
	return FLEXTRACE_OK;
}

/* Whether a map has rates that are so far from those with which wraps were counted that some may
 * have been miscounted. Where there are segments, those were found with these rates, too. */
static bool is_miscounted(const struct clock_map *map, const struct counted_rate *rate, double part)
{
	double span, off;

	if (map->n_knots == 0 || map_has_open_rate(map))
		return false;
	span = (double)(map->knots[map->n_knots - 1].ticks - map->knots[0].ticks);
	off = fmax(map->slope_lo * rate->lo - 1, 1 - map->slope_hi * rate->hi);
	return off > COUNTED_NEAR && off * span >= part;
}

static enum proof proof_of_habit(enum counter_habit habit)
{
	return habit == COUNTER_RESTARTS   ? PROOF_RESTARTS
	       : habit == COUNTER_IS_GATED ? PROOF_IS_GATED
	                                   : PROOF_IS_MISSING;
}

static void doubt_counted(const struct calibrate_input *input, struct clocks *clocks)
{
	uint32_t counter = 0;

	TABLE_EACH(struct counted_rate, rate, input->rates) {
		unsigned bits = input->identity->counters[counter].counter_bits;
		uint32_t first = clocks->first_map[counter], end = clocks->first_map[counter + 1];
		/* of a wrap, in ticks */
		double part = end - first > 1 ? 0 : ldexp(0.25, (int)(bits < 32 ? bits : 32));

		for (uint32_t i = first; i < end; i++) {
			struct clock_map *map = &clocks->maps[i];

			if (rate->habit == COUNTER_RUNS && !is_miscounted(map, rate, part))
				continue;
			if (rate->habit != COUNTER_RUNS || map->proof == PROOF_NOT_NEEDED)
				map->proof = proof_of_habit(rate->habit);
			map->quality.is_assumed = true;
		}
		counter++;
	}
}

static int fit_all(const struct calibrate_input *input, struct clocks *clocks)
{
	struct fitter fitter = {.input = input, .clocks = clocks};
	int code;

	code = number_maps(clocks, input->identity, input->brackets, input->told);
	if (code >= 0)
		code = floors_take(input);
	if (code >= 0)
		code = groups_init(&fitter.groups, &fitter.second, clocks, input->brackets);
	if (code >= 0)
		code = fit_each(&fitter);
	if (code >= 0)
		code = choose_each(&fitter);
	if (code >= 0) {
		doubt_counted(input, clocks);
		returns_doubt(clocks, input->identity);
		overlaps_doubt(clocks);
	}
	groups_release(&fitter.groups);
	groups_release(&fitter.second);
	rate_lists_release(&fitter.rates);
	free(fitter.evidence);
	free(fitter.priors);
	free(fitter.n_of_rate);
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

void clocks_drop_maps(struct clocks *clocks)
{
	for (uint32_t i = 0; i < clocks->n_maps && clocks->maps; i++) {
		blocks_free(clocks->maps[i].knots);
		clocks->maps[i].knots = NULL;
		clocks->maps[i].n_knots = 0;
	}
}

void clocks_free(struct clocks *clocks)
{
	if (!clocks)
		return;
	clocks_drop_maps(clocks);
	free(clocks->maps);
	free(clocks->first_map);
	free(clocks->reports);
	free(clocks->refused);
	free(clocks);
}

static bool is_number_before(const void *row, const void *key)
{
	return *(const uint64_t *)row < *(const uint64_t *)key;
}

bool clocks_refuse(const struct clocks *clocks, uint64_t op)
{
	uint32_t at = array_count_before(clocks->refused, clocks->n_refused,
	                                 sizeof(*clocks->refused), is_number_before, &op);

	return at < clocks->n_refused && clocks->refused[at] == op;
}

const struct clock_report *clocks_report(const struct clocks *clocks, uint32_t *ret_n)
{
	*ret_n = clocks->n_maps;
	return clocks->reports;
}

bool clocks_find_report(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                        uint32_t *ret_index)
{
	if (counter >= clocks->n_counters ||
	    segment >= clocks->first_map[counter + 1] - clocks->first_map[counter])
		return false;
	*ret_index = clocks->first_map[counter] + segment;
	return true;
}
