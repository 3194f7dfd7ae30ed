/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_ready, has_threads;
static bool are_sends_doubted;
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

void record_lock(void)
{
	if (has_threads)
		pthread_mutex_lock(&lock);
}

void record_unlock(void)
{
	if (has_threads)
		pthread_mutex_unlock(&lock);
}

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

bool call_begin(struct call *call, const char *name)
{
	call->is_own = !is_inside && __atomic_load_n(&is_ready, __ATOMIC_ACQUIRE);
	call->scope.begin_ns = 0;
	if (!call->is_own)
		return false;
	is_inside = true;
	if (FLEXTRACE_ENABLED(scope))
		flextrace_i_scope_begin(&call->scope, FLEXTRACE_RUNTIME_CALL, name, 0, "", 0);
	return true;
}

void call_end(struct call *call)
{
	if (!call->is_own)
		return;
	flextrace_i_scope_end(&call->scope);
	is_inside = false;
}

void record_missed(MPI_Comm comm)
{
	struct communicator *communicator;

	if (!is_inside)
		return; /* before MPI_Init(), behind MPI_Finalize() */
	record_lock();
	communicator = communicator_find(comm);
	if (communicator)
		communicator->numbering.is_broken = true;
	record_unlock();
}

/* -- what is sent ------------------------------------------------------------------------------ */

uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
	int size = 0;

	if (count <= 0 || REAL(Type_size)(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

static void name_peer(char peer[PEER_BYTES], int world_rank)
{
	snprintf(peer, PEER_BYTES, "%d", world_rank);
}

/* Of a number and a tag, as one number; false: the first is too large. */
static bool make_seq(uint64_t number, int tag, uint64_t *ret_seq)
{
	*ret_seq = (uint64_t)(uint32_t)tag << 32 | number;
	return number <= UINT32_MAX;
}

static bool number_outgoing(struct outgoing *outgoing, const struct envelope *envelope,
                            struct communicator *communicator)
{
	int peer = communicator_world_rank(communicator, envelope->rank);
	uint64_t number;

	if (peer < 0 || are_sends_doubted ||
	    !numbering_send(&communicator->numbering, envelope->rank, envelope->tag, &number))
		return false;
	name_peer(outgoing->peer, peer);
	return make_seq(number, envelope->tag, &outgoing->seq);
}

void outgoing_begin(struct outgoing *outgoing, const char *op, const struct envelope *envelope)
{
	struct communicator *communicator;

	outgoing->communicator = NULL;
	if (envelope->rank == MPI_PROC_NULL)
		return;
	outgoing->bytes = FLEXTRACE_ENABLED(collective) ? bytes_of(envelope->count, envelope->type)
	                                                : 0;
	outgoing->op = op;
	record_lock();
	communicator = communicator_find(envelope->comm);
	if (communicator && number_outgoing(outgoing, envelope, communicator) &&
	    FLEXTRACE_ENABLED(collective)) {
		outgoing->communicator = communicator_get(communicator);
		/* Under the lock: see numbering.h. */
		FLEXTRACE_COLLECTIVE_ENTER(communicator->group, outgoing->seq, op, outgoing->bytes,
		                           outgoing->peer);
	}
	record_unlock();
}

void outgoing_end(struct outgoing *outgoing, int code)
{
	if (code != MPI_SUCCESS)
		outgoing_doubt();
	if (!outgoing->communicator)
		return;
	FLEXTRACE_COLLECTIVE_EXIT(outgoing->communicator->group, outgoing->seq, outgoing->op,
	                          outgoing->bytes, outgoing->peer);
	record_lock();
	communicator_put(outgoing->communicator);
	record_unlock();
	outgoing->communicator = NULL;
}

void outgoing_doubt(void)
{
	record_lock();
	are_sends_doubted = true;
	record_unlock();
}

/* -- what is received -------------------------------------------------------------------------- */

void incoming_begin(struct incoming *incoming, int source, int tag, MPI_Comm comm)
{
	struct communicator *communicator;

	incoming->communicator = NULL;
	if (source == MPI_PROC_NULL)
		return;
	record_lock();
	communicator = communicator_find(comm);
	if (communicator) {
		incoming->communicator = communicator_get(communicator);
		numbering_post(&communicator->numbering, &incoming->receive,
		               source == MPI_ANY_SOURCE ? NUMBERING_ANY : source,
		               tag == MPI_ANY_TAG ? NUMBERING_ANY : tag);
	}
	record_unlock();
}

void incoming_posted(struct incoming *incoming)
{
	if (!incoming->communicator)
		return;
	record_lock();
	numbering_posted(&incoming->communicator->numbering, &incoming->receive);
	record_unlock();
}

struct received incoming_end(struct incoming *incoming, const MPI_Status *status)
{
	struct received received = {incoming->communicator, 0, status->MPI_SOURCE, status->MPI_TAG};

	incoming->communicator = NULL;
	if (!received.communicator)
		return received;
	record_lock();
	if (numbering_complete(&received.communicator->numbering, &incoming->receive,
	                       received.source, received.tag)) {
		received.number = incoming->receive.number;
	} else {
		communicator_put(received.communicator);
		received.communicator = NULL;
	}
	record_unlock();
	return received;
}

void incoming_doubt(struct incoming *incoming)
{
	if (!incoming->communicator)
		return;
	record_lock();
	numbering_doubt(&incoming->communicator->numbering, &incoming->receive);
	record_unlock();
}

void incoming_cancelled(struct incoming *incoming)
{
	if (!incoming->communicator)
		return;
	record_lock();
	numbering_withdraw(&incoming->communicator->numbering, &incoming->receive);
	communicator_put(incoming->communicator);
	record_unlock();
	incoming->communicator = NULL;
}

void incoming_failed(struct incoming *incoming)
{
	if (!incoming->communicator)
		return;
	record_lock();
	incoming->communicator->numbering.is_broken = true;
	record_unlock();
	incoming_cancelled(incoming);
}

void received_record(struct received *received, const MPI_Status *status)
{
	struct communicator *communicator = received->communicator;
	char peer[PEER_BYTES];
	MPI_Count bytes = 0;
	uint64_t seq;
	int world_rank;

	if (!communicator)
		return;
	world_rank = communicator_world_rank(communicator, received->source);
	if (FLEXTRACE_ENABLED(collective) && world_rank >= 0 &&
	    make_seq(received->number, received->tag, &seq)) {
		REAL(Get_elements_x)(status, MPI_BYTE, &bytes);
		name_peer(peer, world_rank);
		FLEXTRACE_COLLECTIVE_ENTER(communicator->group, seq, "recv", bytes, peer);
		FLEXTRACE_COLLECTIVE_EXIT(communicator->group, seq, "recv", bytes, peer);
	}
	record_lock();
	communicator_put(communicator);
	record_unlock();
}

/* -- collectives ------------------------------------------------------------------------------- */

void collective_begin(struct collective *collective, const char *op, int root, MPI_Comm comm)
{
	struct communicator *communicator;

	*collective = (struct collective){.op = op};
	record_lock();
	communicator = communicator_find(comm);
	/* Between two groups nobody waits for his own. */
	if (communicator && !communicator->is_inter) {
		collective->communicator = communicator_get(communicator);
		collective->seq = communicator->n_collectives++;
		if (root >= 0 && root != communicator->self)
			name_peer(collective->peer, communicator_world_rank(communicator, root));
	}
	record_unlock();
	collective->is_wanted = collective->communicator && FLEXTRACE_ENABLED(collective);
}

void collective_enter(struct collective *collective, uint64_t bytes)
{
	collective->is_entered = true;
	collective->bytes = bytes == NOT_TOLD ? 0 : bytes;
	if (!bytes) {
		snprintf(collective->empty_op, sizeof(collective->empty_op), "%s (empty)",
		         collective->op);
		collective->op = collective->empty_op;
	}
	FLEXTRACE_COLLECTIVE_ENTER(collective->communicator->group, collective->seq, collective->op,
	                           collective->bytes, collective->peer);
}

void collective_exit(struct collective *collective)
{
	if (!collective->communicator)
		return;
	if (collective->is_entered)
		FLEXTRACE_COLLECTIVE_EXIT(collective->communicator->group, collective->seq,
		                          collective->op, collective->bytes, collective->peer);
	record_lock();
	communicator_put(collective->communicator);
	record_unlock();
	collective->communicator = NULL;
}
