/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools that assume a wrong number of wraps of a counter estimate times that are whole wraps off,
 * and the stamps fit these times as well. The tool itself may doubt some, because they lie outside
 * all of its other times (FLEXTRACE_ESTIMATE_DOUBTED). Work that samples place elsewhere is moved;
 * work that samples leave open stays doubted (chains.c).
 */
#include <math.h>

#include "chains.h"

#define MOST_DOUBTED 4 /* times as many as those that nobody doubts */

static double middle_of(const struct sample *sample)
{
	return (double)sample->before_ns + (double)(sample->after_ns - sample->before_ns) / 2;
}

/* An estimate that nobody doubts. */
static bool is_anchor(const struct sample *sample)
{
	return sample->kind == SAMPLE_OP && !sample->source.op->is_doubted &&
	       sample_is_bounded(sample);
}

static double middle_ticks(const struct sample *sample)
{
	uint64_t middle = sample->first + sample->span / 2;

	return (double)middle;
}

/* How many ticks are between two, if estimates tell the wraps. */
static double ticks_between(const struct axis *axis, const struct sample *from,
                            const struct sample *to, double rate)
{
	double more = middle_ticks(to) - middle_ticks(from), wrap = n_values(axis->narrow_bits);

	return more + wrap * round(((middle_of(to) - middle_of(from)) * rate - more) / wrap);
}

/* From the first to the last estimate that is not doubted: the known rate gives the wraps from
 * one to the next. */
struct line {
	double rate;
	double most_ns; /* between two of them */
	double span_ns; /* between all */
	double off_ns;  /* the most that one is beside the line from the first to the last */
};

/* Goes from each to the next, and looks how far they are beside the line so far. */
static void follow(const struct axis *axis, double rate, struct line *line)
{
	const struct sample *first = NULL, *last = NULL;
	double ticks = 0, step_ns, off_ns;

	for (uint32_t i = 0; i < axis->n_samples; i++) {
		const struct sample *sample = &axis->samples[i];

		if (!is_anchor(sample))
			continue;
		first = first ? first : sample;
		last = last ? last : sample;
		ticks += ticks_between(axis, last, sample, rate);
		step_ns = middle_of(sample) - middle_of(last);
		line->span_ns = middle_of(sample) - middle_of(first);
		off_ns = fabs(line->span_ns - ticks / line->rate);
		line->most_ns = step_ns > line->most_ns ? step_ns : line->most_ns;
		line->off_ns = off_ns > line->off_ns ? off_ns : line->off_ns;
		last = sample;
	}
	if (line->span_ns > 0 && ticks > 0)
		line->rate = ticks / line->span_ns;
}

/* Finds the mean rate. Returns whether it is known. */
static bool find_mean(const struct axis *axis, struct mean_rate *ret_mean)
{
	const struct rate *rate = &axis->rate;
	double middle = (rate->lo + rate->hi) / 2, wrap = n_values(axis->narrow_bits);
	struct line line = {.rate = middle};

	follow(axis, middle, &line);
	line.off_ns = 0;
	follow(axis, middle, &line);
	*ret_mean = (struct mean_rate){line.rate, line.span_ns > 0 ? 2 * line.off_ns / line.span_ns
	                                                           : INFINITY};
	if (rate->is_known) {
		ret_mean->ticks_per_ns = fmin(fmax(line.rate, rate->lo), rate->hi);
		ret_mean->off = fmin(ret_mean->off, (rate->hi - rate->lo) / rate->lo);
		return true;
	}
	return (rate->hi - rate->lo) * line.most_ns < wrap / 2 &&
	       ret_mean->off * MAX_WRAPS * wrap / line.rate <= OFF_NS;
}

/* -- a counter ------------------------------------------------------------------------------- */

/* Counts what is still doubted, and marks it or not. */
static uint64_t settle(struct axis *axis, bool is_marked)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < axis->n_samples; i++) {
		const struct sample *sample = &axis->samples[i];

		if (sample->kind != SAMPLE_OP ||
		    !(sample->source.op->is_doubted || sample->is_longer))
			continue;
		sample->source.op->is_doubted = is_marked;
		n++;
	}
	return n;
}

static bool has_idle(const struct unwrap *unwrap, uint32_t counter)
{
	for (uint32_t i = 0; i < unwrap->estimates.n_idles; i++) {
		if (unwrap->estimates.idles[i].counter == counter)
			return true;
	}
	return false;
}

/* Whether so many estimates of a counter are in round trips that these are of the same work. */
static bool are_trips_of_work(const struct axis *axis)
{
	uint32_t n_anchors = 0, n_doubted = 0;

	for (uint32_t i = 0; i < axis->n_samples; i++) {
		n_anchors += is_anchor(&axis->samples[i]);
		n_doubted += axis->samples[i].kind == SAMPLE_OP &&
		             axis->samples[i].source.op->is_doubted;
	}
	return n_doubted < MOST_DOUBTED * n_anchors;
}

static bool has_trips(const struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		if (axis->samples[i].kind == SAMPLE_SYNC && sample_is_bounded(&axis->samples[i]))
			return true;
	}
	return false;
}

static int mend_counter(struct unwrap *unwrap, uint32_t counter)
{
	struct axis *axis = &unwrap->axes[counter];
	uint64_t *warnings = unwrap->ledger->warnings;
	struct chains_outcome outcome = {0};
	struct mean_rate mean;
	bool is_mendable;

	if (!unwrap->estimates.n_doubted && !has_trips(axis))
		return FLEXTRACE_OK; /* there is nothing to be mended by, and nothing doubted */
	is_mendable = axis->is_soft && find_mean(axis, &mean);
	if (is_mendable)
		FLEXTRACE_TRY(hidden_find(unwrap, counter, &mean));
	if (is_mendable)
		FLEXTRACE_TRY(chains_mend(unwrap, counter, &mean, &outcome));
	if (is_mendable)
		FLEXTRACE_TRY(turns_mend(unwrap, counter, mean.ticks_per_ns));
	warnings[WARNING_WRONG_EPOCHS] += outcome.n_mended;
	warnings[WARNING_OUTSIDE_TRIP] += outcome.n_believed;
	if (unwrap->estimates.n_doubted || is_mendable)
		warnings[WARNING_OUTSIDE_TRIP] +=
			settle(axis, is_mendable || (axis->is_soft && (has_idle(unwrap, counter) ||
		                                                       are_trips_of_work(axis))));
	return FLEXTRACE_OK;
}

int epochs_mend(struct unwrap *unwrap)
{
	for (uint32_t i = 0; i < unwrap->n_axes; i++)
		FLEXTRACE_TRY(mend_counter(unwrap, i));
	return FLEXTRACE_OK;
}
