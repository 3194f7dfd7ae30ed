/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that nothing ties to the host. A dumped area or a file of cycles has marks and no host
 * times. The whole reads of such a counter and its nominal rate still place each mark relative to
 * the others. No run is seen before it began, so the run that was seen soonest after its start is
 * taken as seen at its start. How late it really was seen is not known, and all times are assumed.
 */
#include <math.h>

#include "engine/unwrap/unwrap_impl.h"

struct bare {
	const struct axis *axis; /* weak */
	const struct run *first; /* weak; by when it was seen; NULL: none */
	const struct run *least; /* weak; seen soonest behind its start */
	double least_lag_ns;
};

/* What the nominal rate expects of a run that was seen then, and its anchor's epoch next to it. */
static uint64_t ticks_of(const struct bare *bare, const struct run *run)
{
	double elapsed_ns = (double)(int64_t)(run->clock_ns - bare->first->clock_ns);
	double off = elapsed_ns * bare->axis->nominal -
	             (double)(int64_t)(run->anchor - bare->first->anchor);
	double n_wraps;

	if (bare->axis->wide_bits >= 64)
		return run->anchor;
	n_wraps = round(ldexp(off, -(int)bare->axis->wide_bits));
	if (!(n_wraps >= 0 && n_wraps < ldexp(1, 63 - (int)bare->axis->wide_bits)))
		return run->anchor;
	return run->anchor + ((uint64_t)n_wraps << bare->axis->wide_bits);
}

static void place(struct bare *bare, struct run *run)
{
	double lag_ns;

	run->ticks = ticks_of(bare, run);
	run->is_placed = true;
	run->status = TIME_ASSUMED;
	lag_ns = (double)(int64_t)(run->clock_ns - bare->first->clock_ns) -
	         (double)(int64_t)(run->ticks - bare->first->anchor) / bare->axis->nominal;
	if (bare->least && lag_ns >= bare->least_lag_ns)
		return;
	bare->least = run;
	bare->least_lag_ns = lag_ns;
}

int bare_place(struct unwrap *unwrap, uint32_t counter, struct table *brackets)
{
	struct bare bare = {.axis = &unwrap->axes[counter]};
	struct bracket *bracket;

	for (uint64_t i = 0; i < unwrap->marks.n_runs; i++) {
		const struct run *run = &unwrap->marks.runs[i];

		if (run->counter == counter &&
		    (!bare.first || run->clock_ns < bare.first->clock_ns))
			bare.first = run;
	}
	if (!bare.first || !(bare.axis->nominal > 0))
		return FLEXTRACE_OK;
	for (uint64_t i = 0; i < unwrap->marks.n_runs; i++) {
		if (unwrap->marks.runs[i].counter == counter)
			place(&bare, &unwrap->marks.runs[i]);
	}
	bracket = table_append(brackets, sizeof(*bracket));
	if (!bracket)
		return FLEXTRACE_E_MEMORY;
	*bracket = (struct bracket){
		.first_ticks = bare.least->ticks,
		.last_ticks = bare.least->ticks,
		.before_host_ns = (int64_t)bare.least->clock_ns,
		.after_host_ns = (int64_t)bare.least->clock_ns,
		.counter = counter,
		.source = BRACKET_ESTIMATE,
	};
	return FLEXTRACE_OK;
}
