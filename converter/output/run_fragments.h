/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_fragments.h: what the lines of one run of the firmware have in common, made once for each
 * run on each track: most rows of a track are of the run of the one before. In files, a run and its
 * kernel may have lines of their own: those are two fragments.
 */
#ifndef FLEXTRACE_RUN_FRAGMENTS_H
#define FLEXTRACE_RUN_FRAGMENTS_H

#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define RUN_FRAGMENT_BYTES 304

struct run_fragment {
	const struct mark_run *run; /* weak; NULL = none yet */
	uint32_t source;            /* place of the origin that it names */
	uint32_t n;
	char bytes[RUN_FRAGMENT_BYTES]; /* numbers of a run and its track, with their keys */
};

/* One for each of `n_tracks`: owned by the caller, freed by free(); NULL: no memory. */
static inline struct run_fragment *run_fragments_new(uint32_t n_tracks)
{
	return calloc(n_tracks + 1ull, sizeof(struct run_fragment));
}

/* Says that the fragment of a run ends at `at`. */
static inline void run_fragment_end(struct run_fragment *fragment, const struct mark_run *run,
                                    uint32_t source, const char *at)
{
	fragment->run = run;
	fragment->source = source;
	fragment->n = (uint32_t)(at - fragment->bytes);
}

/* Puts a fragment where there is room for RUN_FRAGMENT_BYTES, and returns its end. */
static inline char *run_fragment_put(const struct run_fragment *fragment, char *at)
{
	memcpy(at, fragment->bytes, fragment->n);
	return at + fragment->n;
}

#endif
