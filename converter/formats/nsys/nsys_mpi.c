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
#include <string.h>

#include "model/words/sync_ops.h"
#include "nsys_impl.h"

/* -- communicators --------------------------------------------------------------------------- */

/* What a process calls a communicator, and what all of its ranks do. Handles are used again: of one
 * that names two communicators nobody knows which. In MPICH and its kin one handle is that of
 * MPI_COMM_WORLD. Who is not the rank 0 of another one is told by nobody. */
static const char communicators[] =
	"CREATE TEMP TABLE COMMUNICATORS (process, handle, label, me, zero, is_world,"
	" PRIMARY KEY (process, handle)) WITHOUT ROWID;"
	"INSERT INTO COMMUNICATORS SELECT process, commHandle, iif(count(DISTINCT label) = 1"
	" AND count(label) = count(*), max(label), NULL), me, max(groupRoot), min(is_world) FROM"
	" (SELECT process, commHandle, groupRoot, RANKS.rank AS me, CASE"
	" WHEN commUid IS NOT NULL THEN printf('MPI %llx', commUid)"
	" WHEN groupRoot IS NOT NULL AND groupRootUid IS NOT NULL"
	" THEN printf('MPI %lld.%llx', groupRoot, groupRootUid) END AS label,"
	" IFNULL(parentHandle, 0) = 0 AND size > 1 AND localRank = RANKS.rank AS is_world"
	" FROM MPI_COMMUNICATORS AS e JOIN RANKS ON RANKS.rank = e.rank"
	" WHERE commHandle IS NOT NULL) GROUP BY process, commHandle;"
	"INSERT OR IGNORE INTO COMMUNICATORS"
	" SELECT process, 0x44000000, 'MPI_COMM_WORLD', rank, NULL, 1 FROM RANKS;"
	"DELETE FROM COMMUNICATORS WHERE label IS NULL OR process NOT IN (SELECT"
	" IFNULL(globalTid, 0) >> 24 FROM MPI_OTHER_EVENTS WHERE " NSYS_TEXT " GLOB 'MPI_Init*')"
	" OR process IN (SELECT globalTid >> 24 FROM (SELECT * FROM MPI_COLLECTIVES_EVENTS"
	" UNION ALL SELECT * FROM MPI_P2P_EVENTS) WHERE typeof(start) <> 'integer'"
	" OR IFNULL(" NSYS_TEXT ", '') NOT GLOB 'MPI_*');";

/* What the name of a call tells, for SQL. */
static void kind_of_call(sqlite3_context *context, int n, sqlite3_value **values)
{
	const char *name = (const char *)sqlite3_value_text(values[0]);
	enum op_family family = name ? sync_op_family(name) : OP_OTHER;
	const char *kind = family == OP_OTHER      ? "other"
	                   : family == OP_BARRIER  ? "barrier"
	                   : family < OP_BROADCAST ? "all"
	                   : family < OP_SEND      ? "rooted"
	                   : family == OP_SEND     ? "send"
	                                           : "receive";

	(void)n;
	if (name && strcmp(name, "MPI_Irecv") == 0)
		kind = "later";
	sqlite3_result_text(context, kind, -1, SQLITE_STATIC);
}

int nsys_read_communicators(struct nsys *nsys)
{
	sqlite3_create_function(nsys->db.handle, "kind_of_call", 1, SQLITE_UTF8, NULL, kind_of_call,
	                        NULL, NULL);
	FLEXTRACE_TRY(nsys_run(nsys, "MPI_COMMUNICATORS", communicators));
	return nsys->session.has_lost ? nsys_run(nsys, "", "DELETE FROM COMMUNICATORS")
	                              : FLEXTRACE_OK;
}

/* -- calls ----------------------------------------------------------------------------------- */

#define RANK "BETWEEN 0 AND 0x7fffffff"
/* The calls of a table with their communicator where `condition` holds; `world` is a rank in it as
 * a rank of the program. */
#define CALLS(table, condition, local)                                                       \
	"(SELECT e.*, c.*, CAST(iif(is_world, " local ", iif(" local                         \
	" = 0, zero, NULL)) AS INTEGER)"                                                     \
	" AS world FROM (SELECT *, kind_of_call(" NSYS_TEXT ") AS kind FROM " table ") AS e" \
	" LEFT JOIN COMMUNICATORS AS c ON process = globalTid >> 24 AND handle = commHandle" \
	" AND end IS NOT NULL AND " condition ")"

/* Only what all ranks of a communicator call is counted, and what has bytes to carry, or is a
 * barrier, makes them wait. Of a rooted one the others name the root. */
const char nsys_collectives[] =
	"(SELECT *, row_number() OVER (PARTITION BY process, handle ORDER BY start, rowid) - 1"
	" AS seq, iif(kind = 'rooted' AND world <> me, CAST(world AS TEXT), '') AS peers, CASE"
	" WHEN kind = 'barrier' THEN label WHEN NOT IFNULL(size BETWEEN 1 AND"
	" 0x7fffffffffffffff, 0) THEN NULL WHEN kind = 'all' OR (rootRank " RANK " AND world " RANK
	") THEN label END AS meeting FROM " CALLS(
		"MPI_COLLECTIVES_EVENTS", "kind IN ('all', 'barrier', 'rooted')", "rootRank") ")";

/* Messages of one communicator, peer, tag and direction may not overtake each other. What is from
 * anybody, or goes both ways, could be any of the communicator; a receive that returns at once may
 * be given up, and two threads have no order: what follows is not told. */
const char nsys_messages[] =
	"(SELECT *, row_number() OVER lane - 1 AS seq, CAST(world AS TEXT) AS peers, iif(is_told"
	" AND NOT max(is_any) OVER (PARTITION BY process, handle ORDER BY start, rowid)"
	" AND NOT max(kind = 'later') OVER lane"
	" AND min(globalTid) OVER lane = max(globalTid) OVER lane AND world " RANK ","
	" label || ' tag ' || tag, NULL) AS meeting FROM"
	" (SELECT *, kind NOT IN ('send', 'receive', 'later') OR (kind <> 'send' AND NOT is_told)"
	" AS is_any FROM (SELECT *, IFNULL(remoteRank " RANK " AND tag " RANK
	", 0) AS is_told FROM " CALLS("MPI_P2P_EVENTS", "true",
                                      "remoteRank") ")) WINDOW lane AS"
						    " (PARTITION BY process, handle, remoteRank, "
						    "tag, kind = 'send' ORDER BY start, rowid))";
