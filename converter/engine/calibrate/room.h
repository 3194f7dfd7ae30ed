/* SPDX-License-Identifier: Apache-2.0 */
/* room.h: how much room a true clock leaves, and bounds where a band leaves less. */
#ifndef FLEXTRACE_ROOM_H
#define FLEXTRACE_ROOM_H

#include "engine/calibrate/calibrate_impl.h"

/* Stores how little room most brackets leave by themselves, as phi; 0: there are none. */
int evidence_room(const struct evidence *evidence, const struct reference *reference,
                  int64_t *ret_room);

/* Stores the width that `part` twentieths of a closed band's places are narrower than; 0: it has
 * none. FLEXTRACE_E_MEMORY or 0. */
int band_quantile(const struct knot *knots, uint32_t n, uint32_t part, int64_t *ret_width);

/* Stores the room that one clock leaves nearly everywhere in a closed band, where that is the room
 * of brackets; 0: they do not tell. FLEXTRACE_E_MEMORY or 0. */
int band_usual_room(const struct knot *knots, uint32_t n, int64_t bracket_room, int64_t *ret_room);

/*
 * The half-width around `at` where a band is narrower than usual. If the clock broke its promise
 * there, evidence in front of the break leaves the one half of what the band is and evidence behind
 * it the other: each alone leaves the usual room, and the truth is in the one or in the other.
 */
static inline int64_t room_half(const struct knot *knot, int64_t at, int64_t usual)
{
	int64_t near = at - knot->lo < knot->hi - at ? at - knot->lo : knot->hi - at;
	int64_t far = at - knot->lo > knot->hi - at ? at - knot->lo : knot->hi - at;

	return usual - near > far ? usual - near : far;
}

/* Stores how narrow a closed band may be where that is the room of brackets; 0: they do not
 * tell. FLEXTRACE_E_MEMORY or 0. */
int band_least_room(const struct knot *knots, uint32_t n, int64_t bracket_room, int64_t *ret_room);

/* Stores the room that most shares of the evidence leave by themselves, whatever the rate was in
 * each, if some of a closed band is much narrower: a rate that changed for good squeezes it. 0:
 * none is. FLEXTRACE_E_MEMORY or 0. */
int band_shares_room(const struct attempt *band, const struct evidence *evidence,
                     int64_t *ret_room);

#endif
