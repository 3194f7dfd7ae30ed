/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_changes.h: clocks that change while they are watched: a rate that steps or drifts for some
 * time, a counter that stands still or begins anew, a host's clock that jumps or is slewed.
 */
#ifndef CLOCK_CHANGES_H
#define CLOCK_CHANGES_H

#include "clock_scenarios.h"

struct clock_change {
	struct clock_scenario scenario;
	double least_sure; /* share of operations that are certified with all their stamps: the mean
	                      * of all seeds, as the end of a trace or a short rate can cost some */
	uint64_t nominal_hz; /* 0: nobody says */
};

extern const struct clock_change clock_changes[];
extern const uint32_t n_clock_changes;

/* Returns a change by its scenario's name, or NULL. */
const struct clock_change *clock_change_find(const char *name);

#endif
