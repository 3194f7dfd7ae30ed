/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a counter ticks, without being told. Two samples i, j whose brackets do not overlap have
 * host time between
 *   before_j - after_i   and   after_j - before_i
 * between the end of i and the start of j, and ticks (first_j - last_i) mod 2^bits plus any
 * number of wraps. Each number of wraps gives an interval for the rate; short pairs give one wide
 * interval, long pairs a comb of narrow ones. Only near the true rate do (almost) all pairs
 * agree.
 */
#include <math.h>
#include <stdlib.h>

#include "base/marzullo.h"
#include "unwrap_impl.h"

#define RATE_ONE         0x1p50
#define MAX_STRIDE       2048u
#define MIN_STRIDE       32u
#define PAIRS_PER_STRIDE 256u
#define MAX_TEETH        512u
#define MAX_INTERVALS    (1u << 15)
#define AGREEING         0.9 /* what share of the largest agreement counts as one */
#define STEADY           0.95
#define CLOSE            1.02
#define NEAR             0.02 /* how far a rate may be off the nominal one */
#define WANDER           2e-5 /* how far the rate between two samples may be off the mean one */
#define MOST_WANDER      1e-3 /* where the nominal rate tells which one is meant */
#define MIN_NEAR_PAIRS   3u
#define SHORT_STRIDE     32u /* of pairs that are less than a wrap apart */
#define MANY_PAIRS       64u
#define MOST             0.6
#define NEARLY_ALL       0.97
#define CLOSE_SHORT      1.1
#define SLACK_NS         (2.0 * UNWRAP_ESTIMATE_SLACK_NS) /* that two estimates may be off */

/* The range of rates to search, in ticks per ns. Hardly any counter is outside of the usual
 * range, and the more rates are searched, the more fit by chance. */
struct range {
	double lo, hi;
};

static const struct range usual = {1e-5, 8}; /* 10 kHz to 8 GHz */
static const struct range all = {UNWRAP_MIN_RATE, UNWRAP_MAX_RATE};

struct votes {
	struct interval *intervals; /* owned */
	uint32_t n, n_pairs;
	double wander;    /* relative */
	double max_teeth; /* of a pair's comb; beyond, the pair says nothing */
	struct range range;
};

static bool add_tooth(struct votes *votes, uint32_t first, double lo, double hi)
{
	struct interval tooth = {
		(int64_t)((lo > votes->range.lo ? lo : votes->range.lo) * RATE_ONE),
		(int64_t)((hi < votes->range.hi ? hi : votes->range.hi) * RATE_ONE),
	};

	if (votes->n > first && tooth.lo <= votes->intervals[votes->n - 1].hi) {
		votes->intervals[votes->n - 1].hi = tooth.hi;
		return true;
	}
	if (votes->n == MAX_INTERVALS)
		return false;
	votes->intervals[votes->n++] = tooth;
	return true;
}

/* Takes the comb of so many ticks, or any number of wraps more, in so much time. A rate that
 * wanders would else agree best with a multiple of it: work that comes at equal distances fits any
 * number of wraps between them, and the teeth of fast rates are the widest. */
static void add_comb(struct votes *votes, double ticks, unsigned bits, double least_ns,
                     double most_ns)
{
	double wrap = n_values(bits);
	uint32_t first = votes->n;

	if (least_ns <= 0 || most_ns * votes->range.hi / wrap > votes->max_teeth)
		return;
	for (; (ticks - 1) / most_ns <= votes->range.hi; ticks += wrap) {
		if ((ticks + 1) / least_ns < votes->range.lo)
			continue;
		if (!add_tooth(votes, first, (ticks - 1) / most_ns * (1 - votes->wander),
		               (ticks + 1) / least_ns * (1 + votes->wander))) {
			votes->n = first;
			return;
		}
	}
	votes->n_pairs += votes->n > first;
}

/* An estimate tells two times, and not only between which two the work was: from begin to begin is
 * a distance however long the first took. */
static void add_estimates(struct votes *votes, const struct axis *axis, const struct sample *from,
                          const struct sample *to)
{
	double ns = (double)(to->before_ns - from->before_ns);

	add_comb(votes, (double)low_bits(to->first - from->first, axis->narrow_bits),
	         axis->narrow_bits, ns - SLACK_NS, ns + SLACK_NS);
}

static void add_pair(struct votes *votes, const struct axis *axis, const struct sample *from,
                     const struct sample *to)
{
	bool is_wide = from->kind != SAMPLE_OP && to->kind != SAMPLE_OP;
	unsigned bits = is_wide ? axis->wide_bits : axis->narrow_bits;

	if (axis->is_soft && from->kind == SAMPLE_OP && to->kind == SAMPLE_OP)
		add_estimates(votes, axis, from, to);
	else
		add_comb(votes, (double)low_bits(to->first - from->first - from->span, bits), bits,
		         (double)(to->before_ns - from->after_ns),
		         (double)(to->after_ns - from->before_ns));
}

/* Up to how many samples a pair is apart, and how far its rate may be off the mean one. */
struct reach {
	uint32_t max_stride;
	double wander;
	bool is_short; /* less than a wrap of the fastest rate */
};

static void take_pairs(struct votes *votes, const struct axis *axis, const struct sample_list *list,
                       struct reach reach)
{
	votes->n = votes->n_pairs = 0;
	votes->wander = reach.wander;
	votes->max_teeth = reach.is_short ? 1 : MAX_TEETH;
	for (uint32_t stride = 1; stride < list->n && stride <= reach.max_stride; stride *= 2) {
		uint32_t step = (list->n - stride - 1) / PAIRS_PER_STRIDE + 1;

		for (uint32_t i = 0; i + stride < list->n; i += step)
			add_pair(votes, axis, sample_list_at(list, i),
			         sample_list_at(list, i + stride));
	}
}

/* Takes the rates that more than `share` of the pairs leave, and all that nearly as many do. */
static int agree(struct votes *votes, double share, double agreeing, struct rate *rate)
{
	struct interval hull;
	uint32_t depth;
	int64_t *spare;

	if (votes->n_pairs == 0)
		return FLEXTRACE_OK;
	spare = malloc(2 * (size_t)votes->n * sizeof(*spare));
	if (!spare)
		return FLEXTRACE_E_MEMORY;
	depth = marzullo_hull(votes->intervals, votes->n, agreeing, spare, &hull);
	free(spare);
	if (depth < share * votes->n_pairs || depth <= votes->n_pairs / 2)
		return FLEXTRACE_OK;
	rate->lo = (double)hull.lo / RATE_ONE;
	rate->hi = (double)hull.hi / RATE_ONE;
	rate->is_known = rate->hi <= CLOSE * rate->lo;
	rate->is_steady = depth >= STEADY * votes->n_pairs;
	return FLEXTRACE_OK;
}

static bool is_near(const struct rate *rate, double by, double nominal)
{
	return rate->lo >= nominal * (1 - by) && rate->hi <= nominal * (1 + by);
}

/* Leaves what teeth have near a rate. */
static void clip(struct votes *votes, double nominal)
{
	const struct interval near = {(int64_t)(nominal * (1 - NEAR) * RATE_ONE),
	                              (int64_t)(nominal * (1 + NEAR) * RATE_ONE)};
	uint32_t n = 0;

	for (uint32_t i = 0; i < votes->n; i++) {
		struct interval interval = votes->intervals[i];

		interval.lo = interval.lo > near.lo ? interval.lo : near.lo;
		interval.hi = interval.hi < near.hi ? interval.hi : near.hi;
		if (interval.lo <= interval.hi)
			votes->intervals[n++] = interval;
	}
	votes->n = n;
}

/* Few pairs leave several rates, and work at equal distances does. If nearly all have room for one
 * near the nominal rate, and they are too many for chance, it is that, however much room they have.
 * So it is where most leave none but rates near it. If all leave another one as well, the nominal
 * rate was no more than a hint. */
static int agree_near(struct votes *votes, const struct axis *axis, const struct sample_list *list,
                      struct rate *rate)
{
	const double wanders[] = {WANDER, MOST_WANDER};
	struct rate found = {0}, any = {0};

	for (int i = 0; i < 2 && !(found.hi > 0); i++) {
		take_pairs(votes, axis, list, (struct reach){MAX_STRIDE, wanders[i], false});
		FLEXTRACE_TRY(agree(votes, 1, 1, &any));
		clip(votes, axis->nominal);
		if (votes->n_pairs < MIN_NEAR_PAIRS)
			return FLEXTRACE_OK;
		FLEXTRACE_TRY(agree(votes, STEADY, AGREEING, &found));
	}
	if (found.hi > 0)
		*rate = (struct rate){found.lo, found.hi, true, false,
		                      !axis->is_soft && any.hi > 0 &&
		                              !is_near(&any, 2 * NEAR, axis->nominal)};
	rate->is_known |= is_near(rate, NEAR, axis->nominal);
	return FLEXTRACE_OK;
}

/* Where there is no nominal rate, and one that wanders more leaves several, none is known. */
static int agree_within(struct votes *votes, const struct axis *axis,
                        const struct sample_list *list, uint32_t max_stride, struct rate *rate)
{
	struct rate more = {0};

	take_pairs(votes, axis, list, (struct reach){max_stride, WANDER, false});
	FLEXTRACE_TRY(agree(votes, 0.5, AGREEING, rate));
	if (!rate->is_known || axis->nominal > 0)
		return FLEXTRACE_OK;
	take_pairs(votes, axis, list, (struct reach){max_stride, MOST_WANDER, false});
	FLEXTRACE_TRY(agree(votes, 0.5, AGREEING, &more));
	if (!more.is_known)
		*rate = (struct rate){votes->range.lo, votes->range.hi, false, false, false};
	return FLEXTRACE_OK;
}

/* The farther two samples are apart, the likelier the counter began anew between them: where not
 * all distances agree, the shorter ones may. */
static int agree_nearby(struct votes *votes, const struct axis *axis,
                        const struct sample_list *list, struct rate *rate)
{
	for (uint32_t max = MAX_STRIDE; max >= MIN_STRIDE && !rate->is_known; max /= 4) {
		struct rate found = {0};

		if (max < list->n)
			FLEXTRACE_TRY(agree_within(votes, axis, list, max, &found));
		if (found.is_known)
			*rate = found;
	}
	return FLEXTRACE_OK;
}

/* A counter that begins anew all the time leaves only short distances. Less than a wrap, each
 * leaves one rate, with much room. What most of them have in common is known well enough to tell
 * where the counter began anew. */
static int agree_short(struct votes *votes, const struct axis *axis, const struct sample_list *list,
                       struct rate *rate)
{
	for (uint32_t max = SHORT_STRIDE; max > 0 && !rate->is_known; max /= 4) {
		struct rate found = {0};

		take_pairs(votes, axis, list, (struct reach){max, WANDER, true});
		if (axis->nominal > 0)
			clip(votes, axis->nominal);
		if (votes->n_pairs >= MANY_PAIRS)
			FLEXTRACE_TRY(agree(votes, MOST, NEARLY_ALL, &found));
		if (found.hi > 0 && found.hi <= CLOSE_SHORT * found.lo)
			*rate = (struct rate){found.lo, found.hi, true, false, false};
	}
	return FLEXTRACE_OK;
}

static int bound_by(const struct axis *axis, bool (*is_wanted)(const struct sample *sample),
                    struct votes *votes, struct rate *rate)
{
	struct sample_list list;
	int code = sample_list_init(&list, axis, is_wanted);

	if (code >= 0)
		code = agree_within(votes, axis, &list, MAX_STRIDE, rate);
	if (code >= 0 && axis->nominal > 0 &&
	    !(rate->is_known && is_near(rate, 2 * NEAR, axis->nominal)))
		code = agree_near(votes, axis, &list, rate);
	if (code >= 0)
		code = agree_nearby(votes, axis, &list, rate);
	if (code >= 0 && !axis->is_soft)
		code = agree_short(votes, axis, &list, rate);
	sample_list_release(&list);
	return code;
}

static bool is_estimate(const struct sample *sample)
{
	return sample->kind == SAMPLE_OP && sample_is_bounded(sample);
}

/* The rates of a range that the samples of an axis leave. */
static int bound_in(const struct axis *axis, struct range range, struct votes *votes,
                    struct rate *rate)
{
	int code = FLEXTRACE_OK;

	*rate = (struct rate){all.lo, range.hi, false, false, false};
	votes->range = range;
	/* Reads as wide as round trips are met by most rates, and would outvote estimates. */
	if (axis->is_soft)
		code = bound_by(axis, is_estimate, votes, rate);
	if (code >= 0 && !rate->is_known)
		code = bound_by(axis, sample_is_bounded, votes, rate);
	return code;
}

/* A rate at an end of the usual range may be the cut-off part of one outside of it. */
static bool is_inner(const struct rate *rate)
{
	return rate->is_known && rate->lo > usual.lo * (1 + NEAR) &&
	       rate->hi < usual.hi * (1 - NEAR);
}

int rate_bound(const struct axis *axis, struct rate *ret_rate)
{
	struct votes votes = {.intervals = NULL};
	bool is_stated = axis->nominal > 0;
	bool is_usual = !is_stated || (axis->nominal * (1 - 2 * NEAR) >= usual.lo &&
	                               axis->nominal * (1 + 2 * NEAR) <= usual.hi);
	struct rate rate;
	int code;

	*ret_rate = (struct rate){all.lo, is_usual ? usual.hi : all.hi, false, false, false};
	if (axis->n_samples < 2)
		return FLEXTRACE_OK;
	votes.intervals = malloc(MAX_INTERVALS * sizeof(*votes.intervals));
	if (!votes.intervals)
		return FLEXTRACE_E_MEMORY;
	code = bound_in(axis, is_usual ? usual : all, &votes, ret_rate);
	if (code >= 0 && !is_stated && !is_inner(ret_rate)) {
		code = bound_in(axis, all, &votes, &rate);
		if (rate.is_known)
			*ret_rate = rate;
	}
	free(votes.intervals);
	return code;
}
