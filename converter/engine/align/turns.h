/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h: which use of a message by its sender is which by its receiver, where both used it turn
 * after turn: proven, or not.
 *
 * That both used it equally often is no proof: one may have been recorded a turn later. The turns
 * themselves are: how long each took shows on both sides. A shift between the two is proven if
 * that agrees, and if with any other shift it agrees four times less well for most turns. Turns
 * that are all alike prove nothing.
 */
#ifndef FLEXTRACE_ALIGN_TURNS_H
#define FLEXTRACE_ALIGN_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "uses.h"

struct turns { /* of a message; weak, both */
	const struct message_use *sends, *receives;
	uint32_t n_sends, n_receives;
	int64_t shift;     /* receive i is of send i + shift */
	double agrees_ns;  /* the lengths of a turn on both sides are no more apart */
	double differs_ns; /* with any other shift, half of them are as much apart, at least */
};

/* Finds the shift; false: none is proven. */
bool turns_prove(struct turns *turns);

/* Whether counting tells all uses apart: both sides have as many, and nearly all turns agree. */
bool turns_agree_throughout(const struct turns *turns);

/* Whether a receive and its send are among turns whose lengths agree, so that neither side lacks
 * any nearby. */
bool turns_agree(const struct turns *turns, uint32_t receive);

#endif
