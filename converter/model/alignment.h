/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alignment.h: the clocks of hosts: host ns -> the one time of the timeline, with a bound.
 * engine/align makes it; align.c and map.c there answer what is asked here.
 *
 * `struct alignment` is a value: made once, const ever after, safe to read from any thread.
 */
#ifndef FLEXTRACE_ALIGNMENT_H
#define FLEXTRACE_ALIGNMENT_H

#include "model.h"

struct aligned {
	int64_t time_ns;
	uint32_t err_ns;         /* 0 on the reference host's clock; UINT32_MAX = no bound */
	enum time_status status; /* CERTIFIED or ASSUMED */
};

struct alignment_report { /* one line of alignment.csv: a process; NAN = not known */
	uint32_t process;
	double offset_ns, drift_ppm; /* of its host clock, in the middle of its evidence */
	double half_width_ns_p50, half_width_ns_p99, half_width_ns_max; /* over its evidence */
	uint64_t sync_points_used, sync_points_dropped;
	/* distance of its exits from the median exit of all that took part */
	double residual_ns_p50, residual_ns_p90, residual_ns_p99, residual_ns_max;
	uint32_t component; /* 0 = the reference's */
	bool one_sided;     /* most of the evidence bounds its clock tightly on one side only */
};

struct alignment; /* opaque: one map per host clock */

/* Places a host time; monotone in `host_ns`. */
struct aligned alignment_place(const struct alignment *alignment, uint32_t process,
                               int64_t host_ns);

/* True if a process is on the timeline's own clock: alignment_place() says what it is given. */
bool alignment_is_reference(const struct alignment *alignment, uint32_t process);

/* The half-width at a moment that alignment_place() gave, for who kept only that; UINT32_MAX = no
 * bound. */
uint32_t alignment_bound(const struct alignment *alignment, uint32_t process, int64_t time_ns);

/* Reference time + this = ns since the Unix epoch; 0 where the trace does not know it. */
int64_t alignment_epoch_offset_ns(const struct alignment *alignment);

/* The lines of alignment.csv, sorted by rank, then process. Weak. */
const struct alignment_report *alignment_report(const struct alignment *alignment, uint32_t *ret_n);

#endif
