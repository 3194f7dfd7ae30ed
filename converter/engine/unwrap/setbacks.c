/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that were set back while submissions were loose. In a queue that is always full an
 * operation may have run at any time since its submission, seconds ago, so that its bracket denies
 * no earlier tick. But completions come in the order of the device, or nearly. If a counter is set
 * back by some time, all that is seen complete for as long as that shows ticks that the counter had
 * shown before. There a segment begins.
 *
 * Completions that are seen late show such ticks as well, but not all of them for as long. How far
 * back completions usually are tells how late they are seen.
 */
#include <stdlib.h>

#include "base/select_kth.h"
#include "window.h"

#define MIN_BACK_NS  2e7
#define USUAL        16 /* times farther back than usual */
#define MIN_ROW      8u
#define MAX_SEGMENTS 65535u

struct setbacks {
	struct axis *axis;
	double ns_per_tick;
	double usual_ns; /* how far back completions are; negative: not known yet */
};

/* What a segment has shown up to a sample, as samples come in order of time. */
struct shown {
	int64_t most;
	uint16_t segment;
};

static bool is_wanted(const struct sample *sample)
{
	return sample->kind == SAMPLE_OP && sample->status == TIME_CERTIFIED &&
	       sample_is_bounded(sample);
}

static int64_t end_of(const struct sample *sample)
{
	return (int64_t)(sample->first + sample->span);
}

/* How far a sample is behind what was shown before it, in ticks; 0: it is not. */
static int64_t step_back(struct shown *shown, const struct sample *sample)
{
	int64_t end = end_of(sample), back;

	if (sample->segment != shown->segment || shown->most == INT64_MIN)
		*shown = (struct shown){end, sample->segment};
	back = shown->most - end;
	shown->most = back < 0 ? end : shown->most;
	return back < 0 ? 0 : back;
}

static int find_usual(struct setbacks *setbacks)
{
	const struct axis *axis = setbacks->axis;
	double *backs_ns = malloc((axis->n_samples + 1ull) * sizeof(*backs_ns));
	struct shown shown = {INT64_MIN, 0};
	uint32_t n = 0;

	if (!backs_ns)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		if (is_wanted(&axis->samples[i]))
			backs_ns[n++] = (double)step_back(&shown, &axis->samples[i]) *
			                setbacks->ns_per_tick;
	}
	setbacks->usual_ns = select_quantile(backs_ns, n, 0.5);
	free(backs_ns);
	return FLEXTRACE_OK;
}

/* Whether all samples from `at` on are behind what was shown before it, by a quarter of what the
 * first one is, until half of that time is over. */
static bool lasts(const struct setbacks *setbacks, uint32_t at, int64_t back)
{
	const struct sample *samples = setbacks->axis->samples, *first = &samples[at];
	int64_t most = end_of(first) + back, last_ns = first->after_ns;
	double back_ns = (double)back * setbacks->ns_per_tick;
	uint32_t n = 0;

	for (uint32_t i = at; i < setbacks->axis->n_samples; i++) {
		if (!is_wanted(&samples[i]))
			continue;
		if (samples[i].segment != first->segment ||
		    (double)(samples[i].after_ns - first->after_ns) > back_ns / 2)
			break;
		if (most - end_of(&samples[i]) < back / 4)
			return false;
		last_ns = samples[i].after_ns;
		n++;
	}
	return n >= MIN_ROW && (double)(last_ns - first->after_ns) > back_ns / 4;
}

/* 1: the counter was set back in front of a sample, 0: it was not. */
static int is_setback(struct setbacks *setbacks, uint32_t at, int64_t back)
{
	double back_ns = (double)back * setbacks->ns_per_tick;

	if (back_ns < MIN_BACK_NS || !lasts(setbacks, at, back))
		return 0;
	if (setbacks->usual_ns < 0)
		FLEXTRACE_TRY(find_usual(setbacks));
	return back_ns > USUAL * setbacks->usual_ns;
}

int axis_split_setbacks(struct axis *axis)
{
	struct setbacks setbacks = {axis, 2 / (axis->rate.lo + axis->rate.hi), -1};
	struct shown shown = {INT64_MIN, 0};
	int64_t last_back = 0;

	if (axis->is_soft || !axis->rate.is_known)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < axis->n_samples && axis->n_segments < MAX_SEGMENTS; i++) {
		struct sample *sample = &axis->samples[i];
		int64_t back;
		int found = 0;

		if (!is_wanted(sample))
			continue;
		back = step_back(&shown, sample);
		/* It begins with a sample that is behind alone: each stretch is looked at once. */
		if (last_back < back / 4)
			found = is_setback(&setbacks, i, back);
		last_back = back;
		FLEXTRACE_TRY(found);
		if (!found)
			continue;
		FLEXTRACE_TRY(axis_split(axis, sample->segment, sample));
		shown = (struct shown){end_of(sample), sample->segment};
		last_back = 0;
	}
	return FLEXTRACE_OK;
}
