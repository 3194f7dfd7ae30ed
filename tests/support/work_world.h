/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_world.h: a random timeline of device work and what launched it, a ns at a time.
 *
 * Rank 0 has two devices, rank 1 one. Work overlaps, nests, touches and lasts no time; some of it
 * nobody launched, and some begins before its launch.
 */
#ifndef FLEXTRACE_TESTS_WORK_WORLD_H
#define FLEXTRACE_TESTS_WORK_WORLD_H

#include "analysis_fixture.h"

#define WORLD_NS      128
#define WORLD_WORKS   24
#define WORLD_CALLS   16
#define WORLD_DEVICES 3

struct world_work {
	int device, start, end;
	int class;  /* enum work_class */
	int launch; /* -1: none */
};

struct work_world {
	struct analysis_test test;
	struct world_work works[WORLD_WORKS]; /* in order of output: each is a control block */
	int call_start[WORLD_CALLS], call_end[WORLD_CALLS]; /* of a thread of rank 0, one level */
	uint32_t launch_of_op[WORLD_WORKS];
	uint8_t masks[WORLD_DEVICES][WORLD_NS];        /* by enum work_class */
	int first[WORLD_DEVICES], last[WORLD_DEVICES]; /* of work; -1: there is none */
};

/* `scale`: how many ns of the timeline are one of the world. */
void work_world_init(struct work_world *world, unsigned seed, int64_t scale);
void work_world_release(struct work_world *world);

/* Rank of a device. */
static inline int world_rank(int device)
{
	return device == 2;
}

#endif
