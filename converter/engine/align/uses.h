/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uses.h: which uses of a message belong together, where one rank used it more often than the
 * other: its recording began later, or lost some.
 *
 * Messages of the same two ranks that both used equally often tell how far apart their clocks are:
 * a use of the one belongs to that of the other that is at least four times nearer than any other,
 * by the nearest of these. Where there is none, and the one side lacks uses at its begin or end
 * only, the distances between the uses say how many, if no other number fits a quarter as well.
 * What fits nothing is left alone. Two ranks of one host need nothing of that.
 *
 * Where stamps are certain, what is made of them is to be: then equally often is no proof (see
 * turns.h), and only what is proven is an anchor. A message whose name comes once on either side
 * is one. Where nothing is proven, uses that came equally often are matched by counting, and
 * assumed.
 */
#ifndef FLEXTRACE_ALIGN_USES_H
#define FLEXTRACE_ALIGN_USES_H

#include <stdbool.h>
#include <stdint.h>

struct message_use {
	uint64_t *number; /* weak: 0; uses of one number belong together */
	int64_t host_ns;
	uint32_t sync; /* string */
	uint32_t process;
	int32_t from, to; /* ranks */
	bool is_send;
	bool *is_assumed; /* weak: what it says is not certain */
};

/* Numbers the uses of messages that were used unequally often, or are certain; those of others stay
 * 0. Sorts them. FLEXTRACE_E_MEMORY or 0. Work: n log n, and n turns for each of n shifts of a
 * message. */
int uses_match(struct message_use *uses, uint32_t n);

/* Numbers those receives of multicasts, of one sender and several receivers, of which nobody can
 * say for certain which of its sends they are of: each has a number of its own. `to` of a send
 * is -1. Sorts them. */
void uses_part_multicasts(struct message_use *uses, uint32_t n);

#endif
