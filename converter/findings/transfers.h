/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfers.h: finds messages between devices, and draws them.
 *
 * A receive belongs to the sending with the same sync text, from the rank that it names as its
 * peer and, where that sends to one rank, to its own: first to first in order of their ends. If
 * they are not equally many (a recording that began late), it is the last one that was over by
 * then and that no earlier receive of the same rank has taken.
 */
#ifndef FLEXTRACE_TRANSFERS_H
#define FLEXTRACE_TRANSFERS_H

#include "model/timeline/timeline.h"
#include "base/text/strings.h"
#include "model/timeline/transfer_ends.h"

/* Finds them; a timeline whose control blocks have no groups costs nothing. FLEXTRACE_E_MEMORY or
 * 0; release in any case. */
int transfers_find(struct transfers *transfers, const struct timeline *timeline,
                   struct string_cache *strings);
void transfers_release(struct transfers *transfers);

/* Appends to `flows`, which is empty, the arrows of the timeline and one for each receive whose
 * sending is known, from the start of the one to the end of the other; nothing, if there is no such
 * receive. FLEXTRACE_E_MEMORY or 0. */
int transfers_draw(const struct transfers *transfers, const struct timeline *timeline,
                   struct table *flows);

/* Appends arrows of a table and `n` others, both in order of their begins. FLEXTRACE_E_MEMORY or
 * 0. */
int transfers_merge(struct table *flows, const struct table *launches, const struct flow *messages,
                    uint32_t n);

#endif
