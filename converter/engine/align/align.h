/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.h: host clocks -> the one time of the timeline, with a bound.
 *
 * Processes with the same host clock need nothing: offset 0, exactly. Other clocks are tied by
 * what processes did together: nobody leaves a barrier before everybody entered it, nothing is
 * received before it was sent. With a limit on how fast a host clock's rate wanders, all maps
 * that obey form a band; its middle is the estimate, its half-width the certified error. See
 * sync_ops.c for what counts as evidence.
 *
 * - Cause before effect: on the aligned clock no enter of a process stands behind an exit that
 *   needed it.
 * - Evidence that contradicts the rest (false matches) is voted out and counted as dropped.
 * - A clock without a path of evidence to the reference belongs to a component of its own. It is
 *   shifted by the difference of the hosts' epoch offsets only, which is reported as assumed and
 *   warned of, never merged silently; clocks of one component still keep together.
 *
 * `struct alignment` is a value: const after align_run(), safe to read from any thread.
 */
#ifndef FLEXTRACE_ALIGN_H
#define FLEXTRACE_ALIGN_H

#include "base/error.h"
#include "model/identity/identity.h"
#include "model/ledger/ledger.h"
#include "model/model.h"

struct align_options {
	int32_t reference_rank; /* whose clock is the reference; -1 = the lowest known rank */
	bool is_off;            /* use no evidence: shift by the epoch offsets only */
	double rho_host_ppm;    /* how fast a host clock's rate may wander around its mean */
};
#define ALIGN_OPTIONS_INIT     \
	{                      \
		-1, false, 2.0 \
	}

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

/* `identity` is weak and must outlive the alignment; `sync_points` (struct sync_point) is weak.
 * The reference is the host clock of the lowest known rank, else of the first process.
 * FLEXTRACE_E_USAGE: no process has the reference rank that was asked for. O(n log n) in the
 * points, memory linear. */
int align_run(const struct align_options *options, const struct identity *identity,
              struct table *sync_points, struct ledger *ledger, struct alignment **ret_alignment,
              struct flextrace_error *error);
void alignment_free(struct alignment *alignment);

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
