/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows nothing of flextrace and calls much of MPI: mpi_program PART...
 *
 * Each message has a length of its own among those of its two ranks, so that a receive that is
 * taken for another one's shows. Each communicator is named "size=N", for its collectives have N
 * ranks. Prints on each rank "sent N received N", of messages that have two ranks.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES 4096
#define N_THREADS 3

static int rank, n_ranks;
static int n_sent, n_received, n_replaced;
static int lengths[64]; /* to each rank */
static char out[MAX_BYTES], in[16][MAX_BYTES];

/* The length of the next message to a rank of the world. */
static int next_bytes(int to)
{
	__atomic_add_fetch(&n_sent, 1, __ATOMIC_RELAXED);
	return __atomic_add_fetch(&lengths[to], 1, __ATOMIC_RELAXED);
}

static void count_received(int n)
{
	__atomic_add_fetch(&n_received, n, __ATOMIC_RELAXED);
}

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void name_it(MPI_Comm comm)
{
	char name[32];
	int n;

	MPI_Comm_size(comm, &n);
	snprintf(name, sizeof(name), "size=%d", n);
	MPI_Comm_set_name(comm, name);
}

/* -- collectives ------------------------------------------------------------------------------- */

static void do_blocking(MPI_Comm comm)
{
	int one = 1, sum, n, self, all[64] = {0}, counts[64], places[64];
	MPI_Datatype types[64];

	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &self);
	for (int i = 0; i < n; i++) {
		counts[i] = 1;
		places[i] = i;
		types[i] = MPI_INT;
	}
	MPI_Barrier(comm);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	check(sum == n, "allreduce");
	MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, comm);
	MPI_Allgather(&self, 1, MPI_INT, all, 1, MPI_INT, comm);
	check(all[n - 1] == n - 1, "allgather");
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
	MPI_Allgatherv(&self, 1, MPI_INT, all, counts, places, MPI_INT, comm);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
	MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, comm);
	counts[0] = 0;
	MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, comm);
	counts[0] = 1;
	MPI_Allreduce(&one, &sum, 0, MPI_INT, MPI_SUM, comm); /* waits for nobody */
	MPI_Bcast(&sum, 0, MPI_INT, 0, comm);
	MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	for (int root = 0; root < n; root++) {
		int got, *place = root == self ? MPI_IN_PLACE : &self;

		sum = self;
		MPI_Bcast(&sum, 1, MPI_INT, root, comm);
		check(sum == root, "bcast");
		MPI_Reduce(place, &sum, 1, MPI_INT, MPI_SUM, root, comm);
		MPI_Gather(place, 1, root == self ? MPI_DATATYPE_NULL : MPI_INT, all, 1, MPI_INT,
		           root, comm);
		MPI_Gatherv(&self, 1, MPI_INT, all, counts, places, MPI_INT, root, comm);
		MPI_Scatter(all, 1, MPI_INT, root == self ? MPI_IN_PLACE : (void *)&got, 1,
		            root == self ? MPI_DATATYPE_NULL : MPI_INT, root, comm);
		MPI_Scatterv(all, counts, places, MPI_INT, &got, 1, MPI_INT, root, comm);
	}
	MPI_Alltoallv(all, counts, places, MPI_INT, all + 32, counts, places, MPI_INT, comm);
	for (int i = 0; i < n; i++)
		places[i] = (int)sizeof(int) * i;
	MPI_Alltoallw(all, counts, places, types, all + 32, counts, places, types, comm);
}

static void do_others(MPI_Comm comm)
{
	int one = 1, sum[3], root;
	MPI_Request requests[4];

	MPI_Comm_size(comm, &root);
	root--;
	MPI_Ibarrier(comm, &requests[0]);
	MPI_Iallreduce(&one, &sum[0], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
	MPI_Ibcast(&sum[1], 1, MPI_INT, root, comm, &requests[2]);
	MPI_Ireduce(&one, &sum[2], 1, MPI_INT, MPI_SUM, root, comm, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
#if MPI_VERSION >= 4
	MPI_Allreduce_init(&one, &sum[0], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
	MPI_Bcast_init(&sum[1], 1, MPI_INT, root, comm, MPI_INFO_NULL, &requests[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&requests[0]);
		MPI_Start(&requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Allreduce_c(&one, &sum[0], 1, MPI_INT, MPI_SUM, comm);
#endif
}

static void do_collectives(void)
{
	name_it(MPI_COMM_WORLD);
	do_blocking(MPI_COMM_WORLD);
	do_others(MPI_COMM_WORLD);
	do_blocking(MPI_COMM_SELF);
}

/* -- messages ---------------------------------------------------------------------------------- */

/* A ring: to the right, from the left; `comm` has all ranks in their order. */
static void do_ring(MPI_Comm comm)
{
	int right = (rank + 1) % n_ranks, left = (rank + n_ranks - 1) % n_ranks;
	MPI_Request requests[4];
	MPI_Status status;

	MPI_Irecv(in[0], MAX_BYTES, MPI_BYTE, left, 1, comm, &requests[0]);
	MPI_Isend(out, next_bytes(right), MPI_BYTE, right, 1, comm, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Irecv(in[0], MAX_BYTES, MPI_BYTE, left, 1, comm, &requests[0]);
	MPI_Irecv(in[1], MAX_BYTES, MPI_BYTE, left, 1, comm, &requests[1]);
	MPI_Issend(out, next_bytes(right), MPI_BYTE, right, 1, comm, &requests[2]);
	MPI_Irsend(out, next_bytes(right), MPI_BYTE, right, 1, comm, &requests[3]);
	MPI_Wait(&requests[1], &status); /* the second one is awaited first */
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Waitall(2, requests + 2, MPI_STATUSES_IGNORE);
	MPI_Sendrecv(out, next_bytes(right), MPI_BYTE, right, 2, in[0], MAX_BYTES, MPI_BYTE, left,
	             2, comm, MPI_STATUS_IGNORE);
	/* all ranks come here equally often */
	MPI_Sendrecv_replace(in[0], 2000 + n_replaced++, MPI_BYTE, right, 2, left, 2, comm,
	                     &status);
	n_sent++;
	count_received(5);
}

/* Even ranks send, odd ones receive; then the other way round. */
static void do_modes(MPI_Comm comm)
{
	int other = rank ^ 1, buffer_bytes = 16 * (MAX_BYTES + MPI_BSEND_OVERHEAD);
	void *buffer = malloc((size_t)buffer_bytes);
	MPI_Request request;
	int flag = 0;

	if (other >= n_ranks) {
		free(buffer);
		return;
	}
	MPI_Buffer_attach(buffer, buffer_bytes);
	for (int turn = 0; turn < 2; turn++) {
		if ((rank & 1) == turn) {
			MPI_Send(out, next_bytes(other), MPI_BYTE, other, 3, comm);
			MPI_Ssend(out, next_bytes(other), MPI_BYTE, other, 3, comm);
			MPI_Bsend(out, next_bytes(other), MPI_BYTE, other, 3, comm);
			MPI_Ibsend(out, next_bytes(other), MPI_BYTE, other, 3, comm, &request);
			MPI_Request_free(&request);
			MPI_Send(NULL, 0, MPI_BYTE, other, 4, comm);
			n_sent++;
			continue;
		}
		for (int i = 0; i < 4; i++)
			MPI_Recv(in[0], MAX_BYTES, MPI_BYTE, other, 3, comm, MPI_STATUS_IGNORE);
		MPI_Irecv(NULL, 0, MPI_BYTE, other, 4, comm, &request);
		for (flag = 0; !flag;)
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		count_received(5);
	}
	MPI_Buffer_detach(&buffer, &buffer_bytes);
	free(buffer);
	MPI_Send(out, 1, MPI_BYTE, MPI_PROC_NULL, 3, comm);
	MPI_Recv(in[0], 1, MPI_BYTE, MPI_PROC_NULL, 3, comm, MPI_STATUS_IGNORE);
	MPI_Irecv(in[0], 1, MPI_BYTE, MPI_PROC_NULL, 3, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void do_persistent(MPI_Comm comm)
{
	int right = (rank + 1) % n_ranks, left = (rank + n_ranks - 1) % n_ranks, done, index;
	int bytes[2] = {next_bytes(right), next_bytes(right)};
	MPI_Request requests[4];

	n_sent -= 2;
	for (int i = 0; i < 2; i++) {
		MPI_Send_init(out, bytes[i], MPI_BYTE, right, 5 + i, comm, &requests[i]);
		MPI_Recv_init(in[i], MAX_BYTES, MPI_BYTE, left, 5 + i, comm, &requests[2 + i]);
	}
	for (int i = 0; i < 4; i++) {
		MPI_Startall(4, requests);
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		MPI_Start(&requests[3]);
		MPI_Start(&requests[1]);
		for (done = 0; done < 2; done++)
			MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
		MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
		check(index == MPI_UNDEFINED, "waitany of what is not started");
		n_sent += 3;
		count_received(3);
	}
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&requests[i]);
}

/* With a probe that takes a message, and one that does not. */
static void do_probes(MPI_Comm comm)
{
	int right = (rank + 1) % n_ranks, flag = 0;
	MPI_Request requests[4];
	MPI_Message message;
	MPI_Status status;

	for (int i = 0; i < 4; i++)
		MPI_Isend(out, next_bytes(right), MPI_BYTE, right, 7, comm, &requests[i]);
	MPI_Probe(MPI_ANY_SOURCE, 7, comm, &status);
	MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, MPI_STATUS_IGNORE);
	MPI_Recv(in[1], MAX_BYTES, MPI_BYTE, status.MPI_SOURCE, 7, comm, MPI_STATUS_IGNORE);
	MPI_Mrecv(in[0], MAX_BYTES, MPI_BYTE, &message, MPI_STATUS_IGNORE);
	while (!flag)
		MPI_Improbe(MPI_ANY_SOURCE, 7, comm, &flag, &message, &status);
	{
		MPI_Request request;

		MPI_Imrecv(in[0], MAX_BYTES, MPI_BYTE, &message, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Recv(in[1], MAX_BYTES, MPI_BYTE, MPI_ANY_SOURCE, 7, comm, &status);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	MPI_Mprobe(MPI_PROC_NULL, 7, comm, &message, &status);
	MPI_Mrecv(in[0], 1, MPI_BYTE, &message, &status);
	count_received(4);
}

static void do_messages(void)
{
	do_ring(MPI_COMM_WORLD);
	do_modes(MPI_COMM_WORLD);
	do_persistent(MPI_COMM_WORLD);
	do_probes(MPI_COMM_WORLD);
	MPI_Sendrecv(out, next_bytes(rank), MPI_BYTE, 0, 9, in[0], MAX_BYTES, MPI_BYTE, 0, 9,
	             MPI_COMM_SELF, MPI_STATUS_IGNORE);
	count_received(1);
}

/* -- communicators ----------------------------------------------------------------------------- */

static void use(MPI_Comm comm)
{
	int n, self;

	if (comm == MPI_COMM_NULL)
		return;
	name_it(comm);
	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &self);
	do_blocking(comm);
	do_others(comm);
	if (n == n_ranks && self == rank)
		do_ring(comm);
}

static void use_and_free(MPI_Comm comm)
{
	use(comm);
	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
}

/* Between the lower and the upper half. */
static void do_intercomm(void)
{
	int half = n_ranks / 2, is_upper = rank >= half, peer = is_upper ? rank - half : rank;
	MPI_Comm own, between, merged;

	MPI_Comm_split(MPI_COMM_WORLD, is_upper, rank, &own);
	for (int i = 0; i < 2; i++) {
		MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_upper ? 0 : half, 99, &between);
		MPI_Barrier(between);
		if (is_upper) {
			MPI_Send(out, next_bytes(peer), MPI_BYTE, peer, 1, between);
		} else {
			MPI_Recv(in[0], MAX_BYTES, MPI_BYTE, peer, 1, between, MPI_STATUS_IGNORE);
			count_received(1);
		}
		MPI_Intercomm_merge(between, is_upper, &merged);
		use_and_free(merged);
		MPI_Comm_free(&between);
	}
	MPI_Comm_free(&own);
}

static void do_communicators(void)
{
	int dims[2] = {2, n_ranks / 2}, rings[2] = {1, 1}, remain[2] = {1, 0}, ranks[2] = {1, 0};
	MPI_Group world, group;
	MPI_Request request;
	MPI_Comm comm, sub;

	for (int i = 0; i < 3; i++) { /* handles come again */
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		use_and_free(comm);
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
		MPI_Comm_dup(comm, &sub);
		use_and_free(sub);
		use_and_free(comm);
	}
	MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	use_and_free(comm);
	MPI_Comm_split(MPI_COMM_WORLD, rank ? 1 : MPI_UNDEFINED, 0, &comm);
	use_and_free(comm);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	use_and_free(comm);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, ranks, &group);
	MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	use_and_free(comm);
	for (int i = 0; i < 2 && rank < 2; i++) {
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
		use_and_free(comm);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, rings, 0, &comm);
	MPI_Cart_sub(comm, remain, &sub);
	use_and_free(sub);
	use_and_free(comm);
	do_intercomm();
}

/* -- wildcards --------------------------------------------------------------------------------- */

/* Rank 0 gets of the others what it does not ask for by name. */
static void do_wildcards(void)
{
	int n_others = n_ranks - 1, indices[16], n_done, left;
	MPI_Request requests[16];
	MPI_Status statuses[16];

	for (int round = 0; round < 5; round++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank) {
			MPI_Send(out, next_bytes(0), MPI_BYTE, 0, 1, MPI_COMM_WORLD);
			MPI_Send(out, next_bytes(0), MPI_BYTE, 0, 2, MPI_COMM_WORLD);
			MPI_Send(out, next_bytes(0), MPI_BYTE, 0, 2, MPI_COMM_WORLD);
			continue;
		}
		for (int i = 0; i < n_others; i++)
			MPI_Recv(in[0], MAX_BYTES, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
			         round & 1 ? &statuses[0] : MPI_STATUS_IGNORE);
		for (int i = 0; i < n_others; i++)
			MPI_Irecv(in[i], MAX_BYTES, MPI_BYTE, i + 1, MPI_ANY_TAG, MPI_COMM_WORLD,
			          &requests[i]);
		for (int i = 0; i < n_others; i++)
			MPI_Irecv(in[8 + i], MAX_BYTES, MPI_BYTE,
			          round & 1 ? i + 1 : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			          &requests[n_others + i]);
		for (left = 2 * n_others; left && round > 1; left -= n_done)
			MPI_Waitsome(2 * n_others, requests, &n_done, indices,
			             round & 1 ? statuses : MPI_STATUSES_IGNORE);
		MPI_Waitall(2 * n_others, requests, MPI_STATUSES_IGNORE);
		count_received(3 * n_others);
	}
}

/* Receives that are cancelled, behind which others come. */
static void do_cancelled(void)
{
	int right = (rank + 1) % n_ranks, left = (rank + n_ranks - 1) % n_ranks, is_cancelled;
	MPI_Request requests[2];
	MPI_Status status;

	for (int i = 0; i < 3; i++) {
		MPI_Irecv(in[0], MAX_BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(in[1], MAX_BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]);
		MPI_Cancel(&requests[0]);
		if (i == 1)
			MPI_Wait(&requests[0], &status);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Send(out, next_bytes(right), MPI_BYTE, right, 1, MPI_COMM_WORLD);
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
		if (i != 1)
			MPI_Wait(&requests[0], &status);
		MPI_Test_cancelled(&status, &is_cancelled);
		check(is_cancelled, "a receive was not cancelled");
		count_received(1);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	do_ring(MPI_COMM_WORLD);
}

/* -- threads ----------------------------------------------------------------------------------- */

#define TAG_SENDERS   8 /* several threads send, which messages are which is not known */
#define TAG_RECEIVERS 9 /* several receive */
#define TAG_OWN       10

static void *exchange(void *thread)
{
	int right = (rank + 1) % n_ranks, left = (rank + n_ranks - 1) % n_ranks;
	int tag = TAG_OWN + (int)(long)thread;
	char to[MAX_BYTES];

	for (int i = 0; i < 50; i++) {
		MPI_Sendrecv(out, next_bytes(right), MPI_BYTE, right, tag, to, MAX_BYTES, MPI_BYTE,
		             left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(out, next_bytes(right), MPI_BYTE, right, TAG_SENDERS, MPI_COMM_WORLD);
		MPI_Recv(to, MAX_BYTES, MPI_BYTE, i & 1 ? left : MPI_ANY_SOURCE, TAG_RECEIVERS,
		         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		count_received(2);
	}
	return NULL;
}

static void do_threads(void)
{
	int right = (rank + 1) % n_ranks, left = (rank + n_ranks - 1) % n_ranks;
	pthread_t threads[N_THREADS];

	for (long i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, exchange, (void *)i);
	for (int i = 0; i < N_THREADS * 50; i++) {
		MPI_Send(out, next_bytes(right), MPI_BYTE, right, TAG_RECEIVERS, MPI_COMM_WORLD);
		MPI_Recv(in[0], MAX_BYTES, MPI_BYTE, left, TAG_SENDERS, MPI_COMM_WORLD,
		         MPI_STATUS_IGNORE);
		count_received(1);
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* -- the program ------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{"collectives", do_collectives},     {"messages", do_messages},
		{"communicators", do_communicators}, {"wildcards", do_wildcards},
		{"cancelled", do_cancelled},         {"threads", do_threads},
	};
	int provided;

	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
	for (int i = 1; i < argc; i++)
		for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++)
			if (strcmp(argv[i], parts[part].name) == 0)
				parts[part].run();
	printf("sent %d received %d\n", n_sent, n_received);
	MPI_Finalize();
	return 0;
}
