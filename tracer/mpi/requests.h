/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h: what is open, by the handle of its request: receives, collectives that do not block,
 * persistent calls, and messages that a probe has taken. A send that is not persistent is recorded
 * when it begins, and not kept.
 */
#ifndef FLEXTRACE_MPI_REQUESTS_H
#define FLEXTRACE_MPI_REQUESTS_H

#include "record.h"

enum pending_kind {
	PENDING_RECEIVE,
	PENDING_TAKEN, /* a receive of a message that a probe took: it is numbered */
	PENDING_SEND,  /* persistent only */
	PENDING_COLLECTIVE,
	PENDING_COMMUNICATOR /* MPI_Comm_idup() */
};

struct pending {
	struct table_entry entry; /* its key is the handle */
	enum pending_kind kind;
	bool is_persistent;
	bool is_active; /* of a persistent one: it was started */
	bool is_cancelled;
	bool is_awaited; /* somebody was told of it, who will free it */
	struct incoming incoming;
	struct record record;
	const MPI_Status *status; /* weak; NULL: it is not complete */
	/* of a persistent one; of a collective, the count is its bytes, the rank its root */
	struct envelope envelope;
	const char *op;
	/* of a communicator, whose parent is in the envelope */
	MPI_Comm *new_comm; /* weak */
	uint64_t number;
};

/* Owned by the caller, to be freed; NULL without memory. */
struct pending *pending_new(enum pending_kind kind);

/* Takes `pending`, and forgets what had its key, if anything had. NULL: a request that is of no
 * interest has it now. */
void pending_keep(struct pending *pending, uint64_t key);

void pending_keep_persistent(enum pending_kind kind, const char *op,
                             const struct envelope *envelope, const MPI_Request *request);

/* Weak, or NULL. */
struct pending *pending_find(MPI_Request request);

/* Owned by the caller; or NULL. */
struct pending *pending_take(uint64_t key);

/* It is started: around the call that does it. */
void pending_start(struct pending *pending);
void pending_started(struct pending *pending, int code);

/* Takes one whose request is freed: nobody will tell when it completes. */
void pending_forget(struct pending *pending);

/* -- requests that complete -------------------------------------------------------------------- */

#define BATCH_INLINE 16

/* The requests of one call of MPI_Wait..., MPI_Test... */
struct batch {
	struct pending **pending; /* of each: weak, or NULL */
	MPI_Status *statuses;     /* for MPI */
	int n;
	bool has_pending;
	void *allocated; /* owned */
	struct pending *few[BATCH_INLINE];
	MPI_Status few_statuses[BATCH_INLINE];
};

/* Before the call. `statuses` are the caller's, or those that are ignored. */
void batch_begin(struct batch *batch, const struct call *call, int n, const MPI_Request *requests,
                 MPI_Status *statuses);

/* Of those that the call has completed: all of them, or those of `indices`, in the order of the
 * statuses. A call that has completed nothing is not recorded. */
void batch_end(struct batch *batch, struct call *call, int n_done, const int *indices, int code);

#endif
