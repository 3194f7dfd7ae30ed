/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include <stdlib.h>

static struct table open;     /* handle -> struct pending */
static struct pending *spare; /* for the next ones: programs post receives without end */

/* -- one --------------------------------------------------------------------------------------- */

struct pending *pending_new(enum pending_kind kind)
{
	struct pending *pending;

	record_lock();
	pending = spare;
	if (pending)
		spare = pending->next;
	record_unlock();
	if (!pending)
		pending = malloc(sizeof(*pending));
	if (pending)
		*pending = (struct pending){.kind = kind};
	return pending;
}

void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	record_lock();
	pending->next = spare;
	spare = pending;
	record_unlock();
}

void pending_keep(struct pending *pending, uint64_t key)
{
	struct pending *stale;
	bool is_lost;

	pending->key = key;
	record_lock();
	stale = table_take(&open, key);
	is_lost = table_put(&open, key, pending) < 0;
	record_unlock();
	/* Another thread is about to see that it is complete, or its end was not seen. */
	if (stale && !stale->is_awaited)
		pending_forget(stale);
	if (is_lost)
		pending_forget(pending);
}

void pending_replace(uint64_t key)
{
	struct pending *stale = pending_take(key);

	if (stale && !stale->is_awaited)
		pending_forget(stale);
}

struct pending *pending_find(uint64_t key)
{
	struct pending *pending;

	record_lock();
	pending = table_find(&open, key);
	record_unlock();
	return pending;
}

struct pending *pending_take(uint64_t key)
{
	struct pending *pending;

	record_lock();
	pending = table_take(&open, key);
	record_unlock();
	return pending;
}

void pending_start(struct pending *pending)
{
	const struct envelope *envelope = &pending->envelope;

	pending->is_active = true;
	pending->is_cancelled = false;
	if (pending->kind == PENDING_SEND) {
		outgoing_begin(&pending->outgoing, "send", envelope);
	} else if (pending->kind == PENDING_RECEIVE) {
		incoming_begin(&pending->incoming, envelope->rank, envelope->tag, envelope->comm);
	} else if (pending->kind == PENDING_COLLECTIVE) {
		collective_begin(&pending->collective, pending->op, pending->root, envelope->comm);
		if (pending->collective.is_wanted)
			collective_enter(&pending->collective, pending->bytes);
	}
}

void pending_started(struct pending *pending, int code)
{
	if (pending->kind == PENDING_SEND)
		outgoing_end(&pending->outgoing, code);
	else if (pending->kind == PENDING_RECEIVE && code != MPI_SUCCESS)
		incoming_failed(&pending->incoming);
	else if (pending->kind == PENDING_RECEIVE)
		incoming_posted(&pending->incoming);
}

/* Whether nothing refers to it. */
static bool forget_incoming(struct incoming *incoming)
{
	bool is_gone = true;

	if (!incoming->communicator)
		return true;
	record_lock();
	is_gone = numbering_forget(&incoming->communicator->numbering, &incoming->receive);
	if (is_gone)
		communicator_put(incoming->communicator);
	record_unlock();
	return is_gone;
}

void pending_forget(struct pending *pending)
{
	if (pending->kind == PENDING_RECEIVE && !forget_incoming(&pending->incoming))
		return; /* a wildcard: it is open for ever */
	pending_free(pending);
}

/* -- many -------------------------------------------------------------------------------------- */

/* Both MPIs have one value for MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. */
static bool are_ignored(const MPI_Status *statuses)
{
	return statuses == MPI_STATUSES_IGNORE;
}

void batch_begin(struct batch *batch, int n, const MPI_Request *requests, MPI_Status *statuses)
{
	batch->n = n;
	batch->statuses = statuses;
	batch->has_pending = false;
	batch->allocated[0] = batch->allocated[1] = NULL;
	batch->pending = batch->few;
	if (n > BATCH_INLINE)
		batch->pending = batch->allocated[0] = calloc((size_t)n, sizeof(*batch->pending));
	record_lock();
	for (int i = 0; i < n && batch->pending; i++) {
		batch->pending[i] = table_find(&open, HANDLE_KEY(requests[i]));
		if (batch->pending[i] && batch->pending[i]->is_persistent &&
		    !batch->pending[i]->is_active)
			batch->pending[i] = NULL;
		if (!batch->pending[i])
			continue;
		batch->pending[i]->is_awaited = true;
		batch->has_pending = true;
	}
	record_unlock();
	if (!batch->has_pending || !are_ignored(statuses))
		return;
	batch->statuses = batch->few_statuses;
	if (n > BATCH_INLINE)
		batch->statuses = batch->allocated[1] = calloc((size_t)n, sizeof(*batch->statuses));
	if (!batch->statuses) {
		batch->statuses = statuses;
		batch->has_pending = false;
	}
}

void batch_end(struct batch *batch)
{
	free(batch->allocated[0]);
	free(batch->allocated[1]);
}

static bool was_cancelled(const struct pending *pending, const MPI_Status *status)
{
	int is_cancelled = 0;

	if (pending->is_cancelled)
		REAL(Test_cancelled)(status, &is_cancelled);
	return is_cancelled;
}

/* A receive is complete: which message it has is told in the order of posting. */
static void complete_receive(struct pending *pending, const MPI_Status *status)
{
	if (was_cancelled(pending, status))
		incoming_cancelled(&pending->incoming);
	else
		pending->received = incoming_end(&pending->incoming, status);
}

static void record_completion(struct pending *pending, const MPI_Status *status)
{
	if (pending->kind == PENDING_RECEIVE || pending->kind == PENDING_TAKEN) {
		received_record(&pending->received, status);
		pending->received.communicator = NULL;
	} else if (pending->kind == PENDING_COLLECTIVE) {
		collective_exit(&pending->collective);
	} else if (pending->kind == PENDING_COMMUNICATOR) {
		communicator_add_child(pending->parent, "dup", pending->number, *pending->new_comm);
	}
}

struct done {
	struct pending *pending;
	const MPI_Status *status;
};

static int by_posting(const void *left, const void *right)
{
	const struct done *a = left, *b = right;
	uint64_t id_a = a->pending->incoming.receive.id, id_b = b->pending->incoming.receive.id;

	return (id_a > id_b) - (id_a < id_b);
}

static void finish(struct pending *pending)
{
	pending->is_active = false;
	if (pending->is_persistent)
		return;
	record_lock();
	if (table_find(&open, pending->key) == pending)
		table_take(&open, pending->key);
	record_unlock();
	pending_free(pending);
}

/* Nobody knows which of them are complete. */
static void fail(struct pending *pending)
{
	incoming_failed(&pending->incoming);
	finish(pending);
}

static void complete(struct done *done, int n, int code)
{
	qsort(done, (size_t)n, sizeof(*done), by_posting);
	for (int i = 0; i < n && code == MPI_SUCCESS; i++)
		if (done[i].pending->kind == PENDING_RECEIVE)
			complete_receive(done[i].pending, done[i].status);
	for (int i = 0; i < n; i++) {
		if (code != MPI_SUCCESS) {
			fail(done[i].pending);
			continue;
		}
		record_completion(done[i].pending, done[i].status);
		finish(done[i].pending);
	}
}

void batch_complete(struct batch *batch, int n_done, const int *indices, int code)
{
	struct done few[BATCH_INLINE], *done = few;
	int n = 0;

	if (!batch->has_pending || n_done <= 0) /* MPI_UNDEFINED is less */
		return;
	if (n_done > BATCH_INLINE)
		done = calloc((size_t)n_done, sizeof(*done));
	for (int i = 0; done && i < n_done; i++) {
		struct pending *pending = batch->pending[indices ? indices[i] : i];

		if (pending)
			done[n++] = (struct done){pending, &batch->statuses[i]};
	}
	if (n)
		complete(done, n, code);
	if (done != few)
		free(done);
}
