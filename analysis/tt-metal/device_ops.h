/* SPDX-License-Identifier: Apache-2.0 */
/* device_ops.h: a row of device_ops.csv. */
#ifndef FLEXTRACE_ANALYSIS_DEVICE_OPS_H
#define FLEXTRACE_ANALYSIS_DEVICE_OPS_H

#include "model/timeline/columns.h"

struct device_op_row {
	struct owner_cells owner;
	uint32_t device, job, cores;
	const char *name, *bound, *notes;
	uint64_t first_cycle, last_cycle;
	double fw_ns, kernel_ns, first_to_last_start_ns, op_to_op_ns, longest_ns;
};

#define DEVICE_OP_COLUMNS 16
extern const struct column device_op_columns[DEVICE_OP_COLUMNS];

#endif
