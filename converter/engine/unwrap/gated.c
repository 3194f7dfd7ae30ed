/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that do not run from one operation to the next: they begin anew with each, or stand
 * still between them. Other rates explain that, over whole wraps or by a clock that jumps. But the
 * stamps show it. Of two operations of which the host saw the one complete before it submitted the
 * other, the second begins
 * - where the first began, though that and what was in between took longer: the counter began anew,
 * - or where the first ended, though the host waited far longer in between: it stood still.
 * A counter that runs is there after whole wraps only: for one rhythm of work in a thousand.
 */
#include "unwrap_impl.h"

#define MIN_PAIRS   4u
#define MIN_TICKS   1024  /* that an operation takes, or the host waits: less tells nothing */
#define NEAR_PART   2048u /* of all that a counter shows: places that are near each other */
#define NEAR_SPAN   4u    /* likewise, of the operation's length */
#define WAITED_MORE 8.0   /* times what the counter shows */

struct pairs {
	const struct sample *from, *last; /* weak */
	uint64_t n_ticks;                 /* that operations took from the one until the other */
	uint32_t n_long, n_anew;          /* that can show that the counter began anew; that do */
	uint32_t n_waiting, n_still;      /* likewise, that it stood still */
};

static uint64_t least(uint64_t x, uint64_t other)
{
	return x < other ? x : other;
}

/* `n_ticks` at least passed in between. */
static void judge_begin(const struct axis *axis, const struct sample *from, const struct sample *to,
                        uint64_t n_ticks, struct pairs *pairs)
{
	uint64_t ahead = low_bits(to->first - from->first, axis->narrow_bits);
	uint64_t back = low_bits(from->first - to->first, axis->narrow_bits);
	uint64_t near = least((UINT64_C(1) << axis->narrow_bits) / NEAR_PART, n_ticks / NEAR_SPAN);

	pairs->n_long++;
	pairs->n_anew += least(ahead, back) <= near;
}

/* The counter is at least as fast as it was within the operation. */
static void judge_wait(const struct axis *axis, const struct sample *from, const struct sample *to,
                       struct pairs *pairs)
{
	uint64_t shown = low_bits(to->first - from->first - from->span, axis->narrow_bits);
	double least_rate = (double)from->span / (double)(from->after_ns - from->before_ns);
	double waited = least_rate * (double)(to->before_ns - from->after_ns);

	if (!(waited >= WAITED_MORE * MIN_TICKS))
		return;
	pairs->n_waiting++;
	pairs->n_still += shown <= (UINT64_C(1) << axis->narrow_bits) / NEAR_PART &&
	                  WAITED_MORE * (double)shown < waited;
}

static bool is_most(uint32_t n, uint32_t n_all)
{
	return n_all >= MIN_PAIRS && n > n_all / 2;
}

static bool is_work(const struct sample *sample)
{
	return sample->kind == SAMPLE_OP && sample_is_bounded(sample);
}

/* Takes the next operation of which the host saw the last one complete before. */
static void take_next(const struct axis *axis, const struct sample *sample, struct pairs *pairs)
{
	if (pairs->last + 1 == sample)
		judge_wait(axis, pairs->last, sample, pairs);
	pairs->n_ticks += pairs->last->span;
	if (pairs->n_ticks >= MIN_TICKS) {
		judge_begin(axis, pairs->from, sample, pairs->n_ticks, pairs);
		pairs->from = sample;
		pairs->n_ticks = 0;
	}
	pairs->last = sample;
}

enum counter_habit axis_habit(const struct axis *axis)
{
	struct pairs pairs = {0};

	for (uint32_t i = 0; i < axis->n_samples && !axis->is_soft; i++) {
		const struct sample *sample = &axis->samples[i];

		if (!is_work(sample))
			continue;
		if (!pairs.last)
			pairs.from = pairs.last = sample;
		else if (sample->before_ns > pairs.last->after_ns)
			take_next(axis, sample, &pairs);
	}
	if (is_most(pairs.n_anew, pairs.n_long))
		return COUNTER_RESTARTS;
	return is_most(pairs.n_still, pairs.n_waiting) ? COUNTER_IS_GATED : COUNTER_RUNS;
}
