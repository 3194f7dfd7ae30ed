/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With the mean rates given, the evidence is a system of difference constraints: nobody leaves a
 * round before everybody entered it, no rate is farther than rho from its mean, and the last stamp
 * of a clock is where its mean leads from the first one. It has a solution if its bounds can be
 * carried from stamp to stamp until nothing changes. The least miss is convex over the mean rates.
 */
#include "align_oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define MOST_MISS_NS 1e6
#define NEAR_NS      50.0 /* of a miss */
#define ROUNDING_NS  1e-3
#define MAX_SWEEPS   400
#define N_THIRDS     24
#define FAR_NS       1e5 /* farther, the mean rate does not lead within a run */

struct stamp {
	double x;      /* ns of its host's clock since the first stamp */
	double lo, hi; /* of the reference's clock, less x, and less what the mean rate makes */
	uint32_t round;
	bool is_exit;
};

struct round {
	double lo, hi; /* of the reference's clock since its first stamp */
};

struct oracle {
	const struct align_truth *truth; /* weak */
	struct stamp *stamps;            /* owned, by clock and time */
	uint32_t *first;                 /* owned, of each clock; one more than clocks */
	double *mean;                    /* owned, of each clock */
	struct round *rounds, *at_start; /* owned; by what the reference recorded */
	uint32_t n_rounds;
	double rho;
};

/* -- evidence ---------------------------------------------------------------------------------- */

static int compare_stamps(const void *left, const void *right)
{
	const struct stamp *a = left, *b = right;

	return (a->x > b->x) - (a->x < b->x);
}

/* A clock's stamps, since its offset. Returns how many. */
static uint32_t list_stamps(const struct align_truth *truth, uint32_t clock, struct stamp *stamps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < truth->n_points; i++) {
		const struct sync_point *point = &truth->points[i].point;
		int64_t base_ns = truth->hosts[clock].offset_ns;

		if (point->process != clock)
			continue;
		stamps[n++] = (struct stamp){.x = (double)(point->enter_host_ns - base_ns),
		                             .round = truth->points[i].round};
		stamps[n++] = (struct stamp){.x = (double)(point->exit_host_ns - base_ns),
		                             .round = truth->points[i].round,
		                             .is_exit = true};
	}
	qsort(stamps, n, sizeof(*stamps), compare_stamps);
	return n;
}

/* The reference's stamps are moments. */
static void start_rounds(struct oracle *oracle)
{
	for (uint32_t i = 0; i < oracle->n_rounds; i++)
		oracle->at_start[i] = (struct round){-INFINITY, INFINITY};
	for (uint32_t i = oracle->first[0]; i < oracle->first[1]; i++) {
		const struct stamp *stamp = &oracle->stamps[i];
		struct round *round = &oracle->at_start[stamp->round];

		if (stamp->is_exit)
			round->hi = stamp->x;
		else
			round->lo = stamp->x;
	}
}

/* What the reference's clock does for each ns of another one, less 1, over the run. */
static double true_rate(const struct align_truth *truth, uint32_t clock)
{
	double end_ns = truth->end_ns;
	double lasted[2] = {
		(double)(align_truth_clock(truth, 0, end_ns) - align_truth_clock(truth, 0, 0)),
		(double)(align_truth_clock(truth, clock, end_ns) -
	                 align_truth_clock(truth, clock, 0)),
	};

	return lasted[0] / lasted[1] - 1;
}

static void oracle_init(struct oracle *oracle, const struct align_truth *truth, double rho)
{
	uint32_t n = truth->n_hosts;

	*oracle = (struct oracle){.truth = truth, .rho = rho};
	oracle->n_rounds = truth->n_points > 0 ? truth->points[truth->n_points - 1].round + 1 : 0;
	oracle->stamps = calloc(2ull * truth->n_points + 1, sizeof(*oracle->stamps));
	oracle->first = calloc(n + 1ull, sizeof(*oracle->first));
	oracle->mean = calloc(n, sizeof(*oracle->mean));
	oracle->rounds = calloc(oracle->n_rounds + 1ull, sizeof(*oracle->rounds));
	oracle->at_start = calloc(oracle->n_rounds + 1ull, sizeof(*oracle->at_start));
	assert_true(oracle->stamps && oracle->first && oracle->mean && oracle->rounds &&
	            oracle->at_start);
	for (uint32_t clock = 0; clock < n; clock++) {
		uint32_t first = oracle->first[clock];

		oracle->first[clock + 1] = first +
		                           list_stamps(truth, clock, &oracle->stamps[first]);
		oracle->mean[clock] = true_rate(truth, clock);
	}
	start_rounds(oracle);
}

static void oracle_release(struct oracle *oracle)
{
	free(oracle->stamps);
	free(oracle->first);
	free(oracle->mean);
	free(oracle->rounds);
	free(oracle->at_start);
}

/* -- one set of mean rates --------------------------------------------------------------------- */

static bool raise(double *lo, double bound)
{
	bool is_more = bound > *lo + ROUNDING_NS;

	*lo = fmax(*lo, bound);
	return is_more;
}

static bool lower(double *hi, double bound)
{
	bool is_less = bound < *hi - ROUNDING_NS;

	*hi = fmin(*hi, bound);
	return is_less;
}

/* Carries bounds from a stamp to another one of its clock. */
static bool carry(const struct stamp *from, struct stamp *to, double rho)
{
	double most_ns = rho * fabs(to->x - from->x);
	bool has_raised = raise(&to->lo, from->lo - most_ns);

	return lower(&to->hi, from->hi + most_ns) || has_raised;
}

/* Carries bounds between a stamp and its round. */
static bool meet(const struct oracle *oracle, struct stamp *stamp, double mean, double miss_ns)
{
	struct round *round = &oracle->rounds[stamp->round];
	double there_ns = stamp->x * (1 + mean);

	if (stamp->is_exit) {
		bool has_raised = raise(&stamp->lo, round->lo - miss_ns - there_ns);

		return lower(&round->hi, stamp->hi + there_ns + miss_ns) || has_raised;
	}
	if (raise(&round->lo, stamp->lo + there_ns - miss_ns))
		return true;
	return lower(&stamp->hi, round->hi + miss_ns - there_ns);
}

/* Carries all bounds of a clock; returns whether any changed. */
static bool sweep(const struct oracle *oracle, uint32_t clock, double miss_ns)
{
	struct stamp *first = &oracle->stamps[oracle->first[clock]];
	struct stamp *end = &oracle->stamps[oracle->first[clock + 1]];
	bool has_changed = false;

	if (first == end)
		return false;
	for (struct stamp *stamp = first; stamp < end; stamp++)
		has_changed |= meet(oracle, stamp, oracle->mean[clock], miss_ns);
	has_changed |= carry(end - 1, first, 0);
	for (struct stamp *stamp = first + 1; stamp < end; stamp++)
		has_changed |= carry(stamp - 1, stamp, oracle->rho);
	has_changed |= carry(first, end - 1, 0);
	for (struct stamp *stamp = end - 1; stamp > first; stamp--)
		has_changed |= carry(stamp, stamp - 1, oracle->rho);
	return has_changed;
}

static bool contradicts(const struct oracle *oracle)
{
	for (uint32_t i = oracle->first[1]; i < oracle->first[oracle->truth->n_hosts]; i++) {
		if (oracle->stamps[i].lo > oracle->stamps[i].hi)
			return true;
	}
	return false;
}

/* Whether the mean rates explain all evidence that is off by up to `miss_ns`. */
static bool explains(struct oracle *oracle, double miss_ns)
{
	bool has_changed = true;

	for (uint32_t i = 0; i < oracle->n_rounds; i++)
		oracle->rounds[i] = oracle->at_start[i];
	for (uint32_t i = oracle->first[1]; i < oracle->first[oracle->truth->n_hosts]; i++) {
		oracle->stamps[i].lo = -INFINITY;
		oracle->stamps[i].hi = INFINITY;
	}
	for (int n = 0; has_changed && n < MAX_SWEEPS; n++) {
		has_changed = false;
		for (uint32_t clock = 1; clock < oracle->truth->n_hosts; clock++)
			has_changed |= sweep(oracle, clock, miss_ns);
		if (contradicts(oracle))
			return false;
	}
	return !has_changed;
}

static double miss_of_means(struct oracle *oracle)
{
	double from = 0, to = MOST_MISS_NS;

	if (explains(oracle, 0))
		return 0;
	while (to - from > NEAR_NS) {
		double middle = (from + to) / 2;

		if (explains(oracle, middle))
			to = middle;
		else
			from = middle;
	}
	return to;
}

/* -- the mean rate of the odd clock ------------------------------------------------------------ */

/* Of the reference: all others are off the other way. */
static double miss_at(struct oracle *oracle, const struct align_truth *truth, double rate)
{
	uint32_t odd = truth->scene.odd_rank;

	for (uint32_t clock = 1; clock < truth->n_hosts; clock++)
		oracle->mean[clock] = true_rate(truth, clock) +
		                      (odd == 0 || odd == clock ? rate : 0);
	return miss_of_means(oracle);
}

/* The least with a mean rate near that of a truth. */
static double least_miss(struct oracle *oracle, const struct align_truth *truth)
{
	double from = -FAR_NS / truth->end_ns, to = -from, least = miss_at(oracle, truth, 0);

	for (int i = 0; i < N_THIRDS && least > 0; i++) {
		double third = (to - from) / 3;
		double left = miss_at(oracle, truth, from + third);
		double right = miss_at(oracle, truth, to - third);

		if (left < right)
			to -= third;
		else
			from += third;
		least = fmin(least, fmin(left, right));
	}
	return least;
}

/* A break in the middle is hidden, if at all, from a clock of the mean that it makes. One near an
 * end is hidden from a clock that had none, and its mean may be far from that one's. */
double align_oracle_miss_ns(const struct align_truth *truth, double rho)
{
	struct align_truth calm = *truth;
	struct oracle oracle;
	double least;

	calm.n_upsets = 0;
	oracle_init(&oracle, truth, rho);
	least = least_miss(&oracle, truth);
	if (least > 0)
		least = fmin(least, least_miss(&oracle, &calm));
	oracle_release(&oracle);
	return least;
}
