/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives: each as a call that blocks, one that does not, and a persistent one. `bytes` are
 * what a rank gives, or gets where only the root gives.
 */
#include "interpose.h"

/* Of a buffer that may be MPI_IN_PLACE: then that of the other side tells. */
#define GIVEN(n_out, type_out, n_in, type_in) \
	(from == MPI_IN_PLACE ? bytes_of(n_in, type_in) : bytes_of(n_out, type_out))

static int ask(int (*question)(MPI_Comm, int *), MPI_Comm comm)
{
	int answer = 0;

	question(comm, &answer);
	return answer;
}
#define size_of(comm) ask(REAL(Comm_size), comm)
#define rank_of(comm) ask(REAL(Comm_rank), comm)

/* Of counts of either type. */
#define SUM_OF(counts, comm)                                           \
	__extension__({                                                \
		MPI_Count sum = 0;                                     \
		for (int i = 0, n_all = size_of(comm); i < n_all; i++) \
			sum += (counts)[i];                            \
		sum;                                                   \
	})
#define HAS_NONE(counts, comm)                                         \
	__extension__({                                                \
		bool has_none = false;                                 \
		for (int i = 0, n_all = size_of(comm); i < n_all; i++) \
			has_none = has_none || !(counts)[i];           \
		has_none;                                              \
	})

/* -- the three forms --------------------------------------------------------------------------- */

/* The names of a collective, and of one that moves nothing: who does that need not wait for
 * anybody, so that name promises nothing. */
#define OPS(name) "MPI_" name, "MPI_" name " (empty)"

static bool is_wanted(struct call *call, int root, MPI_Comm comm)
{
	return call->is_own && collective_begin(&call->record, root, comm);
}

static void enter(struct call *call, const char *op, const char *empty_op, uint64_t bytes)
{
	record_enter(&call->record, bytes ? op : empty_op, bytes);
}

/* Its record stands for the call. */
static void leave(struct call *call, int code)
{
	if (call->record.communicator && code == MPI_SUCCESS)
		call_drop_scope(call);
	collective_end(&call->record, code);
}

/* It ends where a request is complete. */
static void leave_open(struct call *call, const MPI_Request *request, int code)
{
	struct pending *pending = NULL;

	if (code == MPI_SUCCESS && call->record.communicator)
		pending = pending_new(PENDING_COLLECTIVE);
	if (pending)
		pending->record = call->record;
	else
		communicator_put(&call->record.communicator);
	if (call->is_own && code == MPI_SUCCESS)
		pending_keep(pending, HANDLE_KEY(*request));
}

/* clang-format off */
#define BLOCKING(name, root_, bytes_, parameters, arguments)                                       \
	CALL(name, parameters, arguments,                                                          \
	     if (is_wanted(&call, root_, comm)) enter(&call, OPS(#name), bytes_),                  \
	     leave(&call, code))
#define NONBLOCKING(name, root_, bytes_, parameters, arguments)                                    \
	CALL(name, (UNPACK parameters, MPI_Request *request), (UNPACK arguments, request),         \
	     if (is_wanted(&call, root_, comm)) enter(&call, OPS(#name "+MPI_Wait"), bytes_),      \
	     leave_open(&call, request, code))
#define BLOCKING_OR_NOT(name, iname, root_, bytes_, ...)                                           \
	BLOCKING(name, root_, bytes_, __VA_ARGS__)                                                 \
	NONBLOCKING(iname, root_, bytes_, __VA_ARGS__)
/* clang-format on */

/* -- all of them ------------------------------------------------------------------------------- */

#define OUT(COUNT) const void *from, COUNT n_out, MPI_Datatype type_out
#define IN(COUNT)  void *to, COUNT n_in, MPI_Datatype type_in
#define OUTS(COUNT, PLACE) \
	const void *from, const COUNT n_out[], const PLACE at_out[], MPI_Datatype type_out
#define INS(COUNT, PLACE) void *to, const COUNT n_in[], const PLACE at_in[], MPI_Datatype type_in
#define OUTS_OF_TYPES(COUNT, PLACE) \
	const void *from, const COUNT n_out[], const PLACE at_out[], const MPI_Datatype types_out[]
#define INS_OF_TYPES(COUNT, PLACE) \
	void *to, const COUNT n_in[], const PLACE at_in[], const MPI_Datatype types_in[]

/* clang-format off */
/* Parameters and arguments of those that are called alike. */
#define ROOTED(COUNT)                                                                              \
	(OUT(COUNT), IN(COUNT), int root, MPI_Comm comm),                                          \
	(from, n_out, type_out, to, n_in, type_in, root, comm)
#define OF_ALL(COUNT)                                                                              \
	(OUT(COUNT), IN(COUNT), MPI_Comm comm), (from, n_out, type_out, to, n_in, type_in, comm)
#define REDUCTION(COUNT)                                                                           \
	(const void *from, void *to, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),        \
	(from, to, n, type, op, comm)

/* X(name, name of the one that does not block, root, bytes, parameters, arguments). Who has no part
 * in MPI_Reduce_scatter() waits for nobody: if there is one, all call it empty. How much
 * MPI_Alltoallw() moves, with a type for each rank, is not told. */
#define COLLECTIVES(X, COUNT, PLACE, S)                                                            \
	X(Bcast##S, Ibcast##S, root, bytes_of(n_in, type_in),                                      \
	  (IN(COUNT), int root, MPI_Comm comm), (to, n_in, type_in, root, comm))                   \
	X(Gather##S, Igather##S, root, GIVEN(n_out, type_out, n_in, type_in), ROOTED(COUNT))       \
	X(Gatherv##S, Igatherv##S, root, GIVEN(n_out, type_out, n_in[rank_of(comm)], type_in),     \
	  (OUT(COUNT), INS(COUNT, PLACE), int root, MPI_Comm comm),                                \
	  (from, n_out, type_out, to, n_in, at_in, type_in, root, comm))                           \
	X(Scatter##S, Iscatter##S, root,                                                           \
	  root == rank_of(comm) ? bytes_of(n_out, type_out) : bytes_of(n_in, type_in),             \
	  ROOTED(COUNT))                                                                           \
	X(Scatterv##S, Iscatterv##S, root,                                                         \
	  root == rank_of(comm) ? bytes_of(n_out[root], type_out) : bytes_of(n_in, type_in),       \
	  (OUTS(COUNT, PLACE), IN(COUNT), int root, MPI_Comm comm),                                \
	  (from, n_out, at_out, type_out, to, n_in, type_in, root, comm))                          \
	X(Allgather##S, Iallgather##S, NO_ROOT, GIVEN(n_out, type_out, n_in, type_in),             \
	  OF_ALL(COUNT))                                                                           \
	X(Allgatherv##S, Iallgatherv##S, NO_ROOT,                                                  \
	  GIVEN(n_out, type_out, n_in[rank_of(comm)], type_in),                                    \
	  (OUT(COUNT), INS(COUNT, PLACE), MPI_Comm comm),                                          \
	  (from, n_out, type_out, to, n_in, at_in, type_in, comm))                                 \
	X(Alltoall##S, Ialltoall##S, NO_ROOT,                                                      \
	  GIVEN(n_out, type_out, n_in, type_in) * (uint64_t)size_of(comm), OF_ALL(COUNT))          \
	X(Alltoallv##S, Ialltoallv##S, NO_ROOT,                                                    \
	  GIVEN(SUM_OF(n_out, comm), type_out, SUM_OF(n_in, comm), type_in),                       \
	  (OUTS(COUNT, PLACE), INS(COUNT, PLACE), MPI_Comm comm),                                  \
	  (from, n_out, at_out, type_out, to, n_in, at_in, type_in, comm))                         \
	X(Reduce##S, Ireduce##S, root, bytes_of(n, type),                                          \
	  (const void *from, void *to, COUNT n, MPI_Datatype type, MPI_Op op, int root,            \
	   MPI_Comm comm), (from, to, n, type, op, root, comm))                                    \
	X(Reduce_scatter##S, Ireduce_scatter##S, NO_ROOT,                                          \
	  bytes_of(HAS_NONE(n, comm) ? 0 : n[rank_of(comm)], type), REDUCTION(const COUNT *))      \
	X(Reduce_scatter_block##S, Ireduce_scatter_block##S, NO_ROOT, bytes_of(n, type),           \
	  REDUCTION(COUNT))                                                                        \
	X(Allreduce##S, Iallreduce##S, NO_ROOT, bytes_of(n, type), REDUCTION(COUNT))               \
	X(Scan##S, Iscan##S, NO_ROOT, bytes_of(n, type), REDUCTION(COUNT))                         \
	X(Exscan##S, Iexscan##S, NO_ROOT, bytes_of(n, type), REDUCTION(COUNT))                     \
	X(Alltoallw##S, Ialltoallw##S, NO_ROOT, NOT_TOLD,                                          \
	  (OUTS_OF_TYPES(COUNT, PLACE), INS_OF_TYPES(COUNT, PLACE), MPI_Comm comm),                \
	  (from, n_out, at_out, types_out, to, n_in, at_in, types_in, comm))
/* clang-format on */

/* NOLINTBEGIN(readability-function-size): so many parameters MPI has */
BLOCKING_OR_NOT(Barrier, Ibarrier, NO_ROOT, NOT_TOLD, (MPI_Comm comm), (comm))
COLLECTIVES(BLOCKING_OR_NOT, int, int, )

#if MPI_VERSION >= 4
static void keep_persistent(const char *op, const char *empty_op, int root, MPI_Comm comm,
                            uint64_t bytes, const MPI_Request *request)
{
	pending_keep_persistent(
		PENDING_COLLECTIVE, bytes ? op : empty_op,
		&(struct envelope){.count = (MPI_Count)bytes, .rank = root, .comm = comm}, request);
}

/* clang-format off */
#define PERSISTENT_FORM(name, root_, bytes_, parameters, arguments)                                \
	CALL(name, (UNPACK parameters, MPI_Info info, MPI_Request *request),                       \
	     (UNPACK arguments, info, request), (void)0,                                           \
	     if (call.is_own && code == MPI_SUCCESS)                                               \
		keep_persistent(OPS(#name "+MPI_Wait"), root_, comm, bytes_, request))
#define PERSISTENT(name, iname, root_, bytes_, ...)                                                \
	PERSISTENT_FORM(name##_init, root_, bytes_, __VA_ARGS__)
/* clang-format on */

COLLECTIVES(BLOCKING_OR_NOT, MPI_Count, MPI_Aint, _c)
PERSISTENT(Barrier, Ibarrier, NO_ROOT, NOT_TOLD, (MPI_Comm comm), (comm))
COLLECTIVES(PERSISTENT, int, int, )
#endif
/* NOLINTEND(readability-function-size) */
