/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begin and end of MPI, and communicators. All ranks of a communicator call those that make others
 * of it in one order, so that each is counted, whatever comes of it.
 */
#include <string.h>

#include "interpose.h"
#include "start.h"

/* -- begin and end ----------------------------------------------------------------------------- */

static void start(void)
{
	static bool has_begun;

	if (!has_begun)
		flextrace_i_start();
	has_begun = true;
}

static void begin(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Comm parent;
	int rank, n_ranks, n, level;

	if (!real_is_ours())
		return;
	REAL(Comm_rank)(MPI_COMM_WORLD, &rank);
	REAL(Comm_size)(MPI_COMM_WORLD, &n_ranks);
	flextrace_set_rank(rank, n_ranks);
	REAL(Get_library_version)(version, &n);
	version[strcspn(version, "\n")] = '\0';
	FLEXTRACE_ANNOTATE("MPI", version);
	/* The world of ranks that another job spawned has the name of that one's. */
	REAL(Comm_get_parent)(&parent);
	if (parent == MPI_COMM_NULL)
		communicators_begin();
	REAL(Query_thread)(&level);
	record_begin(level);
}

#define BEGIN(name, parameters, arguments)                                             \
	INTERPOSE(name, parameters)                                                    \
	{                                                                              \
		int code;                                                              \
                                                                                       \
		start();                                                               \
		{                                                                      \
			FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_CALL, "MPI_" #name); \
			code = REAL(name) arguments;                                   \
		}                                                                      \
		if (code == MPI_SUCCESS)                                               \
			begin();                                                       \
		return code;                                                           \
	}

BEGIN(Init, (int *argc, char ***argv), (argc, argv))
BEGIN(Init_thread, (int *argc, char ***argv, int required, int *provided),
      (argc, argv, required, provided))

INTERPOSE(Finalize, (void))
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_CALL, "MPI_Finalize");

	record_end();
	return REAL(Finalize)();
}

/* -- communicators ----------------------------------------------------------------------------- */

/* `tag`: of a call that only those ranks make who are in it, else NO_TAG. */
static void end_create(const struct call *call, const char *kind, MPI_Comm of, int tag,
                       const MPI_Comm *comm, int code)
{
	uint64_t n = call->is_own && tag == NO_TAG ? communicator_next_child(of) : 0;

	if (call->is_own && code == MPI_SUCCESS)
		communicator_add(of, kind, n, tag, *comm);
}

#define CREATE_TAGGED(name, kind, of, tag, parameters, arguments)                           \
	CALL(name, (UNPACK parameters, MPI_Comm * comm), (UNPACK arguments, comm), (void)0, \
	     end_create(&call, kind, of, tag, comm, code))
#define CREATE(name, kind, parameters, arguments) \
	CREATE_TAGGED(name, kind, of, NO_TAG, parameters, arguments)

/* NOLINTBEGIN(readability-function-size): so many parameters MPI has */
/* clang-format off */
CREATE(Comm_dup, "dup", (MPI_Comm of), (of))
CREATE(Comm_dup_with_info, "dup", (MPI_Comm of, MPI_Info info), (of, info))
CREATE(Comm_split, "split", (MPI_Comm of, int color, int key), (of, color, key))
CREATE(Comm_split_type, "split", (MPI_Comm of, int type, int key, MPI_Info info),
       (of, type, key, info))
CREATE(Comm_create, "create", (MPI_Comm of, MPI_Group group), (of, group))
CREATE(Cart_create, "cart",
       (MPI_Comm of, int n_dims, const int dims[], const int are_rings[], int may_reorder),
       (of, n_dims, dims, are_rings, may_reorder))
CREATE(Cart_sub, "sub", (MPI_Comm of, const int remain[]), (of, remain))
CREATE(Dist_graph_create, "graph",
       (MPI_Comm of, int n, const int sources[], const int degrees[], const int targets[],
        const int weights[], MPI_Info info, int may_reorder),
       (of, n, sources, degrees, targets, weights, info, may_reorder))
CREATE(Dist_graph_create_adjacent, "graph",
       (MPI_Comm of, int n_in, const int sources[], const int weights_in[], int n_out,
        const int targets[], const int weights_out[], MPI_Info info, int may_reorder),
       (of, n_in, sources, weights_in, n_out, targets, weights_out, info, may_reorder))
CREATE(Intercomm_merge, "merge", (MPI_Comm of, int is_high), (of, is_high))
CREATE_TAGGED(Comm_create_group, "group", of, tag, (MPI_Comm of, MPI_Group group, int tag),
              (of, group, tag))
/* The two sides have different communicators; what they have in common is the world. */
CREATE_TAGGED(Intercomm_create, "inter", MPI_COMM_WORLD, tag,
              (MPI_Comm of, int leader, MPI_Comm bridge, int other_leader, int tag),
              (of, leader, bridge, other_leader, tag))
/* clang-format on */
/* NOLINTEND(readability-function-size) */

static void end_idup(const struct call *call, MPI_Comm of, MPI_Comm *comm,
                     const MPI_Request *request, int code)
{
	uint64_t n = call->is_own ? communicator_next_child(of) : 0;
	struct pending *pending = NULL;

	if (call->is_own && code == MPI_SUCCESS)
		pending = pending_new(PENDING_COMMUNICATOR);
	if (!pending)
		return;
	pending->envelope.comm = of;
	pending->number = n;
	pending->new_comm = comm;
	pending_keep(pending, HANDLE_KEY(*request));
}

CALL(Comm_idup, (MPI_Comm of, MPI_Comm *comm, MPI_Request *request), (of, comm, request), (void)0,
     end_idup(&call, of, comm, request, code))

/* -- names, and the end ------------------------------------------------------------------------ */

static void annotate(const struct call *call, MPI_Comm comm, const char *name)
{
	const struct communicator *communicator = call->is_own ? communicator_find(comm) : NULL;

	if (communicator)
		FLEXTRACE_ANNOTATE(communicator->group, name);
}

static void drop(const struct call *call, MPI_Comm comm)
{
	if (call->is_own)
		communicator_drop(comm);
}

CALL(Comm_set_name, (MPI_Comm comm, const char *name), (comm, name), annotate(&call, comm, name),
     (void)0)
CALL(Comm_free, (MPI_Comm * comm), (comm), drop(&call, *comm), (void)0)
CALL(Comm_disconnect, (MPI_Comm * comm), (comm), drop(&call, *comm), (void)0)
