/* SPDX-License-Identifier: Apache-2.0 */
/* path_steps.h: what paths are of: steps, windows, whole runs, with the work launched in them. */
#ifndef FLEXTRACE_PATH_STEPS_H
#define FLEXTRACE_PATH_STEPS_H

#include "findings/statistics/owners.h"
#include "path_graph.h"

struct path_step {
	int64_t start_time_ns, end_time_ns;
	int64_t host_end_time_ns; /* of the host alone */
	uint32_t process;         /* where it ended */
	uint32_t name;            /* string; 0: a whole run */
	uint32_t track;           /* of its thread; FLEXTRACE_NONE: there is none */
	uint32_t last_work;       /* that ended it; FLEXTRACE_NONE: the host did */
	bool is_of_all;           /* over all ranks */
};

typedef int path_step_taker(void *context, const struct path_step *step);

/* Rank by rank, in order of time, then over all ranks. Until `take` fails: what it returned, or
 * FLEXTRACE_E_MEMORY. */
int path_steps_each(const struct path_graph *graph, const struct owners *owners,
                    path_step_taker *take, void *context);

#endif
