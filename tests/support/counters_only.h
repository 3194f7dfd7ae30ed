/* SPDX-License-Identifier: Apache-2.0 */
/* counters_only.h: one computed counter by itself, among those that were recorded. */
#ifndef FLEXTRACE_TESTS_COUNTERS_ONLY_H
#define FLEXTRACE_TESTS_COUNTERS_ONLY_H

#include "findings/counters/counters.h"

/* Leaves the rows in `counters` instead of what it had. As counters_find(). */
static inline int counters_find_only(struct counters_input input, enum computed_counter which,
                                     struct table *counters)
{
	for (int i = 0; i < COMPUTED_COUNTER_COUNT; i++)
		input.is_off[i] = i != (int)which;
	table_release(counters);
	return counters_find(counters, &input);
}

#endif
