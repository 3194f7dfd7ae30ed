/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first pass: the epochs of one counter, sample by sample in the order of host time.
 * - If one epoch is left, the sample is certified.
 * - If none is left, even with the widest pad, it is an outlier. Three outliers in a row that agree
 *   with each other are a reset, which begins a segment.
 * - If several are left, either the gap before is too long for the rate's interval, and a segment
 *   begins, because nothing ties the two sides together; or the sample itself is too wide, and it
 *   waits for the second pass (late.c).
 *
 * Outliers agree if the rate takes the counter from one to the next without a tolerance. Each piece
 * of false evidence, as where operations are paired with the host times of the next ones, is off by
 * another time. With a tolerance, these would pass for a reset whenever their times are no farther
 * apart than the tolerance. Only if many in a row agree within the tolerance do they begin a
 * segment, too: then the rate has changed.
 *
 * A sample that fits only by the tolerance is a stray. Strays bound no other sample, because the
 * axis would follow false evidence from stray to stray. The exception is strays that agree, in the
 * same way as outliers do.
 */
#include <math.h>
#include <stdlib.h>

#include "window.h"

#define N_RECENT     4
#define N_NARROW     4
#define N_ANCHORS    (N_RECENT + N_NARROW)
#define N_AGREEING   3u  /* samples in a row that agree with each other */
#define N_NEAR       16u /* samples in a row that agree within the tolerance */
#define TOLERANCE_NS 50e6
#define AGING        2e-3 /* how an anchor's bracket seems to widen per ns of its age */
#define MAX_SEGMENTS 65535u

/* A row of samples that are not on the axis, each near the one before it. */
struct row {
	uint32_t samples[N_AGREEING], n; /* the last ones, that agree with each other */
	uint32_t n_near;                 /* all */
};

struct placer {
	struct axis *axis;
	struct anchor anchors[N_ANCHORS]; /* recent ones, then narrow ones */
	double stale[N_NARROW];           /* of the narrow ones: see staleness() */
	uint32_t n_recent, next_recent, n_narrow;
	uint32_t sharpest;           /* of the narrow ones */
	struct row outliers, strays; /* the newest samples are of one of them at most */
};

/* Whether the sample's own bracket is short enough for a single epoch. The span of an estimate is
 * whole: see spans_settle(). */
static bool is_startable(const struct axis *axis, const struct sample *sample)
{
	unsigned bits = sample->kind == SAMPLE_OP ? axis->narrow_bits : axis->wide_bits;
	double ticks;

	if (!sample_is_bounded(sample))
		return false;
	ticks = axis->rate.hi * (double)(sample->after_ns - sample->before_ns) -
	        (axis->is_soft ? (double)sample->span : 0);
	return ticks + 2 * axis->tolerance < n_values(bits);
}

/* -- anchors --------------------------------------------------------------------------------- */

/* How wide an anchor's bracket seems. All age alike, so that it need not be asked anew. */
static double staleness(const struct anchor *anchor)
{
	return (double)(anchor->after_ns - anchor->before_ns) - AGING * (double)anchor->after_ns;
}

/* Keeps the newest, and of the others those that bound best. */
static void add_anchor(struct placer *placer, const struct sample *sample)
{
	const struct anchor anchor = anchor_of(sample);
	struct anchor *narrow = placer->anchors + N_RECENT;
	double *stale = placer->stale, own = staleness(&anchor);
	uint32_t worst = 0, best = 0;

	placer->anchors[placer->next_recent] = anchor;
	placer->next_recent = (placer->next_recent + 1) % N_RECENT;
	if (placer->n_recent < N_RECENT)
		placer->n_recent++;
	if (placer->n_narrow < N_NARROW) {
		stale[placer->n_narrow] = own;
		narrow[placer->n_narrow++] = anchor;
	}
	for (uint32_t i = 1; i < placer->n_narrow; i++) {
		worst = stale[i] > stale[worst] ? i : worst;
		best = stale[i] < stale[best] ? i : best;
	}
	placer->sharpest = own < stale[best] ? worst : best;
	if (own < stale[worst]) {
		stale[worst] = own;
		narrow[worst] = anchor;
	}
}

/* Lists the anchors, newest first. */
static uint32_t list_anchors(const struct placer *placer, const struct anchor **anchors)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < placer->n_recent; i++)
		anchors[n++] =
			&placer->anchors[(placer->next_recent + N_RECENT - 1 - i) % N_RECENT];
	for (uint32_t i = 0; i < placer->n_narrow; i++)
		anchors[n++] = &placer->anchors[N_RECENT + i];
	return n;
}

static const struct anchor *newest_anchor(const struct placer *placer)
{
	return &placer->anchors[(placer->next_recent + N_RECENT - 1) % N_RECENT];
}

/* -- first pass ------------------------------------------------------------------------------ */

static void commit(const struct placer *placer, struct sample *sample, place_t place)
{
	struct axis *axis = placer->axis;
	struct axis_segment *segment = &axis->segments[axis->n_segments - 1];
	uint64_t bits = sample->first;

	sample->first = (uint64_t)place;
	sample->segment = (uint16_t)(axis->n_segments - 1);
	sample->status = TIME_CERTIFIED;
	if (sample->kind != SAMPLE_OP && !segment->has_wide) {
		segment->has_wide = true;
		segment->origin = bits - sample->first;
	}
	sample_tell_run(sample);
}

/* A placed sample bounds others if it is on the axis. Returns whether it does. */
static bool try_anchor(struct placer *placer, struct sample *sample)
{
	sample->is_stray = !window_is_exact(placer->axis, newest_anchor(placer), sample);
	if (!sample->is_stray)
		add_anchor(placer, sample);
	return !sample->is_stray;
}

/* Outliers just before a segment's first sample may belong to it: they came before it was known. */
static void look_back(struct placer *placer, uint32_t from)
{
	struct axis *axis = placer->axis;
	const struct anchor *anchors[N_ANCHORS];
	uint16_t segment = (uint16_t)(axis->n_segments - 1);

	for (uint32_t i = from; i-- > 0;) {
		struct sample *sample = &axis->samples[i];
		struct phase phase = phase_of(axis, sample, segment);
		place_t place;

		if (sample->status == TIME_CERTIFIED)
			return;
		if (sample->status != TIME_OUTLIER)
			continue;
		if (window_place(axis, sample, &phase, anchors, list_anchors(placer, anchors),
		                 &place) != FITS)
			continue;
		commit(placer, sample, place);
		try_anchor(placer, sample);
	}
}

static int open_segment(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct sample *sample = &axis->samples[index];

	FLEXTRACE_TRY(axis_add_segment(axis));
	placer->n_recent = placer->next_recent = placer->n_narrow = 0;
	placer->outliers = placer->strays = (struct row){.n = 0};
	commit(placer, sample, low_bits(sample->first, axis->narrow_bits));
	add_anchor(placer, sample);
	look_back(placer, index);
	return FLEXTRACE_OK;
}

/* Whether two samples could be of one segment, by the tolerance, and whether they agree. */
static bool are_near(const struct axis *axis, const struct sample *earlier,
                     const struct sample *later, bool *ret_agree)
{
	struct sample from = *earlier, to = *later;
	struct phase phase = {low_bits(later->first, axis->narrow_bits), axis->narrow_bits};
	struct anchor anchor;
	const struct anchor *anchors[] = {&anchor};
	enum verdict verdict;
	place_t place;

	from.first = low_bits(from.first, axis->narrow_bits);
	anchor = anchor_of(&from);
	verdict = window_place(axis, later, &phase, anchors, 1, &place);
	to.first = (uint64_t)place;
	*ret_agree = verdict == IS_OPEN || window_is_exact(axis, &anchor, &to);
	return verdict != CONTRADICTS;
}

/* Adds a sample to a row, or begins it anew; true: those that agree are believed. */
static bool add_to_row(const struct axis *axis, struct row *row, uint32_t index)
{
	const struct sample *samples = axis->samples;
	bool agree = false;

	if (row->n > 0 &&
	    !are_near(axis, &samples[row->samples[row->n - 1]], &samples[index], &agree))
		row->n_near = 0;
	if (row->n_near == 0 || !agree)
		row->n = 0;
	row->samples[row->n++] = index;
	row->n_near++;
	return row->n == N_AGREEING || row->n_near >= N_NEAR;
}

static int step(struct placer *placer, uint32_t index);

/* Takes note of an outlier; those that agree are a segment. */
static int take_outlier(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct row row;

	axis->samples[index].status = TIME_OUTLIER;
	placer->strays = (struct row){.n = 0};
	if (axis->n_segments == MAX_SEGMENTS || !add_to_row(axis, &placer->outliers, index))
		return FLEXTRACE_OK;
	row = placer->outliers;
	FLEXTRACE_TRY(open_segment(placer, row.samples[0]));
	for (uint32_t i = 1; i < row.n; i++)
		FLEXTRACE_TRY(step(placer, row.samples[i]));
	return FLEXTRACE_OK;
}

/* Takes note of a stray; those that agree say where the axis is now. */
static void take_stray(struct placer *placer, uint32_t index)
{
	struct row *row = &placer->strays;

	if (!add_to_row(placer->axis, row, index))
		return;
	for (uint32_t i = 0; i < row->n; i++) {
		struct sample *sample = &placer->axis->samples[row->samples[i]];

		sample->is_stray = false;
		add_anchor(placer, sample);
	}
	*row = (struct row){.n = 0};
}

/* Whether it is the time since the newest anchor that leaves an epoch open, and not the sample
 * itself. */
static bool is_gap(const struct placer *placer, const struct sample *sample)
{
	const struct axis *axis = placer->axis;
	double gap_ns = (double)(sample->before_ns - newest_anchor(placer)->after_ns);

	return window_unknown_ticks(axis, gap_ns) > n_values(axis->narrow_bits) / 4;
}

/* Looks for the one epoch that the anchors leave. Of those that were under way when a counter began
 * anew, or a host's clock jumped, all may: the one that bounds best is asked as well. */
static enum verdict find_place(const struct placer *placer, const struct sample *sample,
                               place_t *ret_place)
{
	const struct axis *axis = placer->axis;
	const struct anchor *anchors[N_ANCHORS];
	struct phase phase = phase_of(axis, sample, (uint16_t)(axis->n_segments - 1));
	enum verdict verdict = window_place(axis, sample, &phase, anchors,
	                                    list_anchors(placer, anchors), ret_place);

	if (verdict == FITS && !window_is_near(axis, &placer->anchors[N_RECENT + placer->sharpest],
	                                       sample, *ret_place))
		return CONTRADICTS;
	return verdict;
}

static int step(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct sample *sample = &axis->samples[index];
	enum verdict verdict = CONTRADICTS;
	place_t place;

	if (!is_startable(axis, sample))
		return FLEXTRACE_OK;
	if (axis->n_segments > 0)
		verdict = find_place(placer, sample, &place);
	if (verdict == CONTRADICTS)
		return take_outlier(placer, index);
	placer->outliers = (struct row){.n = 0};
	if (verdict == FITS) {
		commit(placer, sample, place);
		if (!try_anchor(placer, sample))
			take_stray(placer, index);
		else
			placer->strays = (struct row){.n = 0};
	} else if (is_gap(placer, sample) && axis->n_segments < MAX_SEGMENTS) {
		FLEXTRACE_TRY(open_segment(placer, index));
		axis->segments[axis->n_segments - 1].is_after_gap = true;
	}
	return FLEXTRACE_OK;
}

/* Too few samples for three to agree: the first is believed. */
static int believe_first(struct placer *placer)
{
	struct axis *axis = placer->axis;
	uint32_t i = 0;

	while (i < axis->n_samples && !is_startable(axis, &axis->samples[i]))
		i++;
	if (i == axis->n_samples)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(open_segment(placer, i));
	for (i++; i < axis->n_samples; i++)
		FLEXTRACE_TRY(step(placer, i));
	return FLEXTRACE_OK;
}

/* No bracket is short enough to start from. The first stamp of the first one lies in it all the
 * same. */
static int start_from_any(struct axis *axis)
{
	uint32_t i = 0;

	FLEXTRACE_TRY(axis_add_segment(axis));
	while (i < axis->n_samples && !sample_is_bounded(&axis->samples[i]))
		i++;
	if (i < axis->n_samples)
		axis->samples[i].is_origin = true;
	return FLEXTRACE_OK;
}

int axis_place_first(struct axis *axis)
{
	struct placer *placer = calloc(1, sizeof(*placer));
	int code = FLEXTRACE_OK;

	if (!placer)
		return FLEXTRACE_E_MEMORY;
	placer->axis = axis;
	axis->tolerance = fmin(TOLERANCE_NS * axis->rate.hi, 0.05 * n_values(axis->narrow_bits));
	for (uint32_t i = 0; i < axis->n_samples && code >= 0; i++) {
		order_judge_slip(axis, &axis->samples[i]);
		code = step(placer, i);
	}
	if (code >= 0 && axis->n_segments == 0)
		code = believe_first(placer);
	if (code >= 0 && axis->n_segments == 0)
		code = start_from_any(axis);
	free(placer);
	return code;
}
