/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_rows.h: what the files of single ranks need besides the timeline: model/rank_rows.h.
 *
 * A process without steps of its own gets one for each turn of the loop in its kernels
 * (iterations.h), from the start of the turn to that of the next one, the first from its first row
 * on and the last to the ns behind its last one; and where nothing repeats, one over all.
 * Collectives are those that collectives.h finds in the control blocks of its devices.
 */
#ifndef FLEXTRACE_FINDINGS_RANK_ROWS_H
#define FLEXTRACE_FINDINGS_RANK_ROWS_H

#include "model/timeline/findings.h"
#include "model/rank_rows.h"

/* FLEXTRACE_E_MEMORY or 0; rank_rows_release() in any case. */
int rank_rows_find(struct rank_rows *rows, const struct findings *findings);
void rank_rows_release(struct rank_rows *rows);

#endif
