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

/* In MPI_Init() and MPI_Finalize(). `thread_level`: MPI_THREAD_... */
void record_begin(int thread_level);
void record_end(void);

/* -- open records ------------------------------------------------------------------------------ */

#define PEER_BYTES 12

/* What has begun: a collective, or a message that is sent. */
struct record {
	struct communicator *communicator; /* owned; NULL: there is none */
	const char *op;
	uint64_t seq, bytes;
	char peer[PEER_BYTES];
};

void record_enter(struct record *record, const char *op, uint64_t bytes);
void record_exit(struct record *record);

/* -- calls ------------------------------------------------------------------------------------- */

/* A message that was received, or will be. */
struct incoming {
	struct communicator *communicator; /* owned; NULL: none that is recorded */
	struct receive receive;
};

struct call {
	struct flextrace_scope scope; /* begin_ns 0: there will be none */
	bool is_own;                  /* not one that MPI makes itself within another call */
	struct record record;         /* of a collective, or of what it sends */
	struct incoming incoming;     /* of a receive that blocks, or a probe */
	struct pending *pending;      /* owned; what it leaves open, or NULL */
	MPI_Status status;            /* where nobody wants one */
};

/*
 * Around what is done before the call of MPI, and behind it: there is one lock for all that is
 * known of communicators and requests. Nobody who has it waits for another rank, and it costs
 * nothing in a program whose threads do not call MPI at once.
 */
void call_begin(struct call *call, const char *name);
void call_unlock(const struct call *call);
void call_lock(const struct call *call);
void call_end(struct call *call);

/* Its interval is told by another record. */
static inline void call_drop_scope(struct call *call)
{
	call->scope.begin_ns = 0;
}

/* For what is to be counted. False: it is not, as of MPI's own calls within another one, or the
 * program's in a callback; nothing is known of messages from then on. */
bool call_is_seen(const struct call *call);

/* Nothing is known of the messages that follow: a send failed, or may be cancelled. */
void record_lose(void);

/* -- messages ---------------------------------------------------------------------------------- */

struct envelope {
	MPI_Count count;
	MPI_Datatype type;
	int rank, tag;
	MPI_Comm comm;
};

uint64_t bytes_of(MPI_Count count, MPI_Datatype type);

/* Around the call that sends; `code` is what it returned. `record` is empty before. */
void outgoing_begin(struct record *record, const char *op, const struct envelope *envelope);
void outgoing_end(struct record *record, int code);

/* Before the call that posts it, and behind that. */
void incoming_begin(struct incoming *incoming, const struct envelope *from);
void incoming_posted(struct incoming *incoming, int code);

/* It is complete, and which one it is is known, if it still has a communicator. */
void incoming_complete(struct incoming *incoming, const MPI_Status *status);

/* Records one that is complete, `status` tells how long it is; it is no more. */
void incoming_record(struct incoming *incoming, const MPI_Status *status);

/* The call has returned that completes it: both of these. */
void incoming_end(struct incoming *incoming, const MPI_Status *status, int code);

/* Somebody wants to cancel it; it was cancelled. */
void incoming_doubt(struct incoming *incoming);
void incoming_cancelled(struct incoming *incoming);

/* Nobody knows what it got: of this communicator no message is known any more. */
void incoming_fail(struct incoming *incoming);

/* -- collectives ------------------------------------------------------------------------------- */

#define NO_ROOT  (-1)
#define NOT_TOLD UINT64_MAX /* bytes */

/* Counts it. True: it is to be recorded, with record_enter(). `root` is NO_ROOT where all do the
 * same. */
bool collective_begin(struct record *record, int root, MPI_Comm comm);

/* The call has returned that completes it, or nobody will tell: who fails need not have waited for
 * anybody. */
void collective_end(struct record *record, int code);

#endif
