/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_impl.h: what the files of pair_align() share.
 *
 *   pair_align.c   the sentence; how good an offset is; the line
 *   pair_vote.c    offsets that may be the one
 *   pair_match.c   who is whose, given one
 */
#ifndef FLEXTRACE_IMPORT_PAIR_IMPL_H
#define FLEXTRACE_IMPORT_PAIR_IMPL_H

#include "pair_align.h"

struct pair_run { /* events of one key */
	uint32_t from, n_from, to, n_to;
};

struct pair_match {
	int64_t at_ns;       /* begin of the event in `from` */
	int64_t error_ns;    /* of its partner - its own, moved: begin or end, which is nearer */
	int64_t distance_ns; /* the less, the more likely they are the same */
	uint32_t from, to;
};

struct pairing_state {
	struct pair_list *from, *to; /* weak, sorted */
	struct pair_run *runs;       /* owned, all from here */
	uint32_t n_runs;
	struct pair_match *matches;
	uint32_t n_matches;
	int64_t *spare;                     /* room for a number of each event of `from` */
	bool uses_correlation, uses_stamps; /* only what has the same are pairs */
};

/* -- pair_vote.c ------------------------------------------------------------------------------- */

#define PAIR_CANDIDATES 1024

/* Stores offsets that may be the one, and returns how many, or FLEXTRACE_E_MEMORY. */
int pair_vote(const struct pairing_state *state, int64_t *ret_offsets);

/* -- pair_match.c ------------------------------------------------------------------------------ */

struct pair_score {
	double sum; /* over the partners; the higher, the nearer and the more */
	uint32_t n; /* partners that were found */
	/* those that both have a correlation or stamps, and how many have the same */
	uint32_t n_correlations, n_same_correlations, n_stamps, n_same_stamps;
};

/* How well an offset fits, looking at every `stride`-th event. */
struct pair_score pair_score(const struct pairing_state *state, const struct pair_fit *fit,
                             uint32_t stride);

/* Finds all pairs that are each other's nearest, into state->matches. */
void pair_find_all(struct pairing_state *state, const struct pair_fit *fit);

#endif
