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
 */
#ifndef FLEXTRACE_ALIGN_H
#define FLEXTRACE_ALIGN_H

#include "base/error.h"
#include "model/alignment.h"
#include "model/user_options.h"
#include "model/identity/identity.h"
#include "model/ledger/ledger.h"
#include "model/model.h"

/* `identity` is weak and must outlive the alignment; `sync_points` (struct sync_point) is weak.
 * The reference is the host clock of the lowest known rank, else of the first process.
 * FLEXTRACE_E_USAGE: no process has the reference rank that was asked for. O(n log n) in the
 * points, memory linear. */
int align_run(const struct align_options *options, const struct identity *identity,
              struct table *sync_points, struct ledger *ledger, struct alignment **ret_alignment,
              struct flextrace_error *error);
void alignment_free(struct alignment *alignment);

/* Takes the lines that a file of ours tells (struct alignment_report) of processes whose times are
 * on the clock of the reference already. Nothing bounds single times of those that were on another
 * one. FLEXTRACE_E_MEMORY or 0. */
int alignment_take_told(struct alignment *alignment, const struct table *told);

#endif
