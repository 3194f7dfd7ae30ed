/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include <stdlib.h>

static struct table open; /* handle -> struct pending */

/* -- one --------------------------------------------------------------------------------------- */

struct pending *pending_new(enum pending_kind kind)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	if (pending)
		pending->kind = kind;
	return pending;
}

void pending_keep(struct pending *pending, uint64_t key)
{
	struct pending *stale = table_take(&open, key);

	/* Another thread is about to see that it is complete, or its end was not seen. */
	if (stale && !stale->is_awaited)
		pending_forget(stale);
	if (pending && table_put(&open, key, &pending->entry) < 0)
		pending_forget(pending);
}

void pending_keep_persistent(enum pending_kind kind, const char *op,
                             const struct envelope *envelope, const MPI_Request *request)
{
	struct pending *pending = pending_new(kind);

	if (!pending)
		return;
	pending->is_persistent = true;
	pending->op = op;
	pending->envelope = *envelope;
	pending_keep(pending, HANDLE_KEY(*request));
}

struct pending *pending_find(MPI_Request request)
{
	return table_find(&open, HANDLE_KEY(request));
}

struct pending *pending_take(uint64_t key)
{
	return table_take(&open, key);
}

void pending_start(struct pending *pending)
{
	const struct envelope *envelope = &pending->envelope;

	pending->is_active = true;
	pending->is_cancelled = false;
	if (pending->kind == PENDING_SEND)
		outgoing_begin(&pending->record, pending->op, envelope);
	else if (pending->kind == PENDING_RECEIVE)
		incoming_begin(&pending->incoming, envelope);
	else if (collective_begin(&pending->record, envelope->rank, envelope->comm))
		record_enter(&pending->record, pending->op, (uint64_t)envelope->count);
}

void pending_started(struct pending *pending, int code)
{
	if (pending->kind == PENDING_SEND)
		outgoing_end(&pending->record, code);
	else if (pending->kind == PENDING_RECEIVE)
		incoming_posted(&pending->incoming, code);
}

void pending_forget(struct pending *pending)
{
	communicator_put(&pending->record.communicator);
	if (pending->kind == PENDING_RECEIVE)
		incoming_fail(&pending->incoming);
	communicator_put(&pending->incoming.communicator);
	free(pending);
}

/* -- many -------------------------------------------------------------------------------------- */

static struct pending *await(MPI_Request request)
{
	struct pending *pending = pending_find(request);

	if (!pending || (pending->is_persistent && !pending->is_active))
		return NULL;
	pending->is_awaited = true;
	pending->status = NULL;
	return pending;
}

void batch_begin(struct batch *batch, const struct call *call, int n, const MPI_Request *requests,
                 MPI_Status *statuses)
{
	batch->n = n;
	batch->statuses = statuses;
	batch->has_pending = false;
	batch->allocated = NULL;
	batch->pending = batch->few;
	if (call->is_own && n > BATCH_INLINE) {
		batch->allocated = calloc((size_t)n, sizeof(*batch->pending) + sizeof(MPI_Status));
		batch->pending = batch->allocated;
	}
	for (int i = 0; call->is_own && i < n && batch->pending; i++) {
		batch->pending[i] = await(requests[i]);
		batch->has_pending = batch->has_pending || batch->pending[i];
	}
	/* Both MPIs have one value for MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. */
	if (batch->has_pending && statuses == MPI_STATUSES_IGNORE)
		batch->statuses = batch->allocated ? (MPI_Status *)(batch->pending + n)
		                                   : batch->few_statuses;
}

static bool was_cancelled(const struct pending *pending)
{
	int is_cancelled = 0;

	if (pending->is_cancelled)
		REAL(Test_cancelled)(pending->status, &is_cancelled);
	return is_cancelled;
}

static void record_completion(struct pending *pending, int code)
{
	if (pending->kind == PENDING_RECEIVE && code == MPI_SUCCESS && was_cancelled(pending))
		incoming_cancelled(&pending->incoming);
	else if (pending->kind == PENDING_RECEIVE)
		incoming_end(&pending->incoming, pending->status, code);
	else if (pending->kind == PENDING_TAKEN && code == MPI_SUCCESS)
		incoming_record(&pending->incoming, pending->status);
	else if (pending->kind == PENDING_COLLECTIVE)
		collective_end(&pending->record, code);
	else if (pending->kind == PENDING_COMMUNICATOR && code == MPI_SUCCESS)
		communicator_add(pending->envelope.comm, "dup", pending->number, NO_TAG,
		                 *pending->new_comm);
}

static void complete(struct pending *pending, int code)
{
	record_completion(pending, code);
	pending->is_active = false;
	if (pending->is_persistent)
		return;
	if (table_find(&open, pending->entry.key) == pending)
		table_take(&open, pending->entry.key);
	free(pending);
}

static uint64_t posting_of(const struct pending *pending)
{
	return pending ? pending->incoming.receive.id : 0;
}

/* Which message a receive has is told in the order of posting. */
static int by_posting(const void *left, const void *right)
{
	uint64_t a = posting_of(*(struct pending *const *)left);
	uint64_t b = posting_of(*(struct pending *const *)right);

	return (a > b) - (a < b);
}

void batch_end(struct batch *batch, struct call *call, int n_done, const int *indices, int code)
{
	if (n_done <= 0) /* as MPI_UNDEFINED is */
		call_drop_scope(call);
	/* What a call that failed stores may be anything. */
	if (!batch->has_pending || n_done > batch->n)
		n_done = 0;
	for (int i = 0; i < n_done; i++) {
		int at = indices ? indices[i] : i;

		if (at >= 0 && at < batch->n && batch->pending[at])
			batch->pending[at]->status = &batch->statuses[i];
	}
	if (n_done > 1)
		qsort(batch->pending, (size_t)batch->n, sizeof(*batch->pending), by_posting);
	for (int i = 0; batch->has_pending && i < batch->n; i++) {
		struct pending *pending = batch->pending[i];

		if (pending)
			pending->is_awaited = false;
		if (pending && pending->status)
			complete(pending, code);
	}
	free(batch->allocated);
}
