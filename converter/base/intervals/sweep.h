/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h: which classes of intervals are under way, stretch by stretch.
 *
 * Intervals come in order of their starts, so that of each class only its latest end matters: time
 * and memory do not depend on how many intervals overlap. The stretches follow each other without
 * a hole, so that their lengths add up to the time from the begin to the end exactly.
 */
#ifndef FLEXTRACE_SWEEP_H
#define FLEXTRACE_SWEEP_H

#include <stdint.h>

#define SWEEP_MAX_CLASSES 8

/* Takes a stretch during which exactly the classes of `mask` (bit c: class c) are under way;
 * 0: none is. Stretches of no length are not told. */
typedef void sweep_taker(void *context, int64_t start_ns, int64_t end_ns, uint32_t mask);

struct sweep {
	sweep_taker *take;
	void *context;                       /* weak */
	int64_t now_ns;                      /* told up to here */
	uint32_t mask;                       /* of classes that may be under way */
	int64_t until_ns[SWEEP_MAX_CLASSES]; /* where those of a class end so far */
};

/* Begins at a time, at or before the first start. */
void sweep_begin(struct sweep *sweep, int64_t time_ns, sweep_taker *take, void *context);

/* Adds an interval, which begins not before the ones before it. */
void sweep_add(struct sweep *sweep, int64_t start_ns, int64_t end_ns, uint32_t class);

/* Tells what is left, up to a time: what is under way there is cut. */
void sweep_end(struct sweep *sweep, int64_t time_ns);

#endif
