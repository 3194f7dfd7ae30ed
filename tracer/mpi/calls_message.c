/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages. COUNT is the type of counts: MPI 4 has each function with MPI_Count as well.
 */
#include <stdlib.h>

#include "interpose.h"

#define ENVELOPE(rank, tag) (&(struct envelope){n, type, rank, tag, comm})

/* -- sends ------------------------------------------------------------------------------------- */

static void begin_send(struct call *call, const char *op, const struct envelope *to)
{
	if (call_is_seen(call))
		outgoing_begin(&call->record, op, to);
}

/* The record of the message stands for the call. */
static void begin_only_send(struct call *call, const char *op, const struct envelope *to)
{
	begin_send(call, op, to);
	if (call->record.communicator)
		call_drop_scope(call);
}

/* `request`: NULL of one that blocks. */
static void end_send(struct call *call, const MPI_Request *request, int code)
{
	if (call->is_own && request)
		pending_keep(NULL, HANDLE_KEY(*request));
	if (call->is_own)
		outgoing_end(&call->record, code);
}

/* -- receives ---------------------------------------------------------------------------------- */

/* Returns the status that MPI is to fill in. */
static MPI_Status *begin_receive(struct call *call, const struct envelope *from, MPI_Status *status)
{
	if (call_is_seen(call))
		incoming_begin(&call->incoming, from);
	return status == MPI_STATUS_IGNORE ? &call->status : status;
}

static void begin_ireceive(struct call *call, const struct envelope *from)
{
	if (!call_is_seen(call))
		return;
	call->pending = pending_new(PENDING_RECEIVE);
	if (call->pending)
		incoming_begin(&call->pending->incoming, from);
	else
		record_lose();
}

static void end_ireceive(struct call *call, const MPI_Request *request, int code)
{
	if (!call->pending)
		return;
	incoming_posted(&call->pending->incoming, code);
	if (code == MPI_SUCCESS)
		pending_keep(call->pending, HANDLE_KEY(*request));
	else
		free(call->pending);
}

/* -- what a probe takes ------------------------------------------------------------------------ */

/* The message is known by its own handle until it is received. */
static void end_probe(struct call *call, bool has_found, const MPI_Status *status,
                      const MPI_Message *message)
{
	struct pending *pending;

	if (!has_found) {
		incoming_cancelled(&call->incoming);
		call_drop_scope(call);
		return;
	}
	incoming_complete(&call->incoming, status);
	pending = call->incoming.communicator ? pending_new(PENDING_TAKEN) : NULL;
	if (!pending)
		return;
	pending->incoming = call->incoming;
	pending_keep(pending, HANDLE_KEY(*message));
}

static MPI_Status *begin_taken(struct call *call, const MPI_Message *message, MPI_Status *status)
{
	if (call->is_own)
		call->pending = pending_take(HANDLE_KEY(*message));
	return status == MPI_STATUS_IGNORE ? &call->status : status;
}

/* `request`: NULL of one that blocks. */
static void end_taken(struct call *call, const MPI_Request *request, const MPI_Status *status,
                      int code)
{
	bool is_received = call->pending && code == MPI_SUCCESS;

	if (is_received && request) {
		pending_keep(call->pending, HANDLE_KEY(*request));
		return;
	}
	if (is_received)
		incoming_record(&call->pending->incoming, status);
	free(call->pending);
}

/* -- all of them ------------------------------------------------------------------------------- */

#define OUT(COUNT) const void *from, COUNT n, MPI_Datatype type
#define IN(COUNT)  void *to, COUNT n, MPI_Datatype type
#define WITH       int rank, int tag, MPI_Comm comm
#define WITH_TWO   int rank_out, int tag_out, int rank_in, int tag_in, MPI_Comm comm
#define BOTH(COUNT)                                                                        \
	OUT(COUNT), int rank_out, int tag_out, void *to, COUNT n_in, MPI_Datatype type_in, \
		int rank_in, int tag_in, MPI_Comm comm
#define ALL_OF_BOTH from, n, type, rank_out, tag_out, to, n_in, type_in, rank_in, tag_in, comm
#define ALL_OF_ONE  to, n, type, rank_out, tag_out, rank_in, tag_in, comm
#define REQUEST     MPI_Request *request

#define SEND(name, iname, init, COUNT)                                                      \
	CALL(name, (OUT(COUNT), WITH), (from, n, type, rank, tag, comm),                    \
	     begin_only_send(&call, "MPI_" #name, ENVELOPE(rank, tag)),                     \
	     end_send(&call, NULL, code))                                                   \
	CALL(iname, (OUT(COUNT), WITH, REQUEST), (from, n, type, rank, tag, comm, request), \
	     begin_only_send(&call, "MPI_" #iname, ENVELOPE(rank, tag)),                    \
	     end_send(&call, request, code))                                                \
	PERSISTENT(PENDING_SEND, init, (OUT(COUNT), WITH, REQUEST),                         \
	           (from, n, type, rank, tag, comm, request))
/* clang-format off */
#define PERSISTENT(kind, name, parameters, arguments)                                              \
	CALL(name, parameters, arguments, (void)0,                                                 \
	     if (call.is_own && code == MPI_SUCCESS)                                               \
		pending_keep_persistent(kind, "send", ENVELOPE(rank, tag), request))
#define EXCHANGE(name, parameters, arguments)                                                      \
	CALL(name, parameters, arguments,                                                          \
	     begin_send(&call, "send", ENVELOPE(rank_out, tag_out));                               \
	     status = begin_receive(&call, ENVELOPE(rank_in, tag_in), status),                     \
	     end_send(&call, NULL, code); incoming_end(&call.incoming, status, code))
#define IEXCHANGE(name, parameters, arguments)                                                     \
	CALL(name, parameters, arguments,                                                          \
	     begin_send(&call, "send", ENVELOPE(rank_out, tag_out));                               \
	     begin_ireceive(&call, ENVELOPE(rank_in, tag_in)),                                     \
	     end_send(&call, NULL, code); end_ireceive(&call, request, code))
#define PROBE(name, has_found, parameters, arguments)                                              \
	CALL(name, parameters, arguments,                                                          \
	     status = begin_receive(&call, &(struct envelope){0, 0, rank, tag, comm}, status),     \
	     end_probe(&call, code == MPI_SUCCESS && (has_found), status, message))
#define MESSAGES(COUNT, S)                                                                         \
	SEND(Send##S, Isend##S, Send_init##S, COUNT)                                               \
	SEND(Bsend##S, Ibsend##S, Bsend_init##S, COUNT)                                            \
	SEND(Ssend##S, Issend##S, Ssend_init##S, COUNT)                                            \
	SEND(Rsend##S, Irsend##S, Rsend_init##S, COUNT)                                            \
	CALL(Recv##S, (IN(COUNT), WITH, MPI_Status *status),                                       \
	     (to, n, type, rank, tag, comm, status),                                               \
	     status = begin_receive(&call, ENVELOPE(rank, tag), status),                           \
	     incoming_end(&call.incoming, status, code))                                           \
	CALL(Irecv##S, (IN(COUNT), WITH, REQUEST), (to, n, type, rank, tag, comm, request),        \
	     begin_ireceive(&call, ENVELOPE(rank, tag)), end_ireceive(&call, request, code))       \
	PERSISTENT(PENDING_RECEIVE, Recv_init##S, (IN(COUNT), WITH, REQUEST),                      \
	           (to, n, type, rank, tag, comm, request))                                        \
	EXCHANGE(Sendrecv##S, (BOTH(COUNT), MPI_Status *status), (ALL_OF_BOTH, status))            \
	EXCHANGE(Sendrecv_replace##S, (IN(COUNT), WITH_TWO, MPI_Status *status),                   \
	         (ALL_OF_ONE, status))                                                             \
	CALL(Mrecv##S, (IN(COUNT), MPI_Message *message, MPI_Status *status),                      \
	     (to, n, type, message, status),                                                       \
	     status = begin_taken(&call, message, status),                                         \
	     end_taken(&call, NULL, status, code))                                                 \
	CALL(Imrecv##S, (IN(COUNT), MPI_Message *message, REQUEST),                                \
	     (to, n, type, message, request),                                                      \
	     begin_taken(&call, message, NULL), end_taken(&call, request, NULL, code))
#define MESSAGES_OF_MPI_4(COUNT, S)                                                                \
	IEXCHANGE(Isendrecv##S, (BOTH(COUNT), REQUEST), (ALL_OF_BOTH, request))                    \
	IEXCHANGE(Isendrecv_replace##S, (IN(COUNT), WITH_TWO, REQUEST), (ALL_OF_ONE, request))

/* NOLINTBEGIN(readability-function-size): so many parameters MPI has */
PROBE(Mprobe, true, (WITH, MPI_Message *message, MPI_Status *status),
      (rank, tag, comm, message, status))
PROBE(Improbe, *flag, (WITH, int *flag, MPI_Message *message, MPI_Status *status),
      (rank, tag, comm, flag, message, status))
MESSAGES(int, )
#if MPI_VERSION >= 4
MESSAGES(MPI_Count, _c)
MESSAGES_OF_MPI_4(int, )
MESSAGES_OF_MPI_4(MPI_Count, _c)
#endif
/* NOLINTEND(readability-function-size) */
/* clang-format on */
