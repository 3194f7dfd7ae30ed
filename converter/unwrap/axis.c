/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epochs of one counter, fact by fact in the order of host time. One epoch left: certified.
 * None, even with the widest pad: an outlier; three outliers in a row that agree with each other
 * are a reset, which begins a segment. Several: the gap before is too long for the rate's
 * interval, and a segment begins too, because nothing ties the two sides together; or the fact
 * itself is too wide, then it waits for the second pass (late.c).
 */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "window.h"

#define N_RECENT       4
#define N_NARROW       4
#define N_ANCHORS      (N_RECENT + N_NARROW)
#define N_SUSPECTS     3
#define TOLERANCE_NS   50e6
#define AGING          2e-3 /* how an anchor's bracket seems to widen per ns of its age */
#define MAX_SEGMENTS   65535u
#define MOVES_PER_FACT 16u
#define NEAR_END       ((place_t)1 << 44) /* ticks before 2^64 */

struct placer {
	struct axis *axis;
	struct anchor anchors[N_ANCHORS]; /* recent ones, then narrow ones */
	uint32_t n_recent, next_recent, n_narrow;
	uint32_t suspects[N_SUSPECTS], n_suspects;
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
	return ticks + 2 * axis->tolerance < ldexp(1, (int)bits);
}

/* -- anchors --------------------------------------------------------------------------------- */

static double staleness(const struct anchor *anchor, int64_t now_ns)
{
	return (double)(anchor->after_ns - anchor->before_ns) +
	       AGING * (double)(now_ns - anchor->after_ns);
}

/* Keeps the newest, and of the others those that bound best. */
static void add_anchor(struct placer *placer, const struct anchor *anchor)
{
	struct anchor *narrow = placer->anchors + N_RECENT;
	uint32_t worst = 0;

	placer->anchors[placer->next_recent] = *anchor;
	placer->next_recent = (placer->next_recent + 1) % N_RECENT;
	if (placer->n_recent < N_RECENT)
		placer->n_recent++;
	if (placer->n_narrow < N_NARROW) {
		narrow[placer->n_narrow++] = *anchor;
		return;
	}
	for (uint32_t i = 1; i < N_NARROW; i++) {
		if (staleness(&narrow[i], anchor->after_ns) >
		    staleness(&narrow[worst], anchor->after_ns))
			worst = i;
	}
	if (staleness(anchor, anchor->after_ns) < staleness(&narrow[worst], anchor->after_ns))
		narrow[worst] = *anchor;
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

/* -- first pass ------------------------------------------------------------------------------ */

static void commit(struct placer *placer, struct fact *fact, place_t place)
{
	struct axis *axis = placer->axis;
	struct axis_segment *segment = &axis->segments[axis->n_segments - 1];
	uint64_t bits = fact->first;
	struct anchor anchor;

	fact->first = (uint64_t)place;
	fact->segment = (uint16_t)(axis->n_segments - 1);
	fact->status = TIME_CERTIFIED;
	if (fact->kind != FACT_OP && !segment->has_wide) {
		segment->has_wide = true;
		segment->origin = bits - fact->first;
	}
	fact_tell_run(fact);
	anchor = anchor_of(fact);
	add_anchor(placer, &anchor);
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
		                 &place) == FITS)
			commit(placer, fact, place);
	}
}

int axis_add_segment(struct axis *axis)
{
	FLEXTRACE_TRY(array_make_room(&axis->segments, axis->n_segments, sizeof(*axis->segments)));
	axis->segments[axis->n_segments++] = (struct axis_segment){.least = INT64_MAX,
	                                                           .most = INT64_MIN};
	return FLEXTRACE_OK;
}

int axis_split(struct axis *axis, uint32_t segment, struct fact *first)
{
	FLEXTRACE_TRY(axis_add_segment(axis));
	for (uint32_t i = axis->n_segments - 1; i > segment; i--)
		axis->segments[i] = axis->segments[i - 1];
	axis->segments[segment + 1].is_after_gap = false;
	for (struct fact *fact = first; fact < axis->facts + axis->n_facts; fact++) {
		fact->segment += fact->segment >= segment && fact->status == TIME_CERTIFIED;
		fact_tell_run(fact);
	}
	return FLEXTRACE_OK;
}

static int open_segment(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct fact *fact = &axis->facts[index];

	FLEXTRACE_TRY(axis_add_segment(axis));
	placer->n_recent = placer->next_recent = placer->n_narrow = placer->n_suspects = 0;
	commit(placer, fact, low_bits(fact->first, axis->narrow_bits));
	look_back(placer, index);
	return FLEXTRACE_OK;
}

/* Whether two facts that no segment has could be of one. */
static bool can_be_of_one(const struct placer *placer, const struct fact *earlier,
                          const struct fact *later)
{
	const struct axis *axis = placer->axis;
	struct fact from = *earlier;
	struct phase phase = {low_bits(later->first, axis->narrow_bits), axis->narrow_bits};
	struct anchor anchor;
	const struct anchor *anchors[] = {&anchor};
	place_t place;

	from.first = low_bits(from.first, axis->narrow_bits);
	anchor = anchor_of(&from);
	return window_place(axis, later, &phase, anchors, 1, &place) != CONTRADICTS;
}

static int step(struct placer *placer, uint32_t index);

/* Takes note of an outlier; the third in a row that agrees with those before it makes them a
 * segment. */
static int suspect(struct placer *placer, uint32_t index)
{
	struct fact *facts = placer->axis->facts;
	uint32_t chain[N_SUSPECTS];

	facts[index].status = TIME_OUTLIER;
	if (placer->n_suspects > 0 &&
	    !can_be_of_one(placer, &facts[placer->suspects[placer->n_suspects - 1]], &facts[index]))
		placer->n_suspects = 0;
	placer->suspects[placer->n_suspects++] = index;
	if (placer->n_suspects < N_SUSPECTS || placer->axis->n_segments == MAX_SEGMENTS)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < N_SUSPECTS; i++)
		chain[i] = placer->suspects[i];
	FLEXTRACE_TRY(open_segment(placer, chain[0]));
	for (uint32_t i = 1; i < N_SUSPECTS; i++)
		FLEXTRACE_TRY(step(placer, chain[i]));
	return FLEXTRACE_OK;
}

/* Whether it is the time since the newest anchor that leaves an epoch open, and not the fact
 * itself. */
static bool is_gap(const struct placer *placer, const struct fact *fact)
{
	const struct axis *axis = placer->axis;
	const struct anchor *newest =
		&placer->anchors[(placer->next_recent + N_RECENT - 1) % N_RECENT];
	double gap_ns = (double)(fact->before_ns - newest->after_ns);

	return window_unknown_ticks(axis, gap_ns) > ldexp(0.25, (int)axis->narrow_bits);
}

static int step(struct placer *placer, uint32_t index)
{
	struct axis *axis = placer->axis;
	struct fact *fact = &axis->facts[index];
	const struct anchor *anchors[N_ANCHORS];
	enum verdict verdict = CONTRADICTS;
	place_t place;

	if (!is_startable(axis, fact))
		return FLEXTRACE_OK;
	if (axis->n_segments > 0) {
		struct phase phase = phase_of(axis, fact, (uint16_t)(axis->n_segments - 1));

		verdict = window_place(axis, fact, &phase, anchors, list_anchors(placer, anchors),
		                       &place);
	}
	if (verdict == CONTRADICTS)
		return suspect(placer, index);
	placer->n_suspects = 0;
	if (verdict == FITS) {
		commit(placer, fact, place);
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

/* -- the axis -------------------------------------------------------------------------------- */

static int64_t time_of(const struct fact *fact)
{
	return fact->after_ns != UNWRAP_NO_AFTER     ? fact->after_ns
	       : fact->before_ns != UNWRAP_NO_BEFORE ? fact->before_ns
	                                             : INT64_MAX;
}

static int compare_facts(const void *left, const void *right)
{
	const struct fact *a = left, *b = right;
	int64_t a_ns = time_of(a), b_ns = time_of(b);

	if (a_ns != b_ns)
		return (a_ns > b_ns) - (a_ns < b_ns);
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	if (a->before_ns != b->before_ns)
		return (a->before_ns > b->before_ns) - (a->before_ns < b->before_ns);
	return (a->first > b->first) - (a->first < b->first);
}

/* Facts come nearly sorted. */
static void sort_facts(struct fact *facts, uint32_t n)
{
	uint64_t moves = 0;

	for (uint32_t i = 1; i < n; i++) {
		struct fact fact = facts[i];
		uint32_t to = i;

		if (compare_facts(&facts[i - 1], &fact) <= 0)
			continue;
		for (; to > 0 && compare_facts(&facts[to - 1], &fact) > 0; to--)
			facts[to] = facts[to - 1];
		facts[to] = fact;
		moves += i - to;
		if (moves > (uint64_t)MOVES_PER_FACT * (n + 64u)) {
			qsort(facts, n, sizeof(*facts), compare_facts);
			return;
		}
	}
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

/* Stores between which places the facts of each segment are. */
static void find_ends(struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_facts; i++) {
		const struct fact *fact = &axis->facts[i];
		struct axis_segment *segment = &axis->segments[fact->segment];
		int64_t least = (int64_t)(fact->first - fact_lead(axis, fact));
		int64_t most = (int64_t)(fact->first + fact->span);

		segment->least = least < segment->least ? least : segment->least;
		segment->most = most > segment->most ? most : segment->most;
	}
}

/* Ticks are positive, and rise; whole reads say where the axis really is. Those of a counter that
 * passes 2^64 on the way, or might soon, are shifted by half of that. */
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
	sort_facts(axis->facts, axis->n_facts);
}

int axis_prepare(struct axis *axis)
{
	axis_sort(axis);
	return rate_bound(axis, &axis->rate);
}

int axis_place(struct axis *axis, const struct map *op_runs, const struct run *runs)
{
	struct placer *placer;
	int code = FLEXTRACE_OK;

	if (axis->n_facts == 0)
		return FLEXTRACE_OK;
	placer = calloc(1, sizeof(*placer));
	if (!placer)
		return FLEXTRACE_E_MEMORY;
	placer->axis = axis;
	order_judge_slips(axis);
	axis->tolerance = fmin(TOLERANCE_NS * axis->rate.hi, ldexp(0.05, (int)axis->narrow_bits));
	for (uint32_t i = 0; i < axis->n_facts && code >= 0; i++)
		code = step(placer, i);
	if (code >= 0 && axis->n_segments == 0)
		code = believe_first(placer);
	if (code >= 0 && axis->n_segments == 0)
		code = start_from_any(axis);
	if (code >= 0)
		code = axis_split_shifts(axis);
	if (code >= 0)
		code = axis_split_reads(axis);
	if (code >= 0)
		code = axis_choose(axis);
	if (code >= 0) {
		code = axis_place_rest(axis, op_runs, runs);
		set_origins(axis);
	}
	free(placer);
	return code;
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

uint32_t axis_find(const struct axis *axis, int64_t host_ns)
{
	uint32_t lo = 0, n = axis->n_facts;

	while (n > 0) {
		uint32_t half = n / 2;

		if (time_of(&axis->facts[lo + half]) <= host_ns) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

const struct fact *axis_fact_at(const struct axis *axis, int64_t host_ns)
{
	uint32_t lo = axis_find(axis, host_ns);

	for (uint32_t i = lo; i-- > 0;) {
		if (axis->facts[i].status == TIME_CERTIFIED && fact_is_bounded(&axis->facts[i]))
			return &axis->facts[i];
	}
	for (uint32_t i = lo; i < axis->n_facts; i++) {
		if (axis->facts[i].status == TIME_CERTIFIED && fact_is_bounded(&axis->facts[i]))
			return &axis->facts[i];
	}
	return NULL;
}

bool axis_latest(const struct axis *axis, int64_t host_ns, uint16_t *ret_segment,
                 uint64_t *ret_ticks)
{
	const struct fact *fact = axis_fact_at(axis, host_ns);
	place_t place;

	if (!fact)
		return false;
	place = (int64_t)fact->first + window_most_ticks(axis, host_ns - fact->before_ns);
	*ret_segment = fact->segment;
	*ret_ticks = axis_ticks(axis, fact->segment, (uint64_t)place);
	return true;
}
