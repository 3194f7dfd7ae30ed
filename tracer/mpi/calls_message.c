/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages. COUNT is the type of counts: MPI 4 has each function with MPI_Count as well.
 */
#include "interpose.h"
#include "requests.h"

#define ENVELOPE(count, type, rank, tag) (&(struct envelope){count, type, rank, tag, comm})

/* -- sends ------------------------------------------------------------------------------------- */

/* The record of the message stands for the call. */
#define SEND(name, parameters, arguments, then)                                                \
	INTERPOSE(name, parameters)                                                            \
	{                                                                                      \
		struct outgoing outgoing = {.communicator = NULL};                             \
		struct call call;                                                              \
		int code;                                                                      \
                                                                                               \
		if (call_begin(&call, "MPI_" #name))                                           \
			outgoing_begin(&outgoing, "MPI_" #name, ENVELOPE(n, type, rank, tag)); \
		else                                                                           \
			record_missed(comm);                                                   \
		if (outgoing.communicator)                                                     \
			call_drop_scope(&call);                                                \
		code = REAL(name) arguments;                                                   \
		then;                                                                          \
		if (call.is_own)                                                               \
			outgoing_end(&outgoing, code);                                         \
		call_end(&call);                                                               \
		return code;                                                                   \
	}

/* -- receives that block ----------------------------------------------------------------------- */

/* What a call that receives needs; `own`: for whoever wants no status. */
struct reception {
	struct call call;
	struct outgoing outgoing; /* what it sends as well */
	struct incoming incoming;
	MPI_Status own;
};

/* Returns the status that MPI is to fill in. */
static MPI_Status *begin_receive(struct reception *reception, int rank, int tag, MPI_Comm comm,
                                 MPI_Status *status)
{
	incoming_begin(&reception->incoming, rank, tag, comm);
	return status == MPI_STATUS_IGNORE ? &reception->own : status;
}

static void end_receive(struct reception *reception, const MPI_Status *status, int code)
{
	struct received received;

	if (code != MPI_SUCCESS) {
		incoming_failed(&reception->incoming);
		return;
	}
	received = incoming_end(&reception->incoming, status);
	received_record(&received, status);
}

#define RECEIVE(name, parameters, arguments)                                         \
	INTERPOSE(name, parameters)                                                  \
	{                                                                            \
		struct reception reception;                                          \
		int code;                                                            \
                                                                                     \
		if (call_begin(&reception.call, "MPI_" #name))                       \
			status = begin_receive(&reception, rank, tag, comm, status); \
		else                                                                 \
			record_missed(comm);                                         \
		code = REAL(name) arguments;                                         \
		if (reception.call.is_own)                                           \
			end_receive(&reception, status, code);                       \
		call_end(&reception.call);                                           \
		return code;                                                         \
	}

#define EXCHANGE(name, parameters, arguments)                                              \
	INTERPOSE(name, parameters)                                                        \
	{                                                                                  \
		struct reception reception;                                                \
		int code;                                                                  \
                                                                                           \
		if (call_begin(&reception.call, "MPI_" #name)) {                           \
			outgoing_begin(&reception.outgoing, "send",                        \
			               ENVELOPE(n, type, rank_out, tag_out));              \
			status = begin_receive(&reception, rank_in, tag_in, comm, status); \
		} else {                                                                   \
			record_missed(comm);                                               \
		}                                                                          \
		code = REAL(name) arguments;                                               \
		if (reception.call.is_own) {                                               \
			outgoing_end(&reception.outgoing, code);                           \
			end_receive(&reception, status, code);                             \
		}                                                                          \
		call_end(&reception.call);                                                 \
		return code;                                                               \
	}

/* -- receives that do not ---------------------------------------------------------------------- */

/* NULL: it is none of ours. */
static struct pending *begin_pending(struct call *call, const char *name, int rank, int tag,
                                     MPI_Comm comm)
{
	struct pending *pending;

	if (!call_begin(call, name))
		record_missed(comm);
	if (!call->is_own || rank == MPI_PROC_NULL)
		return NULL;
	pending = pending_new(PENDING_RECEIVE);
	if (pending)
		incoming_begin(&pending->incoming, rank, tag, comm);
	return pending;
}

static void end_pending(struct call *call, struct pending *pending, const MPI_Request *request,
                        int code)
{
	if (pending && code == MPI_SUCCESS) {
		incoming_posted(&pending->incoming);
		pending_keep(pending, HANDLE_KEY(*request));
	} else if (pending) {
		incoming_failed(&pending->incoming);
		pending_free(pending);
	}
	call_end(call);
}

#define IRECEIVE(name, parameters, arguments)                                                  \
	INTERPOSE(name, parameters)                                                            \
	{                                                                                      \
		struct call call;                                                              \
		struct pending *pending = begin_pending(&call, "MPI_" #name, rank, tag, comm); \
		int code = REAL(name) arguments;                                               \
                                                                                               \
		end_pending(&call, pending, request, code);                                    \
		return code;                                                                   \
	}

#define IEXCHANGE(name, parameters, arguments)                                                   \
	INTERPOSE(name, parameters)                                                              \
	{                                                                                        \
		struct call call;                                                                \
		struct outgoing outgoing = {.communicator = NULL};                               \
		struct pending *pending = begin_pending(&call, "MPI_" #name, rank_in, tag_in,    \
		                                        comm);                                   \
		int code;                                                                        \
                                                                                                 \
		if (call.is_own)                                                                 \
			outgoing_begin(&outgoing, "send", ENVELOPE(n, type, rank_out, tag_out)); \
		code = REAL(name) arguments;                                                     \
		if (call.is_own)                                                                 \
			outgoing_end(&outgoing, code);                                           \
		end_pending(&call, pending, request, code);                                      \
		return code;                                                                     \
	}

/* -- persistent -------------------------------------------------------------------------------- */

#define PERSISTENT(KIND, name, parameters, arguments)                                       \
	INTERPOSE(name, parameters)                                                         \
	{                                                                                   \
		struct call call;                                                           \
		bool is_own = call_begin(&call, "MPI_" #name);                              \
		int code = REAL(name) arguments;                                            \
		struct pending *pending = is_own && code == MPI_SUCCESS ? pending_new(KIND) \
		                                                        : NULL;             \
                                                                                            \
		if (pending) {                                                              \
			pending->is_persistent = true;                                      \
			pending->envelope = *ENVELOPE(n, type, rank, tag);                  \
			pending_keep(pending, HANDLE_KEY(*request));                        \
		}                                                                           \
		call_end(&call);                                                            \
		return code;                                                                \
	}

/* -- what a probe takes ------------------------------------------------------------------------ */

/* The message is known by its own handle until it is received. */
static void keep_taken(struct incoming *incoming, const MPI_Status *status,
                       const MPI_Message *message)
{
	struct received received = incoming_end(incoming, status);
	struct pending *pending = received.communicator ? pending_new(PENDING_TAKEN) : NULL;

	if (!pending)
		return;
	pending->received = received;
	pending_keep(pending, HANDLE_KEY(*message));
}

#define PROBE(name, has_found, parameters, arguments)                                \
	INTERPOSE(name, parameters)                                                  \
	{                                                                            \
		struct reception reception;                                          \
		int code;                                                            \
                                                                                     \
		if (call_begin(&reception.call, "MPI_" #name))                       \
			status = begin_receive(&reception, rank, tag, comm, status); \
		code = REAL(name) arguments;                                         \
		if (reception.call.is_own && code == MPI_SUCCESS && (has_found)) {   \
			keep_taken(&reception.incoming, status, message);            \
		} else if (reception.call.is_own) {                                  \
			incoming_cancelled(&reception.incoming);                     \
			call_drop_scope(&reception.call);                            \
		}                                                                    \
		call_end(&reception.call);                                           \
		return code;                                                         \
	}

/* clang-format off */
PROBE(Mprobe, true, (int rank, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
      (rank, tag, comm, message, status))
PROBE(Improbe, *flag,
      (int rank, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
      (rank, tag, comm, flag, message, status))
/* clang-format on */

#define RECEIVE_TAKEN(name, parameters, arguments)                            \
	INTERPOSE(name, parameters)                                           \
	{                                                                     \
		struct pending *pending = NULL;                               \
		struct call call;                                             \
		MPI_Status own = {0};                                         \
		int code;                                                     \
                                                                              \
		if (call_begin(&call, "MPI_" #name)) {                        \
			pending = pending_take(HANDLE_KEY(*message));         \
			status = status == MPI_STATUS_IGNORE ? &own : status; \
		}                                                             \
		code = REAL(name) arguments;                                  \
		if (pending)                                                  \
			received_record(&pending->received, status);          \
		pending_free(pending);                                        \
		call_end(&call);                                              \
		return code;                                                  \
	}

#define IRECEIVE_TAKEN(name, parameters, arguments)                   \
	INTERPOSE(name, parameters)                                   \
	{                                                             \
		struct pending *pending = NULL;                       \
		struct call call;                                     \
		int code;                                             \
                                                                      \
		if (call_begin(&call, "MPI_" #name))                  \
			pending = pending_take(HANDLE_KEY(*message)); \
		code = REAL(name) arguments;                          \
		if (pending)                                          \
			pending_keep(pending, HANDLE_KEY(*request));  \
		call_end(&call);                                      \
		return code;                                          \
	}

/* -- all of them ------------------------------------------------------------------------------- */

#define OUT(COUNT) const void *from, COUNT n, MPI_Datatype type
#define IN(COUNT)  void *to, COUNT n, MPI_Datatype type
#define WITH       int rank, int tag, MPI_Comm comm
#define WITH_TWO   int rank_out, int tag_out, int rank_in, int tag_in, MPI_Comm comm
#define BOTH(COUNT)                                                                        \
	const void *from, COUNT n, MPI_Datatype type, int rank_out, int tag_out, void *to, \
		COUNT n_in, MPI_Datatype type_in, int rank_in, int tag_in, MPI_Comm comm
#define ALL_OF_BOTH from, n, type, rank_out, tag_out, to, n_in, type_in, rank_in, tag_in, comm
#define REQUEST     MPI_Request *request

/* clang-format off */
#define SENDS(COUNT, S, name, iname)                                                               \
	SEND(name##S, (OUT(COUNT), WITH), (from, n, type, rank, tag, comm), (void)0)               \
	SEND(iname##S, (OUT(COUNT), WITH, REQUEST), (from, n, type, rank, tag, comm, request),     \
	     pending_replace(HANDLE_KEY(*request)))                                                \
	PERSISTENT(PENDING_SEND, name##_init##S, (OUT(COUNT), WITH, REQUEST),                      \
	           (from, n, type, rank, tag, comm, request))

#define MESSAGES(COUNT, S)                                                                         \
	SENDS(COUNT, S, Send, Isend)                                                               \
	SENDS(COUNT, S, Bsend, Ibsend)                                                             \
	SENDS(COUNT, S, Ssend, Issend)                                                             \
	SENDS(COUNT, S, Rsend, Irsend)                                                             \
	RECEIVE(Recv##S, (IN(COUNT), WITH, MPI_Status *status),                                    \
	        (to, n, type, rank, tag, comm, status))                                            \
	IRECEIVE(Irecv##S, (IN(COUNT), WITH, REQUEST), (to, n, type, rank, tag, comm, request))    \
	PERSISTENT(PENDING_RECEIVE, Recv_init##S, (IN(COUNT), WITH, REQUEST),                      \
	           (to, n, type, rank, tag, comm, request))                                        \
	EXCHANGE(Sendrecv##S, (BOTH(COUNT), MPI_Status *status), (ALL_OF_BOTH, status))            \
	EXCHANGE(Sendrecv_replace##S, (IN(COUNT), WITH_TWO, MPI_Status *status),                   \
	         (to, n, type, rank_out, tag_out, rank_in, tag_in, comm, status))                  \
	RECEIVE_TAKEN(Mrecv##S, (IN(COUNT), MPI_Message *message, MPI_Status *status),             \
	              (to, n, type, message, status))                                              \
	IRECEIVE_TAKEN(Imrecv##S, (IN(COUNT), MPI_Message *message, REQUEST),                      \
	               (to, n, type, message, request))

#define MESSAGES_OF_MPI_4(COUNT, S)                                                                \
	IEXCHANGE(Isendrecv##S, (BOTH(COUNT), REQUEST), (ALL_OF_BOTH, request))                    \
	IEXCHANGE(Isendrecv_replace##S, (IN(COUNT), WITH_TWO, REQUEST),                            \
	          (to, n, type, rank_out, tag_out, rank_in, tag_in, comm, request))
/* clang-format on */

/* NOLINTBEGIN(readability-function-size): so many parameters MPI has */
MESSAGES(int, )
#if MPI_VERSION >= 4
MESSAGES(MPI_Count, _c)
MESSAGES_OF_MPI_4(int, )
MESSAGES_OF_MPI_4(MPI_Count, _c)
#endif
/* NOLINTEND(readability-function-size) */
