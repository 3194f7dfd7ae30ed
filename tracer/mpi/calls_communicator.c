/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begin and end of MPI, and communicators. All ranks of a communicator call those that make others
 * of it in one order, so that each is counted before it is called, whatever comes of it.
 */
#include <string.h>

#include "interpose.h"
#include "record.h"
#include "requests.h"
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

	if (!real_begin())
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

/* A call that makes one of `parent`, with all of its ranks. */
#define CREATE(name, kind, parent, parameters, arguments)                       \
	INTERPOSE(name, (UNPACK parameters, MPI_Comm * comm))                   \
	{                                                                       \
		struct call call;                                               \
		bool is_own = call_begin(&call, "MPI_" #name);                  \
		uint64_t number = is_own ? communicator_next_child(parent) : 0; \
		int code = REAL(name)(UNPACK arguments, comm);                  \
                                                                                \
		if (is_own && code == MPI_SUCCESS)                              \
			communicator_add_child(parent, kind, number, *comm);    \
		call_end(&call);                                                \
		return code;                                                    \
	}

/* NOLINTBEGIN(readability-function-size): so many parameters MPI has */
/* clang-format off */
CREATE(Comm_dup, "dup", of, (MPI_Comm of), (of))
CREATE(Comm_dup_with_info, "dup", of, (MPI_Comm of, MPI_Info info), (of, info))
CREATE(Comm_split, "split", of, (MPI_Comm of, int color, int key), (of, color, key))
CREATE(Comm_split_type, "split", of, (MPI_Comm of, int type, int key, MPI_Info info),
       (of, type, key, info))
CREATE(Comm_create, "create", of, (MPI_Comm of, MPI_Group group), (of, group))
CREATE(Cart_create, "cart", of,
       (MPI_Comm of, int n_dims, const int dims[], const int are_rings[], int may_reorder),
       (of, n_dims, dims, are_rings, may_reorder))
CREATE(Cart_sub, "sub", of, (MPI_Comm of, const int remain[]), (of, remain))
CREATE(Graph_create, "graph", of,
       (MPI_Comm of, int n_nodes, const int index[], const int edges[], int may_reorder),
       (of, n_nodes, index, edges, may_reorder))
CREATE(Dist_graph_create, "graph", of,
       (MPI_Comm of, int n, const int sources[], const int degrees[], const int targets[],
        const int weights[], MPI_Info info, int may_reorder),
       (of, n, sources, degrees, targets, weights, info, may_reorder))
CREATE(Dist_graph_create_adjacent, "graph", of,
       (MPI_Comm of, int n_in, const int sources[], const int weights_in[], int n_out,
        const int targets[], const int weights_out[], MPI_Info info, int may_reorder),
       (of, n_in, sources, weights_in, n_out, targets, weights_out, info, may_reorder))
CREATE(Intercomm_merge, "merge", of, (MPI_Comm of, int is_high), (of, is_high))
/* clang-format on */
/* NOLINTEND(readability-function-size) */

static void keep_dup(MPI_Comm parent, uint64_t n, MPI_Comm *comm, MPI_Request request)
{
	struct pending *pending = pending_new(PENDING_COMMUNICATOR);

	if (!pending)
		return;
	pending->parent = parent;
	pending->number = n;
	pending->new_comm = comm;
	pending_keep(pending, HANDLE_KEY(request));
}

INTERPOSE(Comm_idup, (MPI_Comm of, MPI_Comm *comm, MPI_Request *request))
{
	struct call call;
	bool is_own = call_begin(&call, "MPI_Comm_idup");
	uint64_t n = is_own ? communicator_next_child(of) : 0;
	int code = REAL(Comm_idup)(of, comm, request);

	if (is_own && code == MPI_SUCCESS)
		keep_dup(of, n, comm, *request);
	call_end(&call);
	return code;
}

/* -- of some ranks only ------------------------------------------------------------------------ */

INTERPOSE(Comm_create_group, (MPI_Comm of, MPI_Group group, int tag, MPI_Comm *comm))
{
	struct call call;
	bool is_own = call_begin(&call, "MPI_Comm_create_group");
	int code = REAL(Comm_create_group)(of, group, tag, comm);

	if (is_own && code == MPI_SUCCESS)
		communicator_add_some(of, "group", tag, *comm);
	call_end(&call);
	return code;
}

INTERPOSE(Intercomm_create,
          (MPI_Comm of, int leader, MPI_Comm bridge, int other_leader, int tag, MPI_Comm *comm))
{
	struct call call;
	bool is_own = call_begin(&call, "MPI_Intercomm_create");
	int code = REAL(Intercomm_create)(of, leader, bridge, other_leader, tag, comm);

	/* The two sides have different communicators; what they have in common is the world. */
	if (is_own && code == MPI_SUCCESS)
		communicator_add_some(MPI_COMM_WORLD, "inter", tag, *comm);
	call_end(&call);
	return code;
}

/* -- names, and the end ------------------------------------------------------------------------ */

INTERPOSE(Comm_set_name, (MPI_Comm comm, const char *name))
{
	const struct communicator *communicator;
	struct call call;

	if (call_begin(&call, "MPI_Comm_set_name")) {
		record_lock();
		communicator = communicator_find(comm);
		if (communicator)
			FLEXTRACE_ANNOTATE(communicator->group, name);
		record_unlock();
	}
	call_end(&call);
	return REAL(Comm_set_name)(comm, name);
}

static void drop(MPI_Comm comm)
{
	record_lock();
	communicator_drop(comm);
	record_unlock();
}

#define END(name)                                \
	INTERPOSE(name, (MPI_Comm * comm))       \
	{                                        \
		struct call call;                \
		int code;                        \
                                                 \
		call_begin(&call, "MPI_" #name); \
		drop(*comm);                     \
		code = REAL(name)(comm);         \
		call_end(&call);                 \
		return code;                     \
	}

END(Comm_free)
END(Comm_disconnect)
