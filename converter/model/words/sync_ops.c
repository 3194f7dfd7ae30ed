/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is certain about time when ranks work together:
 * - all_reduce, all_gather, all_to_all, reduce_scatter, barrier: nobody leaves before everybody
 *   entered;
 * - broadcast, scatter: nobody leaves before the root entered; reduce, gather: the root leaves
 *   after everybody entered. The root is known where the others name it, and only it, as their
 *   peer; else they say nothing;
 * - send, recv: the receiver leaves after the sender entered.
 *
 * Calls that return before their work is done (MPI_I..., MPI_..._init) and those whose parts may be
 * empty (alltoallv, ...) promise nothing of that: their names are not known here. What lasts from
 * there to the end of the call that waits for it ("MPI_Iallreduce+MPI_Wait") promises as much as
 * one that blocks. A non-blocking send is as good as a blocking one.
 */
#include "sync_ops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"

#define MAX_NAME 32
#define WAITED   "+MPI_Wait"

/* "MPI_Allreduce", "MPI_Allreduce_c" (with large counts), "nccl:all_reduce" -> "allreduce"; cut if
 * it is longer than any name we know. */
static void plain_name(const char *op, char name[MAX_NAME])
{
	const char *colon = strrchr(op, ':');
	size_t n = 0;

	for (const char *c = colon ? colon + 1 : op; *c && n + 1 < MAX_NAME; c++) {
		if (strcmp(c, "_c") == 0 || strcmp(c, WAITED) == 0 || strcmp(c, "_c" WAITED) == 0 ||
		    strcmp(c, "_init" WAITED) == 0)
			break;
		if (isalnum((unsigned char)*c))
			name[n++] = ascii_lower(*c);
	}
	name[n] = '\0';
}

enum op_family sync_op_family(const char *op)
{
	static const struct {
		const char *name;
		enum op_family family;
	} names[] = {
		{"allreduce", OP_ALL_REDUCE},
		{"allreducecoalesced", OP_ALL_REDUCE},
		{"allgather", OP_ALL_GATHER},
		{"allgatherbase", OP_ALL_GATHER},
		{"allgatherintotensor", OP_ALL_GATHER},
		{"allgathercoalesced", OP_ALL_GATHER},
		{"alltoall", OP_ALL_TO_ALL},
		{"reducescatter", OP_REDUCE_SCATTER},
		{"reducescatterblock", OP_REDUCE_SCATTER},
		{"reducescatterbase", OP_REDUCE_SCATTER},
		{"reducescattertensor", OP_REDUCE_SCATTER},
		{"barrier", OP_BARRIER},
		{"broadcast", OP_BROADCAST},
		{"bcast", OP_BROADCAST},
		{"scatter", OP_SCATTER},
		{"reduce", OP_REDUCE},
		{"gather", OP_GATHER},
		{"send", OP_SEND},
		{"bsend", OP_SEND},
		{"ssend", OP_SEND},
		{"rsend", OP_SEND},
		{"isend", OP_SEND},
		{"ibsend", OP_SEND},
		{"issend", OP_SEND},
		{"irsend", OP_SEND},
		{"recv", OP_RECEIVE},
		{"receive", OP_RECEIVE},
	};
	char name[MAX_NAME];
	const char *start = name;

	plain_name(op, name);
	if (strncmp(start, "mpi", 3) == 0 || strncmp(start, "ccl", 3) == 0)
		start += 3;
	else if (strncmp(start, "nccl", 4) == 0)
		start += 4;
	if (strstr(op, "MPI_I") == op && strstr(op, WAITED))
		start++;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(start, names[i].name) == 0)
			return names[i].family;
	}
	return OP_OTHER;
}

bool sync_op_is_async(const char *op)
{
	return strncmp(op, "MPI_", 4) == 0 && (op[4] == 'I' || strstr(op, "_init")) &&
	       sync_op_family(op) < OP_SEND;
}

static uint64_t mix(uint32_t rank)
{
	uint64_t z = (rank + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t sync_op_peers(const char *peers, int32_t self, int32_t *ret_only, uint64_t *ret_sum)
{
	uint32_t n = 0;
	bool has_self = false;

	*ret_sum = 0;
	*ret_only = -1;
	while (*peers) {
		char *end;
		long rank = strtol(peers, &end, 10);

		if (end == peers || rank < 0 || rank > INT32_MAX)
			return 0;
		while (*end == ' ')
			end++;
		if (*end && *end != ',')
			return 0;
		has_self = has_self || rank == self;
		*ret_sum += mix((uint32_t)rank);
		*ret_only = n++ == 0 ? (int32_t)rank : -1;
		peers = *end ? end + 1 : end;
	}
	if (n > 0 && !has_self)
		*ret_sum += mix((uint32_t)self);
	return n;
}
