/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: what is recorded of calls of MPI.
 *
 * A call becomes one interval of the host. That of a collective, and of a send of one message, is a
 * record of a collective as well, which says what is certain about time; all others are scopes. A
 * message that was received is a record `recv` where the call ends that completes it: only there it
 * is known which one it is.
 */
#ifndef FLEXTRACE_MPI_RECORD_H
#define FLEXTRACE_MPI_RECORD_H

#include <flextrace/flextrace.h>

#include "communicators.h"

/* One lock for all that is known of communicators and requests; no call of MPI is made with it. It
 * costs nothing in a program whose threads do not call MPI at once. */
void record_lock(void);
void record_unlock(void);

/* In MPI_Init() and MPI_Finalize(). `thread_level`: MPI_THREAD_... */
void record_begin(int thread_level);
void record_end(void);

/* -- calls ------------------------------------------------------------------------------------- */

struct call {
	struct flextrace_scope scope; /* begin_ns 0: there will be none */
	bool is_own;                  /* not one that MPI makes itself within another call */
};

/* False: nothing of it is to be recorded, nor noted. call_end() in any case. */
bool call_begin(struct call *call, const char *name);

/* Its interval is told by another record. */
static inline void call_drop_scope(struct call *call)
{
	call->scope.begin_ns = 0;
}
void call_end(struct call *call);

/* A call within another one: MPI's own, or of the program's in a callback. What is sent and
 * received with this communicator is not known any more. */
void record_missed(MPI_Comm comm);

/* -- messages ---------------------------------------------------------------------------------- */

#define PEER_BYTES 12

struct envelope {
	MPI_Count count;
	MPI_Datatype type;
	int rank, tag;
	MPI_Comm comm;
};

uint64_t bytes_of(MPI_Count count, MPI_Datatype type);

struct outgoing {
	struct communicator *communicator; /* owned; NULL: not recorded */
	const char *op;
	uint64_t seq, bytes;
	char peer[PEER_BYTES];
};

/* Around the call that sends; `code` is what it returned. */
void outgoing_begin(struct outgoing *outgoing, const char *op, const struct envelope *envelope);
void outgoing_end(struct outgoing *outgoing, int code);

/* Somebody wants to cancel what may be a send: which messages follow it is not known any more. */
void outgoing_doubt(void);

struct incoming {
	struct communicator *communicator; /* owned; NULL: not recorded */
	struct receive receive;
};

/* A message that was received. */
struct received {
	struct communicator *communicator; /* owned; NULL: which one it is, is not known */
	uint64_t number;
	int32_t source, tag;
};

/* Before the call that posts it, and behind that. */
void incoming_begin(struct incoming *incoming, int source, int tag, MPI_Comm comm);
void incoming_posted(struct incoming *incoming);

/* It was received, was cancelled, or failed. */
struct received incoming_end(struct incoming *incoming, const MPI_Status *status);
void incoming_cancelled(struct incoming *incoming);

/* Somebody wants to cancel it. */
void incoming_doubt(struct incoming *incoming);
void incoming_failed(struct incoming *incoming);

/* Records it; `status` tells how long it is. Puts its communicator. */
void received_record(struct received *received, const MPI_Status *status);

/* -- collectives ------------------------------------------------------------------------------- */

struct collective {
	struct communicator *communicator; /* owned; NULL: not recorded */
	const char *op;
	uint64_t seq, bytes;
	bool is_wanted, is_entered;
	char peer[PEER_BYTES];
	char empty_op[48]; /* of one that moves nothing: `op` points to it */
};

#define NO_ROOT  (-1)
#define NOT_TOLD UINT64_MAX /* bytes */

/* Counts it. `root` is NO_ROOT where all do the same. */
void collective_begin(struct collective *collective, const char *op, int root, MPI_Comm comm);

/* Records that it begins; only if it `is_wanted`. Who moves nothing need not wait for anybody, and
 * is recorded as "MPI_Bcast (empty)", which promises nothing. */
void collective_enter(struct collective *collective, uint64_t bytes);
void collective_exit(struct collective *collective);

#endif
