/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference follows the rate piece by piece, so that rho has to cover only how the rate wanders
 * within one piece. In each piece the rate is within rho of the slopes of all parts that reach it:
 * see reach.c.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/calibrate/calibrate_impl.h"
#include "base/order.h"

#define STEP 20e-6 /* a change of the rate that is told as one */

/* -- pieces ---------------------------------------------------------------------------------- */

/* Rates below some 1 kHz, which no counter has, are cut off: products with them fit into a
 * wide_int. */
static uint64_t fixed(double value, int bits)
{
	double scaled = ceil(ldexp(value, bits));

	if (!(scaled > 0))
		return 0;
	return scaled < 0x1p60 ? (uint64_t)scaled : UINT64_C(1) << 60;
}

struct maker {
	const struct parts *parts;
	struct piece *pieces; /* owned by the reference, in the end */
	uint32_t n;
};

/* Adds a piece from `x` on, where the one before ends. */
static void add_piece(struct maker *maker, uint64_t x, const struct line *line, bool is_bridge)
{
	struct piece *piece = &maker->pieces[maker->n], *before = piece - 1;
	double slope, rho = maker->parts->rho;

	piece->x = x;
	if (maker->n > 0)
		piece->at = before->at + (((wide_int)(x - before->x) * before->slope) >>
		                          (SLOPE_BITS - PHI_BITS));
	else
		piece->at = (wide_int)llround(maker->parts->whole->offset_ns) * (1 << PHI_BITS);
	piece->slope = fixed(line->slope, SLOPE_BITS);
	slope = ldexp((double)piece->slope, -SLOPE_BITS);
	piece->rise = fixed(slope_most(line->slope_hi, rho) - slope, WANDER_BITS) + 1;
	piece->fall = fixed(slope - slope_least(line->slope_lo, rho), WANDER_BITS) + 1;
	piece->is_bridge = is_bridge;
	maker->n++;
}

static void widen(struct line *line, const struct line *by)
{
	line->slope_lo = fmin(line->slope_lo, by->slope_lo);
	line->slope_hi = fmax(line->slope_hi, by->slope_hi);
}

static bool reaches(const struct part *part, uint64_t x)
{
	return part && part->reach_from <= x && x < part->reach_to;
}

/* Adds the piece of a part from `x` on. A part without a rate has a false bracket in it, or the
 * rate stepped there; its neighbours show which. If none has a rate, it wanders more than rho. */
static void add_piece_of(struct maker *maker, uint32_t at, uint64_t x)
{
	const struct part *part = &maker->parts->parts[at];
	const struct part *last = part_near(maker->parts, at, -1);
	const struct part *next = part_near(maker->parts, at, 1);
	struct line line = part->line;

	if (!part->has_rate && (last || next)) {
		last = last ? last : next;
		next = next ? next : last;
		line = last->line;
		widen(&line, &next->line);
		line.slope = (last->line.slope + next->line.slope) / 2;
		add_piece(maker, x, &line, true);
		return;
	}
	if (!part->has_rate && maker->parts->n > 1)
		line.slope_lo = line.slope_hi = line.slope = maker->parts->whole->slope;
	if (reaches(last, x))
		widen(&line, &last->line);
	if (reaches(next, x))
		widen(&line, &next->line);
	add_piece(maker, x, &line, reaches(last, x) || reaches(next, x));
}

/* -- eras ------------------------------------------------------------------------------------ */

static void tell_limits(const struct parts *parts, const struct part *part, struct era *era,
                        int end)
{
	era->least[end] = fixed(slope_least(part->line.slope_lo, parts->rho), WANDER_BITS) - 1;
	era->most[end] = fixed(slope_most(part->line.slope_hi, parts->rho), WANDER_BITS);
}

/* Whether the rates of two eras are so open that they may be one. */
static bool may_be_same(const struct era *era, const struct era *next, double rho)
{
	double within = 1 - 2 * rho; /* limits are twice rho beside slopes */

	return (double)next->least[0] <= within * (double)era->most[1] &&
	       (double)era->least[1] <= within * (double)next->most[0];
}

/* Ends the core of an era where the next one reaches, and begins that of the next one where the era
 * does not reach any more. If both may be of one rate, they may reach far, and the border between
 * their parts, which begins at `x`, divides what both reach. */
static void divide(struct era *era, struct era *next, uint64_t x, double rho)
{
	uint64_t to = next->reach_from, from = era->reach_to;

	if (may_be_same(era, next, rho)) {
		to = to > x ? to : x;
		from = from < x ? from : x;
	}
	if (to < era->core_to)
		era->core_to = to;
	if (from > next->core_from)
		next->core_from = from;
}

/* Leaves as core what an era reaches and no other does. */
static void find_cores(const struct parts *parts, struct era *eras, uint32_t n,
                       const struct part *const *firsts, const struct part *const *lasts)
{
	for (uint32_t i = 0; i < n; i++) {
		struct era *era = &eras[i];

		era->core_from = era->reach_from;
		era->core_to = era->reach_to;
		era->own_from = block_x(parts->hulls, firsts[i]->core_from);
		era->own_to = block_x(parts->hulls, lasts[i]->core_to);
	}
	for (uint32_t i = 1; i < n; i++)
		divide(&eras[i - 1], &eras[i], block_x(parts->hulls, firsts[i]->from), parts->rho);
}

/* Lists the eras: parts in a row that no step divides. */
static int list_eras(const struct parts *parts, struct reference *reference)
{
	const struct part **firsts = calloc(parts->n, sizeof(const struct part *));
	const struct part **lasts = calloc(parts->n, sizeof(const struct part *));
	struct era *eras = calloc(parts->n, sizeof(*eras));
	bool is_new = true;
	uint32_t n = 0;

	for (uint32_t i = 0; i < parts->n && firsts && lasts && eras; i++) {
		const struct part *part = &parts->parts[i];

		if (!part->has_rate)
			continue;
		if (is_new) {
			firsts[n] = part;
			eras[n].reach_from = part->reach_from;
			tell_limits(parts, part, &eras[n++], 0);
		}
		lasts[n - 1] = part;
		eras[n - 1].reach_to = part->reach_to;
		tell_limits(parts, part, &eras[n - 1], 1);
		is_new = part->is_before_step;
	}
	if (firsts && lasts && eras)
		find_cores(parts, eras, n, firsts, lasts);
	free(firsts);
	free(lasts);
	reference->eras = eras;
	reference->n_eras = n;
	return firsts && lasts && eras ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static void limit(const struct reference *reference, uint64_t x, struct era *era, int end)
{
	const struct piece *piece = reference_piece(reference, x);
	uint64_t slope = piece->slope << (WANDER_BITS - SLOPE_BITS);

	era->least[end] = slope > piece->fall ? slope - piece->fall : 0;
	era->most[end] = slope + piece->rise;
}

/* Ends an era at a jump, which it may reach beyond, and begins the next one. */
static void cut_era(const struct reference *reference, struct era *era, const struct stretch *jump)
{
	struct era *next = era + 1;

	*next = *era;
	era->core_to = jump->from;
	next->core_from = jump->to;
	era->is_jump[1] = next->is_jump[0] = true;
	next->reach_from = era->core_from;
	era->reach_to = next->core_to;
	era->own_from = era->own_to = next->own_from = next->own_to = 0;
	limit(reference, jump->from, era, 1);
	limit(reference, jump->to, next, 0);
}

/* The eras between steps of the rate, at least one. */
static int uncut(struct reference *reference)
{
	struct era *era;

	if (reference->n_uncut == 0) {
		reference->uncut = reference->eras;
		reference->n_uncut = reference->n_eras;
		reference->eras = NULL;
	}
	if (reference->n_uncut > 1)
		return FLEXTRACE_OK;
	free(reference->uncut);
	reference->uncut = era = calloc(1, sizeof(*era));
	if (!era)
		return FLEXTRACE_E_MEMORY;
	reference->n_uncut = 1;
	era->reach_to = era->core_to = UINT64_MAX;
	limit(reference, 0, era, 0);
	limit(reference, UINT64_MAX, era, 1);
	return FLEXTRACE_OK;
}

int reference_cut(struct reference *reference, const struct doubts *jumps)
{
	uint32_t n = 0, at = 0;

	if (jumps->n == 0 && reference->n_uncut == 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(uncut(reference));
	free(reference->eras);
	reference->n_eras = 0;
	FLEXTRACE_TRY(ARRAY_NEW(reference->eras, reference->n_uncut + (size_t)jumps->n));
	for (uint32_t i = 0; i < reference->n_uncut; i++) {
		struct era *eras = reference->eras;

		eras[n++] = reference->uncut[i];
		for (; at < jumps->n && jumps->stretches[at].to < eras[n - 1].core_to; at++) {
			if (jumps->stretches[at].from <= eras[n - 1].core_from)
				continue;
			cut_era(reference, &eras[n - 1], &jumps->stretches[at]);
			n++;
		}
	}
	reference->n_eras = n;
	return FLEXTRACE_OK;
}

/* A piece is free where not exactly one era reaches. */
static void free_pieces(struct reference *reference)
{
	for (uint32_t i = 0, era = 0; i < reference->n_pieces && reference->n_eras > 1; i++) {
		struct piece *piece = &reference->pieces[i];
		uint32_t n = 0;

		while (era + 1 < reference->n_eras && reference->eras[era].reach_to <= piece->x)
			era++;
		for (uint32_t j = era > 2 ? era - 2 : 0; j < reference->n_eras && j < era + 3; j++)
			n += reference->eras[j].reach_from <= piece->x &&
			     piece->x < reference->eras[j].reach_to;
		piece->is_free = n != 1;
	}
}

/* -- all ------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return ORDER(a, b);
}

/* Lists where a part begins, or begins or ceases to reach. Returns how many. */
static uint32_t list_edges(const struct parts *parts, uint64_t *edges)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < parts->n; i++) {
		const struct part *part = &parts->parts[i];

		edges[n++] = block_x(parts->hulls, part->from);
		if (!part->has_rate)
			continue;
		edges[n++] = part->reach_from;
		edges[n++] = part->reach_to;
	}
	ORDER_ARRAY(edges, n, compare);
	return n;
}

static int make_pieces(struct maker *maker)
{
	const struct parts *parts = maker->parts;
	uint64_t *edges = malloc(3ull * parts->n * sizeof(*edges));
	uint32_t n, at = 0;

	maker->pieces = calloc(3ull * parts->n, sizeof(*maker->pieces));
	if (!edges || !maker->pieces) {
		free(edges);
		return FLEXTRACE_E_MEMORY;
	}
	n = list_edges(parts, edges);
	for (uint32_t i = 0; i < n && edges[i] < UINT64_MAX; i++) {
		if (i > 0 && edges[i] == edges[i - 1])
			continue;
		while (at + 1 < parts->n &&
		       block_x(parts->hulls, parts->parts[at + 1].from) <= edges[i])
			at++;
		add_piece_of(maker, at, edges[i]);
	}
	free(edges);
	return FLEXTRACE_OK;
}

int reference_init(struct reference *reference, const struct hulls *hulls, const struct line *whole,
                   double rho)
{
	struct parts parts;
	struct maker maker = {.parts = &parts};
	int code = parts_init(&parts, hulls, whole, rho);

	if (code >= 0)
		code = parts_reach(&parts);
	if (code >= 0)
		code = make_pieces(&maker);
	*reference = (struct reference){.pieces = maker.pieces, .n_pieces = maker.n};
	if (code >= 0)
		code = list_eras(&parts, reference);
	if (code >= 0)
		free_pieces(reference);
	parts_release(&parts);
	return code;
}

int reference_init_straight(struct reference *reference, double slope, double slack)
{
	struct piece *piece = calloc(1, sizeof(*piece));

	*reference = (struct reference){.pieces = piece, .n_pieces = 1};
	if (!piece)
		return FLEXTRACE_E_MEMORY;
	piece->slope = fixed(slope, SLOPE_BITS);
	piece->rise = piece->fall = fixed(slope * slack, WANDER_BITS);
	return FLEXTRACE_OK;
}

void reference_release(struct reference *reference)
{
	free(reference->pieces);
	free(reference->eras);
	free(reference->uncut);
	free(reference->steady);
	*reference = (struct reference){0};
}

bool reference_bends(const struct reference *reference, double rho)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t i = 0; i < reference->n_pieces; i++) {
		uint64_t slope = reference->pieces[i].slope;

		least = slope < least ? slope : least;
		most = slope > most ? slope : most;
	}
	return reference->n_eras > 1 || (double)(most - least) > rho * (double)least;
}

uint32_t reference_steps(const struct reference *reference)
{
	const struct reference told = reference_told(reference);
	double before = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < told.n_pieces; i++) {
		double slope = (double)told.pieces[i].slope;

		/* Nothing behind the last one says better what the rate became. */
		if (told.pieces[i].is_bridge && i + 1 < told.n_pieces)
			continue;
		n += before > 0 && fabs(slope - before) > STEP * before;
		before = slope;
	}
	return n;
}

const struct piece *reference_piece(const struct reference *reference, uint64_t x)
{
	uint32_t lo = 0, n = reference->n_pieces;

	while (n > 1) {
		uint32_t half = n / 2;

		lo += reference->pieces[lo + half].x <= x ? half : 0;
		n -= half;
	}
	return &reference->pieces[lo];
}

void walk_find(struct walk *walk, uint64_t x)
{
	const struct reference *reference = walk->reference;
	const struct piece *piece = reference_piece(reference, x);

	walk->piece = piece;
	walk->from = piece == reference->pieces ? 0 : piece->x;
	walk->to = piece + 1 == reference->pieces + reference->n_pieces ? UINT64_MAX : piece[1].x;
}

wide_int reference_at(const struct reference *reference, uint64_t x)
{
	return piece_value(reference_piece(reference, x), x);
}
