/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives_sets.h: which ranks really took part, where several sets of them use a group of one
 * name (data and tensor parallel ranks do).
 *
 * Ranks whose control blocks name each other as peer are of one set, and so are those that both
 * name a third: within one collective (one number of the group) of one subset, over all of them of
 * one set. Who names nobody in one collective is of its set's only subset there; who never does, of
 * no set that is known. A group in which nobody names anybody is one set.
 */
#ifndef FLEXTRACE_COLLECTIVES_SETS_H
#define FLEXTRACE_COLLECTIVES_SETS_H

#include "collectives.h"
#include "base/map.h"

struct rank_node {       /* a rank in a group, or in one collective of it */
	uint32_t parent; /* towards the lowest rank of the set */
	uint32_t rank;
};

struct rank_sets {
	struct map nodes;      /* (group, rank; number + 1, 0 = all) -> node */
	struct map known;      /* groups in which somebody names a peer */
	struct rank_node *all; /* owned */
	uint32_t n;
};

/* Notes that a part's rank exchanges something with another. FLEXTRACE_E_MEMORY or 0; likewise
 * below. */
int rank_sets_link(struct rank_sets *sets, const struct collective_part *part, int32_t rank,
                   int32_t peer);

/* Fills in `who`, `subset` and `is_alone` of parts. */
int rank_sets_fill(struct rank_sets *sets, const struct identity *identity,
                   struct collective_part *parts, uint32_t n);
void rank_sets_release(struct rank_sets *sets);

#endif
