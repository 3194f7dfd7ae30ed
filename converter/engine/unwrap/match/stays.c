/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes choices ready (choices.c): between when each instance of a job ran, and what stands for the
 * evidence of a counter that has hardly anything but choices.
 */
#include <stdlib.h>

#include "matches.h"

#define OPEN    16.0 /* the largest rate is so many times the least */
#define N_AGREE 8u   /* samples that do so by more than chance */

/* -- instances by job ------------------------------------------------------------------------- */

static struct stay *stay_of(const struct matches *matches, const struct instance *instance)
{
	return &matches->stays[matches->jobs[instance->job].first_stay + instance->number];
}

/* Bounds of an instance from the one in front of it, and the other way round. */
static void bound_by_neighbour(const struct matches *matches, const struct instance *instance,
                               struct stay *stay)
{
	const struct instance *before = &matches->instances[instance->before];
	bool is_in_use = matches->jobs[instance->job].is_in_use;

	stay->from_ns = is_in_use ? stay[-1].from_ns
	                          : edge_host_ns(before->complete, stay[-1].from_ns);
	if (stay[-1].to_ns == UNWRAP_NO_AFTER && (before->is_over || !is_in_use))
		stay[-1].to_ns = edge_host_ns(instance->submit, UNWRAP_NO_AFTER);
}

/* The times between which an instance ran, by its edges and by those of its neighbours. */
static void bound_stays(struct matches *matches)
{
	for (uint32_t i = 0; i < matches->n; i++) {
		const struct instance *instance = &matches->instances[i];
		struct stay *stay = stay_of(matches, instance);

		stay->from_ns = UNWRAP_NO_BEFORE;
		stay->most_to_ns = INT64_MIN;
		if (instance->number > 0)
			bound_by_neighbour(matches, instance, stay);
		stay->from_ns = edge_host_ns(instance->submit, stay->from_ns);
		stay->to_ns = edge_host_ns(instance->complete, UNWRAP_NO_AFTER);
		stay->instance = i;
	}
	for (uint32_t i = 0; i < matches->n; i++) {
		struct stay *stay = stay_of(matches, &matches->instances[i]);

		if (matches->instances[i].number > 0)
			stay->most_to_ns = stay[-1].most_to_ns;
		if (stay->to_ns > stay->most_to_ns)
			stay->most_to_ns = stay->to_ns;
	}
}

/* The instance that a choice is if nothing is lost. */
static const struct instance *guess_of(const struct matches *matches, const struct choice *choice)
{
	const struct job *job = &matches->jobs[choice->job];
	uint32_t number = choice->guess < choice->end ? choice->guess : choice->end - 1;

	return &matches->instances[matches->stays[job->first_stay + number].instance];
}

/* Counted operations are those whose records came soon. */
static void find_longest(struct matches *matches)
{
	for (uint32_t i = 0; i < matches->n_choices; i++) {
		const struct choice *choice = &matches->choices[i];
		const struct loose_edge *submit = guess_of(matches, choice)->submit;

		if (submit && choice->clock_ns - edge_time(submit) > matches->longest_ns)
			matches->longest_ns = choice->clock_ns - edge_time(submit);
	}
}

int choices_prepare(struct unwrap *unwrap)
{
	struct matches *matches = &unwrap->matches;
	uint32_t n = 0;

	if (!matches->n_choices)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(matches->stays, matches->n + 1ull));
	for (uint32_t i = 0; i < matches->n_jobs; i++) {
		matches->jobs[i].first_stay = n;
		n += matches->jobs[i].n_instances;
	}
	bound_stays(matches);
	find_longest(matches);
	return FLEXTRACE_OK;
}

/* -- a counter that has nothing else ---------------------------------------------------------- */

static void take_guess(struct matches *matches, struct sample *sample)
{
	const struct choice *choice =
		&matches->choices[map_find(&matches->of_op, (uintptr_t)sample->source.op, 0)];
	const struct instance *instance = guess_of(matches, choice);

	sample->bounds = BOUNDS_ESTIMATE;
	sample->before_ns = edge_host_ns(instance->submit, UNWRAP_NO_BEFORE);
	sample->after_ns = edge_host_ns(instance->complete, UNWRAP_NO_AFTER);
}

void choices_trust(struct unwrap *unwrap, struct axis *axis)
{
	bool has_choices = false;

	axis->matches = &unwrap->matches;
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		has_choices |= axis->samples[i].bounds == BOUNDS_CHOICE;
		if (sample_is_bounded(&axis->samples[i]))
			return;
	}
	for (uint32_t i = 0; i < axis->n_samples && has_choices; i++) {
		if (axis->samples[i].bounds == BOUNDS_CHOICE)
			take_guess(&unwrap->matches, &axis->samples[i]);
	}
}

static bool is_open(const struct axis *axis)
{
	return axis->rate.hi > OPEN * axis->rate.lo;
}

/* Whether samples of an axis are so many that they agree by more than chance. Where the rate is
 * open, any two agree. */
static bool is_agreement(const struct axis *axis, uint32_t n_samples)
{
	return !is_open(axis) && (!axis->matches->is_lossy || n_samples >= N_AGREE);
}

/* Operations that were counted agree with each other where none was counted wrong. */
bool choices_doubt_counted(struct unwrap *unwrap, struct axis *axis)
{
	uint32_t n_choices = 0, n_counted = 0, n_bounded = 0;

	for (uint32_t i = 0; i < axis->n_samples && axis->matches; i++) {
		n_choices += axis->samples[i].bounds == BOUNDS_CHOICE;
		n_counted += axis->samples[i].is_counted && axis->samples[i].kind == SAMPLE_OP;
		n_bounded += sample_is_bounded(&axis->samples[i]);
	}
	if (n_counted >= n_choices || is_agreement(axis, n_bounded))
		return false;
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		if (axis->samples[i].is_counted)
			axis->samples[i].bounds = BOUNDS_ESTIMATE;
	}
	choices_trust(unwrap, axis);
	return true;
}
