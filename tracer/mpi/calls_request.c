/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: started, waited for, tested, cancelled, freed. What a test or probe that finds nothing
 * takes is not recorded: programs call them without end.
 */
#include "interpose.h"

/* -- starting ---------------------------------------------------------------------------------- */

/* They are started in any order, as if by several threads at once. */
static void begin_start(const struct call *call, int n, const MPI_Request *requests)
{
	for (int i = 0; call->is_own && i < n; i++) {
		struct pending *pending = pending_find(requests[i]);

		if (pending)
			pending_start(pending);
	}
}

/* Backwards, so that what was sent is inside each other. */
static void end_start(const struct call *call, int n, const MPI_Request *requests, int code)
{
	for (int i = n; call->is_own && i-- > 0;) {
		struct pending *pending = pending_find(requests[i]);

		if (pending)
			pending_started(pending, code);
	}
}

CALL(Start, (MPI_Request * request), (request), begin_start(&call, 1, request),
     end_start(&call, 1, request, code))
CALL(Startall, (int n, MPI_Request requests[]), (n, requests), begin_start(&call, n, requests),
     end_start(&call, n, requests, code))

/* -- completing -------------------------------------------------------------------------------- */

/* clang-format off */
/* A call that looks at `n` requests; which of them it has completed. */
#define LOOK(name, n, n_done, indices, statuses, parameters, arguments)                            \
	CALL(name, parameters, arguments,                                                          \
	     struct batch batch; batch_begin(&batch, &call, n, requests, statuses),                \
	     batch_end(&batch, &call, n_done, indices, code))

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
CALL(Probe, (int rank, int tag, MPI_Comm comm, MPI_Status *status), (rank, tag, comm, status),
     (void)0, (void)0)
CALL(Iprobe, (int rank, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
     (rank, tag, comm, flag, status), (void)0, if (!*flag) call_drop_scope(&call))
/* clang-format on */

/* -- cancelling, freeing ----------------------------------------------------------------------- */

static void doubt(const struct call *call, MPI_Request request)
{
	struct pending *pending = call->is_own ? pending_find(request) : NULL;

	if (!pending || pending->kind == PENDING_SEND)
		record_lose();
	else if (pending->kind == PENDING_RECEIVE && !pending->is_cancelled)
		incoming_doubt(&pending->incoming);
	if (pending)
		pending->is_cancelled = true;
}

static void forget(const struct call *call, MPI_Request request)
{
	struct pending *pending = call->is_own ? pending_take(HANDLE_KEY(request)) : NULL;

	if (pending)
		pending_forget(pending);
}

CALL(Cancel, (MPI_Request * request), (request), doubt(&call, *request), (void)0)
CALL(Request_free, (MPI_Request * request), (request), forget(&call, *request), (void)0)
