/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_rows.h: what traces have besides the timeline: model/found_rows.h.
 *
 * For files of single ranks, a process without steps of its own gets one for each turn of the loop
 * in its kernels (iterations.h), from the start of the turn to that of the next one, the first from
 * its first row on and the last to the ns behind its last one; and where nothing repeats, one over
 * all. Collectives are those that collectives.h finds in the control blocks of its devices.
 */
#ifndef FLEXTRACE_FINDINGS_FOUND_ROWS_H
#define FLEXTRACE_FINDINGS_FOUND_ROWS_H

#include "findings/collectives/collectives.h"
#include "model/found_rows.h"

/* Into `rows`, which are zero; without steps where there are no iterations (NULL).
 * FLEXTRACE_E_MEMORY or 0; found_rows_release() in any case. */
int found_rows_find(struct found_rows *rows, const struct collectives *collectives,
                    const struct iterations *iterations);
void found_rows_release(struct found_rows *rows);

#endif
