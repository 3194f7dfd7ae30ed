/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations at the borders of segments. A counter began anew, or the host's clock jumped,
 * somewhere between the last sample that fits only the segment in front and the first sample that
 * fits only the segment behind. Work that was under way at that time may belong to either segment:
 * both would have shown its stamps within its bracket. Such samples are only assumed.
 *
 * A counter that stands still for some time shows one tick all the while. It is the last tick of
 * the segment in front and the first of the one behind. Work with either tick is only assumed as
 * well. A counter that nearly stands still shows a few ticks.
 */
#include <math.h>

#include "window.h"

#define N_TIGHT     8u    /* samples of the other segment that are asked */
#define N_BESIDE    64u   /* among so many of the nearest ones */
#define N_BETWEEN   16u   /* samples in front of a segment's first that may be between two breaks */
#define MAX_NEAR    256u  /* on either side that may have been under way with one of these */
#define MAX_SAMPLES 1024u /* on either side that are looked at */
#define WANDER      500e-6 /* of the rate, from a sample to the tightest one */
#define MAX_BACK    3u     /* segments in front that are asked */
#define MAX_CREPT   16     /* ticks */
#define MAX_BACK_NS 2e9    /* that the host's clock is set back */

struct border {
	struct axis *axis;
	uint32_t at;                     /* first sample behind it */
	uint32_t from, end;              /* samples that are looked at */
	struct anchor tight[2][N_TIGHT]; /* of the segments in front and behind */
	uint32_t n_tight[2];
	uint16_t segments[2];
	bool is_late; /* all samples are placed */
};

static bool is_of(const struct border *border, const struct sample *sample, int side)
{
	return sample->segment == border->segments[side] && sample->status == TIME_CERTIFIED &&
	       sample_is_bounded(sample);
}

static double ticks_ns(const struct border *border, int64_t ticks)
{
	const struct rate *rate = &border->axis->rate;

	return 2 * (double)ticks / (rate->lo + rate->hi);
}

/* The time that a bracket leaves beside the work in it. */
static double room(const struct border *border, const struct anchor *anchor)
{
	return (double)(anchor->after_ns - anchor->before_ns) -
	       ticks_ns(border, anchor->last - anchor->first);
}

static double room_of(const struct border *border, const struct sample *sample)
{
	const struct anchor anchor = anchor_of(sample);

	return room(border, &anchor);
}

/* Keeps the tightest: they were not under way at the border. */
static void add_tight(struct border *border, const struct sample *sample, int side)
{
	struct anchor anchor = anchor_of(sample), *tight = border->tight[side];
	uint32_t *n = &border->n_tight[side];
	uint32_t to = *n < N_TIGHT ? *n : N_TIGHT - 1;
	double own = room(border, &anchor);

	if (*n == N_TIGHT && own >= room(border, &tight[to]))
		return;
	for (; to > 0 && room(border, &tight[to - 1]) > own; to--)
		tight[to] = tight[to - 1];
	tight[to] = anchor;
	*n += *n < N_TIGHT;
}

static void list_tight(struct border *border)
{
	const struct sample *samples = border->axis->samples;
	uint32_t n[2] = {0};

	for (uint32_t i = border->at; i-- > border->from && n[0] < N_BESIDE;) {
		if (is_of(border, &samples[i], 0) && ++n[0])
			add_tight(border, &samples[i], 0);
	}
	for (uint32_t i = border->at; i < border->end && n[1] < N_BESIDE; i++) {
		if (is_of(border, &samples[i], 1) && ++n[1])
			add_tight(border, &samples[i], 1);
	}
}

static double both_rooms(const struct border *border)
{
	return room(border, &border->tight[0][0]) + room(border, &border->tight[1][0]);
}

/* When a segment shows a place, by the tightest sample of it. */
static double when_ns(const struct border *border, int side, uint64_t place)
{
	const struct anchor *anchor = &border->tight[side][0];

	return (double)anchor->before_ns +
	       ticks_ns(border, (int64_t)(place - (uint64_t)anchor->first));
}

/* Places a sample of any segment beside the tight ones of one side. */
static enum verdict place_beside(const struct border *border, const struct sample *of, int side,
                                 place_t *ret_place)
{
	const struct axis *axis = border->axis;
	const struct axis_segment *own = &axis->segments[of->segment];
	const struct anchor *anchors[N_TIGHT];
	struct sample sample = *of;
	struct phase phase;

	if (sample.kind != SAMPLE_OP && own->has_wide)
		sample.first += own->origin;
	for (uint32_t i = 0; i < border->n_tight[side]; i++)
		anchors[i] = &border->tight[side][i];
	phase = phase_of(axis, &sample, border->segments[side]);
	return window_place(axis, &sample, &phase, anchors, border->n_tight[side], ret_place);
}

/* Whether a sample was where a place is beside the tightest of one side. */
static bool is_near(const struct border *border, const struct sample *sample, int side,
                    place_t place)
{
	const struct rate *rate = &border->axis->rate;
	const struct anchor *tight = &border->tight[side][0];
	double ns = when_ns(border, side, (uint64_t)place);
	double slack_ns = (WANDER + (rate->hi - rate->lo) / rate->hi) *
	                          fabs(ns - (double)tight->before_ns) +
	                  room(border, tight);

	return ns >= (double)sample->before_ns - slack_ns &&
	       ns <= (double)sample->after_ns + slack_ns;
}

/* Whether the segment on one side explains a sample of the other one as well, at another time. What
 * is as tight as the tightest was then, whichever it is of. */
static bool is_explained(const struct border *border, const struct sample *of, int side)
{
	enum verdict verdict;
	place_t place;
	double ns;

	if (room_of(border, of) <= 2 * both_rooms(border))
		return false;
	verdict = place_beside(border, of, side, &place);
	if (verdict != FITS)
		return verdict == IS_OPEN;
	ns = when_ns(border, side, (uint64_t)place);
	return fabs(ns - when_ns(border, !side, of->first)) > both_rooms(border) &&
	       is_near(border, of, side, place);
}

/* Stores the interval that contains the border: from the last sample in front of it that the
 * segment behind does not explain, to the first sample behind it that the segment in front does
 * not explain. */
static void find_when(const struct border *border, int64_t *ret_from_ns, int64_t *ret_to_ns)
{
	*ret_from_ns = INT64_MIN;
	*ret_to_ns = INT64_MAX;
	for (uint32_t i = border->from; i < border->end; i++) {
		const struct sample *sample = &border->axis->samples[i];

		if (is_of(border, sample, 0) && sample->before_ns > *ret_from_ns &&
		    !is_explained(border, sample, 1))
			*ret_from_ns = sample->before_ns;
		if (is_of(border, sample, 1) && sample->after_ns < *ret_to_ns &&
		    !is_explained(border, sample, 0))
			*ret_to_ns = sample->after_ns;
	}
}

static void doubt(struct sample *sample)
{
	sample->status = TIME_ASSUMED;
	sample_tell_run(sample);
}

/* The tick of a sample that is nearest to the border, counted away from it. */
static int64_t ticks_beside(const struct sample *sample, int side)
{
	return side ? (int64_t)sample->first : -(int64_t)(sample->first + sample->span);
}

/* The sample of a side whose tick is nearest to the border. */
static const struct sample *find_nearest(const struct border *border, int side)
{
	const struct sample *nearest = NULL;

	for (uint32_t i = border->from; i < border->end; i++) {
		const struct sample *sample = &border->axis->samples[i];

		if (is_of(border, sample, side) &&
		    (!nearest || ticks_beside(sample, side) < ticks_beside(nearest, side)))
			nearest = sample;
	}
	return nearest;
}

/* Whether two stamps of an operation show the tick at the border: while work went on, the counter
 * did not. */
static bool shows_it_twice(const struct sample *sample, int side)
{
	const uint64_t *ticks;

	if (sample->kind != SAMPLE_OP || sample->from == sample->to)
		return false;
	ticks = sample->source.op->ticks;
	return side ? ticks[sample->from] == ticks[sample->from + 1]
	            : ticks[sample->to] == ticks[sample->to - 1];
}

/* Whether a sample shows the tick at which the counter stood still. The counter may have moved on
 * slowly meanwhile, so work that shows one neighbouring tick twice was there at that time, too. */
static bool shows_stop(const struct sample *sample, int side, int64_t tick)
{
	int64_t beside = ticks_beside(sample, side) - tick;

	return beside == 0 || (beside <= MAX_CREPT && shows_it_twice(sample, side));
}

/* Whether the counter went on behind the border where it was in front of it, but later. */
static bool may_stand_still(const struct border *border, const struct sample *last,
                            const struct sample *first)
{
	const struct axis *axis = border->axis;
	uint64_t place = last->first + last->span, places = first->first - place;
	uint64_t ticks = low_bits(places, axis->narrow_bits);
	double still_ns;

	if (ticks != places && !shows_it_twice(first, 1) && !shows_it_twice(last, 0))
		return false;
	still_ns = when_ns(border, 1, first->first) - when_ns(border, 0, place + ticks);
	return still_ns > 2 * both_rooms(border);
}

static void doubt_still(const struct border *border)
{
	const struct sample *nearest[2] = {find_nearest(border, 0), find_nearest(border, 1)};
	int64_t ticks[2];

	if (!nearest[0] || !nearest[1] || !may_stand_still(border, nearest[0], nearest[1]))
		return;
	ticks[0] = ticks_beside(nearest[0], 0);
	ticks[1] = ticks_beside(nearest[1], 1);
	for (uint32_t i = border->from; i < border->end; i++) {
		struct sample *sample = &border->axis->samples[i];
		int side = is_of(border, sample, 1);

		if (is_of(border, sample, side) && shows_stop(sample, side, ticks[side]))
			doubt(sample);
	}
}

/* Whether whole reads show that the counter went back: it began anew. */
static bool shows_reset(const struct border *border)
{
	const struct axis *axis = border->axis;
	uint64_t ticks[2];

	for (int side = 0; side < 2; side++) {
		uint16_t segment = border->segments[side];

		if (!axis->segments[segment].has_wide)
			return false;
		ticks[side] = axis_ticks(axis, segment, (uint64_t)border->tight[side][0].first);
	}
	return ticks[1] < ticks[0];
}

/* Whether the host's clock may have gone back, or stood still, while the counter ran on. */
static bool goes_back(const struct border *border)
{
	uint64_t place = (uint64_t)border->tight[1][0].first;
	double back_ns = when_ns(border, 0, place) - when_ns(border, 1, place);

	return back_ns > 2 * both_rooms(border) && back_ns < MAX_BACK_NS && !shows_reset(border);
}

/* Where the host's clock went back, work that began in front of the border and was seen complete
 * behind it fits only the segment behind: its bracket is too short. The border is in front of the
 * first completion behind it, be that doubted or not, so what began later was not under way. */
static void doubt_shortened(const struct border *border)
{
	int64_t first_ns = INT64_MAX;

	for (uint32_t i = border->at; i < border->end; i++) {
		const struct sample *sample = &border->axis->samples[i];

		if (sample->segment == border->segments[1] && sample->status <= TIME_ASSUMED &&
		    sample_is_bounded(sample) && sample->after_ns < first_ns)
			first_ns = sample->after_ns;
	}
	for (uint32_t i = border->at; i < border->end; i++) {
		struct sample *sample = &border->axis->samples[i];

		if (is_of(border, sample, 1) &&
		    when_ns(border, 1, sample->first) < (double)first_ns + both_rooms(border))
			doubt(sample);
	}
}

static void doubt_border(struct border *border)
{
	int64_t from_ns, to_ns;

	if (!border->is_late)
		doubt_still(border);
	if (goes_back(border))
		doubt_shortened(border);
	find_when(border, &from_ns, &to_ns);
	if (from_ns == INT64_MIN || to_ns == INT64_MAX)
		return;
	for (uint32_t i = border->from; i < border->end; i++) {
		struct sample *sample = &border->axis->samples[i];
		bool is_under_way = sample->after_ns > from_ns && sample->before_ns < to_ns;

		if (is_under_way &&
		    ((is_of(border, sample, 0) && is_explained(border, sample, 1)) ||
		     (is_of(border, sample, 1) && is_explained(border, sample, 0))))
			doubt(sample);
	}
}

/* Whether the segment of one side explains a sample, at any time. */
static bool may_be_of(const struct border *border, const struct sample *sample, int side)
{
	place_t place;
	enum verdict verdict = place_beside(border, sample, side, &place);

	return verdict == IS_OPEN || (verdict == FITS && is_near(border, sample, side, place));
}

/* Whether a sample of one side fits what is assumed, too, and is loose enough to be of that
 * time. */
static bool may_be_with(const struct border *border, const struct sample *sample, int side)
{
	return room_of(border, sample) > 2 * both_rooms(border) && may_be_of(border, sample, !side);
}

/* Where two breaks follow each other, what is between them fits neither segment and is assumed
 * already. Work that was under way with it may have fit one of the segments by chance. */
static void doubt_beside(const struct border *of, const struct sample *assumed, int side)
{
	struct border border = *of;
	int64_t from_ns = side ? assumed->before_ns : INT64_MIN;
	int64_t to_ns = side ? INT64_MAX : assumed->after_ns;

	if (may_be_of(&border, assumed, side))
		return;
	border.from = of->at - of->from > MAX_NEAR ? of->at - MAX_NEAR : of->from;
	border.end = of->end - of->at > MAX_NEAR ? of->at + MAX_NEAR : of->end;
	border.segments[!side] = assumed->segment;
	border.tight[!side][0] = anchor_of(assumed);
	border.n_tight[!side] = 1;
	for (uint32_t i = border.from; i < border.end; i++) {
		const struct sample *sample = &border.axis->samples[i];

		if (!is_of(&border, sample, side) || may_be_with(&border, sample, side))
			continue;
		if (side && sample->after_ns < to_ns)
			to_ns = sample->after_ns;
		if (!side && sample->before_ns > from_ns)
			from_ns = sample->before_ns;
	}
	for (uint32_t i = border.from; i < border.end; i++) {
		struct sample *sample = &border.axis->samples[i];

		if (is_of(&border, sample, side) && sample->after_ns > from_ns &&
		    sample->before_ns < to_ns && may_be_with(&border, sample, side))
			doubt(sample);
	}
}

static void doubt_between(const struct border *border)
{
	const struct sample *samples = border->axis->samples;
	uint32_t from = border->at > N_BETWEEN ? border->at - N_BETWEEN : 0;

	for (uint32_t i = border->at; i-- > from;) {
		bool is_beside = samples[i].segment == border->segments[0] ||
		                 samples[i].segment == border->segments[1];

		if (!is_beside || samples[i].status != TIME_ASSUMED ||
		    !sample_is_bounded(&samples[i]))
			continue;
		doubt_beside(border, &samples[i], 0);
		doubt_beside(border, &samples[i], 1);
	}
}

/* Work may have been under way over several borders, where a segment is short. */
static void doubt_borders_at(struct axis *axis, uint32_t at, bool is_late)
{
	uint32_t behind = axis->samples[at].segment;

	for (uint32_t front = behind; front-- > 0 && behind - front <= MAX_BACK;) {
		struct border border = {.axis = axis,
		                        .at = at,
		                        .from = at > MAX_SAMPLES ? at - MAX_SAMPLES : 0,
		                        .end = axis->n_samples - at > MAX_SAMPLES ? at + MAX_SAMPLES
		                                                                  : axis->n_samples,
		                        .segments = {(uint16_t)front, (uint16_t)behind},
		                        .is_late = is_late};

		if (axis->segments[front + 1].is_after_gap)
			return;
		list_tight(&border);
		if (!border.n_tight[0] || !border.n_tight[1])
			continue;
		doubt_between(&border);
		doubt_border(&border);
	}
}

void axis_doubt_borders(struct axis *axis, bool is_late)
{
	uint32_t n_seen = 1;

	for (uint32_t i = 0; i < axis->n_samples && n_seen < axis->n_segments; i++) {
		const struct sample *sample = &axis->samples[i];

		if (axis->is_soft || sample->status != TIME_CERTIFIED || sample->segment < n_seen)
			continue;
		n_seen = sample->segment + 1u;
		doubt_borders_at(axis, i, is_late);
	}
}
