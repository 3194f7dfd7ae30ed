/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives: each as a call that blocks, one that does not, and a persistent one. `bytes` are
 * what a rank gives, or gets where only the root gives.
 */
#include "interpose.h"
#include "requests.h"

/* Of a buffer that may be MPI_IN_PLACE: then that of the other side tells. */
#define GIVEN(n_out, type_out, n_in, type_in) \
	(from == MPI_IN_PLACE ? bytes_of(n_in, type_in) : bytes_of(n_out, type_out))

static int size_of(MPI_Comm comm)
{
	int n = 0;

	REAL(Comm_size)(comm, &n);
	return n;
}

static int rank_of(MPI_Comm comm)
{
	int rank = 0;

	REAL(Comm_rank)(comm, &rank);
	return rank;
}

/* Functions of counts, which are of two types. */
#define DEFINE_SUMS(COUNT)                                             \
	static MPI_Count sum_of_##COUNT(const COUNT *counts, int n)    \
	{                                                              \
		MPI_Count sum = 0;                                     \
                                                                       \
		for (int i = 0; i < n; i++)                            \
			sum += counts[i];                              \
		return sum;                                            \
	}                                                              \
	static MPI_Count least_of_##COUNT(const COUNT *counts, int n)  \
	{                                                              \
		MPI_Count least = counts[0];                           \
                                                                       \
		for (int i = 1; i < n; i++)                            \
			least = counts[i] < least ? counts[i] : least; \
		return least;                                          \
	}

DEFINE_SUMS(int)
#if MPI_VERSION >= 4
DEFINE_SUMS(MPI_Count)
#define OF_COUNTS(function, counts) \
	_Generic((counts), const int * : function##_int, const MPI_Count * : function##_MPI_Count)
#else
#define OF_COUNTS(function, counts) function##_int
#endif
#define SUM_OF(counts, comm)   OF_COUNTS(sum_of, counts)(counts, size_of(comm))
#define LEAST_OF(counts, comm) OF_COUNTS(least_of, counts)(counts, size_of(comm))

/* -- the three forms --------------------------------------------------------------------------- */

static struct pending *begin_pending(const char *op, int root, MPI_Comm comm)
{
	struct pending *pending = pending_new(PENDING_COLLECTIVE);

	if (pending)
		collective_begin(&pending->collective, op, root, comm);
	return pending;
}

static void end_pending(struct pending *pending, const MPI_Request *request, int code)
{
	if (pending && code == MPI_SUCCESS) {
		pending_keep(pending, HANDLE_KEY(*request));
	} else if (pending) {
		collective_exit(&pending->collective);
		pending_free(pending);
	}
}

#define BLOCKING(name, root_, bytes_, parameters, arguments)                      \
	INTERPOSE(name, parameters)                                               \
	{                                                                         \
		struct collective collective = {.communicator = NULL};            \
		struct call call;                                                 \
		int code;                                                         \
                                                                                  \
		if (call_begin(&call, "MPI_" #name))                              \
			collective_begin(&collective, "MPI_" #name, root_, comm); \
		if (collective.is_wanted) {                                       \
			call_drop_scope(&call);                                   \
			collective_enter(&collective, bytes_);                    \
		}                                                                 \
		code = REAL(name) arguments;                                      \
		collective_exit(&collective);                                     \
		call_end(&call);                                                  \
		return code;                                                      \
	}

#define NONBLOCKING(name, root_, bytes_, parameters, arguments)             \
	INTERPOSE(name, (UNPACK parameters, MPI_Request * request))         \
	{                                                                   \
		struct pending *pending = NULL;                             \
		struct call call;                                           \
		int code;                                                   \
                                                                            \
		if (call_begin(&call, "MPI_" #name))                        \
			pending = begin_pending("MPI_" #name, root_, comm); \
		if (pending && pending->collective.is_wanted)               \
			collective_enter(&pending->collective, bytes_);     \
		code = REAL(name)(UNPACK arguments, request);               \
		end_pending(pending, request, code);                        \
		call_end(&call);                                            \
		return code;                                                \
	}

#define BLOCKING_OR_NOT(name, iname, root_, bytes_, parameters, arguments) \
	BLOCKING(name, root_, bytes_, parameters, arguments)               \
	NONBLOCKING(iname, root_, bytes_, parameters, arguments)

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
/* Who has no part in MPI_Reduce_scatter() waits for nobody: if there is one, all call it empty. */
/* X(name, name of the one that does not block, root, bytes, parameters, arguments) */
#define COLLECTIVES(X, COUNT, PLACE, S)                                                            \
	X(Bcast##S, Ibcast##S, root, bytes_of(n_in, type_in),                                      \
	  (IN(COUNT), int root, MPI_Comm comm), (to, n_in, type_in, root, comm))                   \
	X(Gather##S, Igather##S, root, GIVEN(n_out, type_out, n_in, type_in),                      \
	  (OUT(COUNT), IN(COUNT), int root, MPI_Comm comm),                                        \
	  (from, n_out, type_out, to, n_in, type_in, root, comm))                                  \
	X(Gatherv##S, Igatherv##S, root, GIVEN(n_out, type_out, n_in[rank_of(comm)], type_in),     \
	  (OUT(COUNT), INS(COUNT, PLACE), int root, MPI_Comm comm),                                \
	  (from, n_out, type_out, to, n_in, at_in, type_in, root, comm))                           \
	X(Scatter##S, Iscatter##S, root,                                                           \
	  root == rank_of(comm) ? bytes_of(n_out, type_out) : bytes_of(n_in, type_in),             \
	  (OUT(COUNT), IN(COUNT), int root, MPI_Comm comm),                                        \
	  (from, n_out, type_out, to, n_in, type_in, root, comm))                                  \
	X(Scatterv##S, Iscatterv##S, root,                                                         \
	  root == rank_of(comm) ? bytes_of(n_out[root], type_out) : bytes_of(n_in, type_in),       \
	  (OUTS(COUNT, PLACE), IN(COUNT), int root, MPI_Comm comm),                                \
	  (from, n_out, at_out, type_out, to, n_in, type_in, root, comm))                          \
	X(Allgather##S, Iallgather##S, NO_ROOT, GIVEN(n_out, type_out, n_in, type_in),             \
	  (OUT(COUNT), IN(COUNT), MPI_Comm comm),                                                  \
	  (from, n_out, type_out, to, n_in, type_in, comm))                                        \
	X(Allgatherv##S, Iallgatherv##S, NO_ROOT,                                                  \
	  GIVEN(n_out, type_out, n_in[rank_of(comm)], type_in),                                    \
	  (OUT(COUNT), INS(COUNT, PLACE), MPI_Comm comm),                                          \
	  (from, n_out, type_out, to, n_in, at_in, type_in, comm))                                 \
	X(Alltoall##S, Ialltoall##S, NO_ROOT,                                                      \
	  GIVEN(n_out, type_out, n_in, type_in) * (uint64_t)size_of(comm),                         \
	  (OUT(COUNT), IN(COUNT), MPI_Comm comm),                                                  \
	  (from, n_out, type_out, to, n_in, type_in, comm))                                        \
	X(Alltoallv##S, Ialltoallv##S, NO_ROOT,                                                    \
	  from == MPI_IN_PLACE ? bytes_of(SUM_OF(n_in, comm), type_in)                             \
	                       : bytes_of(SUM_OF(n_out, comm), type_out),                          \
	  (OUTS(COUNT, PLACE), INS(COUNT, PLACE), MPI_Comm comm),                                  \
	  (from, n_out, at_out, type_out, to, n_in, at_in, type_in, comm))                         \
	X(Reduce##S, Ireduce##S, root, bytes_of(n, type),                                          \
	  (const void *from, void *to, COUNT n, MPI_Datatype type, MPI_Op op, int root,            \
	   MPI_Comm comm), (from, to, n, type, op, root, comm))                                    \
	X(Allreduce##S, Iallreduce##S, NO_ROOT, bytes_of(n, type),                                 \
	  (const void *from, void *to, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),      \
	  (from, to, n, type, op, comm))                                                           \
	X(Reduce_scatter##S, Ireduce_scatter##S, NO_ROOT,                                          \
	  bytes_of(LEAST_OF(n, comm) ? n[rank_of(comm)] : 0, type),                                \
	  (const void *from, void *to, const COUNT n[], MPI_Datatype type, MPI_Op op,              \
	   MPI_Comm comm), (from, to, n, type, op, comm))                                          \
	X(Reduce_scatter_block##S, Ireduce_scatter_block##S, NO_ROOT, bytes_of(n, type),           \
	  (const void *from, void *to, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),      \
	  (from, to, n, type, op, comm))                                                           \
	X(Scan##S, Iscan##S, NO_ROOT, bytes_of(n, type),                                           \
	  (const void *from, void *to, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),      \
	  (from, to, n, type, op, comm))                                                           \
	X(Exscan##S, Iexscan##S, NO_ROOT, bytes_of(n, type),                                       \
	  (const void *from, void *to, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),      \
	  (from, to, n, type, op, comm))
/* Those without counts, or with as many types as ranks: how many bytes they move is not told. */
#define OTHERS(X)                                                                                  \
	X(Barrier, Ibarrier, NO_ROOT, NOT_TOLD, (MPI_Comm comm), (comm))
#define OTHERS_OF_TYPES(X, COUNT, PLACE, S)                                                        \
	X(Alltoallw##S, Ialltoallw##S, NO_ROOT, NOT_TOLD,                                          \
	  (OUTS_OF_TYPES(COUNT, PLACE), INS_OF_TYPES(COUNT, PLACE), MPI_Comm comm),                \
	  (from, n_out, at_out, types_out, to, n_in, at_in, types_in, comm))
/* clang-format on */

/* NOLINTBEGIN(readability-function-size): so many parameters MPI has */
OTHERS(BLOCKING_OR_NOT)
COLLECTIVES(BLOCKING_OR_NOT, int, int, )
OTHERS_OF_TYPES(BLOCKING_OR_NOT, int, int, )

#if MPI_VERSION >= 4
static void keep_persistent(const char *op, int root, MPI_Comm comm, uint64_t bytes,
                            const MPI_Request *request)
{
	struct pending *pending = pending_new(PENDING_COLLECTIVE);

	if (!pending)
		return;
	pending->is_persistent = true;
	pending->op = op;
	pending->root = root;
	pending->envelope.comm = comm;
	pending->bytes = bytes;
	pending_keep(pending, HANDLE_KEY(*request));
}

#define PERSISTENT_FORM(name, root_, bytes_, parameters, arguments)                  \
	INTERPOSE(name, (UNPACK parameters, MPI_Info info, MPI_Request * request))   \
	{                                                                            \
		struct call call;                                                    \
		bool is_own = call_begin(&call, "MPI_" #name);                       \
		int code = REAL(name)(UNPACK arguments, info, request);              \
                                                                                     \
		if (is_own && code == MPI_SUCCESS)                                   \
			keep_persistent("MPI_" #name, root_, comm, bytes_, request); \
		call_end(&call);                                                     \
		return code;                                                         \
	}

#define PERSISTENT(name, iname, root_, bytes_, parameters, arguments) \
	PERSISTENT_FORM(name##_init, root_, bytes_, parameters, arguments)

COLLECTIVES(BLOCKING_OR_NOT, MPI_Count, MPI_Aint, _c)
OTHERS_OF_TYPES(BLOCKING_OR_NOT, MPI_Count, MPI_Aint, _c)
OTHERS(PERSISTENT)
COLLECTIVES(PERSISTENT, int, int, )
OTHERS_OF_TYPES(PERSISTENT, int, int, )
#endif
/* NOLINTEND(readability-function-size) */
