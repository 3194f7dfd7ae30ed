/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places where the band is narrower than true evidence would make it. A false bracket whose bounds
 * lie inside those of the true ones contradicts none of them. Nor does a clock that stood still for
 * less than the band is wide. Yet the band must not follow them.
 *
 * They can be found by the room that they leave. Every bracket leaves room for the least latencies
 * of both sides, so the band of a true clock is nowhere narrower than that room. Where it is much
 * narrower, some evidence is false.
 *
 * Each bracket shows how much room that is by its own latencies, whatever the clock did elsewhere.
 * A few false brackets among them do not matter. Where latencies on one side or the other are so
 * long that the band is much narrower than any bracket, brackets do not show the room.
 *
 * A band that is a little narrower than usual proves nothing, since it may be so by chance. But if
 * a break causes it, the truth is either in what the evidence in front leaves or in what the
 * evidence behind leaves. So bounds of narrow places cover both: see room_half(). The wider half of
 * all places keep their bounds.
 *
 * A rate that changes for good by little more than rho allows contradicts nothing either while the
 * trace is short, and it can squeeze the band everywhere, so no place shows what is usual. Shares
 * of the evidence do: in most of them the rate was one, so the straight lines that meet a share
 * leave all the room that its brackets have. Where few brackets are tight, they leave much less
 * than most brackets, and more than the band of a true clock: then shares tell nothing.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/calibrate/room.h"
#include "base/order.h"
#include "base/select_kth.h"

#define MAX_SAMPLES 512u
#define MIN_KNOTS   128u /* fewer do not tell how narrow is narrow */
#define ROOM        0.7  /* of what brackets leave */
#define LEAST       1u   /* twentieths of places */
#define NARROW      5u   /* likewise */
#define USUAL       10u  /* likewise */
#define TELLING     4    /* brackets that leave no more than so many times the band's width tell */
#define N_SHARES    4u   /* of the evidence; a step is in one of them */
#define MIN_SHARE   4u   /* blocks of brackets */
#define SHARE_RANGE 0.01 /* how far the rate of a share may be off the reference's, relative */

/* The value that a share `part` / 20 of some are less than; reorders them. */
static int64_t quantile(int64_t *values, uint32_t n, uint32_t part)
{
	return n ? select_kth_i64(values, n, (uint32_t)((uint64_t)n * part / 20)) : 0;
}

int band_quantile(const struct knot *knots, uint32_t n_knots, uint32_t part, int64_t *ret_width)
{
	int64_t *widths = malloc(MAX_SAMPLES * sizeof(*widths));
	uint32_t stride = n_knots / MAX_SAMPLES + 1, n = 0;

	if (!widths)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n_knots; i += stride) {
		if (knots[i].lo > -PHI_UNBOUNDED && knots[i].hi < PHI_UNBOUNDED)
			widths[n++] = knots[i].hi - knots[i].lo;
	}
	*ret_width = quantile(widths, n, part);
	free(widths);
	return FLEXTRACE_OK;
}

int evidence_room(const struct evidence *evidence, const struct reference *reference,
                  int64_t *ret_room)
{
	int64_t *rooms = malloc(MAX_SAMPLES * sizeof(*rooms));
	uint32_t stride = evidence->n / MAX_SAMPLES + 1, n = 0;

	if (!rooms)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < evidence->n; i += stride) {
		const struct claim *claim = &evidence->claims[i];
		wide_int length = reference_at(reference, claim->last) -
		                  reference_at(reference, claim->first),
			 room;

		if (claim->before == INT64_MIN || claim->after == INT64_MAX)
			continue;
		room = ((wide_int)claim->after - claim->before) * (1 << PHI_BITS) - length;
		room = room < PHI_UNBOUNDED ? room : PHI_UNBOUNDED;
		rooms[n++] = (int64_t)(room > -PHI_UNBOUNDED ? room : -PHI_UNBOUNDED);
	}
	*ret_room = 2 * quantile(rooms, n, 1) - quantile(rooms, n, 2);
	free(rooms);
	return FLEXTRACE_OK;
}

/* Stores the width that `part` twentieths of places are narrower than, or the room of brackets if
 * that is less; 0: brackets do not show the room. */
static int room_told(const struct knot *knots, uint32_t n, uint32_t part, int64_t bracket_room,
                     int64_t *ret_room)
{
	int64_t width = 0;

	*ret_room = 0;
	if (n >= MIN_KNOTS)
		FLEXTRACE_TRY(band_quantile(knots, n, part, &width));
	if (bracket_room > 0 && bracket_room <= TELLING * width)
		*ret_room = bracket_room < width ? bracket_room : width;
	return FLEXTRACE_OK;
}

int band_usual_room(const struct knot *knots, uint32_t n, int64_t bracket_room, int64_t *ret_room)
{
	return room_told(knots, n, USUAL, bracket_room, ret_room);
}

int band_least_room(const struct knot *knots, uint32_t n, int64_t bracket_room, int64_t *ret_room)
{
	int64_t room;

	FLEXTRACE_TRY(room_told(knots, n, NARROW, bracket_room, &room));
	*ret_room = (int64_t)(ROOM * (double)room);
	return FLEXTRACE_OK;
}

/* -- a rate that changed for good ------------------------------------------------------------ */

static bool is_narrow(int64_t width, int64_t room)
{
	return (double)width < ROOM * (double)room;
}

/* Stores the width of the widest straight line through each share of the evidence. */
static int share_widths(const struct hulls *hulls, double slope, int64_t widths[N_SHARES])
{
	for (uint32_t i = 0; i < N_SHARES; i++) {
		struct line line = {.slope = slope,
		                    .slope_lo = slope * (1 - SHARE_RANGE),
		                    .slope_hi = slope * (1 + SHARE_RANGE)};

		FLEXTRACE_TRY(line_fit(hulls, hulls->n_blocks * i / N_SHARES,
		                       hulls->n_blocks * (i + 1) / N_SHARES, &line));
		if (line.margin_ns > 0 && isfinite(line.margin_ns))
			widths[i] = (int64_t)fmin(ldexp(2 * line.margin_ns, PHI_BITS),
			                          (double)PHI_UNBOUNDED);
	}
	return FLEXTRACE_OK;
}

int band_shares_room(const struct attempt *band, const struct evidence *evidence, int64_t *ret_room)
{
	int64_t usual, least, told, widths[N_SHARES] = {0};
	struct hulls hulls;
	int code;

	*ret_room = 0;
	FLEXTRACE_TRY(band_quantile(band->knots, band->n_knots, USUAL, &usual));
	FLEXTRACE_TRY(band_quantile(band->knots, band->n_knots, LEAST, &least));
	if (band->reference.n_eras > 1 || band->bracket_room > TELLING * usual ||
	    !is_narrow(least, band->bracket_room))
		return FLEXTRACE_OK;
	code = hulls_init(&hulls, evidence);
	if (code >= 0 && hulls.n_blocks >= N_SHARES * MIN_SHARE)
		code = share_widths(&hulls, slope_ns(band->reference.pieces[0].slope), widths);
	hulls_release(&hulls);
	order_numbers(widths, N_SHARES);
	told = widths[1] < band->bracket_room ? widths[1] : band->bracket_room;
	if (is_narrow(least, told) && !is_narrow(told, band->bracket_room))
		*ret_room = told;
	return code;
}
