/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h: a row of kernels.csv and runtime.csv: calls of a kind and name of a rank. */
#ifndef FLEXTRACE_ANALYSIS_CALLS_H
#define FLEXTRACE_ANALYSIS_CALLS_H

#include "findings/statistics/stats.h"
#include "model/model.h"

struct calls_row {
	struct stats_cells of;
	struct owner_cells owner;
	uint64_t self_ns;     /* runtime.csv: without calls below it */
	double share_percent; /* kernels.csv: of all of its rank */
};

#define KERNEL_COLUMNS  13
#define RUNTIME_COLUMNS 13
extern const struct column kernel_columns[KERNEL_COLUMNS];
extern const struct column runtime_columns[RUNTIME_COLUMNS];

#endif
