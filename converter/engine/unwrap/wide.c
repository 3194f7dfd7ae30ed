/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resets that only whole reads show. Operations with 32-bit stamps fit some epoch of the old axis
 * now and then, although the counter began anew; reads of all its bits do not. One read that
 * contradicts the axis may be false. Two that agree with each other are taken as true. So is one
 * that agrees with the operations behind it, if the last read before it does not; unless a later
 * read fits the old axis.
 */
#include <math.h>
#include <stdlib.h>

#include "window.h"

#define WANDER       500e-6 /* of the rate, between two samples */
#define MAX_AHEAD    64u    /* samples behind a read that are looked at */
#define MIN_IN_STEP  3u     /* operations that make one read true */
#define CHANCE       0.02   /* that a read is in step by chance, at most */
#define MAX_SEGMENTS 65535u

struct reader {
	struct axis *axis;
	struct sample *last;         /* certified read; NULL: none */
	const struct sample *before; /* certified sample with both bounds; NULL: none */
	struct sample *doubted;      /* outlier since `last`; NULL: none */
	const struct sample *next;   /* certified read ahead, or the end */
	const struct sample *across; /* last read of an earlier segment that has others; or NULL */
	uint32_t n_reads;            /* certified, of the segment of `last` */
	bool is_anew;                /* `last` was an outlier */
};

/* -- steps ----------------------------------------------------------------------------------- */

/* Whether so many ticks can lie between the end of a sample and the start of another. */
static bool can_pass(const struct axis *axis, const struct sample *from, const struct sample *to,
                     double ticks)
{
	double least_ns = (double)(to->before_ns - from->after_ns);
	double most_ns = (double)(to->after_ns - from->before_ns);
	double lo = axis->rate.lo * (1 - WANDER), hi = axis->rate.hi * (1 + WANDER);

	return ticks + 1 >= least_ns * (least_ns > 0 ? lo : hi) &&
	       ticks - 1 <= most_ns * (most_ns > 0 ? hi : lo);
}

/* Of two samples with places on one axis. */
static bool is_in_step(const struct axis *axis, const struct sample *from, const struct sample *to)
{
	return can_pass(axis, from, to, (double)(int64_t)(to->first - from->first - from->span));
}

/* What a read showed. */
static uint64_t shown(const struct axis *axis, const struct sample *read)
{
	return read->status == TIME_CERTIFIED ? axis_ticks(axis, read->segment, read->first)
	                                      : read->first;
}

/* Whether two reads, one over before the other begins, are of one counter, all bits taken. */
static bool agree(const struct axis *axis, const struct sample *from, const struct sample *to,
                  uint64_t *ret_ticks)
{
	double wrap = ldexp(1, (int)axis->wide_bits), wraps;
	uint64_t ticks = low_bits(shown(axis, to) - shown(axis, from), axis->wide_bits);

	if (to->before_ns <= from->after_ns)
		return false;
	wraps = floor((axis->rate.hi * (1 + WANDER) * (double)(to->after_ns - from->before_ns) + 1 -
	               (double)ticks) /
	              wrap);
	if (wraps < 0 || !can_pass(axis, from, to, (double)ticks + wraps * wrap) ||
	    (wraps > 0 && can_pass(axis, from, to, (double)ticks + (wraps - 1) * wrap)))
		return false;
	*ret_ticks = ticks + (axis->wide_bits < 64 ? (uint64_t)wraps << axis->wide_bits : 0);
	return true;
}

/* -- resets ---------------------------------------------------------------------------------- */

struct restart {
	struct sample read; /* with its place among the operations */
	uint16_t segment;   /* of the operations around it */
	uint32_t n_behind, n_in_step;
};

static bool place_beside(const struct axis *axis, const struct sample *known, struct sample *read)
{
	struct phase phase = {low_bits(read->first, axis->narrow_bits), axis->narrow_bits};
	struct anchor anchor = anchor_of(known);
	const struct anchor *anchors[] = {&anchor};
	place_t place;

	if (window_place(axis, read, &phase, anchors, 1, &place) != FITS)
		return false;
	read->first = (uint64_t)place;
	return true;
}

/* Asks the operations behind a read where it has its place; false: it has none. */
static bool ask_behind(const struct axis *axis, const struct sample *read, struct restart *restart)
{
	uint64_t left = (uint64_t)(axis->samples + axis->n_samples - read - 1);
	const struct sample *end = read + 1 + (left < MAX_AHEAD ? left : MAX_AHEAD);

	for (const struct sample *sample = read + 1; sample < end; sample++) {
		if (!sample_is_certified(sample))
			continue;
		if (sample->kind != SAMPLE_OP || sample->segment != restart->segment)
			break;
		if (restart->n_behind == 0 && !place_beside(axis, sample, &restart->read))
			return false;
		restart->n_behind++;
		restart->n_in_step += is_in_step(axis, &restart->read, sample);
	}
	return 2 * restart->n_in_step >= restart->n_behind;
}

/* The first sample behind the reset: where most samples are in step with the read on their side.
 * Those that could be of both sides follow it. */
static struct sample *find_edge(const struct reader *reader, const struct restart *restart,
                                struct sample *read, uint32_t *ret_n_unclear)
{
	const struct axis *axis = reader->axis;
	struct sample *edge = NULL;
	int64_t score = 0, best = 0;
	bool is_beside = true;

	*ret_n_unclear = 0;
	for (struct sample *sample = reader->last + 1; sample < read; sample++) {
		if (!sample_is_certified(sample))
			continue;
		edge = edge ? edge : sample;
		score += is_in_step(axis, reader->last, sample);
		score -= is_in_step(axis, sample, &restart->read);
		if (score > best) {
			best = score;
			edge = sample + 1;
			*ret_n_unclear = 0;
			is_beside = true;
		} else {
			is_beside &= score == best;
			*ret_n_unclear += is_beside;
		}
	}
	return edge ? edge : read;
}

/* Of all the edges that unclear samples leave, the one behind the longest time without a sample. */
static struct sample *likeliest_edge(const struct reader *reader, struct sample *first,
                                     uint32_t n_unclear, struct sample *read)
{
	const struct sample *before = reader->last;
	struct sample *edge = first;
	int64_t longest_ns = INT64_MIN;

	for (struct sample *sample = reader->last + 1; sample <= read; sample++) {
		int64_t ns;

		if (sample < read && !sample_is_certified(sample))
			continue;
		ns = sample->before_ns - before->after_ns;
		before = sample;
		if (sample < first)
			continue;
		if (ns > longest_ns) {
			longest_ns = ns;
			edge = sample;
		}
		if (n_unclear-- == 0)
			break;
	}
	return edge;
}

static int split(const struct reader *reader, const struct restart *restart, struct sample *read)
{
	uint32_t n_unclear;
	struct sample *first = find_edge(reader, restart, read, &n_unclear);

	FLEXTRACE_TRY(axis_split(reader->axis, restart->segment,
	                         likeliest_edge(reader, first, n_unclear, read)));
	for (; first < read && n_unclear > 0; first++) {
		if (!sample_is_certified(first))
			continue;
		first->status = TIME_ASSUMED;
		n_unclear--;
	}
	return FLEXTRACE_OK;
}

static void certify(struct axis *axis, struct sample *read, uint16_t segment, uint64_t place)
{
	axis->segments[segment].origin = read->first - place;
	axis->segments[segment].has_wide = true;
	read->first = place;
	read->segment = segment;
	read->status = TIME_CERTIFIED;
	sample_tell_run(read);
}

static void advance(struct reader *reader, struct sample *read)
{
	if (reader->last->segment != read->segment) {
		reader->across = NULL;
		reader->n_reads = 0;
	}
	reader->n_reads++;
	reader->last = read;
	reader->before = read;
	reader->doubted = NULL;
	reader->is_anew = true;
}

/* Reads that were outliers when there was only the old axis. */
static void look_back(const struct reader *reader, const struct sample *read)
{
	uint64_t ticks;

	for (struct sample *sample = reader->last + 1; sample < read; sample++) {
		if (sample->kind != SAMPLE_OP && sample->status == TIME_OUTLIER &&
		    agree(reader->axis, sample, read, &ticks))
			certify(reader->axis, sample, read->segment, read->first - ticks);
	}
}

/* Whether a later read still fits the axis that this one contradicts. */
static bool is_refuted(struct reader *reader, const struct sample *read, uint16_t segment)
{
	const struct sample *end = reader->axis->samples + reader->axis->n_samples;

	if (reader->next < read)
		reader->next = read;
	while (reader->next < end &&
	       (reader->next->kind == SAMPLE_OP || !sample_is_certified(reader->next)))
		reader->next++;
	return reader->next < end && reader->next->segment == segment;
}

/* Whether the only read of a segment is the one that lies: its low bits are right, but no later
 * read agrees. */
static bool is_lonely(const struct reader *reader, const struct restart *restart)
{
	const struct axis *axis = reader->axis;
	double ns = (double)(restart->read.after_ns - reader->last->before_ns);

	return reader->n_reads == 1 && is_in_step(axis, reader->last, &restart->read) &&
	       2 * WANDER * axis->rate.hi * ns < ldexp(CHANCE, (int)axis->narrow_bits);
}

static void turn_away(const struct axis *axis, struct sample *read)
{
	read->first = shown(axis, read);
	read->status = TIME_OUTLIER;
	sample_tell_run(read);
}

/* Begins a segment with a read, if it is true. */
static int try_restart(struct reader *reader, struct sample *read, bool is_backed)
{
	struct restart restart = {.read = *read, .segment = reader->before->segment};
	bool is_split = restart.segment != reader->last->segment;

	if (reader->axis->n_segments == MAX_SEGMENTS || is_refuted(reader, read, restart.segment) ||
	    !ask_behind(reader->axis, read, &restart))
		return FLEXTRACE_OK;
	if (restart.n_behind == 0 && !place_beside(reader->axis, reader->before, &restart.read))
		restart.read.first = low_bits(read->first, reader->axis->narrow_bits);
	if (!is_backed && (restart.n_in_step < MIN_IN_STEP ||
	                   (!is_split && is_in_step(reader->axis, reader->last, &restart.read))))
		return FLEXTRACE_OK;
	if (!is_split && is_lonely(reader, &restart)) {
		turn_away(reader->axis, reader->last);
	} else if (!is_split) {
		FLEXTRACE_TRY(split(reader, &restart, read));
		restart.segment++;
	}
	certify(reader->axis, read, restart.segment, restart.read.first);
	look_back(reader, read);
	advance(reader, read);
	return FLEXTRACE_OK;
}

static int take_outlier(struct reader *reader, struct sample *read)
{
	struct sample *doubted = reader->doubted;
	uint64_t ticks;

	if (reader->is_anew && reader->last->segment == reader->before->segment &&
	    agree(reader->axis, reader->last, read, &ticks)) {
		certify(reader->axis, read, reader->last->segment, reader->last->first + ticks);
		advance(reader, read);
		return FLEXTRACE_OK;
	}
	if (doubted && agree(reader->axis, doubted, read, &ticks)) {
		FLEXTRACE_TRY(try_restart(reader, doubted, true));
		if (!reader->doubted)
			return take_outlier(reader, read);
	}
	reader->doubted = read;
	return try_restart(reader, read, false);
}

/* -- gaps ------------------------------------------------------------------------------------ */

/* A gap was found before the segment of a read. If the read, the second that agrees, contradicts
 * those before the gap, the counter began anew in it. */
static void judge_gap(const struct reader *reader, const struct sample *read)
{
	const struct axis *axis = reader->axis;
	const struct axis_segment *segments = axis->segments;
	struct anchor anchor = anchor_of(reader->across);
	const struct anchor *anchors[] = {&anchor};
	struct sample raw = *read;
	struct phase phase;
	place_t place;

	for (uint32_t i = reader->across->segment + 1u; i <= read->segment; i++) {
		if (!segments[i].is_after_gap)
			return;
	}
	raw.first = shown(axis, read);
	phase = phase_of(axis, &raw, reader->across->segment);
	if (window_place(axis, &raw, &phase, anchors, 1, &place) == CONTRADICTS)
		axis->segments[read->segment].is_after_gap = false;
}

static void take_known(struct reader *reader, struct sample *sample)
{
	if (reader->before && reader->before->segment != sample->segment)
		reader->doubted = NULL;
	reader->before = sample;
	if (sample->kind == SAMPLE_OP)
		return;
	if (reader->last && reader->last->segment != sample->segment) {
		reader->across = reader->n_reads > 1 ? reader->last : NULL;
		reader->n_reads = 0;
	}
	if (++reader->n_reads == 2 && reader->across)
		judge_gap(reader, sample);
	reader->last = sample;
	reader->doubted = NULL;
	reader->is_anew = false;
}

int axis_split_reads(struct axis *axis)
{
	struct reader reader = {.axis = axis, .next = axis->samples};

	if (!axis->rate.is_known)
		return FLEXTRACE_OK;
	for (struct sample *sample = axis->samples; sample < axis->samples + axis->n_samples;
	     sample++) {
		if (sample_is_certified(sample))
			take_known(&reader, sample);
		else if (reader.last && sample->kind != SAMPLE_OP && sample->status == TIME_OUTLIER)
			FLEXTRACE_TRY(take_outlier(&reader, sample));
	}
	return FLEXTRACE_OK;
}
