/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.h: evidence -> const clocks: cycles of a counter -> host ns, with a bound.
 *
 * Every hard bracket says g(first_ticks) >= before and g(last_ticks) <= after, for the monotone
 * map g from cycles to host time; the rate may wander by at most rho. All maps that meet the
 * constraints form a band; its middle is the estimate, its half-width the certified error.
 * docs/clocks.md has the assumptions, the limits and the sources.
 */
#ifndef FLEXTRACE_CALIBRATE_H
#define FLEXTRACE_CALIBRATE_H

#include "base/error.h"
#include "model/identity/clock_options.h"
#include "model/clocks.h"
#include "model/identity/identity.h"
#include "model/ledger/ledger.h"
#include "model/model.h"
#include "model/timeline/clock_columns.h"

struct calibrate_input { /* weak, all */
	const struct calibrate_options *options;
	const struct identity *identity;
	struct table *brackets;    /* struct bracket; used up */
	const struct table *ops;   /* struct tick_op */
	const struct table *rates; /* struct counted_rate, of each counter */
	struct ledger *ledger;
	const struct table *told; /* struct clock_row: reports of clocks that need no fit */
};

/* Fits all counters. A certified operation that its own bracket contradicts is refused
 * (clocks_refuse()), so that every other one lies inside its bracket, to the ns. */
int calibrate_run(const struct calibrate_input *input, struct clocks **ret_clocks,
                  struct flextrace_error *error);
void clocks_free(struct clocks *clocks);

/* Gives up the maps once all is placed: they are as large as the rows of a device. Reports stay. */
void clocks_drop_maps(struct clocks *clocks);

#endif
