/* SPDX-License-Identifier: Apache-2.0 */
/* stamps.h: which stamps of an operation were taken, and which parts it has. */
#ifndef FLEXTRACE_STAMPS_H
#define FLEXTRACE_STAMPS_H

#include "model/model.h"

/* The first and the last stamp that was taken; where none was: any. */
static inline int tick_op_first(const struct tick_op *op)
{
	int i = 0;

	while (i < FLEXTRACE_N_STAMPS - 1 && !op->ticks[i])
		i++;
	return i;
}

static inline int tick_op_last(const struct tick_op *op)
{
	int i = FLEXTRACE_N_STAMPS - 1;

	while (i > 0 && !op->ticks[i])
		i--;
	return i;
}

/* Which parts its kind has, as bits of enum flextrace_part. */
static inline int tick_op_parts(const struct tick_op *op)
{
	if (op->kind < FLEXTRACE_DEVICE_KIND_COUNT)
		return FLEXTRACE_PART_ALL;
	return op->kind < FLEXTRACE_DEVICE_STATE ? op->kind - FLEXTRACE_DEVICE_PARTS(0) : 0;
}

#endif
