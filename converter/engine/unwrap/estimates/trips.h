/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trips.h: the intervals of host time that work of a counter was in, as round trips of Flex are.
 */
#ifndef FLEXTRACE_UNWRAP_TRIPS_H
#define FLEXTRACE_UNWRAP_TRIPS_H

#include "engine/unwrap/unwrap_impl.h"

struct trips {
	struct idle *trips; /* owned, by begin */
	uint32_t n, n_allocated;
	double longest_ns;
};

/* Lists those of a counter. Those with work are reads of the counter, those without are told as
 * such; none at all, if no work is in any. `trips` is empty before. Returns FLEXTRACE_OK or
 * FLEXTRACE_E_MEMORY. */
int trips_list(struct trips *trips, const struct unwrap *unwrap, uint32_t counter);
void trips_release(struct trips *trips);

/* Finds the one that holds all from a time to another, which may be a little beside it. NULL: none
 * does. */
const struct idle *trips_find(const struct trips *trips, double begin_ns, double end_ns,
                              double slack_ns);

static inline bool trips_hold(const struct trips *trips, double begin_ns, double end_ns,
                              double slack_ns)
{
	return trips_find(trips, begin_ns, end_ns, slack_ns);
}

#endif
