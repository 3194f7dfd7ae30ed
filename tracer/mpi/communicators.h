/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communicators.h: what is known of each communicator, by its handle.
 */
#ifndef FLEXTRACE_MPI_COMMUNICATORS_H
#define FLEXTRACE_MPI_COMMUNICATORS_H

#include "identity.h"
#include "numbering.h"
#include "real.h"

struct communicator {
	struct table_entry entry; /* its key is the handle */
	char group[IDENTITY_BYTES];
	int *world_ranks; /* owned: of its ranks (between groups: of the other one's), -1 = none */
	int n_ranks, self;
	int first_rank;   /* of all who take part, in MPI_COMM_WORLD */
	uint64_t members; /* hash of who they are */
	bool is_inter;
	uint64_t n_collectives, n_children; /* made by its ranks so far */
	struct numbering numbering;
	uint32_t n_users; /* the handle, and what is under way */
};

/* A handle as a key. */
#define HANDLE_KEY(handle) ((uint64_t)(uintptr_t)(handle))

/* In MPI_Init(). */
void communicators_begin(void);

/* Weak, or NULL: nothing is known of it. */
struct communicator *communicator_find(MPI_Comm handle);

struct communicator *communicator_get(struct communicator *communicator);

/* Lets go of one, and forgets it; of none it does nothing. */
void communicator_put(struct communicator **communicator);

/* The handle is no more. */
void communicator_drop(MPI_Comm handle);

/* The rank in MPI_COMM_WORLD of one of its ranks; -1: none of it. */
int communicator_world_rank(const struct communicator *communicator, int rank);

/* The number of a call that makes communicators of one: of its ranks so far. */
uint64_t communicator_next_child(MPI_Comm parent);

#define NO_TAG (-1)

/* Takes notice of one that such a call made. With a tag it is of one that only those ranks call who
 * are in it: they are counted by who that is, whatever `n` is. MPI_COMM_NULL is fine. */
void communicator_add(MPI_Comm parent, const char *kind, uint64_t n, int tag, MPI_Comm handle);

#endif
