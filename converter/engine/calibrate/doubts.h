/* SPDX-License-Identifier: Apache-2.0 */
/* doubts.h: stretches of a counter of which nothing is certified. */
#ifndef FLEXTRACE_DOUBTS_H
#define FLEXTRACE_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

struct stretch {
	uint64_t from, to; /* x; up to `to`, UINT64_MAX: without end */
};

struct doubts {
	struct stretch *stretches; /* owned, by x, none meets the next */
	uint32_t n, n_allocated;
};

/* Doubts all between two places; the bounds at these places themselves must hold. From 0 on: what
 * is in front of the first evidence, too. FLEXTRACE_E_MEMORY or 0. */
int doubts_add(struct doubts *doubts, uint64_t from, uint64_t to);
void doubts_release(struct doubts *doubts);

/* Whether anything between two places is in doubt. `*next` is 0 at first; no `from` is less than
 * that of the call before. */
bool doubts_meet(const struct doubts *doubts, uint64_t from, uint64_t to, uint32_t *next);

#endif
