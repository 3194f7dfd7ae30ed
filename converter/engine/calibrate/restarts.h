/* SPDX-License-Identifier: Apache-2.0 */
/* restarts.h: what is known of a counter by its many segments. */
#ifndef FLEXTRACE_RESTARTS_H
#define FLEXTRACE_RESTARTS_H

#include "calibrate_impl.h"

/* The slopes that the segments of a counter can have: all, if these are few. If they do not agree
 * it is those near the stated one, if one is stated (else `nominal` is 0). FLEXTRACE_E_MEMORY or 0.
 */
int restarts_find(const struct clock_map *maps, uint32_t n, double nominal,
                  struct slopes *ret_slopes, bool *ret_is_agreed);

/* Whether a map leaves no other slopes than these. */
bool restarts_hold(const struct clock_map *map, const struct slopes *slopes);

/* Whether a map's own evidence proves that its slope is another one. */
bool restarts_prove(const struct clock_map *map, const struct evidence *evidence,
                    const struct slopes *slopes);

/* Whether a counter has many segments of few operations each. */
bool restarts_all_the_time(uint32_t n_maps, uint64_t n_claims);

/* Widens the bounds at the knots of a closed band to what each bracket leaves by itself. */
void restarts_widen(struct attempt *band, const struct evidence *evidence);

#endif
