/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches of false evidence, as where operations are paired with the host times of the next ones.
 * In such a stretch two thirds of the evidence or more contradict what is around them, each by
 * another time. The others are likely false as well, by less than can be seen here; used as
 * evidence, they would bound the clock tightly and wrongly. So nothing of such a stretch is
 * evidence, nor what is right beside it.
 *
 * The counter goes on all the while, so stamps keep their places, but they are not certified. If a
 * segment has no other evidence, nothing shows that the counter began anew: the segment is dropped,
 * and its operations are outliers.
 */
#include <stdlib.h>

#include "window.h"

#define LEAST   8   /* more strays than twice the others that make a stretch */
#define END     64  /* likewise: so many less than there were, and it is over */
#define NEAR    4u  /* operations between two strays that are of one stretch */
#define BESIDE  8u  /* operations on either side that may be false as well */
#define BETWEEN 32u /* operations from one stretch to the next: they are one */

/* A stretch that is looked for: indexes of samples. */
struct stretch {
	uint32_t first, last; /* strays */
	int score, best;      /* strays less twice the others: up to here, up to `last` */
	bool has_one_before;
};

static bool is_judged(const struct sample *sample)
{
	return sample->kind == SAMPLE_OP && sample_is_bounded(sample) &&
	       sample->status <= TIME_OUTLIER;
}

static bool is_stray(const struct sample *sample)
{
	return is_judged(sample) && (sample->status == TIME_OUTLIER || sample->is_stray);
}

/* Goes from a stray on, forward or backward, as long as another one is near. */
static uint32_t go_on(const struct axis *axis, uint32_t from, int direction)
{
	uint32_t last = from, n = 0;

	for (uint32_t i = from + (uint32_t)direction; i < axis->n_samples && n < NEAR;
	     i += (uint32_t)direction) {
		n += is_judged(&axis->samples[i]);
		if (!is_stray(&axis->samples[i]))
			continue;
		last = i;
		n = 0;
	}
	return last;
}

/* The sample that is so many operations away, or as many as there are. */
static uint32_t go_far(const struct axis *axis, uint32_t from, int direction, uint32_t n_ops)
{
	uint32_t last = from, n = 0;

	for (uint32_t i = from + (uint32_t)direction; i < axis->n_samples && n < n_ops;
	     i += (uint32_t)direction) {
		n += is_judged(&axis->samples[i]);
		last = i;
	}
	return last;
}

/* Ends a stretch, if it is one. Returns whether it is. */
static bool end_stretch(struct axis *axis, struct stretch *stretch)
{
	bool is_one = stretch->best >= LEAST;
	uint32_t first, last, before;

	stretch->score = stretch->best = 0;
	if (!is_one)
		return false;
	first = go_far(axis, go_on(axis, stretch->first, -1), -1, BESIDE);
	last = go_far(axis, go_on(axis, stretch->last, 1), 1, BESIDE);
	before = go_far(axis, first, -1, BETWEEN);
	while (stretch->has_one_before && before < first &&
	       !(is_judged(&axis->samples[before]) && axis->samples[before].status == TIME_ASSUMED))
		before++;
	first = stretch->has_one_before ? before : first;
	for (uint32_t i = first; i <= last; i++) {
		if (is_judged(&axis->samples[i]) && axis->samples[i].status == TIME_CERTIFIED)
			axis->samples[i].status = TIME_ASSUMED;
	}
	stretch->has_one_before = true;
	return true;
}

/* Returns whether there are any. */
static bool end_all(struct axis *axis)
{
	struct stretch stretch = {.score = 0};
	bool are_any = false;

	for (uint32_t i = 0; i < axis->n_samples; i++) {
		if (!is_judged(&axis->samples[i]))
			continue;
		if (!is_stray(&axis->samples[i])) {
			stretch.score -= 2;
			if (stretch.score <= 0 || stretch.best - stretch.score >= END)
				are_any |= end_stretch(axis, &stretch);
			continue;
		}
		if (stretch.score++ == 0)
			stretch.first = i;
		if (stretch.score > stretch.best) {
			stretch.best = stretch.score;
			stretch.last = i;
		}
	}
	return end_stretch(axis, &stretch) || are_any;
}

/* -- segments -------------------------------------------------------------------------------- */

#define NO_SEGMENT UINT16_MAX

/* Numbers the segments that have evidence, or the first one if none has. */
static void number_segments(struct axis *axis, uint16_t *numbers)
{
	uint32_t n = 0;
	bool is_after_gap = false;

	for (uint32_t i = 0; i < axis->n_segments; i++)
		numbers[i] = NO_SEGMENT;
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		if (axis->samples[i].status == TIME_CERTIFIED)
			numbers[axis->samples[i].segment] = 0;
	}
	for (uint32_t i = 0; i < axis->n_segments; i++) {
		is_after_gap |= axis->segments[i].is_after_gap;
		if (numbers[i] == NO_SEGMENT)
			continue;
		axis->segments[n] = axis->segments[i];
		axis->segments[n].is_after_gap = is_after_gap && n > 0;
		is_after_gap = false;
		numbers[i] = (uint16_t)n++;
	}
	axis->n_segments = n > 0 ? n : 1;
}

static int drop_segments(struct axis *axis)
{
	uint16_t *numbers;

	FLEXTRACE_TRY(ARRAY_NEW(numbers, axis->n_segments));
	number_segments(axis, numbers);
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		struct sample *sample = &axis->samples[i];

		if (sample->status > TIME_ASSUMED)
			continue;
		if (numbers[sample->segment] == NO_SEGMENT)
			sample->status = TIME_OUTLIER;
		else
			sample->segment = numbers[sample->segment];
		sample_tell_run(sample);
	}
	free(numbers);
	return FLEXTRACE_OK;
}

int axis_leave_out_strays(struct axis *axis)
{
	return axis->n_segments > 0 && end_all(axis) ? drop_segments(axis) : FLEXTRACE_OK;
}
