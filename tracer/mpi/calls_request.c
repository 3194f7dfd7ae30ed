/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: started, waited for, tested, cancelled, freed. What a test or probe that finds nothing
 * takes is not recorded: programs call them without end.
 */
#include <stdlib.h>

#include "interpose.h"
#include "requests.h"

/* -- starting ---------------------------------------------------------------------------------- */

static struct pending *begin_start(MPI_Request request)
{
	struct pending *pending = pending_find(HANDLE_KEY(request));

	if (pending)
		pending_start(pending);
	return pending;
}

INTERPOSE(Start, (MPI_Request * request))
{
	struct call call;
	struct pending *pending = call_begin(&call, "MPI_Start") ? begin_start(*request) : NULL;
	int code = REAL(Start)(request);

	if (pending)
		pending_started(pending, code);
	call_end(&call);
	return code;
}

/* They are started in any order, as if by several threads at once. */
INTERPOSE(Startall, (int n, MPI_Request requests[]))
{
	struct call call;
	bool is_own = call_begin(&call, "MPI_Startall");
	int code;

	for (int i = 0; is_own && i < n; i++)
		begin_start(requests[i]);
	code = REAL(Startall)(n, requests);
	for (int i = n; is_own && i-- > 0;) { /* so that what was sent is inside each other */
		struct pending *pending = pending_find(HANDLE_KEY(requests[i]));

		if (pending)
			pending_started(pending, code);
	}
	call_end(&call);
	return code;
}

/* -- completing -------------------------------------------------------------------------------- */

/* A call that looks at `n` requests; which of them it has completed. */
#define LOOK(name, n, n_done, indices, statuses_, parameters, arguments) \
	INTERPOSE(name, parameters)                                      \
	{                                                                \
		struct batch batch;                                      \
		struct call call;                                        \
		int code;                                                \
                                                                         \
		batch.statuses = statuses_;                              \
		if (call_begin(&call, "MPI_" #name))                     \
			batch_begin(&batch, n, requests, statuses_);     \
		code = REAL(name) arguments;                             \
		if ((n_done) <= 0)                                       \
			call_drop_scope(&call);                          \
		if (call.is_own) {                                       \
			batch_complete(&batch, n_done, indices, code);   \
			batch_end(&batch);                               \
		}                                                        \
		call_end(&call);                                         \
		return code;                                             \
	}

/* clang-format off */
LOOK(Wait, 1, 1, NULL, status, (MPI_Request *requests, MPI_Status *status),
     (requests, batch.statuses))
LOOK(Waitall, n, n, NULL, statuses, (int n, MPI_Request requests[], MPI_Status *statuses),
     (n, requests, batch.statuses))
LOOK(Waitany, n, *index == MPI_UNDEFINED ? 0 : 1, index, status,
     (int n, MPI_Request requests[], int *index, MPI_Status *status),
     (n, requests, index, batch.statuses))
LOOK(Waitsome, n, *n_done, indices, statuses,
     (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status *statuses),
     (n, requests, n_done, indices, batch.statuses))
LOOK(Test, 1, *flag, NULL, status, (MPI_Request *requests, int *flag, MPI_Status *status),
     (requests, flag, batch.statuses))
LOOK(Testall, n, *flag ? n : 0, NULL, statuses,
     (int n, MPI_Request requests[], int *flag, MPI_Status *statuses),
     (n, requests, flag, batch.statuses))
LOOK(Testany, n, *flag && *index != MPI_UNDEFINED ? 1 : 0, index, status,
     (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
     (n, requests, index, flag, batch.statuses))
LOOK(Testsome, n, *n_done, indices, statuses,
     (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status *statuses),
     (n, requests, n_done, indices, batch.statuses))
INTERPOSE_SCOPE(Probe, false, (int rank, int tag, MPI_Comm comm, MPI_Status *status),
                (rank, tag, comm, status))
INTERPOSE_SCOPE(Iprobe, !*flag, (int rank, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
                (rank, tag, comm, flag, status))
/* clang-format on */

/* -- cancelling, freeing ----------------------------------------------------------------------- */

static void doubt(MPI_Request request)
{
	struct pending *pending = pending_find(HANDLE_KEY(request));

	if (!pending || pending->kind == PENDING_SEND)
		outgoing_doubt();
	else if (pending->kind == PENDING_RECEIVE && !pending->is_cancelled)
		incoming_doubt(&pending->incoming);
	if (pending)
		pending->is_cancelled = true;
}

INTERPOSE(Cancel, (MPI_Request * request))
{
	struct call call;

	if (call_begin(&call, "MPI_Cancel"))
		doubt(*request);
	call_end(&call);
	return REAL(Cancel)(request);
}

INTERPOSE(Request_free, (MPI_Request * request))
{
	struct pending *pending = NULL;
	struct call call;

	if (call_begin(&call, "MPI_Request_free"))
		pending = pending_take(HANDLE_KEY(*request));
	if (pending)
		pending_forget(pending);
	call_end(&call);
	return REAL(Request_free)(request);
}
