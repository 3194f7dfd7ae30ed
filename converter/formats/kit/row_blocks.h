/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_blocks.h: which control block has a row of a kind, for readers of files that tell rows.
 */
#ifndef FLEXTRACE_ROW_BLOCKS_H
#define FLEXTRACE_ROW_BLOCKS_H

#include "model/model.h"

struct row_block {
	uint32_t kind; /* of the control block: enum flextrace_device_kind, or parts of a kernel */
	uint32_t part; /* that the row is of it: enum flextrace_estimate */
};

/* `kind`: enum device_row_kind. Rows of the firmware's markers are what the device was in. */
const struct row_block *block_of_row(uint8_t kind);

#endif
