/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.h: host clocks -> the one time of the timeline, with a bound.
 *
 * Processes with the same host clock need nothing: offset 0, exactly. A host clock without a path
 * of evidence to the reference is a component of its own: it is shifted by the difference of the
 * hosts' epoch offsets only, which is reported as assumed and warned of, never merged silently.
 *
 * `struct alignment` is a value: const after align_run().
 */
#ifndef FLEXTRACE_ALIGN_H
#define FLEXTRACE_ALIGN_H

#include "error.h"
#include "identity.h"
#include "ledger.h"
#include "model.h"

struct aligned {
	int64_t time_ns;
	uint32_t err_ns;         /* 0 on the reference host's clock; UINT32_MAX = no bound */
	enum time_status status; /* CERTIFIED or ASSUMED */
};

struct alignment_report { /* one line of alignment.csv: a process; NAN = not known */
	uint32_t process;
	double offset_ns, drift_ppm;
	double half_width_ns_p50, half_width_ns_p99, half_width_ns_max;
	uint64_t sync_points_used, sync_points_dropped;
	double residual_ns_p50, residual_ns_p90, residual_ns_p99, residual_ns_max;
	uint32_t component; /* 0 = the reference's */
	bool one_sided;
};

struct alignment; /* opaque: one map per host clock */

/* `identity` is weak and must outlive the alignment; `sync_points` (struct sync_point) is weak.
 * The reference is the host clock of the lowest known rank, else of the first process. */
int align_run(const struct identity *identity, struct table *sync_points, struct ledger *ledger,
              struct alignment **ret_alignment, struct flextrace_error *error);
void alignment_free(struct alignment *alignment);

struct aligned alignment_place(const struct alignment *alignment, uint32_t process,
                               int64_t host_ns);

/* Reference time + this = ns since the Unix epoch; 0 where the trace does not know it. */
int64_t alignment_epoch_offset_ns(const struct alignment *alignment);

/* The lines of alignment.csv, sorted by rank, then process. Weak. */
const struct alignment_report *alignment_report(const struct alignment *alignment, uint32_t *ret_n);

#endif
