/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_wander.h: devices whose rate goes anywhere between two limits, in every way that is hard
 * to follow, under brackets that are tight, loose, rare, or loose on one side only. For tests of
 * what rho promises, and of how good the estimate is.
 *
 * The same seed makes the same trace.
 */
#ifndef CLOCK_WANDER_H
#define CLOCK_WANDER_H

#include "clock_truth.h"

enum wander_shape {
	WANDER_WALK,   /* a random walk: `ppm` in a second */
	WANDER_SQUARE, /* between the two limits, every half period */
	WANDER_SINE,
	WANDER_SAW,
	WANDER_RAMP,   /* once from one limit to the other */
	WANDER_CHANCE, /* from limit to limit after times of an exponential of half a period */
	WANDER_PULSE,  /* at one limit, and a tenth of the time at the other */
};

struct wander_scene {
	const char *name;
	enum wander_shape shape;
	double ppm; /* how far the rate goes off its mean, either way */
	double period_s;
	double duration_s, ops_hz;
	double floors_us[2];   /* least time from submit to TS1, from TS5 to completion */
	double tight_us;       /* mean of what comes on top of that, mostly */
	double loose_us[2];    /* mean of what comes on top otherwise, on either side */
	double loose_share[2]; /* how often that is */
	double loose_floor_us; /* least of what comes on top then */
	double both_share;     /* how often it is on both sides at once */
	double work_us;        /* mean time of an operation; 0 = 1000 */
	uint32_t depth;        /* operations that are kept in the queue; 0: they come by chance */
	double still_s;        /* the host runs nothing for so long in the middle */
	double still_ppm;      /* and the rate is off by this meanwhile */
	bool is_regular;       /* submissions come at equal distances */
	double sync_s;         /* the counter is read every so often, within some 2 us; 0: never */
};

void wander_make(const struct wander_scene *scene, uint64_t seed, struct clock_truth *truth);

#endif
