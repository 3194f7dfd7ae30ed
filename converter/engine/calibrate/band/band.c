/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The band: with the constraints sorted by x, phi may rise by at most rise * dx and fall by at
 * most fall * dx from one to the next (and never so far that host time would run backwards). Then
 *   forward:  lo[j+1] = max(lo[j+1], lo[j] - fall), hi[j+1] = min(hi[j+1], hi[j] + rise)
 *   backward: lo[j] = max(lo[j], lo[j+1] - rise),   hi[j] = min(hi[j], hi[j+1] + fall)
 * leaves exactly the values that maps which meet every constraint can have (difference
 * constraints on a path). The middle of the band is such a map itself: it meets every constraint,
 * and both ends of the band obey the limits, so their mean does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/order.h"
#include "engine/calibrate/calibrate_impl.h"
#include "base/radix_sort.h"
#include "engine/calibrate/step.h"

#define MAX_SORT_MOVES_PER_KNOT 16u

/* -- constraints ----------------------------------------------------------------------------- */

ORDER_BY(compare_knots, struct knot, x, lo, hi);

/* Where knots come nearly sorted: each is moved to its place while its neighbours are at hand. */
struct sorter {
	struct knot *knots; /* owned by the caller */
	uint32_t n;
	uint64_t n_moves, max_moves; /* beyond, knots are sorted at the end */
};

static void add_knot(struct sorter *sorter, struct knot knot)
{
	struct knot *knots = sorter->knots;
	uint32_t to = sorter->n++;

	if (sorter->n_moves <= sorter->max_moves) {
		for (; to > 0 && knots[to - 1].x >= knot.x &&
		       compare_knots(&knots[to - 1], &knot) > 0;
		     to--)
			knots[to] = knots[to - 1];
		sorter->n_moves += sorter->n - 1 - to;
	}
	knots[to] = knot;
}

static int64_t clamp_phi(wide_int phi)
{
	if (phi > PHI_UNBOUNDED)
		return PHI_UNBOUNDED;
	return phi < -PHI_UNBOUNDED ? -PHI_UNBOUNDED : (int64_t)phi;
}

static int64_t phi_of(struct walk *walk, uint64_t x, int64_t t)
{
	return clamp_phi((wide_int)t * (1 << PHI_BITS) - piece_value(walk_to(walk, x), x));
}

static void add_claim(struct sorter *sorter, struct walk *walk, const struct claim *claim)
{
	if (claim->before != INT64_MIN)
		add_knot(sorter,
		         (struct knot){claim->first, phi_of(walk, claim->first, claim->before),
		                       PHI_UNBOUNDED});
	if (claim->after != INT64_MAX)
		add_knot(sorter, (struct knot){claim->last, -PHI_UNBOUNDED,
		                               phi_of(walk, claim->last, claim->after)});
}

/* The reference bends there, so a map must have a knot. Adds those up to `x`. */
static void add_bends(struct sorter *sorter, const struct reference *reference, uint64_t x,
                      uint32_t *next_piece)
{
	for (; *next_piece < reference->n_pieces && reference->pieces[*next_piece].x <= x;
	     ++*next_piece)
		add_knot(sorter, (struct knot){reference->pieces[*next_piece].x, -PHI_UNBOUNDED,
		                               PHI_UNBOUNDED});
}

int band_constrain(const struct evidence *evidence, const struct reference *reference,
                   bool takes_false, struct knot **ret_knots, uint32_t *ret_n)
{
	uint64_t n_most = 2ull * evidence->n + reference->n_pieces;
	struct sorter sorter = {.knots = blocks_allocate(n_most, sizeof(*sorter.knots)),
	                        .max_moves = MAX_SORT_MOVES_PER_KNOT * (n_most + 64u)};
	const struct radix_order order = {.size_bytes = sizeof(*sorter.knots),
	                                  .key_offset = offsetof(struct knot, x),
	                                  .compare = compare_knots};
	struct walk walk = {.reference = reference};
	uint32_t next_piece = 1;

	if (!sorter.knots)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < evidence->n; i++) {
		if (evidence->is_false[i] && !takes_false)
			continue;
		add_claim(&sorter, &walk, &evidence->claims[i]);
		if (sorter.n > 0)
			add_bends(&sorter, reference, evidence->claims[i].last, &next_piece);
	}
	if (sorter.n > 0)
		add_bends(&sorter, reference, UINT64_MAX, &next_piece);
	if (sorter.n_moves > sorter.max_moves &&
	    radix_sort_elements(sorter.knots, sorter.n, &order) < 0) {
		blocks_free(sorter.knots);
		return FLEXTRACE_E_MEMORY;
	}
	*ret_knots = sorter.knots;
	*ret_n = sorter.n;
	return FLEXTRACE_OK;
}

/* -- how far phi may go ---------------------------------------------------------------------- */

/* The same over several pieces. */
static struct step step_over(struct walk *walk, uint64_t from, uint64_t to)
{
	struct step sum = {0, 0};

	while (from < to) {
		const struct piece *piece = walk_to(walk, from);
		uint64_t end = to < walk->to ? to : walk->to;
		struct step step = step_of_piece(piece, end - from);

		sum.rise += step.rise;
		sum.fall += step.fall;
		from = end;
	}
	return sum;
}

static inline struct step step_between(struct walk *walk, uint64_t from, uint64_t to)
{
	if (walk_holds(walk, from, to))
		return step_of_piece(walk->piece, to - from);
	return step_over(walk, from, to);
}

struct step band_step_far(struct walk *walk, uint64_t from, uint64_t to)
{
	const struct step free = {PHI_UNBOUNDED / 4, PHI_UNBOUNDED / 4};

	if (walk->reference->n_eras <= 1)
		return step_between(walk, from, to);
	for (uint64_t x = from; x < to; x = walk->to) {
		if (walk_to(walk, x)->is_free)
			return free;
	}
	return step_between(walk, from, to);
}

struct step band_range_step(struct walk *walk, uint64_t from, uint64_t to)
{
	return step_between(walk, from, to);
}

/* -- closing --------------------------------------------------------------------------------- */

/* What is left of a knot's bounds, of which none is farther away than PHI_UNBOUNDED. */
static inline struct knot tightened(const struct knot *knot, int64_t lo, int64_t hi)
{
	return (struct knot){knot->x, lo > knot->lo ? lo : knot->lo, hi < knot->hi ? hi : knot->hi};
}

int64_t band_close_range(struct knot *knots, uint32_t from, uint32_t to,
                         const struct reference *reference)
{
	struct walk walk = {.reference = reference};
	struct knot at = from < to ? knots[from] : (struct knot){.hi = PHI_UNBOUNDED};
	int64_t least;

	for (uint32_t i = from + 1; i < to; i++) {
		struct step step = step_between(&walk, at.x, knots[i].x);

		at = tightened(&knots[i], at.lo - step.fall, at.hi + step.rise);
		knots[i] = at;
	}
	least = at.hi - at.lo;
	for (uint32_t i = to; i-- > from + 1;) {
		struct step step = step_between(&walk, knots[i - 1].x, at.x);

		at = tightened(&knots[i - 1], at.lo - step.rise, at.hi + step.fall);
		knots[i - 1] = at;
		least = at.hi - at.lo < least ? at.hi - at.lo : least;
	}
	return least;
}

int64_t band_close(struct knot *knots, uint32_t n, const struct reference *reference)
{
	return band_close_range(knots, 0, n, reference);
}

void band_centre(struct knot *knots, uint32_t n, const struct knot *middles)
{
	for (uint32_t i = 0; i < n; i++) {
		int64_t lo = knots[i].lo, hi = knots[i].hi, middle, half;

		while (middles->x < knots[i].x)
			middles++;
		middle = (middles->lo + middles->hi) >> 1;
		if (lo == -PHI_UNBOUNDED || hi == PHI_UNBOUNDED)
			continue;
		middle = middle < lo ? lo : middle > hi ? hi : middle;
		half = middle - lo > hi - middle ? middle - lo : hi - middle;
		knots[i].lo = middle - half;
		knots[i].hi = middle + half;
	}
}
