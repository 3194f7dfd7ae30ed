/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fit of one segment: guess the slope, reject false brackets, fit the line, close the band
 * around it.
 *
 * If rho is too small for what the clock did, true brackets contradict each other as well. That can
 * be told from false brackets: at twice the rho false brackets still contradict, and true ones no
 * longer do. Then rho is raised until the true ones agree, and the map is assumed, because the
 * smallest rho that fits is only a lower bound on how far the rate wandered.
 */
#include <math.h>
#include <stdlib.h>

#include "base/blocks.h"
#include "base/order.h"
#include "engine/calibrate/room.h"
#include "restarts.h"

#define MIN_TO_JUDGE_RHO 16u
#define MAX_RHO          1.001e-3 /* 100 times the usual one, and rounding */
#define COARSE_SLACK     500e-6   /* of the guessed slope, before lies are out: the rate may step */
#define MAX_ROUNDS       4        /* of turning lies away and following what is left */
#define MANY             20u      /* one in so many false ones is suspicious */
#define FEW              64u      /* one in so many is not worth a look */
#define LONG             64u      /* knots of an era whose rate is known */
#define SLOW_TICK_NS     8000     /* longer ones are allowed for only where the rate is known */

ORDER_BY(compare_claims, struct claim, last, first, before, after);

/* Claims come nearly sorted. */
ORDER_NEARLY_DEFINE(sort_claims, struct claim, compare_claims);

/* Makes sorted claims relative to the first evidence, if they are not yet. Returns whether there
 * are reads among them. */
static bool set_origin(struct evidence *evidence)
{
	bool has_reads = false;
	struct claim *claims = evidence->claims;
	uint64_t x = UINT64_MAX;
	int64_t t = claims[0].before != INT64_MIN ? claims[0].before : claims[0].after;

	for (uint32_t i = 0; i < evidence->n; i++) {
		x = claims[i].first < x ? claims[i].first : x;
		has_reads |= claims[i].first == claims[i].last;
	}
	for (uint32_t i = 0; i < evidence->n; i++) {
		claims[i].first -= x;
		claims[i].last -= x;
		claims[i].before -= claims[i].before != INT64_MIN ? t : 0;
		claims[i].after -= claims[i].after != INT64_MAX ? t : 0;
	}
	evidence->ticks0 += x;
	evidence->host0 += t;
	return has_reads;
}

struct guess {
	double slope, slack; /* relative */
	const struct prior *prior;
};

void fit_release(struct attempt *band)
{
	reference_release(&band->reference);
	blocks_free(band->knots);
	blocks_free(band->middles);
	blocks_free(band->strict);
	free(band->spares);
	doubts_release(&band->doubts);
	doubts_release(&band->exact);
	*band = (struct attempt){.knots = NULL};
}

/* Judges all anew. */
static uint32_t reject(struct evidence *evidence, const struct reference *reference)
{
	for (uint32_t i = 0; i < evidence->n; i++)
		evidence->is_false[i] = 0;
	return reject_false(evidence, reference);
}

static int reject_coarse(struct evidence *evidence, const struct guess *guess, double slack)
{
	struct reference reference;
	int code = reference_init_straight(&reference, guess->slope, guess->slack + slack);

	if (code >= 0)
		reject(evidence, &reference);
	reference_release(&reference);
	return code;
}

/* Where the evidence says little about the slope, what is known otherwise says more. */
static void take_hint(const struct guess *guess, struct line *line)
{
	if (guess->slack >= SLOPE_OPEN &&
	    line->slope_hi - line->slope_lo > SLOPE_OPEN * line->slope)
		line->slope = fmin(fmax(guess->prior->hint, line->slope_lo), line->slope_hi);
}

/*
 * Leaves of a line's slopes so much that what is twice rho beside them is within rho of the means
 * that the user tells. Where the evidence says that there is no such mean it is believed instead.
 */
static void take_told(const struct prior *prior, double rho, struct line *line)
{
	if (prior->told_hi == 0 || line->slope_lo * (1 - rho) > prior->told_hi ||
	    line->slope_hi * (1 + rho) < prior->told_lo)
		return;
	line->slope_lo = fmax(line->slope_lo, prior->told_lo * (1 + rho));
	line->slope_hi = fmin(line->slope_hi, prior->told_hi * (1 - rho));
	line->slope = fmin(fmax(line->slope, prior->told_lo), prior->told_hi);
}

static int follow(const struct evidence *evidence, const struct guess *guess, double rho,
                  struct reference *reference)
{
	const struct prior *prior = guess->prior;
	struct line whole = {.slope = guess->slope};
	struct hulls hulls;
	int code = hulls_init(&hulls, evidence);
	bool is_shared;

	slope_bound(evidence, 0, &whole.slope_lo, &whole.slope_hi);
	if (whole.slope_hi > USUAL_SLOPE &&
	    !(prior->nominal > 0 && prior->nominal < 1.05 * USUAL_SLOPE))
		whole.slope_lo = fmax(whole.slope_lo, USUAL_SLOPE);
	if (guess->slack < SLOPE_OPEN) { /* lies at the ends can leave nothing, or no bound */
		whole.slope_lo = fmax(whole.slope_lo, guess->slope * (1 - 2 * SLOPE_OPEN));
		whole.slope_hi = fmin(whole.slope_hi, guess->slope * (1 + 2 * SLOPE_OPEN));
	}
	is_shared = prior->slope_lo < whole.slope_hi && prior->slope_hi > whole.slope_lo;
	if (is_shared) {
		whole.slope_lo = fmax(whole.slope_lo, prior->slope_lo);
		whole.slope_hi = fmin(whole.slope_hi, prior->slope_hi);
	}
	if (code >= 0)
		code = line_fit(&hulls, 0, hulls.n_blocks, &whole);
	take_hint(guess, &whole);
	/* That bounds the mean only; the others may have seen the rate change around it. */
	if (is_shared) {
		whole.slope_lo = prior->slope_lo;
		whole.slope_hi = prior->slope_hi;
	}
	take_told(prior, rho, &whole);
	if (code >= 0)
		code = reference_init(reference, &hulls, &whole, rho);
	hulls_release(&hulls);
	return code;
}

/* Whether a map that follows the reference would pass what reject_coarse() asks. */
static bool is_near_guess(const struct reference *reference, const struct guess *guess,
                          double slack)
{
	double lo = guess->slope * (1 - guess->slack - slack);
	double hi = guess->slope * (1 + guess->slack + slack);

	for (uint32_t i = 0; i < reference->n_pieces; i++) {
		const struct piece *piece = &reference->pieces[i];
		double slope = ldexp((double)piece->slope, -SLOPE_BITS);

		if (slope - ldexp((double)piece->fall, -WANDER_BITS) < lo ||
		    slope + ldexp((double)piece->rise, -WANDER_BITS) > hi)
			return false;
	}
	return true;
}

/* Where evidence contradicts, finds which of it is false, and closes what is left, era by era. */
static int track(const struct evidence *evidence, int64_t room, struct attempt *attempt)
{
	struct doubts jumps = {.stretches = NULL};
	uint32_t n_lies = 0;
	int code;

	blocks_free(attempt->knots);
	doubts_release(&attempt->doubts);
	doubts_release(&attempt->exact);
	attempt->knots = NULL;
	attempt->room = room;
	reference_tighten(&attempt->reference);
	code = band_constrain(evidence, &attempt->reference, true, &attempt->knots,
	                      &attempt->n_knots);
	eras_find_cores(attempt);
	if (code >= 0)
		code = track_run(attempt, &jumps, &n_lies);
	if (code >= 0)
		code = reference_cut(&attempt->reference, &jumps);
	attempt->n_false = n_lies + jumps.n;
	doubts_release(&jumps);
	if (code >= 0)
		code = eras_close(attempt);
	attempt->is_closed = code > 0;
	return code < 0 ? code : FLEXTRACE_OK;
}

/* The same if the band is narrower than that of a true clock, or the clock jumped. The usual
 * width is measured on the band, which narrow places make too small, so it takes some rounds. */
static int give_room(const struct evidence *evidence, struct attempt *attempt)
{
	int64_t bracket_room, room;
	uint32_t n_false = attempt->n_false;

	FLEXTRACE_TRY(evidence_room(evidence, &attempt->reference, &bracket_room));
	attempt->bracket_room = bracket_room;
	FLEXTRACE_TRY(band_shares_room(attempt, evidence, &attempt->shares_room));
	for (int round = 0; round < MAX_ROUNDS; round++) {
		if (attempt->width >= bracket_room && attempt->reference.n_uncut == 0)
			break;
		FLEXTRACE_TRY(
			band_least_room(attempt->knots, attempt->n_knots, bracket_room, &room));
		if (room <= attempt->room + attempt->room / 16 ||
		    (attempt->width >= room && attempt->reference.n_uncut == 0))
			break;
		FLEXTRACE_TRY(track(evidence, room, attempt));
	}
	attempt->n_false = n_false;
	return FLEXTRACE_OK;
}

/* Marks where evidence was dropped: a map keeps its places there. */
static int mark_dropped(const struct knot *claimed, uint32_t n, struct attempt *attempt)
{
	const struct knot *left = attempt->knots, *last = left + attempt->n_knots - 1;

	for (uint32_t i = 0; i < n; i++) {
		while (left < last && left->x < claimed[i].x)
			left++;
		if (left->x == claimed[i].x &&
		    (claimed[i].lo > left->lo || claimed[i].hi < left->hi))
			FLEXTRACE_TRY(doubts_add(&attempt->exact, left->x, left->x + 1));
	}
	return FLEXTRACE_OK;
}

/* If one clock explains all evidence, nothing is in doubt: the clock is in the band of all
 * evidence. */
static void trust(struct attempt *attempt)
{
	const struct knot *strict = attempt->strict, *last = strict + attempt->n_strict - 1;

	for (uint32_t i = 0; i < attempt->n_knots; i++) {
		struct knot *knot = &attempt->knots[i];

		while (strict < last && strict->x < knot->x)
			strict++;
		if (strict->x != knot->x)
			continue;
		knot->lo = strict->lo < knot->lo ? strict->lo : knot->lo;
		knot->hi = strict->hi > knot->hi ? strict->hi : knot->hi;
	}
	attempt->doubts.n = 0;
}

/*
 * The same if no evidence contradicts. If one clock explains all of it, evidence that was dropped
 * because it left too little room may be true, and then the clock was in the band of all evidence.
 * So the estimate stays there, and no operation is placed outside its own bracket. The bounds are
 * those of the wider band.
 */
static int give_room_around(const struct evidence *evidence, struct attempt *attempt)
{
	bool is_one = attempt->reference.n_eras <= 1;

	FLEXTRACE_TRY(give_room(evidence, attempt));
	if (attempt->room == 0 || !is_one)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(band_constrain(evidence, &attempt->reference, true, &attempt->strict,
	                             &attempt->n_strict));
	FLEXTRACE_TRY(mark_dropped(attempt->strict, attempt->n_strict, attempt));
	if (band_close(attempt->strict, attempt->n_strict, &attempt->reference) >= 0) {
		trust(attempt);
		return FLEXTRACE_OK;
	}
	blocks_free(attempt->strict);
	attempt->strict = NULL;
	attempt->n_strict = 0;
	return FLEXTRACE_OK;
}

/* Closes the band around the reference, if it is near the guess. 1: the band meets all evidence,
 * 0: it does not. */
static int try_reference(const struct evidence *evidence, const struct guess *guess, double rho,
                         struct attempt *attempt)
{
	int is_closed;

	if (!is_near_guess(&attempt->reference, guess, fmax(COARSE_SLACK, 5 * rho)))
		return 0;
	FLEXTRACE_TRY(band_constrain(evidence, &attempt->reference, true, &attempt->knots,
	                             &attempt->n_knots));
	is_closed = eras_close(attempt);
	attempt->is_closed = is_closed > 0;
	return is_closed;
}

/* Where all evidence meets, no window would turn any away. 1: it does, 0: not. */
static int try_all(struct evidence *evidence, const struct guess *guess, double rho,
                   struct attempt *attempt)
{
	bool bends;
	int is_met;

	for (uint32_t i = 0; i < evidence->n; i++)
		evidence->is_false[i] = 0;
	FLEXTRACE_TRY(follow(evidence, guess, rho, &attempt->reference));
	bends = reference_bends(&attempt->reference, rho);
	is_met = bends ? mean_try(evidence, attempt) : try_reference(evidence, guess, rho, attempt);
	if (is_met != 0)
		return is_met;
	return bends ? try_reference(evidence, guess, rho, attempt) : mean_try(evidence, attempt);
}

static int try_rho(struct evidence *evidence, const struct guess *guess, double rho,
                   struct attempt *attempt)
{
	uint32_t n_false = UINT32_MAX, n_before;
	int is_met;

	*attempt = (struct attempt){.rho = rho};
	is_met = try_all(evidence, guess, rho, attempt);
	if (is_met != 0)
		return is_met < 0 ? is_met : give_room_around(evidence, attempt);
	fit_release(attempt);
	attempt->rho = rho;
	FLEXTRACE_TRY(reject_coarse(evidence, guess, fmax(COARSE_SLACK, 5 * rho)));
	/* What the slope alone called false may only have followed a rate that changes. */
	for (int round = 0; round < MAX_ROUNDS; round++) {
		reference_release(&attempt->reference);
		FLEXTRACE_TRY(follow(evidence, guess, rho, &attempt->reference));
		n_before = n_false;
		n_false = reject(evidence, &attempt->reference);
		if (n_false == n_before)
			break;
	}
	FLEXTRACE_TRY(track(evidence, 0, attempt));
	return give_room(evidence, attempt);
}

/* Uses a larger rho if that removes more than half of the contradictions. 1: it is used, 0: not. */
static int try_more(struct evidence *evidence, const struct guess *guess, double rho,
                    struct attempt *best)
{
	struct attempt next;
	int code = try_rho(evidence, guess, rho, &next);

	if (code < 0 || next.n_false > best->n_false / 2) {
		fit_release(&next);
		return code;
	}
	fit_release(best);
	*best = next;
	return 1;
}

/* How many knots [from, to) are not in doubt. */
static uint32_t count_believed(const struct attempt *attempt, uint32_t from, uint32_t to)
{
	uint32_t n = 0, next = 0;

	for (uint32_t i = from; i < to; i++) {
		uint64_t x = attempt->knots[i].x;

		n += !doubts_meet(&attempt->doubts, x, x + 1, &next);
	}
	return n;
}

/* Whether a clock that jumps keeps its promise between jumps, for long and most of the time. Then
 * a larger rho does not describe it. */
static bool is_steady_between(const struct attempt *attempt)
{
	const struct reference *reference = &attempt->reference;
	uint32_t n_steady = 0;

	for (uint32_t i = 0; i < reference->n_eras && reference->n_eras > 1; i++) {
		uint32_t from = knots_find(attempt, reference->eras[i].core_from);
		uint32_t to = knots_find(attempt, reference->eras[i].core_to);
		uint32_t n = count_believed(attempt, from, to);

		n_steady += n > LONG ? n : 0;
	}
	return n_steady > attempt->n_knots / 2;
}

static int settle(struct evidence *evidence, const struct guess *guess, double rho,
                  struct attempt *best)
{
	static const double factors[] = {2, 10, 100};
	int taken = 1;

	FLEXTRACE_TRY(try_rho(evidence, guess, rho, best));
	while (taken && best->n_false > evidence->n / FEW && evidence->n >= MIN_TO_JUDGE_RHO) {
		bool is_gross = best->n_false > evidence->n / MANY && !is_steady_between(best);

		taken = 0;
		for (int i = 0; i < (is_gross ? 3 : 1) && !taken; i++) {
			if (factors[i] * best->rho > MAX_RHO)
				break;
			taken = try_more(evidence, guess, factors[i] * best->rho, best);
			FLEXTRACE_TRY(taken);
		}
	}
	return FLEXTRACE_OK;
}

/*
 * Where the evidence leaves the slope open, the middle of the band is as slow as it may be inside
 * an operation, because both ends are drawn to the middle of the bracket. A map of one steady slope
 * through the band is a better guess. The bounds around it are widened to hold the band.
 */
static int steady(const struct evidence *evidence, struct attempt *attempt, double rho)
{
	const struct piece *piece = &attempt->reference.pieces[0];
	struct piece straight = *piece;
	struct reference reference = {.pieces = &straight, .n_pieces = 1};
	struct knot *knots = NULL;
	uint32_t n = 0;

	straight.rise = straight.fall = (uint64_t)((double)piece->slope * 16 * rho) + 1;
	if (attempt->reference.n_pieces > 1 || attempt->n_false > 0 ||
	    piece->rise + piece->fall < 20 * straight.rise)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(band_constrain(evidence, &reference, true, &knots, &n));
	if (band_close(knots, n, &reference) >= 0)
		attempt->middles = knots;
	else
		blocks_free(knots);
	return FLEXTRACE_OK;
}

/* Narrows a closed band, and puts its middle on the likeliest path. Not where the clock may have
 * jumped, as evidence before a jump says nothing about the time behind it. If one clock without a
 * jump explains all evidence, the estimate stays in the band of all evidence, and the bound
 * around it holds the wider band. */
static int refine(struct attempt *band, bool is_restless)
{
	struct widths widths;

	widths_sample(&widths, band);
	if (is_restless)
		return FLEXTRACE_OK;
	band_thin(band);
	if (band->reference.n_eras > 1) {
		if (band->strict)
			band_centre(band->knots, band->n_knots, band->strict);
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(band_bridge(band));
	if (!band->middles)
		return band_smooth(band, &widths);
	band_centre(band->knots, band->n_knots, band->middles);
	return FLEXTRACE_OK;
}

/* All slopes that the rate may have had anywhere. */
static struct slopes slopes_of(const struct reference *reference)
{
	const struct reference told = reference_told(reference);
	struct slopes slopes = {INFINITY, 0};

	for (uint32_t i = 0; i < told.n_pieces; i++) {
		const struct piece *piece = &told.pieces[i];
		double slope = ldexp((double)piece->slope, -SLOPE_BITS);
		double fall = ldexp((double)piece->fall, -WANDER_BITS);

		slopes.lo = fmin(slopes.lo, slope - fall);
		slopes.hi = fmax(slopes.hi, slope + ldexp((double)piece->rise, -WANDER_BITS));
	}
	return slopes;
}

/* Whether the rate is so open that ticks may be longer than latencies: then what a stamp marks may
 * be later than it by more than bounds allow for. One instant alone is in its own bracket. */
static bool has_slow_ticks(const struct clock_map *map)
{
	return map_has_open_rate(map) && map->slope_hi > SLOW_TICK_NS;
}

int fit_map(struct attempt *band, const struct evidence *evidence, const struct prior *prior,
            struct clock_map *ret_map)
{
	struct slopes slopes;

	*ret_map = (struct clock_map){.rho = prior->rho};
	if (band->n_knots == 0)
		return FLEXTRACE_OK;
	/* A bound reaches from its place to all others: none here is none anywhere. */
	ret_map->is_one_sided = band->knots[0].lo == -PHI_UNBOUNDED ||
	                        band->knots[0].hi == PHI_UNBOUNDED;
	FLEXTRACE_TRY(refine(band, prior->is_restless));
	if (prior->is_restless)
		restarts_widen(band, evidence);
	FLEXTRACE_TRY(clock_map_init(ret_map, band, evidence));
	ret_map->rho = band->rho;
	ret_map->is_contradicted = band->reference.n_eras > 1 || band->doubts.n > 0;
	ret_map->is_wandering = band->rho > prior->rho || band->n_false > evidence->n / 2;
	ret_map->proof = band->proof;
	ret_map->n_false = band->n_false;
	slopes = slopes_of(&band->reference);
	ret_map->slope_lo = slopes.lo;
	ret_map->slope_hi = slopes.hi;
	ret_map->n_steps = reference_steps(&band->reference);
	ret_map->quality.is_assumed = ret_map->is_wandering || ret_map->proof != PROOF_NOT_NEEDED ||
	                              (ret_map->n_knots > 1 && has_slow_ticks(ret_map));
	return FLEXTRACE_OK;
}

int fit_band(struct evidence *evidence, const struct prior *prior, struct attempt *ret_band)
{
	struct guess guess = {prior->hint, 1, prior};
	struct slopes slopes;
	bool has_reads;

	*ret_band = (struct attempt){.rho = prior->rho};
	if (evidence->n == 0)
		return FLEXTRACE_OK;
	sort_claims(evidence->claims, evidence->n);
	has_reads = set_origin(evidence);
	FLEXTRACE_TRY(slope_guess(evidence, prior->rho, &guess.slope, &guess.slack));
	if (prior->slope_hi > 0 && guess.slack * guess.slope > prior->slope_hi - prior->slope_lo) {
		guess.slope = (prior->slope_lo + prior->slope_hi) / 2;
		guess.slack = (prior->slope_hi - prior->slope_lo) / guess.slope;
	}
	FLEXTRACE_TRY(settle(evidence, &guess, prior->rho, ret_band));
	if (ret_band->n_knots == 0)
		return FLEXTRACE_OK;
	ret_band->has_reads = has_reads;
	slopes = slopes_of(&ret_band->reference);
	ret_band->proof = proof_of(evidence, prior->nominal, &slopes);
	if (!ret_band->is_closed) { /* it still becomes a map that goes forward */
		band_close(ret_band->knots, ret_band->n_knots, &ret_band->reference);
		FLEXTRACE_TRY(doubts_add(&ret_band->doubts, 0, UINT64_MAX));
	}
	return steady(evidence, ret_band, prior->rho);
}
