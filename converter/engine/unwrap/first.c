/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first pass: the epochs of one counter, fact by fact in the order of host time.
 * - If one epoch is left, the fact is certified.
 * - If none is left, even with the widest pad, it is an outlier. Three outliers in a row that agree
 *   with each other are a reset, which begins a segment.
 * - If several are left, either the gap before is too long for the rate's interval, and a segment
 *   begins, because nothing ties the two sides together; or the fact itself is too wide, and it
 *   waits for the second pass (late.c).
 *
 * Outliers agree if the rate takes the counter from one to the next without a tolerance. Each piece
 * of false evidence, as where operations are paired with the host times of the next ones, is off by
 * another time. With a tolerance, these would pass for a reset whenever their times are no farther
 * apart than the tolerance. Only if many in a row agree within the tolerance do they begin a
 * segment, too: then the rate has changed.
 *
 * A fact that fits only by the tolerance is a stray. Strays bound no other fact, because the axis
 * would follow false evidence from stray to stray. The exception is strays that agree, in the same
 * way as outliers do.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "window.h"

#define N_RECENT     4
#define N_NARROW     4
#define N_ANCHORS    (N_RECENT + N_NARROW)
#define N_AGREEING   3u  /* facts in a row that agree with each other */
#define N_NEAR       16u /* facts in a row that agree within the tolerance */
#define TOLERANCE_NS 50e6
#define AGING        2e-3 /* how an anchor's bracket seems to widen per ns of its age */
#define MAX_SEGMENTS 65535u

/* A row of facts that are not on the axis, each near the one before it. */
struct row {
	uint32_t facts[N_AGREEING], n; /* the last ones, that agree with each other */
	uint32_t n_near;               /* all */
};

struct placer {
	struct axis *axis;
	struct anchor anchors[N_ANCHORS]; /* recent ones, then narrow ones */
	double stale[N_NARROW];           /* of the narrow ones: see staleness() */
	uint32_t n_recent, next_recent, n_narrow;
	uint32_t sharpest;           /* of the narrow ones */
	struct row outliers, strays; /* the newest facts are of one of them at most */
};

/* Whether the fact's own bracket is short enough for a single epoch. The span of an estimate is
 * whole: see spans_settle(). */
static bool is_startable(const struct axis *axis, const struct fact *fact)
{
	unsigned bits = fact->kind == FACT_OP ? axis->narrow_bits : axis->wide_bits;
	double ticks;

	if (!fact_is_bounded(fact))
		return false;
	ticks = axis->rate.hi * (double)(fact->after_ns - fact->before_ns) -
	        (axis->is_soft ? (double)fact->span : 0);
	return ticks + 2 * axis->tolerance < n_values(bits);
}

/* -- anchors --------------------------------------------------------------------------------- */

/* How wide an anchor's bracket seems. All age alike, so that it need not be asked anew. */
static double staleness(const struct anchor *anchor)
{
	return (double)(anchor->after_ns - anchor->before_ns) - AGING * (double)anchor->after_ns;
}

/* Keeps the newest, and of the others those that bound best. */
static void add_anchor(struct placer *placer, const struct fact *fact)
{
	const struct anchor anchor = anchor_of(fact);
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

static void commit(const struct placer *placer, struct fact *fact, place_t place)
{
	struct axis *axis = placer->axis;
	struct axis_segment *segment = &axis->segments[axis->n_segments - 1];
	uint64_t bits = fact->first;

	fact->first = (uint64_t)place;
	fact->segment = (uint16_t)(axis->n_segments - 1);
	fact->status = TIME_CERTIFIED;
	if (fact->kind != FACT_OP && !segment->has_wide) {
		segment->has_wide = true;
		segment->origin = bits - fact->first;
	}
	fact_tell_run(fact);
}

/* A placed fact bounds others if it is on the axis. Returns whether it does. */
static bool try_anchor(struct placer *placer, struct fact *fact)
{
	fact->is_stray = !window_is_exact(placer->axis, newest_anchor(placer), fact);
	if (!fact->is_stray)
		add_anchor(placer, fact);
	return !fact->is_stray;
}

/* Outliers just before a segment's first fact may belong to it: they came before it was known. */
static void look_back(struct placer *placer, uint32_t from)
{
	struct axis *axis = placer->axis;
	const struct anchor *anchors[N_ANCHORS];
	uint16_t segment = (uint16_t)(axis->n_segments - 1);

	for (uint32_t i = from; i-- > 0;) {
		struct fact *fact = &axis->facts[i];
		struct phase phase = phase_of(axis, fact, segment);
		place_t place;

		if (fact->status == TIME_CERTIFIED)
			return;
		if (fact->status != TIME_OUTLIER)
			continue;
		if (window_place(axis, fact, &phase, anchors, list_anchors(placer, anchors),
		                 &place) != FITS)
			continue;
		commit(placer, fact, place);
		try_anchor(placer, fact);
	}
}

static int open_segment(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct fact *fact = &axis->facts[index];

	FLEXTRACE_TRY(axis_add_segment(axis));
	placer->n_recent = placer->next_recent = placer->n_narrow = 0;
	placer->outliers = placer->strays = (struct row){.n = 0};
	commit(placer, fact, low_bits(fact->first, axis->narrow_bits));
	add_anchor(placer, fact);
	look_back(placer, index);
	return FLEXTRACE_OK;
}

/* Whether two facts could be of one segment, by the tolerance, and whether they agree. */
static bool are_near(const struct axis *axis, const struct fact *earlier, const struct fact *later,
                     bool *ret_agree)
{
	struct fact from = *earlier, to = *later;
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

/* Adds a fact to a row, or begins it anew; true: those that agree are believed. */
static bool add_to_row(const struct axis *axis, struct row *row, uint32_t index)
{
	const struct fact *facts = axis->facts;
	bool agree = false;

	if (row->n > 0 && !are_near(axis, &facts[row->facts[row->n - 1]], &facts[index], &agree))
		row->n_near = 0;
	if (row->n_near == 0 || !agree)
		row->n = 0;
	row->facts[row->n++] = index;
	row->n_near++;
	return row->n == N_AGREEING || row->n_near >= N_NEAR;
}

static int step(struct placer *placer, uint32_t index);

/* Takes note of an outlier; those that agree are a segment. */
static int take_outlier(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct row row;

	axis->facts[index].status = TIME_OUTLIER;
	placer->strays = (struct row){.n = 0};
	if (axis->n_segments == MAX_SEGMENTS || !add_to_row(axis, &placer->outliers, index))
		return FLEXTRACE_OK;
	row = placer->outliers;
	FLEXTRACE_TRY(open_segment(placer, row.facts[0]));
	for (uint32_t i = 1; i < row.n; i++)
		FLEXTRACE_TRY(step(placer, row.facts[i]));
	return FLEXTRACE_OK;
}

/* Takes note of a stray; those that agree say where the axis is now. */
static void take_stray(struct placer *placer, uint32_t index)
{
	struct row *row = &placer->strays;

	if (!add_to_row(placer->axis, row, index))
		return;
	for (uint32_t i = 0; i < row->n; i++) {
		struct fact *fact = &placer->axis->facts[row->facts[i]];

		fact->is_stray = false;
		add_anchor(placer, fact);
	}
	*row = (struct row){.n = 0};
}

/* Whether it is the time since the newest anchor that leaves an epoch open, and not the fact
 * itself. */
static bool is_gap(const struct placer *placer, const struct fact *fact)
{
	const struct axis *axis = placer->axis;
	double gap_ns = (double)(fact->before_ns - newest_anchor(placer)->after_ns);

	return window_unknown_ticks(axis, gap_ns) > n_values(axis->narrow_bits) / 4;
}

/* Looks for the one epoch that the anchors leave. Of those that were under way when a counter began
 * anew, or a host's clock jumped, all may: the one that bounds best is asked as well. */
static enum verdict find_place(const struct placer *placer, const struct fact *fact,
                               place_t *ret_place)
{
	const struct axis *axis = placer->axis;
	const struct anchor *anchors[N_ANCHORS];
	struct phase phase = phase_of(axis, fact, (uint16_t)(axis->n_segments - 1));
	enum verdict verdict = window_place(axis, fact, &phase, anchors,
	                                    list_anchors(placer, anchors), ret_place);

	if (verdict == FITS &&
	    !window_is_near(axis, &placer->anchors[N_RECENT + placer->sharpest], fact, *ret_place))
		return CONTRADICTS;
	return verdict;
}

static int step(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct fact *fact = &axis->facts[index];
	enum verdict verdict = CONTRADICTS;
	place_t place;

	if (!is_startable(axis, fact))
		return FLEXTRACE_OK;
	if (axis->n_segments > 0)
		verdict = find_place(placer, fact, &place);
	if (verdict == CONTRADICTS)
		return take_outlier(placer, index);
	placer->outliers = (struct row){.n = 0};
	if (verdict == FITS) {
		commit(placer, fact, place);
		if (!try_anchor(placer, fact))
			take_stray(placer, index);
		else
			placer->strays = (struct row){.n = 0};
	} else if (is_gap(placer, fact) && axis->n_segments < MAX_SEGMENTS) {
		FLEXTRACE_TRY(open_segment(placer, index));
		axis->segments[axis->n_segments - 1].is_after_gap = true;
	}
	return FLEXTRACE_OK;
}

/* Too few facts for three to agree: the first is believed. */
static int believe_first(struct placer *placer)
{
	struct axis *axis = placer->axis;
	uint32_t i = 0;

	while (i < axis->n_facts && !is_startable(axis, &axis->facts[i]))
		i++;
	if (i == axis->n_facts)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(open_segment(placer, i));
	for (i++; i < axis->n_facts; i++)
		FLEXTRACE_TRY(step(placer, i));
	return FLEXTRACE_OK;
}

/* No bracket is short enough to start from. The first stamp of the first one lies in it all the
 * same. */
static int start_from_any(struct axis *axis)
{
	uint32_t i = 0;

	FLEXTRACE_TRY(axis_add_segment(axis));
	while (i < axis->n_facts && !fact_is_bounded(&axis->facts[i]))
		i++;
	if (i < axis->n_facts)
		axis->facts[i].is_origin = true;
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
	for (uint32_t i = 0; i < axis->n_facts && code >= 0; i++) {
		order_judge_slip(axis, &axis->facts[i]);
		code = step(placer, i);
	}
	if (code >= 0 && axis->n_segments == 0)
		code = believe_first(placer);
	if (code >= 0 && axis->n_segments == 0)
		code = start_from_any(axis);
	free(placer);
	return code;
}
