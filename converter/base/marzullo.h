/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marzullo.h: where most of a set of intervals agree (Marzullo's algorithm).
 *
 * Evidence is intervals that hold the truth, except for a few that lie. The points that most of
 * them hold are the best there is to know, whatever the lies are.
 */
#ifndef FLEXTRACE_MARZULLO_H
#define FLEXTRACE_MARZULLO_H

#include <stdint.h>

/* Ends count as inside. Beyond +-MARZULLO_MAX an end is taken as that. */
#define MARZULLO_MAX (INT64_C(1) << 61)

struct interval {
	int64_t lo, hi;
};

/*
 * Returns how many of the `n` intervals hold the point that most of them hold, and stores the
 * hull of all points that at least `share` (0..1] of so many hold. Returns 0 and stores nothing
 * for n = 0. `spare`: weak, room for 2n words. O(n log n).
 */
uint32_t marzullo_hull(const struct interval *intervals, uint32_t n, double share, int64_t *spare,
                       struct interval *ret_hull);

#endif
