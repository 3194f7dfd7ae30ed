/* SPDX-License-Identifier: Apache-2.0 */
#include "communicators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static struct table all;     /* handle -> struct communicator */
static struct table created; /* hash of members -> how many they made, as a pointer */
static MPI_Group world;

struct communicator *communicator_find(MPI_Comm handle)
{
	return table_find(&all, HANDLE_KEY(handle));
}

struct communicator *communicator_get(struct communicator *communicator)
{
	communicator->n_users++;
	return communicator;
}

void communicator_put(struct communicator *communicator)
{
	if (!communicator || --communicator->n_users)
		return;
	numbering_release(&communicator->numbering);
	free(communicator->world_ranks);
	free(communicator);
}

void communicator_drop(MPI_Comm handle)
{
	communicator_put(table_take(&all, HANDLE_KEY(handle)));
}

int communicator_world_rank(const struct communicator *communicator, int rank)
{
	return rank >= 0 && rank < communicator->n_ranks ? communicator->world_ranks[rank] : -1;
}

/* -- what MPI knows of one without a message --------------------------------------------------- */

/* The ranks in MPI_COMM_WORLD of a group, which it frees. Owned by the caller; NULL: not all of
 * them are there. */
static int *ranks_of(MPI_Group *group, int *ret_n)
{
	int *ranks, *numbers;
	bool is_known;

	REAL(Group_size)(*group, ret_n);
	ranks = calloc((size_t)*ret_n + 1, sizeof(*ranks));
	numbers = calloc((size_t)*ret_n + 1, sizeof(*numbers));
	for (int i = 0; numbers && i < *ret_n; i++)
		numbers[i] = i;
	is_known = ranks && numbers &&
	           REAL(Group_translate_ranks)(*group, *ret_n, numbers, world, ranks) ==
	                   MPI_SUCCESS;
	for (int i = 0; is_known && i < *ret_n; i++)
		is_known = ranks[i] != MPI_UNDEFINED;
	if (!is_known) {
		free(ranks);
		ranks = NULL;
	}
	free(numbers);
	REAL(Group_free)(group);
	return ranks;
}

static int *own_ranks(MPI_Comm handle, int *ret_n)
{
	MPI_Group group;

	REAL(Comm_group)(handle, &group);
	return ranks_of(&group, ret_n);
}

static struct communicator *look_at(MPI_Comm handle)
{
	struct communicator *communicator = calloc(1, sizeof(*communicator));
	MPI_Group group;
	int is_inter;

	if (!communicator)
		return NULL;
	REAL(Comm_test_inter)(handle, &is_inter);
	REAL(Comm_rank)(handle, &communicator->self);
	if (is_inter)
		REAL(Comm_remote_group)(handle, &group);
	else
		REAL(Comm_group)(handle, &group);
	communicator->is_inter = is_inter;
	communicator->n_users = 1;
	communicator->world_ranks = ranks_of(&group, &communicator->n_ranks);
	if (communicator->world_ranks)
		return communicator;
	free(communicator);
	return NULL;
}

/* Takes `communicator`, which may be NULL. */
static void add(MPI_Comm handle, struct communicator *communicator)
{
	record_lock();
	communicator_drop(handle);
	if (communicator && table_put(&all, HANDLE_KEY(handle), communicator) < 0)
		communicator_put(communicator);
	record_unlock();
}

void communicators_begin(void)
{
	struct communicator *communicator;
	int rank;

	REAL(Comm_group)(MPI_COMM_WORLD, &world);
	REAL(Comm_rank)(MPI_COMM_WORLD, &rank);
	communicator = look_at(MPI_COMM_WORLD);
	if (communicator)
		snprintf(communicator->group, IDENTITY_BYTES, "MPI_COMM_WORLD");
	add(MPI_COMM_WORLD, communicator);
	communicator = look_at(MPI_COMM_SELF);
	if (communicator)
		snprintf(communicator->group, IDENTITY_BYTES, "MPI_COMM_SELF@%d", rank);
	add(MPI_COMM_SELF, communicator);
}

/* -- new ones ---------------------------------------------------------------------------------- */

uint64_t communicator_next_child(MPI_Comm parent)
{
	struct communicator *communicator;
	uint64_t n;

	record_lock();
	communicator = communicator_find(parent);
	n = communicator ? communicator->n_children++ : 0;
	record_unlock();
	return n;
}

static bool copy_group(MPI_Comm handle, char group[IDENTITY_BYTES])
{
	const struct communicator *communicator;

	record_lock();
	communicator = communicator_find(handle);
	if (communicator)
		memcpy(group, communicator->group, IDENTITY_BYTES);
	record_unlock();
	return communicator;
}

void communicator_add_child(MPI_Comm parent, const char *kind, uint64_t n, MPI_Comm handle)
{
	struct communicator *communicator;
	char group[IDENTITY_BYTES];

	if (handle == MPI_COMM_NULL)
		return;
	communicator = copy_group(parent, group) ? look_at(handle) : NULL;
	if (communicator && !communicator->is_inter) {
		identity_child(communicator->group, group, kind, n, communicator->world_ranks[0]);
	} else if (communicator) {
		int n_own, *own = own_ranks(handle, &n_own);
		int first = communicator->world_ranks[0];

		/* The first of both groups, whichever is whose. */
		first = own && own[0] < first ? own[0] : first;
		identity_child(communicator->group, group, kind, n, first);
		free(own);
	}
	add(handle, communicator);
}

/* Counts calls by who takes part; without memory, all have one number. */
static uint64_t next_of(uint64_t members)
{
	uintptr_t n;

	record_lock();
	n = (uintptr_t)table_find(&created, members);
	table_put(&created, members, (void *)(n + 1));
	record_unlock();
	return n;
}

void communicator_add_some(MPI_Comm parent, const char *kind, int tag, MPI_Comm handle)
{
	struct communicator *communicator;
	char group[IDENTITY_BYTES];
	uint64_t hashes[2], members;
	int n_own, *own, first;

	if (handle == MPI_COMM_NULL)
		return;
	communicator = copy_group(parent, group) ? look_at(handle) : NULL;
	own = communicator ? own_ranks(handle, &n_own) : NULL;
	if (!own) {
		communicator_put(communicator);
		add(handle, NULL);
		return;
	}
	first = communicator->world_ranks[0];
	hashes[0] = identity_hash(IDENTITY_HASH, own, (uint64_t)n_own * sizeof(*own));
	hashes[1] = identity_hash(IDENTITY_HASH, communicator->world_ranks,
	                          (uint64_t)communicator->n_ranks * sizeof(*own));
	if (own[0] < first) /* both sides do it in one order */
		first = own[0];
	else
		members = hashes[0], hashes[0] = hashes[1], hashes[1] = members;
	members = identity_hash(IDENTITY_HASH, hashes, sizeof(hashes));
	members = identity_hash(members, &tag, sizeof(tag));
	members = identity_hash(members, group, strlen(group));
	identity_of_some(communicator->group, group, kind, first, members, next_of(members));
	free(own);
	add(handle, communicator);
}
