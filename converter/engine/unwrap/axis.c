/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one counter: in order of time, with their places, and these with an origin. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "window.h"

#define NEAR_END ((place_t)1 << 44) /* ticks before 2^64 */

int axis_add_segment(struct axis *axis)
{
	return ARRAY_PUSH(axis->segments, axis->n_segments,
	                  (struct axis_segment){.least = INT64_MAX, .most = INT64_MIN});
}

int axis_split(struct axis *axis, uint32_t segment, struct sample *first)
{
	FLEXTRACE_TRY(axis_add_segment(axis));
	for (uint32_t i = axis->n_segments - 1; i > segment; i--)
		axis->segments[i] = axis->segments[i - 1];
	axis->segments[segment + 1].is_after_gap = false;
	for (struct sample *sample = first; sample < axis->samples + axis->n_samples; sample++) {
		sample->segment += sample->segment >= segment && sample->status <= TIME_ASSUMED;
		sample_tell_run(sample);
	}
	return FLEXTRACE_OK;
}

static int64_t time_of(const struct sample *sample)
{
	return sample->after_ns != UNWRAP_NO_AFTER     ? sample->after_ns
	       : sample->before_ns != UNWRAP_NO_BEFORE ? sample->before_ns
	                                               : INT64_MAX;
}

static int compare_samples(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;
	int64_t a_ns = time_of(a), b_ns = time_of(b);

	return ORDER(a_ns, b_ns) ?: ORDER(a->kind, b->kind) ?: ORDER(a->before_ns, b->before_ns) ?:
	       ORDER(a->first, b->first);
}

/* Samples come nearly sorted. */
ORDER_NEARLY_DEFINE(sort_samples, struct sample, compare_samples);

/* Stores between which places the samples of each segment are. */
static void find_ends(struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		const struct sample *sample = &axis->samples[i];
		struct axis_segment *segment = &axis->segments[sample->segment];
		int64_t least = (int64_t)(sample->first - sample_lead(axis, sample));
		int64_t most = (int64_t)(sample->first + sample->span);

		segment->least = least < segment->least ? least : segment->least;
		segment->most = most > segment->most ? most : segment->most;
	}
}

/* Ticks are positive and rise; whole reads give the origin of the axis. The ticks of a counter
 * that passes 2^64 on the way, or might soon, are shifted by half of that. */
static void set_origins(struct axis *axis)
{
	find_ends(axis);
	for (uint32_t i = 0; i < axis->n_segments; i++) {
		struct axis_segment *segment = &axis->segments[i];
		unsigned bits = segment->has_wide ? axis->wide_bits : axis->narrow_bits;
		place_t least = (place_t)segment->least + (int64_t)segment->origin;

		if (least < 1 && bits < 64)
			segment->origin += (uint64_t)((((1 - least) >> bits) + 1) << bits);
		else if (least < 1 &&
		         (place_t)segment->most + (int64_t)segment->origin >= -NEAR_END)
			segment->shift = UINT64_C(1) << 63;
		segment->origin += segment->shift;
	}
}

void axis_sort(struct axis *axis)
{
	sort_samples(axis->samples, axis->n_samples);
}

int axis_prepare(struct axis *axis)
{
	axis_sort(axis);
	return rate_bound(axis, &axis->rate);
}

/* An operation with the stamps of a run is where the run is. If that contradicts the 64 bits of
 * the run's counter, the operation fits its low 32 bits by chance. */
static void follow_runs(struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		const struct sample *run = &axis->samples[i];

		if (run->kind != SAMPLE_RUN || run->status != TIME_OUTLIER ||
		    !run->source.run->has_op_ticks)
			continue;
		for (uint32_t j = i + 1; j < axis->n_samples; j++) {
			struct sample *sample = &axis->samples[j];

			if (sample->after_ns != run->after_ns)
				break;
			if (sample->kind == SAMPLE_OP && sample->source.op == run->source.run->op &&
			    sample->status == TIME_CERTIFIED)
				sample->status = TIME_OUTLIER;
		}
	}
}

/* Whether the first pass needed false evidence or a reset. */
static bool is_contradicted(const struct axis *axis)
{
	for (uint32_t i = 1; i < axis->n_segments; i++) {
		if (!axis->segments[i].is_after_gap)
			return true;
	}
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		if (axis->samples[i].status == TIME_OUTLIER)
			return true;
	}
	return false;
}

/* Places samples anew, as if nobody had stated a rate. */
static int place_without_nominal(struct axis *axis, const struct sample *samples)
{
	memcpy(axis->samples, samples, axis->n_samples * sizeof(*samples));
	for (uint32_t i = 0; i < axis->n_samples; i++)
		sample_tell_run(&axis->samples[i]);
	axis_release(axis);
	axis->nominal = 0;
	axis->refuses_nominal = true;
	FLEXTRACE_TRY(rate_bound(axis, &axis->rate));
	return axis_place_first(axis);
}

/* A nominal rate that chose between rates is refused if what it chose contradicts samples: it is
 * likelier that it is wrong than that they are false. */
static int place_first(struct axis *axis)
{
	struct sample *samples;
	int code;

	if (!axis->rate.is_hinted)
		return axis_place_first(axis);
	FLEXTRACE_TRY(ARRAY_NEW(samples, axis->n_samples));
	memcpy(samples, axis->samples, axis->n_samples * sizeof(*samples));
	code = axis_place_first(axis);
	if (code >= 0 && is_contradicted(axis))
		code = place_without_nominal(axis, samples);
	free(samples);
	return code;
}

int axis_place(struct axis *axis, const struct map *op_runs, const struct run *runs)
{
	if (axis->n_samples == 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(place_first(axis));
	FLEXTRACE_TRY(axis_leave_out_strays(axis));
	FLEXTRACE_TRY(axis_split_shifts(axis));
	FLEXTRACE_TRY(axis_split_setbacks(axis));
	FLEXTRACE_TRY(axis_split_reads(axis));
	follow_runs(axis);
	axis_doubt_borders(axis, false);
	FLEXTRACE_TRY(axis_choose(axis));
	FLEXTRACE_TRY(axis_place_rest(axis, op_runs, runs));
	axis_doubt_borders(axis, true);
	set_origins(axis);
	return FLEXTRACE_OK;
}

void axis_release(struct axis *axis)
{
	free(axis->segments);
	axis->segments = NULL;
	axis->n_segments = 0;
}

uint64_t axis_ticks(const struct axis *axis, uint16_t segment, uint64_t place)
{
	return place + axis->segments[segment].origin;
}

static bool is_over_by(const void *row, const void *key)
{
	return time_of(row) <= *(const int64_t *)key;
}

uint32_t axis_find(const struct axis *axis, int64_t host_ns)
{
	return array_count_before(axis->samples, axis->n_samples, sizeof(*axis->samples),
	                          is_over_by, &host_ns);
}

const struct sample *axis_sample_at(const struct axis *axis, int64_t host_ns)
{
	uint32_t lo = axis_find(axis, host_ns);

	for (uint32_t i = lo; i-- > 0;) {
		if (axis->samples[i].status == TIME_CERTIFIED &&
		    sample_is_bounded(&axis->samples[i]))
			return &axis->samples[i];
	}
	for (uint32_t i = lo; i < axis->n_samples; i++) {
		if (axis->samples[i].status == TIME_CERTIFIED &&
		    sample_is_bounded(&axis->samples[i]))
			return &axis->samples[i];
	}
	return NULL;
}

bool axis_latest(const struct axis *axis, int64_t host_ns, uint16_t *ret_segment,
                 uint64_t *ret_ticks)
{
	const struct sample *sample = axis_sample_at(axis, host_ns);
	place_t place;

	if (!sample)
		return false;
	place = (int64_t)sample->first + window_most_ticks(axis, host_ns - sample->before_ns);
	*ret_segment = sample->segment;
	*ret_ticks = axis_ticks(axis, sample->segment, (uint64_t)place);
	return true;
}
