/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of MPI become collectives and messages where the report says whose: on which communicator,
 * told alike by all its ranks, with whom, and the how many-th. They are counted, so the recording
 * must have seen MPI begin and have lost nothing; a receive from any rank ends the count of its
 * communicator. Without one of these a call is an interval like others, with what the report says
 * as its arguments.
 *
 * Collectives that return before their work is done, or that not all ranks call, are not counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "model/words/sync_ops.h"
#include "nsys_impl.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define MPICH_WORLD  INT64_C(0x44000000) /* the handle of MPI_COMM_WORLD in MPICH and its kin */

/* -- communicators --------------------------------------------------------------------------- */

/* Stores the name that all ranks have for a communicator; 0: there is none. */
static int name_comm(struct nsys *nsys, const struct nsys_rows *rows, uint32_t *ret_group)
{
	int64_t uid, root;
	char text[64];

	*ret_group = 0;
	if (nsys_integer(rows, NSYS_COMM_UID, &uid))
		snprintf(text, sizeof(text), "MPI %" PRIx64, (uint64_t)uid);
	else if (nsys_integer(rows, NSYS_GROUP_UID, &uid) &&
	         nsys_integer(rows, NSYS_GROUP_ROOT, &root))
		snprintf(text, sizeof(text), "MPI %" PRId64 ".%" PRIx64, root, (uint64_t)uid);
	else
		return FLEXTRACE_OK;
	return string_intern(&nsys->import.cache, text, ret_group);
}

static int32_t rank_at(const struct nsys_rows *rows, enum nsys_column column)
{
	int64_t rank;

	return nsys_integer(rows, column, &rank) && rank >= 0 && rank <= INT32_MAX ? (int32_t)rank
	                                                                           : -1;
}

/* Handles are used again: of one that names two communicators nobody knows which. */
static int add_comm(struct nsys *nsys, const struct nsys_rows *rows, uint32_t process)
{
	struct nsys_mpi *mpi = &nsys->mpi;
	int64_t handle, parent = 0, size = 0;
	struct nsys_comm comm = {.root = rank_at(rows, NSYS_GROUP_ROOT)};
	uint32_t place;
	int code;

	if (!nsys_integer(rows, NSYS_COMM, &handle))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(name_comm(nsys, rows, &comm.group));
	nsys_integer(rows, NSYS_PARENT, &parent);
	nsys_integer(rows, NSYS_SIZE, &size);
	comm.local_rank = rank_at(rows, NSYS_LOCAL_RANK);
	comm.is_world = !parent && size > 1 && comm.local_rank == nsys->processes[process].rank;
	code = MAP_PLACE(&mpi->comm_index, (uint64_t)handle, process, mpi->comms, mpi->n_comms,
	                 &place);
	FLEXTRACE_TRY(code);
	if (code)
		mpi->comms[place] = comm;
	else if (mpi->comms[place].group != comm.group)
		mpi->comms[place].group = 0;
	return FLEXTRACE_OK;
}

static int visit_comm(struct nsys *nsys, const struct nsys_rows *rows)
{
	int32_t rank = rank_at(rows, NSYS_RANK);

	for (uint32_t i = 0; i < nsys->n_processes; i++) {
		if (rank >= 0 && nsys->processes[i].rank == rank)
			return add_comm(nsys, rows, i);
	}
	return FLEXTRACE_OK;
}

int nsys_read_communicators(struct nsys *nsys)
{
	return nsys_each(nsys, "MPI_COMMUNICATORS", visit_comm);
}

/* Stores the communicator of a call; NULL: it is not to be told which. */
static int find_comm(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                     struct nsys_comm **ret_comm)
{
	const struct nsys_process *process = &nsys->processes[span->process];
	struct nsys_mpi *mpi = &nsys->mpi;
	int64_t handle;
	uint32_t place;
	int code;

	*ret_comm = NULL;
	if (nsys->session.has_lost || !process->has_mpi_init || process->rank < 0 ||
	    !span->has_end || !nsys_integer(rows, NSYS_COMM, &handle))
		return FLEXTRACE_OK;
	code = MAP_PLACE(&mpi->comm_index, (uint64_t)handle, span->process, mpi->comms,
	                 mpi->n_comms, &place);
	FLEXTRACE_TRY(code);
	*ret_comm = &mpi->comms[place];
	if (code) {
		**ret_comm = (struct nsys_comm){.local_rank = -1, .root = -1};
		(*ret_comm)->is_world = handle == MPICH_WORLD;
		if (handle == MPICH_WORLD)
			FLEXTRACE_TRY(string_intern(&nsys->import.cache, "MPI_COMM_WORLD",
			                            &(*ret_comm)->group));
	}
	if (!(*ret_comm)->group)
		*ret_comm = NULL;
	return FLEXTRACE_OK;
}

/* The rank that a rank of a communicator is; -1: not told. */
static int32_t world_rank(const struct nsys_comm *comm, int32_t local)
{
	if (comm->is_world)
		return local;
	return local == 0 ? comm->root : -1;
}

/* -- calls ----------------------------------------------------------------------------------- */

static int write_call(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                      const char *name)
{
	static const struct nsys_member told[] = {
		{NSYS_SIZE, "bytes"},  {NSYS_RECV_SIZE, "received bytes"},
		{NSYS_REMOTE, "peer"}, {NSYS_TAG, "tag"},
		{NSYS_ROOT, "root"},   {NSYS_COMM, "communicator"}};
	struct flextrace_scope scope = {.kind = FLEXTRACE_RUNTIME_CALL, .name = name};

	nsys_args_begin(nsys, nsys->table->category);
	nsys_args_columns(nsys, rows, told, COUNT(told));
	return nsys_write_scope(nsys, rows, span, &scope);
}

int nsys_take_mpi(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	const char *name;

	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_TEXT_ID, &name));
	if (strncmp(name, "MPI_Init", 8) == 0)
		nsys->processes[span->process].has_mpi_init = true;
	return write_call(nsys, rows, span, name);
}

/* Writes a part in a collective, or an end of a message. */
static int write_part(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                      struct flextrace_collective *part)
{
	struct event event = nsys_event(nsys, rows, span, RECORD_COLLECTIVE);
	int64_t bytes = 0;

	nsys_integer(rows, NSYS_SIZE, &bytes);
	part->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	part->phase = FLEXTRACE_PHASE_ENTER;
	event.clock_ns = span->begin_ns;
	event.payload.collective = *part;
	FLEXTRACE_TRY(nsys_write(nsys, &event));
	event.clock_ns = span->end_ns;
	event.payload.collective.phase = FLEXTRACE_PHASE_EXIT;
	return nsys_write(nsys, &event);
}

/* Only what all ranks of a communicator call is counted, and what has bytes to carry, or is a
 * barrier, makes them wait. */
int nsys_take_collective(struct nsys *nsys, const struct nsys_rows *rows,
                         const struct nsys_span *span)
{
	struct flextrace_collective part = {.peers = ""};
	enum op_family family;
	struct nsys_comm *comm;
	char peers[16];
	int64_t bytes = 0;

	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_TEXT_ID, &part.op));
	FLEXTRACE_TRY(find_comm(nsys, rows, span, &comm));
	family = sync_op_family(part.op);
	if (!comm || family == OP_OTHER || family >= OP_SEND)
		return write_call(nsys, rows, span, part.op);
	part.seq = comm->n_collectives++;
	nsys_integer(rows, NSYS_SIZE, &bytes);
	if (family != OP_BARRIER && bytes <= 0)
		return write_call(nsys, rows, span, part.op);
	if (family >= OP_BROADCAST) { /* rooted: the others name the root */
		int32_t root = rank_at(rows, NSYS_ROOT);

		root = root < 0 ? -1 : world_rank(comm, root);
		if (root < 0)
			return write_call(nsys, rows, span, part.op);
		snprintf(peers, sizeof(peers), "%" PRId32, root);
		if (root != nsys->processes[span->process].rank)
			part.peers = peers;
	}
	part.group = string_get(nsys->import.strings, comm->group);
	return write_part(nsys, rows, span, &part);
}

/* -- messages -------------------------------------------------------------------------------- */

/* 's', 'r', 'i' (a receive that returns at once), or 0: both ways, or something else. */
static char direction_of(const char *name)
{
	enum op_family family = sync_op_family(name);

	if (family == OP_SEND)
		return 's';
	return family == OP_RECEIVE ? 'r' : strcmp(name, "MPI_Irecv") == 0 ? 'i' : 0;
}

/* Counts a message among those that may not overtake each other. A receive that returns at once may
 * be given up, and two threads have no order: what follows is not told. */
static int count_message(struct nsys *nsys, const struct nsys_rows *rows,
                         const struct nsys_comm *comm, const struct nsys_span *span, char direction,
                         uint64_t *ret_seq)
{
	struct nsys_mpi *mpi = &nsys->mpi;
	uint64_t peer = (uint64_t)rank_at(rows, NSYS_REMOTE);
	uint64_t tag = (uint64_t)rank_at(rows, NSYS_TAG);
	struct nsys_lane *lane;
	uint32_t place;
	int code = MAP_PLACE(&mpi->lane_index, peer << 32 | tag,
	                     (uint64_t)(comm - mpi->comms) * 2 + (direction == 's'), mpi->lanes,
	                     mpi->n_lanes, &place);

	FLEXTRACE_TRY(code);
	lane = &mpi->lanes[place];
	if (code)
		lane->tid = span->tid;
	lane->has_doubts = lane->has_doubts || lane->tid != span->tid || direction == 'i';
	*ret_seq = lane->n++;
	return !lane->has_doubts;
}

int nsys_take_message(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	struct flextrace_collective part = {.seq = 0};
	int32_t peer = rank_at(rows, NSYS_REMOTE);
	char group[96], peers[16], direction;
	struct nsys_comm *comm;
	bool is_told = peer >= 0 && rank_at(rows, NSYS_TAG) >= 0;
	int code = 0;

	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_TEXT_ID, &part.op));
	FLEXTRACE_TRY(find_comm(nsys, rows, span, &comm));
	direction = direction_of(part.op);
	if (comm &&
	    (!direction || (!is_told && direction != 's'))) /* a send without is to nobody */
		comm->has_doubts = true;
	if (comm && is_told && !comm->has_doubts)
		code = count_message(nsys, rows, comm, span, direction, &part.seq);
	FLEXTRACE_TRY(code);
	if (!code || world_rank(comm, peer) < 0)
		return write_call(nsys, rows, span, part.op);
	snprintf(group, sizeof(group), "%s tag %" PRId32,
	         string_get(nsys->import.strings, comm->group), rank_at(rows, NSYS_TAG));
	snprintf(peers, sizeof(peers), "%" PRId32, world_rank(comm, peer));
	part.group = group;
	part.peers = peers;
	return write_part(nsys, rows, span, &part);
}
