/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_ops.h: what the name of an operation of several ranks and its list of peers say.
 */
#ifndef FLEXTRACE_SYNC_OPS_H
#define FLEXTRACE_SYNC_OPS_H

#include <stdbool.h>
#include <stdint.h>

enum op_family {
	OP_OTHER, /* no evidence */
	OP_ALL_REDUCE,
	OP_ALL_GATHER,
	OP_ALL_TO_ALL,
	OP_REDUCE_SCATTER,
	OP_BARRIER,
	OP_BROADCAST, /* from here on rooted */
	OP_SCATTER,
	OP_REDUCE,
	OP_GATHER,
	OP_SEND, /* from here on messages */
	OP_RECEIVE
};

enum op_family sync_op_family(const char *op);

/* Whether it lasts from a call that returns before its work is done to another one that waits for
 * it: "MPI_Iallreduce+MPI_Wait", "MPI_Allreduce_init+MPI_Wait". */
bool sync_op_is_async(const char *op);

/* Ranks in a list like "1,2": their number (0: not such a list), and in `ret_only` the only one
 * if it is one. `ret_sum`: of the set of these ranks and `self`, whatever their order. */
uint32_t sync_op_peers(const char *peers, int32_t self, int32_t *ret_only, uint64_t *ret_sum);

#endif
