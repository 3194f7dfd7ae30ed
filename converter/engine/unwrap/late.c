/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass over a counter: samples that are too wide for one epoch, that lack a host time,
 * or that no other sample agrees with. The run that an operation belongs to places it with
 * certainty. Samples on both sides may do so. Otherwise an assumption places it, and its time is
 * called assumed.
 */
#include <stdlib.h>

#include "window.h"

#define N_QUEUES 256u

/* The last placed operation of a queue. */
struct queue_end {
	uint32_t device, queue;
	int64_t last;
	int64_t after_ns, before_ns; /* of the one that was seen complete last */
	bool is_used;
	bool is_shared; /* with another queue, or it is not known when each of its work was over */
};

struct late {
	struct axis *axis;
	struct queue_end queues[N_QUEUES];
};

/* Where a sample stands between those of the first pass. */
struct neighbours {
	const struct sample *before, *after; /* certified; NULL: none */
	const struct sample *last;           /* placed just before, in any way; NULL: none */
};

static struct queue_end *queue_end(struct late *late, const struct tick_op *op)
{
	return &late->queues[hash_words(op->device, op->queue) % N_QUEUES];
}

static bool queue_last(struct late *late, const struct sample *sample, place_t *ret_last)
{
	const struct queue_end *end = queue_end(late, sample->source.op);

	*ret_last = end->last;
	return end->is_used && end->device == sample->source.op->device &&
	       end->queue == sample->source.op->queue;
}

/* Whether an entry is this operation's queue's, and of no other queue. */
static bool is_own(const struct queue_end *end, const struct tick_op *op)
{
	return end->is_used && !end->is_shared && end->device == op->device &&
	       end->queue == op->queue;
}

static void remember_queue(struct late *late, const struct sample *sample)
{
	const struct tick_op *op = sample->source.op;
	struct queue_end *end;

	if (sample->kind != SAMPLE_OP)
		return;
	end = queue_end(late, op);
	end->is_shared |= end->is_used && (end->device != op->device || end->queue != op->queue);
	if (sample->after_ns != UNWRAP_NO_AFTER &&
	    (!end->is_used || sample->after_ns > end->after_ns)) {
		end->after_ns = sample->after_ns;
		end->before_ns = sample->before_ns != UNWRAP_NO_BEFORE ? sample->before_ns
		                                                       : INT64_MAX;
	}
	if (sample->status <= TIME_ASSUMED) {
		end->device = op->device;
		end->queue = op->queue;
		end->last = (int64_t)(sample->first + sample->span);
		end->is_used = true;
	}
}

/* The limit says when work began only where it is known when that in front of it was over. */
static void find_unknown_ends(struct late *late)
{
	const struct axis *axis = late->axis;

	for (uint32_t i = 0; i < axis->n_samples && axis->max_dispatch_ns; i++) {
		const struct sample *sample = &axis->samples[i];

		if (sample->kind == SAMPLE_OP &&
		    (sample->bounds != BOUNDS_HARD || sample->after_ns == UNWRAP_NO_AFTER))
			queue_end(late, sample->source.op)->is_shared = true;
	}
}

/* The times between which an operation began, if it waits only for those before it on its queue. */
static void bound_start(struct late *late, struct sample *start)
{
	const struct queue_end *end = queue_end(late, start->source.op);
	int64_t limit_ns = late->axis->max_dispatch_ns, free_ns = start->before_ns;

	if (is_own(end, start->source.op) && end->after_ns > free_ns) {
		free_ns = end->after_ns;
		if (end->before_ns < start->before_ns && free_ns - limit_ns > start->before_ns)
			start->before_ns = free_ns - limit_ns;
	}
	if (free_ns + limit_ns < start->after_ns)
		start->after_ns = free_ns + limit_ns;
}

/* The stamps of a run's operation follow its whole 64-bit anchor; true: that placed the sample. */
static bool place_by_run(const struct axis *axis, struct sample *sample, const struct map *op_runs,
                         const struct run *runs)
{
	uint32_t index = sample->kind == SAMPLE_OP
	                         ? map_find(op_runs, (uintptr_t)sample->source.op, 0)
	                         : MAP_NONE;
	const struct run *run;
	uint64_t place;

	if (index == MAP_NONE)
		return false;
	run = &runs[index];
	if (!run->is_placed || run->status != TIME_CERTIFIED)
		return false;
	place = run->ticks;
	sample->segment = run->segment;
	sample->first = place + low_bits(sample->first - place, axis->narrow_bits);
	sample->status = run->is_short ? TIME_CERTIFIED : TIME_ASSUMED;
	return true;
}

/* The likeliest epoch: finished promptly before its host knew; begun, if its whole bracket is
 * known, as early as its queue allows, because what fills a bracket is more often work than
 * waiting. */
static void assume(struct late *late, struct sample *sample, const struct phase *phase,
                   const struct window *window, const struct neighbours *neighbours)
{
	place_t wrap = (place_t)1 << phase->bits, last = 0, lo = window->lo, k_first, k_last;
	bool has_lo = lo > -MAX_PLACE, has_hi = window->hi < MAX_PLACE;

	/* Who estimates knows of no queues. */
	if (sample->kind == SAMPLE_OP && !late->axis->is_soft && queue_last(late, sample, &last) &&
	    last > lo) {
		lo = last;
		has_lo = true;
	}
	if (!has_lo && neighbours->last) {
		lo = (int64_t)neighbours->last->first;
		has_lo = true;
	}
	k_first = has_lo ? (lo - phase->at + wrap - 1) >> phase->bits : 0;
	k_last = has_hi ? (window->hi - phase->at - (place_t)sample->span) >> phase->bits : k_first;
	if (!late->axis->rate.is_known)
		k_last = k_first;
	if (k_first > k_last || !sample_is_bounded(sample))
		k_first = k_last;
	/* One that contradicts the others says nothing of where the axis begins. */
	if (sample->status == TIME_OUTLIER && phase->at + k_first * wrap < 0)
		k_first = k_last = 0;
	sample->first = (uint64_t)(phase->at + k_first * wrap);
	if (sample->kind == SAMPLE_OP && sample->span > 0)
		sample->span += (uint64_t)((k_last - k_first) * wrap);
}

/* The epoch of a stamp that the dispatch limit puts between two host times; false: it leaves
 * several. */
static bool place_stamp(const struct axis *axis, const struct sample *of, uint64_t bits,
                        const struct anchor *const *anchors, uint32_t n, place_t *ret_place)
{
	struct sample stamp = *of;
	struct phase phase;

	stamp.first = bits;
	stamp.span = 0;
	phase = phase_of(axis, &stamp, of->segment);
	return stamp.before_ns <= stamp.after_ns &&
	       window_place(axis, &stamp, &phase, anchors, n, ret_place) == FITS;
}

/* If the user says so, the start of an operation is near its submit and its end near its
 * completion, however long it executes. */
static bool place_by_limit(struct late *late, struct sample *sample,
                           const struct anchor *const *anchors, uint32_t n)
{
	const struct axis *axis = late->axis;
	struct sample start = *sample, end = *sample;
	place_t first, last;

	if (!axis->max_dispatch_ns || sample->kind != SAMPLE_OP || !sample_is_bounded(sample) ||
	    queue_end(late, sample->source.op)->is_shared)
		return false;
	bound_start(late, &start);
	if (axis->max_dispatch_ns < sample->after_ns - sample->before_ns)
		end.before_ns = sample->after_ns - axis->max_dispatch_ns;
	if (!place_stamp(axis, &start, sample->first, anchors, n, &first) ||
	    !place_stamp(axis, &end, sample->first + sample->span, anchors, n, &last) ||
	    last < first + (place_t)sample->span)
		return false;
	sample->first = (uint64_t)first;
	sample->span = (uint64_t)(last - first);
	sample->status = TIME_CERTIFIED;
	return true;
}

static void place_late(struct late *late, struct sample *sample,
                       const struct neighbours *neighbours)
{
	const struct sample *from = neighbours->before ? neighbours->before : neighbours->after;
	uint16_t segment = from ? from->segment : 0;
	struct phase phase = phase_of(late->axis, sample, segment);
	struct anchor of[2];
	const struct anchor *anchors[2] = {&of[0], &of[1]};
	struct window window = window_all();
	enum verdict verdict = IS_OPEN;
	uint32_t n = 0;
	place_t place;

	if (neighbours->before)
		of[n++] = anchor_of(neighbours->before);
	if (neighbours->after && neighbours->after->segment == segment)
		of[n++] = anchor_of(neighbours->after);
	sample->segment = segment;
	if (sample->status == TIME_UNMATCHED && n > 0)
		verdict = window_place(late->axis, sample, &phase, anchors, n, &place);
	if (sample->status == TIME_UNMATCHED && verdict == IS_OPEN && n > 0 &&
	    place_by_limit(late, sample, anchors, n))
		return;
	if (verdict == FITS) {
		sample->first = (uint64_t)place;
		sample->status = sample_is_bounded(sample) ? TIME_CERTIFIED : TIME_ASSUMED;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		window_narrow(late->axis, anchors[i], sample, &window);
	if (sample->status == TIME_UNMATCHED)
		sample->status = verdict == CONTRADICTS ? TIME_OUTLIER : TIME_ASSUMED;
	assume(late, sample, &phase, &window, neighbours);
}

/* Places what the first pass left, in order. */
static void place_rest(struct late *late, const struct map *op_runs, const struct run *runs)
{
	struct axis *axis = late->axis;
	struct neighbours neighbours = {NULL, NULL, NULL};
	uint32_t ahead = 0, n = axis->n_samples;

	/* Behind the last open sample, nobody asks for neighbours. */
	while (n > 0 && axis->samples[n - 1].status == TIME_CERTIFIED)
		n--;
	for (uint32_t i = 0; i < n; i++) {
		struct sample *sample = &axis->samples[i];

		for (ahead = ahead > i ? ahead : i;
		     ahead < axis->n_samples && axis->samples[ahead].status != TIME_CERTIFIED;
		     ahead++)
			;
		neighbours.after = ahead < axis->n_samples ? &axis->samples[ahead] : NULL;
		if (sample->status == TIME_CERTIFIED)
			neighbours.before = sample;
		else if (sample->status != TIME_ASSUMED &&
		         !place_by_run(axis, sample, op_runs, runs))
			place_late(late, sample, &neighbours);
		sample_tell_run(sample);
		remember_queue(late, sample);
		neighbours.last = sample;
	}
}

int axis_place_rest(struct axis *axis, const struct map *op_runs, const struct run *runs)
{
	struct late *late = calloc(1, sizeof(*late));

	if (!late)
		return FLEXTRACE_E_MEMORY;
	late->axis = axis;
	find_unknown_ends(late);
	place_rest(late, op_runs, runs);
	free(late);
	return FLEXTRACE_OK;
}
