/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that may belong to several instances of their job: the job number was used again
 * before their stamps were recorded, or records were lost. What the counter showed in other
 * operations bounds when they ran, and so which instance they are of:
 *
 * - An operation ran before its record was written, and behind the first submit of those that had
 *   no operation then. If that is not known, or records were lost, it is taken to have run no
 *   earlier than twice the lateness of nearly all operations whose completion is known, or a wrap,
 *   before its record. So its place on the axis is one of the last places of its phase that the
 *   counter had reached. If the known samples are so far away that the padded rate leaves half a
 *   wrap open, the operation stays assumed.
 * - Samples whose place is known bound the host time of that place from both sides, with the rate's
 *   interval widened by PAD.
 * - An instance is possible if its submit is not after that time and its completion not before it.
 *   Where a record is lost, the neighbouring instances bound it, unless the number is used again
 *   before its work is complete.
 *
 * If one instance is possible, its bracket is evidence like any other. If several are, the
 * operation ran between the first submit and the last completion of them, and before its record:
 * that is evidence, too. If none is, the operation is assumed. Where a counter has nothing but
 * choices, the oldest instances that are left serve as estimates.
 */
#include <math.h>
#include <stdlib.h>

#include "matches.h"
#include "engine/unwrap/window.h"

#define PAD       1e-3
#define N_BESIDE  8u   /* samples that are asked on each side */
#define MAX_STEPS 256u /* samples that are looked at for them */
#define N_RECENT  32u
#define MAX_WRAPS 32u   /* that an operation may have run before its record was written */
#define MAX_FOUND 1024u /* instances that are looked at */
#define SLOWER    4.0   /* so many times as long as the slowest work none takes */

/* -- where on the axis ------------------------------------------------------------------------ */

struct chooser {
	struct axis *axis;
	struct matches *matches;
	struct sample recent[N_RECENT]; /* decided last, with their places and brackets */
	uint32_t n_decided;
	unsigned n_wraps; /* within so many in front of its record an operation ran */
};

/* What is known of the host times of an operation's stamps. */
struct when {
	double first_lo_ns, first_hi_ns, last_lo_ns, last_hi_ns;
};

/* Of the placed samples that were over by a time the last. */
static const struct sample *last_by(const struct chooser *chooser, int64_t host_ns)
{
	const struct sample *last = axis_sample_at(chooser->axis, host_ns);

	for (uint32_t i = 0; i < N_RECENT && i < chooser->n_decided; i++) {
		const struct sample *sample = &chooser->recent[i];

		if (sample->after_ns <= host_ns && (!last || sample->after_ns > last->after_ns))
			last = sample;
	}
	return last;
}

/* How many ticks the padded rate leaves unknown between a sample and a host time, which may be in
 * front of it. */
static double unknown_ticks(const struct axis *axis, const struct sample *sample, int64_t host_ns)
{
	double gap_ns = (double)(host_ns - sample->after_ns);

	return (axis->rate.hi * (1 + PAD) - axis->rate.lo * (1 - PAD)) * fabs(gap_ns);
}

/* Puts a sample at the last place that its counter can have reached when the record was written. */
static bool place_by_clock(const struct chooser *chooser, struct sample *sample, int64_t clock_ns)
{
	const struct axis *axis = chooser->axis;
	const struct sample *last = last_by(chooser, clock_ns);
	struct phase phase;
	place_t most;

	if (!last || unknown_ticks(axis, last, clock_ns) > ldexp(0.25, (int)axis->narrow_bits))
		return false;
	phase = phase_of(axis, sample, last->segment);
	most = (place_t)(int64_t)last->first + window_most_ticks(axis, clock_ns - last->before_ns) -
	       (place_t)sample->span;
	sample->segment = last->segment;
	sample->first = (uint64_t)(phase.at +
	                           ((most - phase.at) >> phase.bits) * ((place_t)1 << phase.bits));
	return true;
}

/* -- when by the host ------------------------------------------------------------------------- */

static double later_ns(const struct axis *axis, double ticks, bool is_least)
{
	bool is_fast = (ticks >= 0) == is_least;

	return ticks / (is_fast ? axis->rate.hi * (1 + PAD) : axis->rate.lo * (1 - PAD));
}

static void bound_by(const struct axis *axis, const struct sample *by, const struct sample *sample,
                     struct when *when)
{
	double first = (double)(int64_t)(sample->first - by->first);
	double last = first - (double)by->span, span = (double)sample->span;
	double before_ns = (double)by->before_ns, after_ns = (double)by->after_ns;
	double bound;

	bound = before_ns + later_ns(axis, first - 1, true);
	when->first_lo_ns = bound > when->first_lo_ns ? bound : when->first_lo_ns;
	bound = before_ns + later_ns(axis, first + span - 1, true);
	when->last_lo_ns = bound > when->last_lo_ns ? bound : when->last_lo_ns;
	bound = after_ns + later_ns(axis, last + 1, false);
	when->first_hi_ns = bound < when->first_hi_ns ? bound : when->first_hi_ns;
	bound = after_ns + later_ns(axis, last + span + 1, false);
	when->last_hi_ns = bound < when->last_hi_ns ? bound : when->last_hi_ns;
}

static bool is_of(const struct sample *by, uint16_t segment)
{
	return by->status == TIME_CERTIFIED && by->segment == segment && sample_is_bounded(by);
}

/* Bounds a place by the samples beside it and by the last decision; false: they contradict. */
static bool bound_when(const struct chooser *chooser, const struct sample *sample,
                       struct when *when)
{
	const struct axis *axis = chooser->axis;
	const struct sample *last = last_by(chooser, sample->after_ns);
	double ns = (double)last->after_ns -
	            later_ns(axis, (double)(int64_t)(last->first - sample->first), true);
	uint32_t at = axis_find(axis, (int64_t)ns), n = 0;

	*when = (struct when){-INFINITY, INFINITY, -INFINITY, INFINITY};
	bound_by(axis, last, sample, when);
	for (uint32_t i = at; i < axis->n_samples && i < at + MAX_STEPS && n < N_BESIDE; i++) {
		if (is_of(&axis->samples[i], sample->segment))
			bound_by(axis, &axis->samples[i], sample, when), n++;
	}
	n = 0;
	for (uint32_t i = at; i-- > 0 && at - i < MAX_STEPS && n < N_BESIDE;) {
		if (is_of(&axis->samples[i], sample->segment))
			bound_by(axis, &axis->samples[i], sample, when), n++;
	}
	for (uint32_t i = 0; i < N_RECENT && i < chooser->n_decided; i++) {
		if (is_of(&chooser->recent[i], sample->segment))
			bound_by(axis, &chooser->recent[i], sample, when);
	}
	return when->first_lo_ns <= when->first_hi_ns && when->last_lo_ns <= when->last_hi_ns;
}

/* -- which instance --------------------------------------------------------------------------- */

static bool can_be(const struct matches *matches, const struct stay *stay, const struct when *when)
{
	const struct instance *instance = &matches->instances[stay->instance];

	return (instance->submit || instance->complete) && !instance->op && !instance->is_chosen &&
	       (double)stay->from_ns <= when->first_hi_ns &&
	       (double)stay->to_ns >= when->last_lo_ns;
}

/* Of those that end behind a time, the first that can. */
static uint32_t first_behind(const struct stay *stays, const struct choice *choice, double ns)
{
	uint32_t lo = choice->first, n = choice->end - choice->first;

	while (n > 0) {
		uint32_t half = n / 2;

		if ((double)stays[lo + half].most_to_ns < ns) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/* The instances that can be meant. */
struct found {
	uint32_t n, instance;   /* how many; the last one */
	int64_t from_ns, to_ns; /* between when they ran */
	int64_t least_ns;       /* none of them had begun by then; UNWRAP_NO_BEFORE: not known */
	bool is_whole;          /* it may be of one without records, too: it ran at any such time */
	unsigned n_wraps;       /* in front of the last place the last one is */
	bool is_open;           /* some are more wraps in front of it than records are late */
};

static void add_found(struct found *found, int64_t least_ns, int64_t from_ns, int64_t to_ns)
{
	found->n++;
	found->least_ns = least_ns < found->least_ns ? least_ns : found->least_ns;
	found->from_ns = from_ns < found->from_ns ? from_ns : found->from_ns;
	found->to_ns = to_ns > found->to_ns ? to_ns : found->to_ns;
}

/* Whether an operation may have run at a time outside of all instances. Unknown edges of an
 * instance count as not part of it. */
static bool has_room(const struct matches *matches, const struct choice *choice,
                     const struct when *when)
{
	const struct stay *stays = &matches->stays[matches->jobs[choice->job].first_stay];
	double length_ns = when->last_lo_ns - when->first_lo_ns, free_ns = when->first_lo_ns;

	for (uint32_t i = first_behind(stays, choice, free_ns);
	     i < choice->end && (double)stays[i].from_ns <= when->last_hi_ns; i++) {
		const struct instance *instance = &matches->instances[stays[i].instance];
		int64_t end_ns = edge_host_ns(instance->complete, UNWRAP_NO_BEFORE);

		if (free_ns + length_ns < (double)edge_host_ns(instance->submit, end_ns))
			return true;
		free_ns = fmax(free_ns, (double)edge_host_ns(instance->complete, stays[i].from_ns));
	}
	return free_ns < when->first_hi_ns;
}

/* Adds an instance that has no record, where there is room for one. Where each use of a number has
 * all of its records, there is none. */
static void find_unrecorded(const struct matches *matches, const struct choice *choice,
                            const struct when *when, struct found *found)
{
	const struct stay *stays = &matches->stays[matches->jobs[choice->job].first_stay];
	uint32_t behind;

	if (!matches->is_lossy ||
	    (!matches->jobs[choice->job].is_in_use && !has_room(matches, choice, when)))
		return;
	behind = first_behind(stays, choice, when->first_lo_ns);
	add_found(found, behind > 0 ? stays[behind - 1].most_to_ns : UNWRAP_NO_BEFORE,
	          (int64_t)floor(when->first_lo_ns), (int64_t)ceil(when->last_hi_ns));
	found->is_whole = true;
}

/* If an instance lacks an edge, the room that others leave may bound it better than its
 * neighbours. An instance without an end fits everything that is recorded too late, so it stays
 * open. */
static void add_instance(const struct matches *matches, const struct stay *stay,
                         const struct when *when, struct found *found)
{
	const struct instance *instance = &matches->instances[stay->instance];
	int64_t from_ns = stay->from_ns, to_ns = stay->to_ns;

	if (!instance->submit && from_ns != UNWRAP_NO_BEFORE)
		from_ns = (int64_t)fmax((double)from_ns, floor(when->first_lo_ns));
	if (!instance->complete && to_ns != UNWRAP_NO_AFTER)
		to_ns = (int64_t)fmin((double)to_ns, ceil(when->last_hi_ns));
	found->instance = stay->instance;
	add_found(found, stay->from_ns, from_ns, to_ns);
}

/* Adds those that can be at a time. */
static void find_at(const struct matches *matches, const struct choice *choice,
                    const struct when *when, struct found *found)
{
	const struct stay *stays = &matches->stays[matches->jobs[choice->job].first_stay];
	uint32_t first = first_behind(stays, choice, when->last_lo_ns), i = first;

	for (; i < choice->end && (double)stays[i].from_ns <= when->first_hi_ns; i++) {
		if (i - first >= MAX_FOUND) {
			found->n = MAX_FOUND;
			found->from_ns = found->least_ns = UNWRAP_NO_BEFORE;
			return;
		}
		if (!can_be(matches, &stays[i], when))
			continue;
		add_instance(matches, &stays[i], when, found);
	}
}

static double wrap_ns(const struct axis *axis)
{
	return ldexp(1 / axis->rate.hi, (int)axis->narrow_bits);
}

/* So many wraps earlier. */
static struct when earlier(const struct axis *axis, const struct when *when, unsigned n_wraps)
{
	double ticks = ldexp(n_wraps, (int)axis->narrow_bits);
	double least_ns = later_ns(axis, ticks, true), most_ns = later_ns(axis, ticks, false);

	return (struct when){
		.first_lo_ns = when->first_lo_ns - most_ns,
		.first_hi_ns = when->first_hi_ns - least_ns,
		.last_lo_ns = when->last_lo_ns - most_ns,
		.last_hi_ns = when->last_hi_ns - least_ns,
	};
}

/* Goes back from the last place that the counter can have reached when the record was written, as
 * far as what was asked since then denies it. */
static void reach_clock(const struct axis *axis, int64_t clock_ns, struct sample *sample,
                        struct when *when)
{
	for (unsigned n = 0; n < MAX_WRAPS && when->last_lo_ns > (double)clock_ns; n++) {
		*when = earlier(axis, when, 1);
		sample->first -= UINT64_C(1) << axis->narrow_bits;
	}
}

/* By how much the stamps of operations are late at most; else any number of wraps is possible. */
static bool is_late_known(const struct chooser *chooser)
{
	return chooser->matches->most_late_ns < INT64_MAX;
}

/* How many wraps an operation may have run in front of its record: back to the first submit of
 * those that had no operation yet. How late its record is behind its completion does not tell, as
 * the completion may have been seen late, too. Where operations were lost, some uses never have
 * one, and lateness has to do. */
static unsigned count_possible(const struct chooser *chooser, const struct choice *choice,
                               const struct when *when)
{
	const struct matches *matches = chooser->matches;
	const struct stay *stays = &matches->stays[matches->jobs[choice->job].first_stay];
	int64_t since_ns = stays[choice->first].from_ns;
	double n;

	if (matches->is_lossy || since_ns == UNWRAP_NO_BEFORE)
		return chooser->n_wraps;
	n = 1 + (when->first_hi_ns - (double)since_ns) / wrap_ns(chooser->axis);
	if (n <= chooser->n_wraps)
		return chooser->n_wraps;
	return n > MAX_WRAPS ? MAX_WRAPS + 1 : (unsigned)n;
}

/* Whether an operation may be of another instance than the one that was found, in a wrap so far in
 * front of its record that only a completion that was seen late explains it: such a completion was
 * seen when the record was due. */
static bool fits_late(const struct chooser *chooser, const struct choice *choice,
                      const struct when *when, const struct found *found)
{
	const struct matches *matches = chooser->matches;
	const struct stay *stays = &matches->stays[matches->jobs[choice->job].first_stay];
	const int64_t due_ns = choice->clock_ns - matches->most_late_ns;

	for (unsigned n_wraps = chooser->n_wraps; n_wraps < MAX_WRAPS; n_wraps++) {
		struct when at = earlier(chooser->axis, when, n_wraps);
		uint32_t first = first_behind(stays, choice, at.last_lo_ns), i = first;

		for (; i < choice->end && (double)stays[i].from_ns <= at.first_hi_ns &&
		       i - first < MAX_FOUND;
		     i++) {
			if (stays[i].to_ns >= due_ns && stays[i].to_ns != UNWRAP_NO_AFTER &&
			    stays[i].instance != found->instance && can_be(matches, &stays[i], &at))
				return true;
		}
	}
	return false;
}

/* Finds the instances that can be, wherever the phase comes again. */
static void find_instances(const struct chooser *chooser, const struct choice *choice,
                           const struct when *when, struct found *found)
{
	const struct matches *matches = chooser->matches;
	const struct stay *stays = &matches->stays[matches->jobs[choice->job].first_stay];
	const unsigned n_possible = count_possible(chooser, choice, when);

	*found = (struct found){0,         NO_INSTANCE, INT64_MAX, INT64_MIN,
	                        INT64_MAX, false,       0,         n_possible > MAX_WRAPS};
	for (unsigned n_wraps = 0; n_wraps < n_possible; n_wraps++) {
		struct when at = earlier(chooser->axis, when, n_wraps);
		uint32_t n = found->n;

		if (at.first_hi_ns < (double)stays[choice->first].from_ns)
			break;
		find_at(matches, choice, &at, found);
		if (n_wraps == 0 ? found->n > 0 : is_late_known(chooser))
			find_unrecorded(matches, choice, &at, found);
		if (found->n > n && n > 0 && n_wraps >= chooser->n_wraps)
			found->is_open = true;
		else if (found->n > n)
			found->n_wraps = n_wraps;
	}
	if (matches->is_lossy && found->n > 0 && is_late_known(chooser))
		found->is_open |= fits_late(chooser, choice, when, found);
}

/* Takes a bracket. Only a whole one that is shorter than a wrap says where; if it is longer, that
 * is as open as for any other operation. */
static void take_bracket(struct chooser *chooser, struct sample *sample, int64_t from_ns,
                         int64_t to_ns)
{
	uint64_t wrap = UINT64_C(1) << chooser->axis->narrow_bits;

	sample->before_ns = from_ns;
	sample->after_ns = to_ns;
	sample->bounds = BOUNDS_HARD;
	if (!sample_is_bounded(sample))
		return;
	sample->status = TIME_UNMATCHED;
	if (window_most_ticks(chooser->axis, to_ns - from_ns) >= (place_t)wrap)
		return;
	sample->status = TIME_CERTIFIED;
	chooser->recent[chooser->n_decided++ % N_RECENT] = *sample;
}

/* From when on an operation ran. What its stamps say of that holds if no wrap is hidden between
 * them; where there is time for one, only records tell. */
static int64_t begin_of(const struct chooser *chooser, const struct sample *sample,
                        const struct found *found, int64_t to_ns)
{
	const struct axis *axis = chooser->axis;
	place_t longer = ((place_t)1 << axis->narrow_bits) + (place_t)sample->span;

	if (found->least_ns != UNWRAP_NO_BEFORE && to_ns != UNWRAP_NO_AFTER &&
	    window_most_ticks(axis, to_ns - found->least_ns) < longer)
		return found->from_ns;
	return found->least_ns;
}

static void take_one(struct chooser *chooser, struct sample *sample, struct choice *choice,
                     const struct found *found)
{
	struct instance *instance = &chooser->matches->instances[found->instance];

	choice->chosen = found->instance;
	instance->is_chosen = true;
	choice->op->submit_host_ns = edge_host_ns(instance->submit, 0);
	choice->op->complete_host_ns = edge_host_ns(instance->complete, 0);
	take_bracket(chooser, sample, begin_of(chooser, sample, found, found->to_ns), found->to_ns);
}

/* Whichever instance it is of, it ran between the first and the last of them, and before its
 * record. */
static void take_all(struct chooser *chooser, struct sample *sample, struct choice *choice,
                     const struct found *found)
{
	int64_t to_ns = found->to_ns < choice->clock_ns ? found->to_ns : choice->clock_ns;
	int64_t from_ns = begin_of(chooser, sample, found, to_ns);

	if ((chooser->matches->jobs[choice->job].is_doubtful && !found->is_whole) ||
	    from_ns > to_ns || from_ns == UNWRAP_NO_BEFORE)
		return;
	choice->is_shared = true;
	take_bracket(chooser, sample, from_ns, to_ns);
}

/* Whether nothing says in which wrap an operation ran. Where counting proves nothing, its own
 * submission may be lost, and its completion may have been seen late. But none took longer than the
 * slowest seems to have taken. */
static bool has_no_limit(const struct chooser *chooser, const struct choice *choice)
{
	return chooser->matches->jobs[choice->job].is_doubtful &&
	       SLOWER * (double)chooser->matches->longest_ns >= wrap_ns(chooser->axis);
}

/* Whether the completion of an operation whose submission is not known may have been seen a wrap
 * late. */
static bool is_vague(const struct chooser *chooser, const struct found *found)
{
	const struct matches *matches = chooser->matches;
	double most_ns = SLOWER * (double)matches->most_taken_ns + (double)matches->most_late_ns;
	bool has_submit = found->instance != NO_INSTANCE &&
	                  matches->instances[found->instance].submit;

	return most_ns >= wrap_ns(chooser->axis) &&
	       (found->is_whole || (found->n == 1 && !has_submit));
}

/* Decides on a copy: the samples stay in order. */
static void decide(struct chooser *chooser, const struct sample *sample, struct choice *choice,
                   struct sample *ret_sample)
{
	struct found found;
	struct when when;

	*ret_sample = *sample;
	if (!place_by_clock(chooser, ret_sample, choice->clock_ns))
		return;
	ret_sample->status = TIME_ASSUMED;
	if (has_no_limit(chooser, choice) || !bound_when(chooser, ret_sample, &when))
		return;
	reach_clock(chooser->axis, choice->clock_ns, ret_sample, &when);
	find_instances(chooser, choice, &when, &found);
	ret_sample->first -= (uint64_t)found.n_wraps << chooser->axis->narrow_bits;
	if (found.is_open || is_vague(chooser, &found))
		return;
	if (found.n == 1 && found.instance != NO_INSTANCE &&
	    (found.n_wraps == 0 || is_late_known(chooser)))
		take_one(chooser, ret_sample, choice, &found);
	else if (found.n > 0 && found.n_wraps == 0)
		take_all(chooser, ret_sample, choice, &found);
}

static bool is_choice(const struct sample *sample)
{
	return sample->bounds == BOUNDS_CHOICE;
}

/* Within so many wraps in front of its record an operation ran, if its completion was not late. */
static unsigned count_wraps(const struct axis *axis)
{
	double n = 1 + (double)axis->matches->most_late_ns / wrap_ns(axis);

	return n > MAX_WRAPS ? MAX_WRAPS : (unsigned)n;
}

static struct choice *choice_of(const struct chooser *chooser, const struct sample *sample)
{
	const struct matches *matches = chooser->matches;

	return &matches->choices[map_find(&matches->of_op, (uintptr_t)sample->source.op, 0)];
}

/* Decides what is not decided. */
static int choose(struct chooser *chooser)
{
	struct axis *axis = chooser->axis;
	struct sample_list list;
	struct sample *decided;
	int code = sample_list_init(&list, axis, is_choice);

	decided = code < 0 ? NULL : malloc((list.n + 1ull) * sizeof(*decided));
	if (!decided)
		return FLEXTRACE_E_MEMORY;
	chooser->n_decided = 0;
	for (uint32_t i = 0; i < list.n; i++) {
		struct sample *sample = sample_list_at(&list, i);

		decide(chooser, sample, choice_of(chooser, sample), &decided[i]);
	}
	for (uint32_t i = 0; i < list.n; i++)
		*sample_list_at(&list, i) = decided[i];
	if (list.n)
		axis_sort(axis);
	free(decided);
	sample_list_release(&list);
	return FLEXTRACE_OK;
}

/* Takes back decisions that only neighbouring samples may make, and returns whether there are
 * any. */
static bool take_back(struct chooser *chooser)
{
	bool is_any = false;

	for (uint32_t i = 0; i < chooser->axis->n_samples; i++) {
		struct sample *sample = &chooser->axis->samples[i];
		uint32_t of = sample->kind != SAMPLE_OP ? MAP_NONE
		                                        : map_find(&chooser->matches->of_op,
		                                                   (uintptr_t)sample->source.op, 0);
		struct choice *choice = of == MAP_NONE ? NULL : &chooser->matches->choices[of];

		if (!choice || !choice->is_shared)
			continue;
		sample->bounds = BOUNDS_CHOICE;
		sample->status = TIME_UNMATCHED;
		sample->before_ns = UNWRAP_NO_BEFORE;
		sample->after_ns = choice->clock_ns;
		choice->is_shared = false;
		is_any = true;
	}
	if (is_any)
		axis_sort(chooser->axis);
	return is_any;
}

int axis_choose(struct axis *axis)
{
	struct chooser chooser = {.axis = axis, .matches = axis->matches};

	if (!axis->matches || !axis->matches->n_choices)
		return FLEXTRACE_OK;
	chooser.n_wraps = count_wraps(axis);
	FLEXTRACE_TRY(choose(&chooser));
	return take_back(&chooser) ? choose(&chooser) : FLEXTRACE_OK;
}
