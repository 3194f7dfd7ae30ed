/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trips.h: the intervals of host time that work of a counter was in, as round trips of Flex are.
 */
#ifndef FLEXTRACE_UNWRAP_TRIPS_H
#define FLEXTRACE_UNWRAP_TRIPS_H

#include "engine/unwrap/unwrap_impl.h"

struct trips {
	struct idle *trips; /* owned, by begin; each once */
	uint32_t *latest;   /* owned: of these and those before them, the one that ends last */
	int64_t *ends_ns;   /* owned, in order */
	uint32_t n, n_allocated;
	double longest_ns;
};

/* Lists those of a counter. Those with work are reads of the counter, those without are told as
 * such; none at all, if no work is in any. `trips` is empty before. Returns FLEXTRACE_OK or
 * FLEXTRACE_E_MEMORY. */
int trips_list(struct trips *trips, const struct unwrap *unwrap, uint32_t counter);
void trips_release(struct trips *trips);

/* Puts them on another clock, which is as fast but for little. */
void trips_move(struct trips *trips, int64_t (*move)(const void *to, int64_t ns), const void *to);

/* How many begin by then. */
uint32_t trips_count_begun(const struct trips *trips, double ns);

/* When the last of the first n ends. */
static inline double trips_latest_ns(const struct trips *trips, uint32_t n)
{
	return (double)trips->trips[trips->latest[n - 1]].end_ns;
}

/* Whether one holds all from a time to another, which may be a little beside it. */
bool trips_hold(const struct trips *trips, double begin_ns, double end_ns, double slack_ns);

/* Whether one begins, or ends, so near a time. */
bool trips_have_edge(const struct trips *trips, double ns, double near_ns, bool is_begin);

#endif
