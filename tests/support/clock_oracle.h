/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_oracle.h: whether one clock explains what was recorded, found without a band.
 *
 * A clock whose rate stays within rho of a mean m meets all brackets if and only if each pair of
 * them does: of two stamps dx ticks apart, the first not after hi and the second not before lo,
 * lo - hi <= m (1 + rho) dx; the first not before lo and the second not after hi,
 * hi - lo >= m (1 - rho) dx. The first kind is a least mean, the second a greatest one.
 */
#ifndef CLOCK_ORACLE_H
#define CLOCK_ORACLE_H

#include "clock_truth.h"

/* Whether a clock that keeps the promise could have made all true brackets of each life, of
 * operations [from, to). Then none of these tells that the clock broke it: the break is hidden. */
bool clock_oracle_fits(const struct clock_truth *truth, uint32_t from, uint32_t to, double rho);

#endif
