/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_pieces.h: what the lines of one run of the firmware have in common, made once for each run on
 * each track: most rows of a track are of the run of the one before. In files, a run and its kernel
 * may have lines of their own: those are two pieces.
 */
#ifndef FLEXTRACE_RUN_PIECES_H
#define FLEXTRACE_RUN_PIECES_H

#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define RUN_PIECE_BYTES 304

struct run_piece {
	const struct mark_run *run; /* weak; NULL = none yet */
	uint32_t source;            /* place of the origin that it names */
	uint32_t n;
	char bytes[RUN_PIECE_BYTES]; /* numbers of a run and its track, with their keys */
};

/* One for each of `n_tracks`: owned by the caller, freed by free(); NULL: no memory. */
static inline struct run_piece *run_pieces_new(uint32_t n_tracks)
{
	return calloc(n_tracks + 1ull, sizeof(struct run_piece));
}

/* Says that the piece of a run ends at `at`. */
static inline void run_piece_end(struct run_piece *piece, const struct mark_run *run,
                                 uint32_t source, const char *at)
{
	piece->run = run;
	piece->source = source;
	piece->n = (uint32_t)(at - piece->bytes);
}

/* Puts a piece where there is room for RUN_PIECE_BYTES, and returns its end. */
static inline char *run_piece_put(const struct run_piece *piece, char *at)
{
	memcpy(at, piece->bytes, piece->n);
	return at + piece->n;
}

#endif
