/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h: what the files that prove a clock's rates share.
 *
 *   stretch.c  the rates that explain a stretch of evidence, and whether it leaves room
 *   cut.c      stretches of evidence, each with rates of its own, and breaks between them
 *   prove.c    paces of them
 */
#ifndef FLEXTRACE_ALIGN_PROOF_H
#define FLEXTRACE_ALIGN_PROOF_H

#include "align_impl.h"

#define MAX_STRETCHES 32u
#define MAX_SLICES    16
#define SLICE         0.25 /* of rho */

struct stretch { /* spots [from, to] of one rate */
	uint32_t from, to;
	double least, most; /* its mean rate */
	bool is_joined;     /* to the one before: by a step of the rate, not a break */
};

struct proof {
	struct mesh *mesh; /* weak */
	uint32_t clock;
	double rho, fastest;
	struct spots spots;
	struct stretch stretches[MAX_STRETCHES];
	uint32_t n_stretches;
	bool is_broken[MAX_SPOTS]; /* whether there is a break between a spot and the next */
	bool has_lies;
	bool is_proven; /* that there is a break: no rate explains all */
};

/* The slowest and the fastest that a clock is in a stretch. */
double stretch_least(const struct proof *proof, const struct stretch *stretch);
double stretch_most(const struct proof *proof, const struct stretch *stretch);

/* Whether evidence leaves as much room as it usually does, to any of its mean rates. */
bool stretch_leaves_room(struct proof *proof, const struct stretch *stretch);

/* Finds the mean rates that spots [from, to] may have; false: none. */
bool stretch_find_rates(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret);

/* The same, if the clock is not suspected. */
bool stretch_prove(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret);

/* Cuts all spots into stretches of one rate, none of which are joined; false: it cannot be done. */
bool proof_cut(struct proof *proof);

#endif
