/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_align.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "pair_impl.h"

#define FEW         128  /* events by which many offsets are compared */
#define MANY        4096 /* by which the best are */
#define FINALISTS   16
#define TURNS       6  /* of matching and fitting */
#define MIN_OF_LINE 30 /* pairs that make a line */
#define MIN_SPAN_NS INT64_C(100000000)
#define MAX_SLOPE   1e-3 /* of any two clocks of a host */
#define RIVAL       0.95 /* of the best one's mean score */
#define FAR         8    /* times the median distance: no pair */
#define FAR_NS      20000

/* -- lists ----------------------------------------------------------------------------------- */

ORDER_BY(compare_events, struct pair_event, key, begin_ns, end_ns, tag);

static uint32_t count_key(const struct pair_list *list, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < list->n && list->events[first + n].key == list->events[first].key)
		n++;
	return n;
}

static void keep_events(struct pair_list *list, uint32_t *n_kept, uint32_t first, uint32_t n)
{
	memmove(&list->events[*n_kept], &list->events[first], n * sizeof(*list->events));
	*n_kept += n;
}

/* Keeps the events of common keys. */
static void drop_strangers(struct pair_list *from, struct pair_list *to)
{
	uint32_t i = 0, j = 0, n_from = 0, n_to = 0;

	while (i < from->n && j < to->n) {
		uint64_t a = from->events[i].key, b = to->events[j].key;
		uint32_t n = a <= b ? count_key(from, i) : 0, m = b <= a ? count_key(to, j) : 0;

		if (a == b) {
			keep_events(from, &n_from, i, n);
			keep_events(to, &n_to, j, m);
		}
		i += n;
		j += m;
	}
	from->n = n_from;
	to->n = n_to;
}

static void sort_list(struct pair_list *list)
{
	if (list->n)
		qsort(list->events, list->n, sizeof(*list->events), compare_events);
	for (uint32_t i = 0; i < list->n; i++)
		list->events[i].partner = PAIR_NONE;
}

static int make_runs(struct pairing_state *state)
{
	uint32_t i = 0, j = 0;

	FLEXTRACE_TRY(ARRAY_NEW(state->runs, state->from->n));
	FLEXTRACE_TRY(ARRAY_NEW(state->matches, state->from->n));
	FLEXTRACE_TRY(ARRAY_NEW(state->spare, state->from->n));
	while (i < state->from->n) {
		struct pair_run run = {i, count_key(state->from, i), j, count_key(state->to, j)};

		state->runs[state->n_runs++] = run;
		i += run.n_from;
		j += run.n_to;
	}
	return FLEXTRACE_OK;
}

/* -- quantiles ------------------------------------------------------------------------------- */

static int64_t quantile(int64_t *numbers, uint32_t n, double share)
{
	order_numbers(numbers, n);
	return numbers[(uint32_t)(share * (n - 1) + 0.5)];
}

static int64_t median_error(struct pairing_state *state, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		state->spare[i] = state->matches[first + i].error_ns;
	return quantile(state->spare, n, 0.5);
}

/* -- one offset ------------------------------------------------------------------------------ */

ORDER_BY(compare_times, struct pair_match, at_ns, from);

/* How much the errors grow from the first third of the pairs to the last. */
static double slope_of(struct pairing_state *state)
{
	uint32_t n = state->n_matches / 3, last = state->n_matches - n;
	int64_t early_ns, late_ns, span_ns;

	if (state->n_matches < MIN_OF_LINE)
		return 0;
	qsort(state->matches, state->n_matches, sizeof(*state->matches), compare_times);
	span_ns = state->matches[last + n / 2].at_ns - state->matches[n / 2].at_ns;
	if (span_ns < MIN_SPAN_NS)
		return 0;
	early_ns = median_error(state, 0, n);
	late_ns = median_error(state, last, n);
	return (double)(late_ns - early_ns) / (double)span_ns;
}

/* Draws a line through the pairs that the last one found, and finds those of the new one. */
static void refine(struct pairing_state *state, struct pair_fit *fit)
{
	pair_find_all(state, fit);
	for (int turn = 0; turn < TURNS && state->n_matches; turn++) {
		double slope = fit->slope + slope_of(state);

		if (fabs(slope) <= MAX_SLOPE)
			fit->slope = slope;
		pair_find_all(state, fit);
		if (!state->n_matches)
			return;
		fit->offset_ns += median_error(state, 0, state->n_matches);
		pair_find_all(state, fit);
	}
}

/* -- the best of them ------------------------------------------------------------------------ */

struct candidate {
	struct pair_fit fit;
	struct pair_score score;
};

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return ORDER(b->score.sum, a->score.sum) ?: ORDER(a->fit.offset_ns, b->fit.offset_ns);
}

static void rank_candidates(struct pairing_state *state, struct candidate *candidates, int n,
                            uint32_t n_events)
{
	uint32_t stride = state->from->n / n_events + 1;

	for (int i = 0; i < n; i++)
		candidates[i].score = pair_score(state, &candidates[i].fit, stride);
	qsort(candidates, (size_t)n, sizeof(*candidates), compare_candidates);
}

static double mean_of(const struct pair_score *score)
{
	return score->n ? score->sum / score->n : 0;
}

/* Whether a candidate that is not the best one's neighbour fits as well where it fits: it may be
 * that the lists have less in common. */
static bool has_rival(const struct candidate *candidates, int n)
{
	const struct candidate *best = &candidates[0];

	for (int i = 1; i < n; i++) {
		const struct candidate *other = &candidates[i];

		if (llabs(other->fit.offset_ns - best->fit.offset_ns) > PAIR_REACH_NS &&
		    2 * other->score.n >= best->score.n &&
		    mean_of(&other->score) >= RIVAL * mean_of(&best->score))
			return true;
	}
	return false;
}

/* Ids are of both lists if most of what has one finds its like where it should be. */
static void judge_ids(struct pairing_state *state, const struct candidate *best)
{
	uint32_t stride = state->from->n / MANY + 1;
	struct pair_score score;

	state->uses_correlation = true;
	score = pair_score(state, &best->fit, stride);
	state->uses_correlation = 2 * score.n_same_correlations > best->score.n_correlations;
	state->uses_stamps = true;
	score = pair_score(state, &best->fit, stride);
	state->uses_stamps = 2 * score.n_same_stamps > best->score.n_stamps;
}

static int choose(struct pairing_state *state, struct candidate *candidates, int64_t *offsets,
                  struct pair_result *result)
{
	int64_t origin_ns = state->from->events[state->from->n / 2].begin_ns;
	int n = pair_vote(state, offsets);

	if (n <= 0)
		return n;
	for (int i = 0; i < n; i++)
		candidates[i].fit = (struct pair_fit){origin_ns, offsets[i], 0};
	rank_candidates(state, candidates, n, FEW);
	n = n < FINALISTS ? n : FINALISTS;
	rank_candidates(state, candidates, n, MANY);
	judge_ids(state, &candidates[0]);
	refine(state, &candidates[0].fit);
	result->fit = candidates[0].fit;
	result->is_uncertain = has_rival(candidates, n);
	return FLEXTRACE_OK;
}

/* -- what comes of it ------------------------------------------------------------------------ */

static void keep_pairs(struct pairing_state *state, struct pair_result *result)
{
	uint32_t n = state->n_matches, n_kept = 0;
	int64_t limit_ns;

	for (uint32_t i = 0; i < n; i++)
		state->spare[i] = state->matches[i].distance_ns;
	limit_ns = n ? FAR * quantile(state->spare, n, 0.5) : 0;
	limit_ns = limit_ns > FAR_NS ? limit_ns : FAR_NS;
	for (uint32_t i = 0; i < n; i++) {
		const struct pair_match *match = &state->matches[i];

		if (match->distance_ns > limit_ns)
			continue;
		state->from->events[match->from].partner = match->to;
		state->to->events[match->to].partner = match->from;
		state->spare[n_kept++] = llabs(match->error_ns);
	}
	result->n_pairs = n_kept;
	if (!n_kept)
		return;
	result->residual_ns_p50 = quantile(state->spare, n_kept, 0.5);
	result->residual_ns_p99 = quantile(state->spare, n_kept, 0.99);
	result->residual_ns_max = state->spare[n_kept - 1];
}

struct span {
	int64_t first_ns, last_ns;
};

static struct span span_of(const struct pair_list *list)
{
	struct span span = {INT64_MAX, INT64_MIN};

	for (uint32_t i = 0; i < list->n; i++) {
		const struct pair_event *event = &list->events[i];

		span.first_ns = event->begin_ns < span.first_ns ? event->begin_ns : span.first_ns;
		span.last_ns = event->end_ns > span.last_ns ? event->end_ns : span.last_ns;
	}
	return span;
}

static uint32_t count_within(const struct pair_list *list, int64_t first_ns, int64_t last_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		n += list->events[i].end_ns >= first_ns && list->events[i].begin_ns <= last_ns;
	return n;
}

static void count_common(const struct pair_list *from, const struct pair_list *to,
                         struct pair_result *result)
{
	const struct span mine = span_of(from), other = span_of(to);
	uint32_t least;

	result->n_from = count_within(
		from, other.first_ns - (pair_move(&result->fit, mine.first_ns) - mine.first_ns),
		other.last_ns - (pair_move(&result->fit, mine.last_ns) - mine.last_ns));
	result->n_to = count_within(to, pair_move(&result->fit, mine.first_ns),
	                            pair_move(&result->fit, mine.last_ns));
	least = result->n_from < result->n_to ? result->n_from : result->n_to;
	result->is_uncertain |= 2 * (uint64_t)result->n_pairs < least || result->n_pairs < 2;
}

static int align(struct pairing_state *state, struct pair_result *result)
{
	struct candidate *candidates = calloc(PAIR_CANDIDATES, sizeof(*candidates));
	int64_t *offsets = calloc(PAIR_CANDIDATES, sizeof(*offsets));
	int code = FLEXTRACE_E_MEMORY;

	if (candidates && offsets)
		code = make_runs(state);
	if (code >= 0)
		code = choose(state, candidates, offsets, result);
	if (code >= 0) {
		keep_pairs(state, result);
		count_common(state->from, state->to, result);
	}
	free(candidates);
	free(offsets);
	return code;
}

int pair_align(struct pair_list *from, struct pair_list *to, struct pair_result *ret_result)
{
	struct pairing_state state = {.from = from, .to = to};
	int code = FLEXTRACE_OK;

	*ret_result = (struct pair_result){.n_pairs = 0};
	sort_list(from);
	sort_list(to);
	drop_strangers(from, to);
	if (from->n)
		code = align(&state, ret_result);
	free(state.runs);
	free(state.matches);
	free(state.spare);
	return code;
}
