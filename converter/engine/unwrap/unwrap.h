/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwrap.h: counter bits -> 64-bit cycles.
 *
 * A stamp's epoch (how often its counter wrapped before it) follows from samples: the host bracket
 * of its control block and an interval for the counter's rate, or a 64-bit anchor of its run, or a
 * 64-bit clock_sync. A decreasing stamp alone never adds a wrap. If the samples leave one choice,
 * the stamp is certified. If they leave several, the likeliest is taken and called assumed. If they
 * leave none, it is an outlier, and its ticks are not used as evidence.
 *
 * Needs the whole of TABLE_EVIDENCE before it can answer: _push collects, _finish resolves.
 * Formulas: see window.h.
 */
#ifndef FLEXTRACE_UNWRAP_H
#define FLEXTRACE_UNWRAP_H

#include "model/identity/clock_options.h"
#include "base/error.h"
#include "model/clocks.h"
#include "model/identity/identity.h"
#include "model/ledger/ledger.h"
#include "model/model.h"
#include "model/timeline/clock_columns.h"

/* From one setting up of an area by its firmware to the next, where the process saw others.
 * Brackets of its counter that were seen in between say when it was. */
struct area_boot {
	int64_t begin_ns;    /* it had not begun by then; INT64_MIN: not known */
	uint32_t n_brackets; /* in the table of such brackets, behind those of the boots before */
	uint32_t n_denying;  /* others that its counter contradicts */
};

/* Tables are owned by the caller. */
struct unwrap_output {
	/* struct tick_op, in gather order; then those of a submit and a complete record that no
	 * device_op owns */
	struct table ops;
	/* struct restored_row, in gather order: booked by derive */
	struct table restored;
	/* struct clock_row, the segments of a counter from 0 on; struct alignment_report: what
	 * files of ours tell, of clocks that have no other evidence */
	struct table told_clocks, told_alignment;
	/* struct mark_run, in order of (device, core, processor), then as recorded */
	struct table mark_runs;
	/* struct tick_mark, run by run */
	struct table marks;
	/* struct area_boot, by area, in order; their struct bracket, boot by boot */
	struct table boots;
	struct table boot_brackets;
	/* struct bracket, evidence for calibrate, by counter, in order of time */
	struct table brackets;
	/* struct counted_rate, one of each counter */
	struct table rates;
	/* struct sync_point, evidence for align, in gather order */
	struct table sync_points;
};

void unwrap_output_release(struct unwrap_output *out);

struct unwrap; /* opaque: pending operations per counter, open submits per (device, queue, job) */

struct unwrap *unwrap_new(struct identity *identity,
                          struct ledger *ledger); /* both weak; NULL: no memory */
void unwrap_free(struct unwrap *unwrap);

/* What the user knows of the clocks: nominal rates and dispatch limits. Weak, until
 * unwrap_finish() is over. */
void unwrap_set_options(struct unwrap *unwrap, const struct calibrate_options *options);

/* Takes one record of TABLE_EVIDENCE in gather order. Copies what it keeps. */
int unwrap_push(struct unwrap *unwrap, const struct stream *stream, uint32_t stream_id,
                const struct record *record);

/*
 * Resolves everything pushed into `out` (tables must be empty) and books in the ledger every
 * record whose fate is decided here:
 * - device_op, submit, complete: the one record a tick_op names (class, stream, index) is booked
 *   by derive, as row or discarded. All others here: as evidence, or discarded by cause.
 * - marker_batch: one that a mark_run names (stream, index) is booked by derive. All others
 *   here: as evidence, or discarded by cause.
 * - restored: lines of clocks.csv and alignment.csv and losses as evidence, or discarded
 *   (MALFORMED).
 * - collective: an enter as row, an exit as evidence (derive counts the loss of one-sided ones,
 *   but not in the balance). clock_sync, host_estimate: as evidence.
 * - Records of excluded processes are discarded here (FOREIGN_PROCESS) and make no output at all.
 */
int unwrap_finish(struct unwrap *unwrap, struct unwrap_output *out, struct flextrace_error *error);

#endif
