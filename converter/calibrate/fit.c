/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One segment: guess the slope, turn away lies, fit the line, close the band around it.
 *
 * If rho is too small for what the clock really did, true brackets contradict each other too. It shows: lies stay
 * lies at twice the rho, true brackets stop contradicting. Then rho is raised until they do, and the map is
 * called assumed, because the smallest rho that fits is only a lower bound on how far the rate wandered.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"

#define MIN_TO_JUDGE_RHO 16u
#define MAX_RHO          1e-3
#define COARSE_SLACK     50e-6 /* of the guessed slope, before lies are out */
#define SORT_MOVES       16u

static int compare_brackets(const void *left, const void *right)
{
	const struct bracket *a = *(const struct bracket *const *)left;
	const struct bracket *b = *(const struct bracket *const *)right;

	if (a->last_ticks != b->last_ticks)
		return (a->last_ticks > b->last_ticks) - (a->last_ticks < b->last_ticks);
	if (a->first_ticks != b->first_ticks)
		return (a->first_ticks > b->first_ticks) - (a->first_ticks < b->first_ticks);
	if (a->before_host_ns != b->before_host_ns)
		return (a->before_host_ns > b->before_host_ns) -
		       (a->before_host_ns < b->before_host_ns);
	return (a->after_host_ns > b->after_host_ns) - (a->after_host_ns < b->after_host_ns);
}

/* Brackets come nearly sorted. */
static void sort_brackets(const struct bracket **brackets, uint32_t n)
{
	uint64_t moves = 0;

	for (uint32_t i = 1; i < n; i++) {
		const struct bracket *bracket = brackets[i];
		uint32_t to = i;

		for (; to > 0 && compare_brackets(&brackets[to - 1], &bracket) > 0; to--)
			brackets[to] = brackets[to - 1];
		brackets[to] = bracket;
		moves += i - to;
		if (moves > (uint64_t)SORT_MOVES * (n + 64u)) {
			qsort(brackets, n, sizeof(*brackets), compare_brackets);
			return;
		}
	}
}

/* Sets the origin; brackets must be sorted by last_ticks. */
static void set_origin(struct evidence *evidence)
{
	const struct bracket *first = evidence->brackets[0];

	evidence->ticks0 = UINT64_MAX;
	for (uint32_t i = 0; i < evidence->n; i++) {
		if (evidence->brackets[i]->first_ticks < evidence->ticks0)
			evidence->ticks0 = evidence->brackets[i]->first_ticks;
	}
	evidence->host0 = first->before_host_ns != INT64_MIN ? first->before_host_ns
	                                                     : first->after_host_ns;
}

struct guess {
	double slope, slack; /* relative */
};

/* One try at a band: knots of constraints that meet, and how many were turned away for it. */
struct attempt {
	struct reference reference;
	struct knot *knots; /* owned */
	uint32_t n_knots, n_false;
	double rho;
};

static void release_attempt(struct attempt *attempt)
{
	reference_release(&attempt->reference);
	free(attempt->knots);
	*attempt = (struct attempt){.knots = NULL};
}

static int try_rho(struct evidence *evidence, const struct guess *guess, double rho,
                   struct attempt *ret_attempt)
{
	struct line line;
	double slack = guess->slack + fmax(COARSE_SLACK, 5 * rho);

	*ret_attempt = (struct attempt){.rho = rho};
	for (uint32_t i = 0; i < evidence->n; i++)
		evidence->is_false[i] = 0;
	ret_attempt->n_false = reject_false(evidence, guess->slope, slack);
	FLEXTRACE_TRY(line_fit(evidence, guess->slope, &line));
	slack = rho + fmax(line.slope_hi - line.slope, line.slope - line.slope_lo) / line.slope;
	ret_attempt->n_false += reject_false(evidence, line.slope, slack);
	if (ret_attempt->n_false)
		FLEXTRACE_TRY(line_fit(evidence, line.slope, &line));
	FLEXTRACE_TRY(reference_init(&ret_attempt->reference, &line, rho));
	FLEXTRACE_TRY(band_constrain(evidence, &ret_attempt->reference, &ret_attempt->knots,
	                             &ret_attempt->n_knots));
	ret_attempt->n_false += band_drop_conflicts(ret_attempt->knots, ret_attempt->n_knots,
	                                            &ret_attempt->reference, evidence->n / 2);
	return FLEXTRACE_OK;
}

/* Raises rho as long as that makes more than half of the contradictions go away. */
static int settle(struct evidence *evidence, const struct guess *guess, double rho,
                  struct attempt *best)
{
	int code = try_rho(evidence, guess, rho, best);

	while (code >= 0 && best->n_false > evidence->n / 512 && evidence->n >= MIN_TO_JUDGE_RHO &&
	       best->rho < MAX_RHO) {
		struct attempt next;

		code = try_rho(evidence, guess, 2 * best->rho, &next);
		if (code < 0 || next.n_false > best->n_false / 2) {
			release_attempt(&next);
			break;
		}
		release_attempt(best);
		*best = next;
	}
	return code;
}

int fit_map(struct evidence *evidence, double hint, double rho, struct clock_map *ret_map)
{
	struct attempt attempt = {.rho = rho};
	struct guess guess = {hint, 1};
	int code;

	*ret_map = (struct clock_map){.rho = rho};
	if (evidence->n == 0)
		return FLEXTRACE_OK;
	sort_brackets(evidence->brackets, evidence->n);
	set_origin(evidence);
	FLEXTRACE_TRY(line_guess(evidence, &guess.slope, &guess.slack));
	code = settle(evidence, &guess, rho, &attempt);
	if (code >= 0 && attempt.n_knots > 0) {
		band_close(attempt.knots, attempt.n_knots, &attempt.reference);
		code = clock_map_init(ret_map, attempt.knots, attempt.n_knots, &attempt.reference,
		                      evidence);
		ret_map->rho = attempt.rho;
		ret_map->is_wandering = attempt.rho > rho || attempt.n_false > evidence->n / 2;
		ret_map->is_assumed = ret_map->is_wandering;
	}
	release_attempt(&attempt);
	return code;
}
