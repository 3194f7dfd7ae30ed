/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h: what the files that prove a clock's rates share.
 *
 *   stretch.c  the rates that explain a stretch of evidence, and whether it leaves room
 *   room.c     what room evidence leaves, and what it usually leaves
 *   cut.c      stretches of evidence, each with rates of its own, and breaks between them
 *   prove.c    paces of them
 */
#ifndef FLEXTRACE_ALIGN_PROOF_H
#define FLEXTRACE_ALIGN_PROOF_H

#include "engine/align/align_impl.h"

#define MAX_STRETCHES 32u
#define MAX_SLICES    16
#define SLICE         0.25 /* of rho */
#define MOST_JUMP     2    /* times what both sides of a place leave: larger jumps contradict */

struct stretch { /* spots [from, to] of one rate */
	uint32_t from, to;
	double least, most; /* its mean rate */
	/* What is in front of one spot and behind another one may be off by so much more. */
	uint32_t sure_from, sure_to;
	double from_more_ns, to_more_ns;
	bool is_joined; /* to the one before: by a step of the rate, not a break */
	double jump_ns; /* that the clock may have made since then; INFINITY: any */
};

/* Where another clock left its rate, or this one: nobody knows which. */
struct cut {
	uint32_t clock;
	int64_t from_ns, to_ns; /* of its host */
	bool is_step;           /* and kept another rate from there on */
	double least;           /* by this much at least: ns, or a rate */
};

struct cuts {
	struct cut *all; /* owned, by clock */
	uint32_t n;
};

struct proof {
	struct mesh *mesh; /* weak */
	uint32_t clock;
	double rho, fastest;
	double share; /* that two sides overlap by, or the clock is suspected */
	struct spots spots;
	struct stretch stretches[MAX_STRETCHES];
	uint32_t n_stretches;
	bool is_broken[MAX_SPOTS]; /* whether there is a break between a spot and the next */
	struct cuts cuts;
	bool has_step; /* at one of them */
	bool has_lies;
	bool until_lies, has_stopped; /* at the first clock that has some */
	bool is_proven;               /* that there is a break: no rate explains all */
};

/* The slowest and the fastest that a clock is in a stretch. */
double stretch_least(const struct proof *proof, const struct stretch *stretch);
double stretch_most(const struct proof *proof, const struct stretch *stretch);

/* Finds the mean rates that spots [from, to] may have; false: none. */
bool stretch_find_rates(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret);

/* How far a clock moved between two stretches, beside what their rates make: as bounds. */
struct spot_range stretch_find_shift(const struct proof *proof, const struct stretch *left,
                                     const struct stretch *right);

/* The same, if they leave enough room. */
bool stretch_prove(struct proof *proof, uint32_t from, uint32_t to, struct stretch *ret);

/* -- room.c: what evidence on either side of a place leaves together --------------------------- */

/* The share that two sides of a place overlap by if a clock kept its rate; 0: nothing says so. */
double room_find_share(const struct proof *proof);

/* Finds the room of all spots; or forgets it. False: these stretches are too short to say what is
 * usual, so that they have no share, either. */
bool room_find(struct proof *proof);
void room_forget(struct proof *proof);

/* The least that they overlap by anywhere in a stretch: behind which spot, and how far the clock
 * may have jumped there. */
double room_find_least(const struct proof *proof, const struct stretch *stretch, uint32_t *ret_at,
                       double *ret_jump_ns);

/* How far a clock may have jumped between two spots of a stretch. */
double room_find_jump(const struct proof *proof, const struct stretch *stretch, uint32_t front,
                      uint32_t behind);

/* The spots that a break between two stretches lies between, most likely. */
void room_find_break(const struct proof *proof, const struct stretch *left,
                     const struct stretch *right, uint32_t *ret_front, uint32_t *ret_behind);

/* -- cut.c ------------------------------------------------------------------------------------- */

/* Finds stretches of one rate, none of which are joined; false: it cannot be done. */
bool proof_cut(struct proof *proof);

/* -- cuts.c ------------------------------------------------------------------------------------ */

/* Lists for each clock where any clock of its component left its rate. */
int cuts_find(const struct mesh *mesh, double rho, struct cuts *cuts);

#endif
