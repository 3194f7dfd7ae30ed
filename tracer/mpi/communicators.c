/* SPDX-License-Identifier: Apache-2.0 */
#include "communicators.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* How many communicators some ranks made with each other. */
struct made {
	struct table_entry entry;
	uint64_t n;
};

static struct table all;      /* handle -> struct communicator */
static struct table all_made; /* hash of members -> struct made */
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

void communicator_put(struct communicator **communicator)
{
	struct communicator *old = *communicator;

	*communicator = NULL;
	if (!old || --old->n_users)
		return;
	numbering_release(&old->numbering);
	free(old->world_ranks);
	free(old);
}

void communicator_drop(MPI_Comm handle)
{
	struct communicator *communicator = table_take(&all, HANDLE_KEY(handle));

	communicator_put(&communicator);
}

int communicator_world_rank(const struct communicator *communicator, int rank)
{
	return rank >= 0 && rank < communicator->n_ranks ? communicator->world_ranks[rank] : -1;
}

/* -- what MPI knows of one without a message --------------------------------------------------- */

/* The ranks in MPI_COMM_WORLD of a group, which it frees. Owned by the caller; NULL: not all of
 * them are there. */
static int *ranks_of(MPI_Group group, int *ret_n)
{
	int *ranks, *numbers;
	bool is_known;

	REAL(Group_size)(group, ret_n);
	ranks = calloc((size_t)*ret_n + 1, sizeof(*ranks));
	numbers = calloc((size_t)*ret_n + 1, sizeof(*numbers));
	for (int i = 0; numbers && i < *ret_n; i++)
		numbers[i] = i;
	is_known = ranks && numbers &&
	           REAL(Group_translate_ranks)(group, *ret_n, numbers, world, ranks) == MPI_SUCCESS;
	for (int i = 0; is_known && i < *ret_n; i++)
		is_known = ranks[i] != MPI_UNDEFINED;
	if (!is_known) {
		free(ranks);
		ranks = NULL;
	}
	free(numbers);
	REAL(Group_free)(&group);
	return ranks;
}

/* Notes who takes part: the ranks of one group, or of both in whichever order. */
static void count_in(struct communicator *communicator, const int *ranks, int n)
{
	if (ranks[0] < communicator->first_rank)
		communicator->first_rank = ranks[0];
	communicator->members += identity_hash(IDENTITY_HASH, ranks, (uint64_t)n * sizeof(*ranks));
}

/* NULL: not all of its ranks are known. */
static struct communicator *look_at(MPI_Comm handle)
{
	struct communicator *communicator = calloc(1, sizeof(*communicator));
	int is_inter, n_own, *own;
	MPI_Group group;

	if (!communicator)
		return NULL;
	REAL(Comm_rank)(handle, &communicator->self);
	REAL(Comm_test_inter)(handle, &is_inter);
	REAL(Comm_group)(handle, &group);
	own = ranks_of(group, &n_own);
	communicator->n_users = 1;
	communicator->first_rank = INT_MAX;
	communicator->is_inter = is_inter;
	communicator->n_ranks = n_own;
	communicator->world_ranks = own;
	if (own)
		count_in(communicator, own, n_own);
	if (own && is_inter) {
		REAL(Comm_remote_group)(handle, &group);
		communicator->world_ranks = ranks_of(group, &communicator->n_ranks);
		free(own);
		if (communicator->world_ranks)
			count_in(communicator, communicator->world_ranks, communicator->n_ranks);
	}
	if (communicator->world_ranks)
		return communicator;
	free(communicator);
	return NULL;
}

/* Takes `communicator`, which may be NULL. */
static void add(MPI_Comm handle, struct communicator *communicator)
{
	communicator_drop(handle);
	if (communicator && table_put(&all, HANDLE_KEY(handle), &communicator->entry) < 0)
		communicator_put(&communicator);
}

static void add_first(MPI_Comm handle, const char *group)
{
	struct communicator *communicator = look_at(handle);

	if (communicator)
		snprintf(communicator->group, IDENTITY_BYTES, "%s", group);
	add(handle, communicator);
}

void communicators_begin(void)
{
	char self[IDENTITY_BYTES];
	int rank;

	REAL(Comm_group)(MPI_COMM_WORLD, &world);
	REAL(Comm_rank)(MPI_COMM_WORLD, &rank);
	snprintf(self, sizeof(self), "MPI_COMM_SELF@%d", rank);
	add_first(MPI_COMM_WORLD, "MPI_COMM_WORLD");
	add_first(MPI_COMM_SELF, self);
}

/* -- new ones ---------------------------------------------------------------------------------- */

uint64_t communicator_next_child(MPI_Comm parent)
{
	struct communicator *communicator = communicator_find(parent);

	return communicator ? communicator->n_children++ : 0;
}

/* Counts calls by who takes part; without memory, all have one number. */
static uint64_t next_of(uint64_t members)
{
	struct made *made = table_find(&all_made, members);

	if (made)
		return ++made->n;
	made = calloc(1, sizeof(*made));
	if (made && table_put(&all_made, members, &made->entry) < 0)
		free(made);
	return 0;
}

void communicator_add(MPI_Comm parent, const char *kind, uint64_t n, int tag, MPI_Comm handle)
{
	const struct communicator *of = communicator_find(parent);
	struct communicator *communicator;
	uint64_t members = 0;

	if (handle == MPI_COMM_NULL)
		return;
	communicator = of ? look_at(handle) : NULL;
	if (communicator && tag != NO_TAG) {
		members = identity_hash(communicator->members, &tag, sizeof(tag));
		members = identity_hash(members, of->group, strlen(of->group));
		n = next_of(members);
	}
	if (communicator)
		identity_child(communicator->group, of->group, kind, n, communicator->first_rank,
		               members);
	add(handle, communicator);
}
