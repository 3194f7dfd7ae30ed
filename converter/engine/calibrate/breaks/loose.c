/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that broke its promise once may have done so again, by less than can be seen. So near a
 * break, and between breaks that follow each other closely, the promised rate is not used. There
 * the rate may be off by RATE or, if the clock never jumped, by what it changes nearby at most. So
 * bounds rest on the evidence of an operation itself and of those right beside it.
 *
 * Such stretches are pieces of the reference like others, with a rate that may wander more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calibrate/calibrate_impl.h"

#define RATE  0.01  /* relative */
#define NEAR  16u   /* knots: eight operations */
#define CLOSE 1024u /* knots between two breaks: the clock breaks its promise all the time */

/* How far the rates of some pieces are apart, relative. */
static double looseness_of(const struct piece *from, const struct piece *end)
{
	double least = INFINITY, most = 0;

	for (const struct piece *piece = from; piece < end; piece++) {
		double slope = (double)piece->slope;

		least = fmin(least, slope - ldexp((double)piece->fall, SLOPE_BITS - WANDER_BITS));
		most = fmax(most, slope + ldexp((double)piece->rise, SLOPE_BITS - WANDER_BITS));
	}
	return fmin(RATE, (most - least) / least);
}

double reference_looseness(const struct reference *reference, uint64_t x)
{
	const struct reference told = reference_told(reference);
	const struct piece *end = told.pieces + told.n_pieces, *at = reference_piece(&told, x);

	if (reference->n_uncut > 0)
		return RATE;
	return looseness_of(at > told.pieces ? at - 1 : at, at + 1 < end ? at + 2 : end);
}

/* At an end of the evidence the rate may change unseen. It may then be any rate that the clock
 * has had. */
static double looseness_in(const struct reference *reference, const struct stretch *loose,
                           uint64_t x)
{
	const struct reference told = reference_told(reference);

	if (reference->n_uncut > 0 || (loose->from > 0 && loose->to < UINT64_MAX))
		return reference_looseness(reference, x);
	return looseness_of(told.pieces, told.pieces + told.n_pieces);
}

/* A piece of the reference that begins at `x`. */
static struct piece piece_from(const struct piece *piece, uint64_t x, double looseness)
{
	struct piece part = *piece;

	if (x > piece->x) {
		part.at = piece_value(piece, x);
		part.x = x;
	}
	if (looseness > 0) {
		uint64_t slope = piece->slope << (WANDER_BITS - SLOPE_BITS);
		uint64_t wander = (uint64_t)((double)slope * looseness);

		part.rise = wander > piece->rise ? wander : piece->rise;
		part.fall = wander > piece->fall ? wander : piece->fall;
		part.is_bridge = part.is_loose = true;
	}
	return part;
}

/* Divides the pieces at the ends of stretches; there is room for two more of each stretch. */
static uint32_t divide(const struct reference *reference, const struct doubts *loose,
                       struct piece *pieces)
{
	uint32_t n = 0, next = 0;

	for (uint32_t i = 0; i < reference->n_steady; i++) {
		const struct piece *piece = &reference->steady[i];
		uint64_t x = i > 0 ? piece->x : 0;
		uint64_t end = i + 1 < reference->n_steady ? piece[1].x : UINT64_MAX;

		while (x < end) {
			bool is_loose = doubts_meet(loose, x, x + 1, &next);
			const struct stretch *stretch = &loose->stretches[next];
			double looseness = is_loose ? looseness_in(reference, stretch, x) : 0;
			uint64_t to = next >= loose->n ? UINT64_MAX
			              : is_loose       ? stretch->to
			                               : stretch->from;

			pieces[n++] = piece_from(piece, x, looseness);
			x = to < end ? to : end;
		}
	}
	return n;
}

void reference_tighten(struct reference *reference)
{
	if (!reference->steady)
		return;
	free(reference->pieces);
	reference->pieces = reference->steady;
	reference->n_pieces = reference->n_steady;
	reference->steady = NULL;
}

static int loosen(struct reference *reference, const struct doubts *loose)
{
	struct piece *pieces;

	reference_tighten(reference);
	FLEXTRACE_TRY(ARRAY_NEW(pieces, reference->n_pieces + 2ull * loose->n));
	reference->steady = reference->pieces;
	reference->n_steady = reference->n_pieces;
	reference->pieces = pieces;
	reference->n_pieces = divide(reference, loose, pieces);
	return FLEXTRACE_OK;
}

/* -- where ----------------------------------------------------------------------------------- */

static uint64_t x_behind(const struct attempt *attempt, uint32_t knot)
{
	return knot + NEAR < attempt->n_knots ? attempt->knots[knot + NEAR].x : UINT64_MAX;
}

/* A break: knots between which an era ends and the next one begins. */
struct gap {
	uint32_t from, to;
};

static struct gap gap_behind(const struct attempt *attempt, uint32_t era)
{
	const struct era *eras = attempt->reference.eras;
	uint32_t a = knots_find(attempt, eras[era].core_to);
	uint32_t b = knots_find(attempt, eras[era + 1].core_from);

	return a < b ? (struct gap){a, b} : (struct gap){b, a};
}

/* Whether two breaks, in this order, are so close together that there may be others in between. */
static bool is_close(struct gap gap, struct gap next)
{
	return next.from <= gap.to || next.from - gap.to <= CLOSE;
}

/* Lists the stretches near an end of the evidence, or near evidence that objects at an end:
 * breaks do not show there. */
static int list_end(const struct attempt *attempt, bool is_last, struct doubts *loose)
{
	const struct doubts *doubts = &attempt->doubts;
	uint32_t n = attempt->n_knots, at = n;

	if (!is_last)
		return doubts_add(loose, 0, x_behind(attempt, 0));
	if (doubts->n > 0 && doubts->stretches[doubts->n - 1].to == UINT64_MAX)
		at = knots_find(attempt, doubts->stretches[doubts->n - 1].from);
	return doubts_add(loose, at > NEAR ? attempt->knots[at - NEAR].x : 0, UINT64_MAX);
}

/* Lists what is near breaks. */
static int list(const struct attempt *attempt, struct doubts *loose)
{
	uint32_t n = attempt->reference.n_eras - 1;
	struct gap last = {0, 0}, end = {attempt->n_knots, attempt->n_knots};

	FLEXTRACE_TRY(list_end(attempt, false, loose));
	for (uint32_t i = 0; i < n; i++) {
		struct gap gap = gap_behind(attempt, i);
		struct gap next = i + 1 < n ? gap_behind(attempt, i + 1) : end;
		/* There may be breaks in front of the ends of the evidence, too. */
		bool is_joined = n > 1 && is_close(last, gap) && (i > 0 || is_close(gap, next));
		uint32_t from = is_joined && last.to < gap.from ? last.to : gap.from;
		bool is_last = i + 1 == n && is_joined && is_close(gap, end);

		FLEXTRACE_TRY(doubts_add(loose, from > NEAR ? attempt->knots[from - NEAR].x : 0,
		                         is_last ? UINT64_MAX : x_behind(attempt, gap.to)));
		last = gap;
	}
	return list_end(attempt, true, loose);
}

int reference_loosen(struct attempt *attempt)
{
	struct doubts loose = {.stretches = NULL};
	int code = list(attempt, &loose);

	if (code >= 0 && loose.n > 0)
		code = loosen(&attempt->reference, &loose);
	doubts_release(&loose);
	return code;
}
