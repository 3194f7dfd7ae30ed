/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align_oracle.h: whether the evidence of a scene shows that a clock left its promise.
 *
 * It is hidden if clocks that all keep the promise explain each enter and each exit that any rank
 * recorded. Then the evidence is that of a run in which nothing happened, and no method can tell
 * one from the other.
 */
#ifndef ALIGN_ORACLE_H
#define ALIGN_ORACLE_H

#include "align_truth.h"

/* By how much exits would have to be later, and enters earlier, so that clocks whose rates stay
 * within `rho` of their means against the reference's explain them all, in ns. 0: the evidence
 * shows nothing, for certain. Not 0: it may still show nothing, as all mean rates but that of the
 * odd rank's host are taken to be what they truly are. For scenes in which all ranks of a round
 * meet, each on a host of its own, and no stamp lies. */
double align_oracle_miss_ns(const struct align_truth *truth, double rho);

#endif
