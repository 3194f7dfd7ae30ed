/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utilization.h: which table of the compiler a kernel belongs to, and so what it ideally takes.
 *
 * The kernels of a device, in order of their start, are cut into runs of a graph. From where the
 * last run ended, each table of the rank's source is walked along the kernels: each of its rows is
 * taken once, so that it ends where a name comes again (but for the last one, again at once) or
 * one that only other tables have. The table that reaches furthest is taken; among those that reach
 * as far the one whose ideal time is not more than was measured, then the one of the highest score,
 * then the one with the most ideal cycles.
 *
 * The score (0..1) of a run is the mean of three shares: rows of the table that ran, kernels of the
 * run that the table names, and pairs of neighbours that are in the table's order. For directories,
 * which have no order, it is the second of them.
 *
 * A run is uncertain when its score is below 0.8, or a table with other cycles, that fits the time
 * too, is within 0.2 of it, half of the utilisation of either added.
 *
 * Kernels of a table of the autopilot take the time that they took in another run, where one is
 * given that has them; everything above goes by it, too.
 *
 * Time: kernels times tables of the source. Memory: 24 bytes a kernel while it runs, 4 bytes a
 * control block after it, 8 more with times of another run.
 */
#ifndef FLEXTRACE_UTILIZATION_H
#define FLEXTRACE_UTILIZATION_H

#include "compiler_info.h"
#include "model/timeline/timeline.h"
#include "kernel_times.h"

/* Without --freq and where the trace does not tell. */
#define UTILIZATION_CORE_HZ 1100e6

struct utilization_options {
	double core_hz;                   /* compute clock of all devices; 0 = as the trace tells */
	const struct kernel_times *times; /* of a run without the autopilot; NULL = none */
};

/* Matches. `info` has to live as long as `costs`; warnings go into the ledger. Release in any case.
 * FLEXTRACE_E_MEMORY or 0. */
int utilization_run(struct kernel_costs *costs, const struct compiler_info *info,
                    const struct utilization_options *options, const struct timeline *timeline,
                    struct string_cache *strings, struct ledger *ledger);
void utilization_release(struct kernel_costs *costs);

#endif
