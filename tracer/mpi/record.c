/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <pthread.h>
#include <stdio.h>

#define UNKNOWN "messages are not known from here on"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_ready, has_threads;
static bool is_lost; /* what is sent and received from now on is not known */
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

void record_begin(int thread_level)
{
	has_threads = thread_level == MPI_THREAD_MULTIPLE;
	__atomic_store_n(&is_ready, true, __ATOMIC_RELEASE);
}

void record_end(void)
{
	__atomic_store_n(&is_ready, false, __ATOMIC_RELEASE);
}

/* -- calls ------------------------------------------------------------------------------------- */

void call_lock(const struct call *call)
{
	if (call->is_own && has_threads)
		pthread_mutex_lock(&lock);
}

void call_unlock(const struct call *call)
{
	if (call->is_own && has_threads)
		pthread_mutex_unlock(&lock);
}

void call_begin(struct call *call, const char *name)
{
	call->is_own = !is_inside && __atomic_load_n(&is_ready, __ATOMIC_ACQUIRE);
	call->scope.begin_ns = 0;
	call->record.communicator = call->incoming.communicator = NULL;
	call->pending = NULL;
	if (!call->is_own)
		return;
	is_inside = true;
	if (FLEXTRACE_ENABLED(scope))
		flextrace_i_scope_begin(&call->scope, FLEXTRACE_RUNTIME_CALL, name, 0, "", 0);
	call_lock(call);
}

void call_end(struct call *call)
{
	if (!call->is_own)
		return;
	call_unlock(call);
	flextrace_i_scope_end(&call->scope);
	is_inside = false;
}

bool call_is_seen(const struct call *call)
{
	if (!call->is_own && is_inside) /* else before MPI_Init(), behind MPI_Finalize() */
		record_lose();
	return call->is_own;
}

void record_lose(void)
{
	if (!__atomic_exchange_n(&is_lost, true, __ATOMIC_RELAXED))
		FLEXTRACE_ANNOTATE("MPI", UNKNOWN);
}

/* -- open records ------------------------------------------------------------------------------ */

void record_enter(struct record *record, const char *op, uint64_t bytes)
{
	record->op = op;
	record->bytes = bytes == NOT_TOLD ? 0 : bytes;
	FLEXTRACE_COLLECTIVE_ENTER(record->communicator->group, record->seq, record->op,
	                           record->bytes, record->peer);
}

void record_exit(struct record *record)
{
	if (record->communicator)
		FLEXTRACE_COLLECTIVE_EXIT(record->communicator->group, record->seq, record->op,
		                          record->bytes, record->peer);
	communicator_put(&record->communicator);
}

static void name_peer(struct record *record, int world_rank)
{
	snprintf(record->peer, sizeof(record->peer), "%d", world_rank);
}

/* Stores a number and a tag as one number; false: the first is too large. */
static bool make_seq(struct record *record, uint64_t number, int tag)
{
	record->seq = (uint64_t)(uint32_t)tag << 32 | number;
	return number <= UINT32_MAX;
}

/* -- what is sent ------------------------------------------------------------------------------ */

uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
	int size = 0;

	if (count <= 0 || REAL(Type_size)(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

static bool is_recorded(void)
{
	return FLEXTRACE_ENABLED(collective) && !__atomic_load_n(&is_lost, __ATOMIC_RELAXED);
}

void outgoing_begin(struct record *record, const char *op, const struct envelope *envelope)
{
	struct communicator *communicator = communicator_find(envelope->comm);
	int peer = communicator ? communicator_world_rank(communicator, envelope->rank) : -1;
	uint64_t number;

	if (peer < 0 ||
	    !numbering_send(&communicator->numbering, envelope->rank, envelope->tag, &number))
		return;
	if (!is_recorded() || !make_seq(record, number, envelope->tag))
		return;
	name_peer(record, peer);
	record->communicator = communicator_get(communicator);
	/* In one step with the number: see numbering.h. */
	record_enter(record, op, bytes_of(envelope->count, envelope->type));
}

void outgoing_end(struct record *record, int code)
{
	if (code != MPI_SUCCESS)
		record_lose();
	record_exit(record);
}

/* -- what is received -------------------------------------------------------------------------- */

void incoming_begin(struct incoming *incoming, const struct envelope *from)
{
	struct communicator *communicator = communicator_find(from->comm);

	incoming->communicator = NULL;
	if (!communicator || from->rank == MPI_PROC_NULL)
		return;
	incoming->communicator = communicator_get(communicator);
	numbering_post(&communicator->numbering, &incoming->receive,
	               from->rank == MPI_ANY_SOURCE ? NUMBERING_ANY : from->rank,
	               from->tag == MPI_ANY_TAG ? NUMBERING_ANY : from->tag);
}

void incoming_fail(struct incoming *incoming)
{
	if (!incoming->communicator)
		return;
	incoming->communicator->numbering.is_broken = true;
	FLEXTRACE_ANNOTATE(incoming->communicator->group, UNKNOWN);
	incoming_cancelled(incoming);
}

void incoming_posted(struct incoming *incoming, int code)
{
	if (code != MPI_SUCCESS)
		incoming_fail(incoming);
	else if (incoming->communicator)
		numbering_posted(&incoming->communicator->numbering, &incoming->receive);
}

void incoming_complete(struct incoming *incoming, const MPI_Status *status)
{
	struct receive *receive = &incoming->receive;

	if (!incoming->communicator)
		return;
	if (!numbering_complete(&incoming->communicator->numbering, receive, status->MPI_SOURCE,
	                        status->MPI_TAG))
		communicator_put(&incoming->communicator);
	receive->source = status->MPI_SOURCE;
	receive->tag = status->MPI_TAG;
}

void incoming_record(struct incoming *incoming, const MPI_Status *status)
{
	const struct receive *receive = &incoming->receive;
	struct communicator *communicator = incoming->communicator;
	struct record record;
	MPI_Count bytes = 0;

	if (communicator && is_recorded() && make_seq(&record, receive->number, receive->tag)) {
		REAL(Get_elements_x)(status, MPI_BYTE, &bytes);
		name_peer(&record, communicator_world_rank(communicator, receive->source));
		record.communicator = communicator_get(communicator);
		record_enter(&record, "recv", (uint64_t)bytes);
		record_exit(&record);
	}
	communicator_put(&incoming->communicator);
}

void incoming_end(struct incoming *incoming, const MPI_Status *status, int code)
{
	if (code == MPI_SUCCESS) {
		incoming_complete(incoming, status);
		incoming_record(incoming, status);
	} else {
		incoming_fail(incoming);
	}
}

void incoming_doubt(struct incoming *incoming)
{
	if (incoming->communicator)
		numbering_doubt(&incoming->communicator->numbering, &incoming->receive);
}

void incoming_cancelled(struct incoming *incoming)
{
	if (incoming->communicator)
		numbering_withdraw(&incoming->communicator->numbering, &incoming->receive);
	communicator_put(&incoming->communicator);
}

/* -- collectives ------------------------------------------------------------------------------- */

bool collective_begin(struct record *record, int root, MPI_Comm comm)
{
	struct communicator *communicator = communicator_find(comm);

	*record = (struct record){.communicator = NULL};
	if (!communicator || communicator->is_inter) /* there nobody waits for his own group */
		return false;
	record->seq = communicator->n_collectives++;
	if (!FLEXTRACE_ENABLED(collective))
		return false;
	record->communicator = communicator_get(communicator);
	if (root >= 0 && root != communicator->self)
		name_peer(record, communicator_world_rank(communicator, root));
	return true;
}

void collective_end(struct record *record, int code)
{
	if (code == MPI_SUCCESS)
		record_exit(record);
	communicator_put(&record->communicator);
}
