/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h: what is open, by the handle of its request: receives, collectives that do not block,
 * persistent calls, and messages that a probe has taken. A send that is not persistent is recorded
 * when it begins, and not kept.
 *
 * All functions take the lock themselves.
 */
#ifndef FLEXTRACE_MPI_REQUESTS_H
#define FLEXTRACE_MPI_REQUESTS_H

#include "record.h"

enum pending_kind {
	PENDING_RECEIVE,
	PENDING_TAKEN, /* a receive of a message that a probe took: `received` */
	PENDING_SEND,  /* persistent only */
	PENDING_COLLECTIVE,
	PENDING_COMMUNICATOR /* MPI_Comm_idup() */
};

struct pending {
	enum pending_kind kind;
	bool is_persistent;
	bool is_active; /* of a persistent one: it was started */
	bool is_cancelled;
	bool is_awaited; /* somebody was told of it, who will free it */
	uint64_t key;
	struct incoming incoming;
	struct received received;
	struct outgoing outgoing;
	struct collective collective;
	struct envelope envelope; /* of a persistent send or receive */
	/* of a persistent collective, whose `comm` is in the envelope */
	int root;
	const char *op;
	uint64_t bytes;
	/* of a communicator */
	MPI_Comm *new_comm; /* weak */
	MPI_Comm parent;
	uint64_t number;
	struct pending *next; /* of those that are not used */
};

/* NULL without memory: the caller passes its call through, and must not use one. */
struct pending *pending_new(enum pending_kind kind);

/* Takes `pending`. */
void pending_keep(struct pending *pending, uint64_t key);

/* Another request has this handle, which is not kept: forgets what was there, if anything was. */
void pending_replace(uint64_t key);

/* Weak, or NULL. */
struct pending *pending_find(uint64_t key);

/* Owned by the caller; or NULL. */
struct pending *pending_take(uint64_t key);
void pending_free(struct pending *pending);

/* It is started: around the call that does it. */
void pending_start(struct pending *pending);
void pending_started(struct pending *pending, int code);

/* Its request is freed: nobody will tell when it completes. */
void pending_forget(struct pending *pending);

/* -- requests that complete -------------------------------------------------------------------- */

#define BATCH_INLINE 16

/* The requests of one call of MPI_Wait..., MPI_Test... */
struct batch {
	struct pending **pending; /* of each: weak, or NULL */
	MPI_Status *statuses;     /* for MPI */
	int n;
	bool has_pending;
	struct pending *few[BATCH_INLINE];
	MPI_Status few_statuses[BATCH_INLINE];
	void *allocated[2];
};

/* Before the call. `statuses` are the caller's, or those that are ignored. */
void batch_begin(struct batch *batch, int n, const MPI_Request *requests, MPI_Status *statuses);

/* Of those that a call has completed: all of them, or those of `indices`, in the order of the
 * statuses. */
void batch_complete(struct batch *batch, int n_done, const int *indices, int code);
void batch_end(struct batch *batch);

#endif
