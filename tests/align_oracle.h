/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align_oracle.h: whether the evidence of a scene shows that a clock left its promise.
 *
 * If a clock within the promise explains all enters and exits of the odd rank's host while all
 * other clocks are what they truly are, the evidence is that of a run in which nothing happened: no
 * method can tell. So what this calls hidden is hidden for certain.
 */
#ifndef ALIGN_ORACLE_H
#define ALIGN_ORACLE_H

#include "align_truth.h"

/* By how much the evidence of the odd rank's host misses all clocks whose rates stay within `rho`
 * of one mean, which is at most 200 ppm, in ns. At most 0: the evidence shows nothing. For scenes
 * in which all ranks of a round meet, each on a host of its own, and no stamp lies. */
double align_oracle_miss_ns(const struct align_truth *truth, double rho);

#endif
