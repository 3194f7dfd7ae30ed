/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which round trip work is of, where a tool's estimates are all late, or early, by the same. The
 * importer takes the round trip that an estimate sticks out of least. If round trips follow each
 * other closely, that is the next one (or the one before) for the work at their ends, and the reads
 * of the counter that are told of it are false.
 *
 * A shift of all estimates shows: of the work at the ends of round trips some lies between two of
 * them. Each piece of work and each round trip near it give an interval of shifts that put it in.
 * If one shift puts nearly all work into round trips, and without it much more was in none, the
 * estimates are off by that, and work is of the round trip that holds it then. If that is the one
 * that the importer took, for all work, nothing changes.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/unwrap/estimates/chains.h"
#include "base/array.h"
#include "base/marzullo.h"

#define NEAR_TRIP_NS 10e6  /* that the importer looks at: no shift is larger */
#define MAX_TURNS    16u   /* that can be over each other, or near */
#define MAX_VOTES    8192u /* pieces of work that are asked */
#define LEAST        8u    /* of them in no round trip */
#define MUCH         8u    /* times fewer with the shift */
#define ROUNDING_NS  1e3   /* of the file, and of times as double */

/* A round trip, and what the counter showed first and last in it. */
struct turn {
	double begin_ns, end_ns;
	double first_ns, last_ns;
	uint64_t first, last; /* raw bits */
	uint32_t n_reads;     /* that were told anew */
	bool has_work;
};

struct turns {
	struct axis *axis;      /* weak */
	struct turn *turns;     /* owned, by begin */
	struct interval *votes; /* owned */
	int64_t *spare;         /* owned: room for the ends of votes */
	uint32_t n, n_votes;
	double rate;
};

static void turns_release(struct turns *turns)
{
	free(turns->turns);
	free(turns->votes);
	free(turns->spare);
}

static int list_turns(struct turns *turns, const struct trips *trips)
{
	FLEXTRACE_TRY(ARRAY_NEW(turns->turns, trips->n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(turns->votes, MAX_TURNS * MAX_VOTES));
	FLEXTRACE_TRY(ARRAY_NEW(turns->spare, 2ull * MAX_TURNS * MAX_VOTES));
	for (uint32_t i = 0; i < trips->n; i++) {
		const struct idle *trip = &trips->trips[i];

		if (i > 0 && trip->begin_ns == trip[-1].begin_ns && trip->end_ns == trip[-1].end_ns)
			continue;
		turns->turns[turns->n++] = (struct turn){.begin_ns = (double)trip->begin_ns,
		                                         .end_ns = (double)trip->end_ns};
	}
	return FLEXTRACE_OK;
}

/* -- where work is --------------------------------------------------------------------------- */

/* When a piece of work was, by its estimate. */
struct piece {
	double begin_ns, end_ns;
};

static bool make_piece(const struct turns *turns, uint32_t i, struct piece *ret_piece)
{
	struct link link;

	if (!link_make(&turns->axis->samples[i], &link) || link.sample->source.op->is_doubted)
		return false;
	*ret_piece = (struct piece){link_begin(&link),
	                            link_begin(&link) + (double)link.sample->span / turns->rate};
	return true;
}

static bool has_begun(const void *row, const void *key)
{
	return ((const struct turn *)row)->begin_ns <= *(const double *)key;
}

/* How many turns begin by then. */
static uint32_t count_begun(const struct turns *turns, double ns)
{
	return array_count_before(turns->turns, turns->n, sizeof(*turns->turns), has_begun, &ns);
}

/* How far a piece sticks out of a turn. */
static double sticks_out(const struct turn *turn, const struct piece *piece)
{
	return fmax(fmax(turn->begin_ns - piece->begin_ns, piece->end_ns - turn->end_ns), 0);
}

/* The turn that a piece sticks out of least; of several the first one. */
static struct turn *nearest_turn(const struct turns *turns, const struct piece *piece)
{
	uint32_t at = count_begun(turns, piece->begin_ns);
	struct turn *best = NULL;

	for (uint32_t i = at > 2 ? at - 2 : 0; i <= at && i < turns->n; i++) {
		if (!best || sticks_out(&turns->turns[i], piece) < sticks_out(best, piece))
			best = &turns->turns[i];
	}
	return best;
}

static struct piece shift(const struct piece *piece, double by_ns)
{
	return (struct piece){piece->begin_ns + by_ns, piece->end_ns + by_ns};
}

/* -- the shift ------------------------------------------------------------------------------- */

/* Adds the shifts that put a piece into turns near it. */
static void vote(struct turns *turns, const struct piece *piece)
{
	uint32_t at = count_begun(turns, piece->begin_ns + NEAR_TRIP_NS);

	for (uint32_t i = 0; i < MAX_TURNS && at > 0; i++) {
		const struct turn *turn = &turns->turns[--at];
		double lo = fmax(turn->begin_ns - piece->begin_ns, -NEAR_TRIP_NS);
		double hi = fmin(turn->end_ns - piece->end_ns, NEAR_TRIP_NS);

		if (lo <= hi)
			turns->votes[turns->n_votes++] = (struct interval){(int64_t)ceil(lo),
			                                                   (int64_t)floor(hi)};
	}
}

static uint32_t stride_of(const struct turns *turns)
{
	return turns->axis->n_samples / MAX_VOTES + 1;
}

/* How many of the asked pieces no turn holds if all are shifted by so much. */
static uint32_t count_outside(const struct turns *turns, double by_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < turns->axis->n_samples; i += stride_of(turns)) {
		struct piece piece;

		if (!make_piece(turns, i, &piece))
			continue;
		piece = shift(&piece, by_ns);
		n += sticks_out(nearest_turn(turns, &piece), &piece) > ROUNDING_NS;
	}
	return n;
}

/* Finds the shift that puts most work into turns. False: estimates are not off by one shift. */
static bool find_shift(struct turns *turns, double *ret_ns)
{
	uint32_t n_outside = count_outside(turns, 0);
	struct interval hull;

	if (n_outside < LEAST)
		return false;
	for (uint32_t i = 0; i < turns->axis->n_samples; i += stride_of(turns)) {
		struct piece piece;

		if (make_piece(turns, i, &piece))
			vote(turns, &piece);
	}
	if (!marzullo_hull(turns->votes, turns->n_votes, 1, turns->spare, &hull))
		return false;
	*ret_ns = (double)(hull.lo + hull.hi) / 2;
	return count_outside(turns, *ret_ns) <= n_outside / MUCH;
}

/* -- reads ----------------------------------------------------------------------------------- */

/* How far the last stamp of work is behind that which its sample ends with. */
static uint64_t tail_of(const struct axis *axis, const struct sample *sample)
{
	const struct tick_op *op = sample->source.op;
	uint64_t tail = 0, last = op->ticks[sample->to];

	for (int i = sample->to + 1; i < FLEXTRACE_N_STAMPS; i++) {
		if (!op->ticks[i])
			continue;
		tail += low_bits(op->ticks[i] - last, axis->narrow_bits);
		last = op->ticks[i];
	}
	return tail;
}

static void see(const struct turns *turns, const struct sample *sample, const struct piece *piece,
                struct turn *turn)
{
	uint64_t lead = sample_lead(turns->axis, sample), tail = tail_of(turns->axis, sample);
	double first_ns = piece->begin_ns - (double)lead / turns->rate;
	double last_ns = piece->end_ns + (double)tail / turns->rate;

	if (!turn->has_work || first_ns < turn->first_ns) {
		turn->first_ns = first_ns;
		turn->first = low_bits(sample->first - lead, turns->axis->narrow_bits);
	}
	if (!turn->has_work || last_ns > turn->last_ns) {
		turn->last_ns = last_ns;
		turn->last = low_bits(sample->first + sample->span + tail,
		                      turns->axis->narrow_bits);
	}
	turn->has_work = true;
}

/* Notes what is in which turn. Returns whether that is another one than it seems to be. */
static bool see_all(struct turns *turns, double by_ns)
{
	bool is_other = false;

	for (uint32_t i = 0; i < turns->axis->n_samples; i++) {
		struct piece piece, shifted;
		struct turn *turn;

		if (!make_piece(turns, i, &piece))
			continue;
		shifted = shift(&piece, by_ns);
		turn = nearest_turn(turns, &shifted);
		if (sticks_out(turn, &shifted) > ROUNDING_NS)
			continue;
		is_other |= turn != nearest_turn(turns, &piece);
		see(turns, &turns->axis->samples[i], &piece, turn);
	}
	return is_other;
}

static struct turn *turn_of(const struct turns *turns, const struct sample *read)
{
	uint32_t at = count_begun(turns, (double)read->before_ns);

	while (at > 0 && turns->turns[at - 1].begin_ns == (double)read->before_ns) {
		if (turns->turns[--at].end_ns == (double)read->after_ns)
			return &turns->turns[at];
	}
	return NULL;
}

/* Tells the reads anew: the first and the last stamp of each turn. */
static void tell(struct turns *turns)
{
	for (uint32_t i = 0; i < turns->axis->n_samples; i++) {
		struct sample *read = &turns->axis->samples[i];
		struct turn *turn;

		if (read->kind != SAMPLE_SYNC || !sample_is_bounded(read))
			continue;
		turn = turn_of(turns, read);
		if (!turn || !turn->has_work || turn->n_reads == 2) {
			read->before_ns = UNWRAP_NO_BEFORE;
			read->after_ns = UNWRAP_NO_AFTER;
			continue;
		}
		read->first = turn->n_reads++ ? turn->last : turn->first;
	}
}

int turns_mend(struct unwrap *unwrap, uint32_t counter, double rate)
{
	struct turns turns = {.axis = &unwrap->axes[counter], .rate = rate};
	struct trips trips = {.n = 0};
	int code = trips_list(&trips, unwrap, counter);
	double by_ns;

	if (code >= 0 && trips.n)
		code = list_turns(&turns, &trips);
	if (code >= 0 && turns.n && find_shift(&turns, &by_ns) && see_all(&turns, by_ns)) {
		tell(&turns);
		code = axis_prepare(turns.axis);
	}
	turns_release(&turns);
	trips_release(&trips);
	return code;
}
