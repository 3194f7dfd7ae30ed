/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_db.h: the tables of a report that nsys exported as SQLite, row by row.
 *
 * - The file is opened read-only and as one that nobody changes: nothing is written beside it.
 * - Only tables are read: a view may compute for ever. A statement that takes more steps than the
 *   bytes of the file can ask for is broken off, and so is a table whose rows go backwards.
 * - Columns that a table lacks, and cells of another type, are absent, as NULL is.
 */
#ifndef FLEXTRACE_IMPORT_NSYS_DB_H
#define FLEXTRACE_IMPORT_NSYS_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text/text_list.h"

/* The columns that are known, of whatever table. */
/* clang-format off */
#define NSYS_COLUMNS(X)                                                                        \
	X(START, "start") X(END, "end") X(GLOBAL_TID, "globalTid") X(GLOBAL_PID, "globalPid")  \
	X(NAME_ID, "nameId") X(TEXT_ID, "textId") X(TEXT, "text") X(EVENT_CLASS, "eventClass") \
	X(EVENT_TYPE, "eventType") X(CORRELATION, "correlationId") X(RETURN, "returnValue")    \
	X(DEVICE, "deviceId") X(CONTEXT, "contextId") X(STREAM, "streamId") X(BYTES, "bytes")  \
	X(SHORT_NAME, "shortName") X(DEMANGLED, "demangledName")                               \
	X(REGISTERS, "registersPerThread") X(STATIC_SHARED, "staticSharedMemory")              \
	X(DYNAMIC_SHARED, "dynamicSharedMemory") X(GRID_X, "gridX") X(GRID_Y, "gridY")         \
	X(GRID_Z, "gridZ") X(BLOCK_X, "blockX") X(BLOCK_Y, "blockY") X(BLOCK_Z, "blockZ")      \
	X(GRAPH_NODE, "graphNodeId") X(GRAPH, "graphId") X(GRAPH_EXEC, "graphExecId")          \
	X(COPY_KIND, "copyKind") X(SRC_KIND, "srcKind") X(DST_KIND, "dstKind")                 \
	X(SRC_DEVICE, "srcDeviceId") X(DST_DEVICE, "dstDeviceId")                              \
	X(MIGRATION, "migrationCause") X(COPY_COUNT, "copyCount") X(SYNC_TYPE, "syncType")     \
	X(EVENT, "eventId") X(VALUE, "value") X(MEM_KIND, "memKind") X(ADDRESS, "address")     \
	X(MEMORY_OP, "memoryOperationType") X(CATEGORY, "category") X(DOMAIN, "domainId")      \
	X(UINT64, "uint64Value") X(INT64, "int64Value") X(DOUBLE, "doubleValue")               \
	X(UINT32, "uint32Value") X(INT32, "int32Value") X(FLOAT, "floatValue")                 \
	X(JSON_ID, "jsonTextId") X(JSON, "jsonText") X(BINARY, "binaryData")                   \
	X(SCHEMA, "schemaId") X(TYPE, "type") X(OFFSET, "offset") X(COMM, "commHandle")        \
	X(COMM_UID, "commUid") X(TAG, "tag") X(REMOTE, "remoteRank") X(ROOT, "rootRank")       \
	X(SIZE, "size") X(RECV_SIZE, "recvSize") X(RANK, "rank") X(PARENT, "parentHandle")     \
	X(LOCAL_RANK, "localRank") X(GROUP_ROOT, "groupRoot") X(GROUP_UID, "groupRootUid")     \
	X(ID, "id") X(NAME, "name") X(PID, "processId") X(BUS, "busLocation")                  \
	X(N_SM, "smCount") X(CLOCK_RATE, "clockRate") X(EPOCH, "utcEpochNs")
/* clang-format on */

enum nsys_column {
#define NSYS_ENUMERATOR(id, name) NSYS_##id,
	NSYS_COLUMNS(NSYS_ENUMERATOR)
#undef NSYS_ENUMERATOR
		NSYS_N_COLUMNS
};

struct nsys_db; /* opaque */

/* Owned: nsys_db_close(). FLEXTRACE_E_INPUT, explained: it is no such file. */
int nsys_db_open(const char *path, struct nsys_db **ret_db, struct flextrace_error *error);
void nsys_db_close(struct nsys_db *db); /* NULL is allowed */

/* Weak: the names of its tables. Views and the like are none. */
const struct text_list *nsys_db_tables(const struct nsys_db *db);
bool nsys_db_has(const struct nsys_db *db, const char *table);

/* A walk over the rows of a table. */
struct nsys_rows {
	struct nsys_db *db; /* weak */
	void *statement;    /* owned; NULL: there is no such table */
	int8_t place[NSYS_N_COLUMNS];
	int64_t number; /* of the row in its table, from 1 */
	bool has_numbers, is_by_time, is_damaged;
};

/* Rows in order of time, or as they stand in the table. FLEXTRACE_E_MEMORY or 0: also where there
 * is no such table, which has no rows. */
int nsys_rows_begin(struct nsys_rows *rows, struct nsys_db *db, const char *table, bool by_time);

/* 1: there is one, 0: the end, `is_damaged` telling whether there would be more, or
 * FLEXTRACE_E_MEMORY. */
int nsys_rows_next(struct nsys_rows *rows);
void nsys_rows_end(struct nsys_rows *rows);

/* Each returns whether the row has such a value. Texts and bytes are weak: until the next row. */
bool nsys_integer(const struct nsys_rows *rows, enum nsys_column column, int64_t *ret);
bool nsys_double(const struct nsys_rows *rows, enum nsys_column column, double *ret);
const char *nsys_text(const struct nsys_rows *rows, enum nsys_column column); /* NULL: none */
const uint8_t *nsys_bytes(const struct nsys_rows *rows, enum nsys_column column, size_t *ret_n);

/* The text of StringIds with an id; weak: until the next call. 1, 0: there is none, or
 * FLEXTRACE_E_MEMORY. */
int nsys_string(struct nsys_db *db, int64_t id, const char **ret_text);

/* What SQLite says of the last damage; weak. */
const char *nsys_db_cause(struct nsys_db *db);

#endif
