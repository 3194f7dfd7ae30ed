/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communicators.h: what is known of each communicator, by its handle.
 *
 * Functions are called with the lock held (record.h), but for those that say otherwise.
 */
#ifndef FLEXTRACE_MPI_COMMUNICATORS_H
#define FLEXTRACE_MPI_COMMUNICATORS_H

#include "identity.h"
#include "numbering.h"
#include "real.h"

struct communicator {
	char group[IDENTITY_BYTES];
	int *world_ranks; /* owned: of its ranks (between groups: of the other one's), -1 = none */
	int n_ranks, self;
	bool is_inter;
	uint64_t n_collectives, n_children; /* made by its ranks so far */
	struct numbering numbering;
	uint32_t n_users; /* the handle, and what is under way */
};

/* A handle as a key. */
#define HANDLE_KEY(handle) ((uint64_t)(uintptr_t)(handle))

/* In MPI_Init(), without the lock. */
void communicators_begin(void);

/* Weak, or NULL: nothing is known of it. */
struct communicator *communicator_find(MPI_Comm handle);

struct communicator *communicator_get(struct communicator *communicator);
void communicator_put(struct communicator *communicator);

/* The handle is no more. */
void communicator_drop(MPI_Comm handle);

/* The rank in MPI_COMM_WORLD of one of its ranks; -1: none of it. */
int communicator_world_rank(const struct communicator *communicator, int rank);

/* The following are called without the lock. A new handle of MPI_COMM_NULL is fine. */

/* The number of a call that makes communicators of one: of its ranks so far. */
uint64_t communicator_next_child(MPI_Comm parent);

/* Takes notice of one that such a call made. */
void communicator_add_child(MPI_Comm parent, const char *kind, uint64_t n, MPI_Comm handle);

/* The same of one that only those take part in who are in it. */
void communicator_add_some(MPI_Comm parent, const char *kind, int tag, MPI_Comm handle);

#endif
