/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an area was set up anew, its counter may have jumped: it stood still meanwhile, or returned
 * to an earlier value. If samples on both sides fit one steady clock, it did not jump, provided
 * that the samples are more than the clock's free parameters: one for each such jump, the rate and
 * the offset. Where samples are many, a jump contradicts the clock that is made of them.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/unwrap/unwrap_impl.h"
#include "base/order.h"

#define N_FEW   32u /* samples that are compared, each with each */
#define N_MANY  8u  /* of a steady clock: do not fit it by chance, wherever it may have jumped */
#define N_SPARE 5u  /* more than jumps: for the offset, the rate, and three that may object */

bool seams_leave_enough(const struct axis_segment *segment)
{
	if (segment->n_seams == 0 || segment->n_samples > N_FEW)
		return true;
	return segment->is_steady &&
	       (segment->n_samples >= N_MANY || segment->n_samples >= segment->n_seams + N_SPARE);
}

struct seam {
	uint32_t counter, sample; /* the area was set up anew between this one and the next */
};

ORDER_BY(compare_seams, struct seam, counter, sample);

/* Counts the samples of each segment. A sample with the bracket of the one before adds nothing. */
static void count_samples(struct axis *axis)
{
	const struct sample *last = NULL;

	for (uint32_t i = 0; i < axis->n_samples; i++) {
		const struct sample *sample = &axis->samples[i];

		if (!sample_is_certified(sample) || (last && last->before_ns == sample->before_ns &&
		                                     last->after_ns == sample->after_ns))
			continue;
		axis->segments[sample->segment].n_samples++;
		last = sample;
	}
}

/* The known samples in front of `at`, the last one included. */
static uint32_t end_known(const struct axis *axis, uint32_t at)
{
	while (at > 0 && !sample_is_certified(&axis->samples[at - 1]))
		at--;
	return at;
}

/* Stores where the area was set up anew, if that is within a segment: a counter that began anew
 * meanwhile has begun a segment. */
static bool find_seam(const struct axis *axis, const struct boot *boot, struct seam *ret_seam)
{
	uint32_t behind = axis_find(axis, boot->from_ns), front = end_known(axis, behind);
	uint32_t first = end_known(axis, axis_find(axis, boot->begin_ns));

	while (behind < axis->n_samples && !sample_is_certified(&axis->samples[behind]))
		behind++;
	*ret_seam = (struct seam){boot->counter, front};
	if (front == 0 || behind == axis->n_samples)
		return false;
	first = first > 0 ? first : front;
	return axis->samples[first - 1].segment == axis->samples[behind].segment;
}

/* -- steady clocks ---------------------------------------------------------------------------- */

/* Mean rates, in ns per tick. */
struct means {
	double lo, hi, rho;
};

/* Leaves the mean rates that take a clock from one sample to a later one. */
static void narrow(struct means *means, const struct sample *from, const struct sample *to)
{
	double least = (double)(int64_t)(to->first - from->first - from->span) + 1;
	double most = (double)(int64_t)(to->first + to->span - from->first) - 1;

	if (least > 1)
		means->lo = fmax(means->lo, (double)(to->before_ns - from->after_ns) / least /
		                                    (1 + means->rho));
	if (most > 0)
		means->hi = fmin(means->hi, (double)(to->after_ns - from->before_ns) / most /
		                                    (1 - means->rho));
}

/* Whether one mean rate explains all samples of a segment of few. */
static bool is_steady(const struct axis *axis, uint32_t segment)
{
	struct means means = {0, INFINITY, axis->rho};
	const struct sample *few[N_FEW];
	uint32_t n = 0;

	for (uint32_t i = 0; i < axis->n_samples && n < N_FEW; i++) {
		if (!sample_is_certified(&axis->samples[i]) || axis->samples[i].segment != segment)
			continue;
		for (uint32_t j = 0; j < n; j++)
			narrow(&means, few[j], &axis->samples[i]);
		few[n++] = &axis->samples[i];
	}
	return means.lo <= means.hi;
}

static void judge_segments(const struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_segments; i++) {
		struct axis_segment *segment = &axis->segments[i];

		if (segment->n_seams && segment->n_samples <= N_FEW)
			segment->is_steady = is_steady(axis, i);
	}
}

static void count_seams(const struct unwrap *unwrap, struct seam *seams, uint32_t n)
{
	ORDER_ARRAY(seams, n, compare_seams);
	for (uint32_t i = 0; i < n; i++) {
		const struct axis *axis = &unwrap->axes[seams[i].counter];

		if (i == 0 || compare_seams(&seams[i - 1], &seams[i]) != 0)
			axis->segments[axis->samples[seams[i].sample - 1].segment].n_seams++;
	}
}

int seams_count(struct unwrap *unwrap)
{
	struct seam *seams;
	uint32_t n = 0;

	FLEXTRACE_TRY(ARRAY_NEW(seams, unwrap->marks.n_boots + 1ull));
	for (uint32_t i = 0; i < unwrap->n_axes && unwrap->marks.n_boots; i++)
		count_samples(&unwrap->axes[i]);
	for (uint32_t i = 0; i < unwrap->marks.n_boots; i++) {
		const struct boot *boot = &unwrap->marks.boots[i];

		/* Nothing is known of a boot that was never drained, and nothing rests on it. */
		n += boot->is_anew && boot->from_ns <= boot->to_ns &&
		     boot[-1].from_ns <= boot[-1].to_ns &&
		     find_seam(&unwrap->axes[boot->counter], boot, &seams[n]);
	}
	if (n)
		count_seams(unwrap, seams, n);
	for (uint32_t i = 0; i < unwrap->n_axes && n; i++)
		judge_segments(&unwrap->axes[i]);
	free(seams);
	return FLEXTRACE_OK;
}
