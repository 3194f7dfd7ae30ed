/* SPDX-License-Identifier: Apache-2.0 */
/* ops_columns.h: a row of ops.csv, and its columns. */
#ifndef FLEXTRACE_ANALYSIS_OPS_COLUMNS_H
#define FLEXTRACE_ANALYSIS_OPS_COLUMNS_H

#include "model/timeline/columns.h"

#define OPS_N_RISCS 6 /* that tt-metal has columns of: BRISC, NCRISC, TRISC0-2, ERISC */
#define OPS_N_DIMS  4

struct ops_work_cells { /* of an operation on a device; nothing without a device */
	uint32_t device, n_cores;
	const char *arch;
	uint64_t first_cycle, last_cycle;
	int64_t latency_ns, dm_latency_ns;
	uint64_t firmware_ns, kernel_ns, dm_kernel_ns;
	uint64_t core_min_ns, core_max_ns, core_mean_ns, core_skew_ns;
	uint64_t risc_ns[OPS_N_RISCS];
	double ideal_ns, utilization_percent;
};

struct ops_row {
	struct owner_cells owner;
	const char *code, *type, *attributes, *fidelity, *status, *name, *module, *opcode, *frames;
	const char *unknown; /* always NULL */
	uint32_t n_cores, depth;
	uint64_t number, correlation;
	int64_t start_ns, end_ns;
	uint64_t dur_ns;
	struct ops_work_cells work; /* last */
};

struct ops_tensor { /* all NULL: there is none */
	const char *dims[OPS_N_DIMS], *layout, *dtype, *memory;
	uint64_t padded[OPS_N_DIMS];
	char texts[OPS_N_DIMS][48]; /* of `dims` */
};

struct ops_function { /* calls of a function by an operation */
	uint64_t calls, mean_ns, total_ns;
};

/* Columns that are there once, or for each thing of a kind: a star in their names is its number or
 * name, and they are of struct ops_tensor or ops_function. */
struct ops_group {
	enum { OPS_ONCE, OPS_EACH_INPUT, OPS_EACH_OUTPUT, OPS_EACH_FUNCTION } each;
	const struct column *columns;
	uint32_t n;
	bool may_be_reported; /* a report's cells go before ours */
};
#define OPS_N_GROUPS 10

/* In the order of the file; the first is of struct ops_row. */
extern const struct ops_group ops_groups[OPS_N_GROUPS];

#endif
