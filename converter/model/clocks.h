/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h: the clocks of devices: cycles of a counter -> host ns, with a bound. engine/calibrate
 * makes them; map.c and report.c there answer what is asked here.
 *
 * `struct clocks` is a value: made once, const ever after, safe to read from any thread.
 */
#ifndef FLEXTRACE_CLOCKS_H
#define FLEXTRACE_CLOCKS_H

#include "place.h"

struct clock_report { /* one line of clocks.csv; NAN = not known */
	uint32_t counter;
	uint16_t segment;
	uint64_t events; /* control blocks that are on it */
	uint64_t resets;
	double freq_mhz, ppm_vs_nominal, ci_ppm, offset_ns;
	double half_width_ns_p50, half_width_ns_p99, half_width_ns_max;
	double residual_ns_p50, residual_ns_p99; /* estimate's distance from the bracket's middle */
	double residual_ns_max;
	uint64_t violations_before; /* of causality, by the nominal or mean rate */
	uint64_t violations_after;  /* by the clock as calibrated */
	uint64_t inversions_before, inversions_after; /* of the device's own order */
	double rho_ppm;
	const char *rho_source; /* "default", "user"; "raised": the evidence did not fit that rho */
};

/* What a counter does from one operation to the next. */
enum counter_habit {
	COUNTER_RUNS,
	COUNTER_RESTARTS, /* it begins anew */
	COUNTER_IS_GATED  /* it stands still */
};

/* The rates with which the wraps of a counter were counted, in ticks per ns. */
struct counted_rate {
	double lo, hi;
	enum counter_habit habit;
};

struct clocks; /* opaque: per counter and segment a monotone map with bounds */

/* Places one stamp. `ticks` 0 is UNMATCHED. Monotone in `ticks` within a segment. */
struct placed clocks_place(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                           uint64_t ticks);

/* The way of clocks_place_near() where the stamp is not near. */
struct placed clocks_place_far(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                               uint64_t ticks, struct clock_near *near);

/* The same, faster where stamps of a counter come nearly in order. `near` is zeroes at first. */
static inline struct placed clocks_place_near(const struct clocks *clocks, uint32_t counter,
                                              uint16_t segment, uint64_t ticks,
                                              struct clock_near *near)
{
	if (ticks && near->counter == counter && near->segment == segment &&
	    ticks - near->first_ticks < near->n_ticks)
		return map_place(near->knot, ticks, near->quality);
	return clocks_place_far(clocks, counter, segment, ticks, near);
}

/* Whether an operation, by its number in the order of unwrap, is outside its own bracket or its
 * process' life: an outlier, although its epoch is certain. */
bool clocks_refuse(const struct clocks *clocks, uint64_t op);

/* The lines of clocks.csv, sorted by counter and segment. Weak. */
const struct clock_report *clocks_report(const struct clocks *clocks, uint32_t *ret_n);

/* Which of them a segment has; false: none. */
bool clocks_find_report(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                        uint32_t *ret_index);

#endif
