/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeats.h: the loop in a sequence of names: its longest part that repeats.
 *
 * A part of n names has period p when each name in it equals the one p places before, and it
 * repeats when n >= 2 p: the last turn may be cut short. Of all parts that repeat the longest is
 * taken, of equally long ones that of the shortest period, then the first. What stands before and
 * behind it does not matter, as long as the part is at least a quarter of all: the same kernel
 * twice in a row is no loop yet.
 *
 * Found with the crossing step of Main and Lorentz, "An O(n log n) algorithm for finding all
 * repetitions in a string" (J. Algorithms 5, 1984), at the 7 places that halve the sequence three
 * times: one of them lies in any part that long. A step is linear by Gusfield's Z-function
 * ("Algorithms on Strings, Trees, and Sequences", 1997, 1.3-1.5), so the search is linear, too,
 * whatever the names. Memory: 18 bytes per name while it runs.
 */
#ifndef FLEXTRACE_REPEATS_H
#define FLEXTRACE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

struct repeat {
	uint32_t first, n;
	uint32_t period; /* 0 = nothing repeats */
};

/* Finds the loop. Names are any numbers but UINT32_MAX. FLEXTRACE_E_MEMORY or 0. */
int repeats_find(const uint32_t *names, uint32_t n, struct repeat *ret);

/* Finds a turn of the loop anywhere, by the failure function of Knuth, Morris and Pratt (SIAM J.
 * Computing 6, 1977). */
struct turn_matcher {
	const uint32_t *turn; /* weak */
	uint32_t *failure;    /* owned */
	uint32_t n;
	uint32_t n_matched;
};

/* FLEXTRACE_E_MEMORY or 0; turn_matcher_release() in any case. */
int turn_matcher_init(struct turn_matcher *matcher, const uint32_t *turn, uint32_t n);
void turn_matcher_release(struct turn_matcher *matcher);

/* Takes the next name; true: a turn ends with it. Turns do not overlap. */
bool turn_matcher_push(struct turn_matcher *matcher, uint32_t name);

#endif
