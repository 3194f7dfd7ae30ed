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
};

/* Numbers the uses of messages that were used unequally often; those of others stay 0. Sorts them.
 * O(n log n). FLEXTRACE_E_MEMORY or 0. */
int uses_match(struct message_use *uses, uint32_t n);

#endif
