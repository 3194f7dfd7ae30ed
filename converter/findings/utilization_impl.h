/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utilization_impl.h: between utilization.c, which knows the timeline, and matching.c, which knows
 * kernels and tables.
 */
#ifndef FLEXTRACE_UTILIZATION_IMPL_H
#define FLEXTRACE_UTILIZATION_IMPL_H

#include "compiler_info.h"
#include "kernel_times.h"
#include "model/ledger/ledger.h"
#include "base/map.h"

struct matched_kernel {
	uint64_t duration_ns; /* as measured */
	uint64_t taken_ns;    /* in the other run; 0 = not known */
	uint32_t op;          /* index of struct tick_op */
	uint32_t name;        /* string, as the compiler says it */
};

struct matching {
	const struct compiler_info *info; /* weak, all three */
	struct kernel_costs *costs;
	struct ledger *ledger;
	const struct kernel_times *times; /* weak; NULL = none */
	struct matched_row *rows;         /* owned: beside those of `info` */
	struct map row_index; /* (table, name) -> its first row; (all of a source, name) -> 0 */
	uint64_t n_walks;
	/* what is matched next: kernels of one device, in order of their start */
	const struct matched_kernel *kernels; /* weak */
	uint64_t n_kernels;
	double core_hz;
	int32_t rank;
	uint32_t source; /* FLEXTRACE_NONE = none */
};

/* Learns the tables. Release in any case. FLEXTRACE_E_MEMORY or 0. */
int matching_init(struct matching *matching);
void matching_release(struct matching *matching);

/* Cuts the kernels into runs, gives each its row, and counts how well that went. */
int matching_run(struct matching *matching);

#endif
