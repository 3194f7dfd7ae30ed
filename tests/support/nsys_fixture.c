/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "imports.h"

/* clang-format off */
#define COMMON                                                                                    \
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"          \
	"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);"         \
	"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '');"            \
	"CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"                     \
	"CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"\
	"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"                            \
	"CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, busLocation TEXT, smCount INTEGER," \
	" clockRate INTEGER);"                                                                    \
	"CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER,"\
	" globalTid INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER);"

const char nsys_schema_2022[] = COMMON
	"CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"
	"INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.2.1.31');"
	"CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER,"
	" rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,"
	" endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,"
	" int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER,"
	" floatValue REAL, jsonTextId INTEGER, jsonText TEXT);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,"
	" returnValue INTEGER, callchainId INTEGER, name TEXT);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
	" globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER,"
	" gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,"
	" blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
	" globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER,"
	" name TEXT);";

const char nsys_schema_2024[] = COMMON
	"CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
	"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2024.5.1.113');"
	"CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
	"CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER,"
	" rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,"
	" endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,"
	" int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER,"
	" floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);"
	"CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER,"
	" flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER,"
	" offset INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,"
	" returnValue INTEGER, callchainId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER,"
	" correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,"
	" mangledName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER,"
	" gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
	" staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER,"
	" correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER,"
	" srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
	" globalPid INTEGER, value INTEGER, bytes INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL,"
	" end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER,"
	" correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL,"
	" end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER,"
	" correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);"
	"CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER,"
	" deviceId INTEGER, contextId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER,"
	" memoryOperationType INTEGER);"
	"CREATE TABLE MPI_RANKS (globalTid INTEGER NOT NULL, rank INTEGER NOT NULL);"
	"CREATE TABLE MPI_COMMUNICATORS (rank INTEGER, timestamp INTEGER, commHandle INTEGER,"
	" parentHandle INTEGER, localRank INTEGER, size INTEGER, groupRoot INTEGER,"
	" groupRootUid INTEGER, members TEXT);"
	"CREATE TABLE MPI_OTHER_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER,"
	" textId INTEGER);"
	"CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER,"
	" globalTid INTEGER, textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER,"
	" recvSize INTEGER, requestHandle INTEGER);"
	"CREATE TABLE MPI_P2P_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER,"
	" textId INTEGER, commHandle INTEGER, tag INTEGER, remoteRank INTEGER, size INTEGER,"
	" requestHandle INTEGER);";
/* clang-format on */

/* -- files ----------------------------------------------------------------------------------- */

static void global_pid(sqlite3_context *context, int n, sqlite3_value **values)
{
	(void)n;
	sqlite3_result_int64(context, NSYS_PID(sqlite3_value_int64(values[0])));
}

static void global_tid(sqlite3_context *context, int n, sqlite3_value **values)
{
	(void)n;
	sqlite3_result_int64(
		context, NSYS_TID(sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])));
}

char *nsys_make(const struct flex_run *run, const char *name, const char *sql)
{
	char *path = malloc(strlen(run->in) + strlen(name) + 2), *cause = NULL;
	sqlite3 *db;

	assert_non_null(path);
	sprintf(path, "%s/%s", run->in, name);
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_create_function(db, "PID", 1, SQLITE_UTF8, NULL, global_pid, NULL, NULL);
	sqlite3_create_function(db, "TID", 2, SQLITE_UTF8, NULL, global_tid, NULL, NULL);
	sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, &cause) != SQLITE_OK)
		fail_msg("%s", cause);
	sqlite3_close(db);
	return path;
}

/* -- the ground truth ------------------------------------------------------------------------ */

static sqlite3_stmt *ask(const char *path, const char *sql, sqlite3 **ret_db)
{
	sqlite3_stmt *statement;
	char uri[4200];

	snprintf(uri, sizeof(uri), "file:%s?immutable=1", path);
	assert_int_equal(sqlite3_open_v2(uri, ret_db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
	                 SQLITE_OK);
	if (sqlite3_prepare_v2(*ret_db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sqlite3_errmsg(*ret_db), sql);
	return statement;
}

int64_t nsys_ask(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *statement = ask(path, sql, &db);
	int64_t number;

	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return number;
}

static uint32_t column_of(const struct csv_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (strcmp(table->columns[i], name) == 0)
			return i;
	}
	fail_msg("No such column: %s", name);
	return 0;
}

static bool is_row(const struct csv_table *table, uint64_t row, sqlite3_stmt *statement,
                   const uint32_t *columns)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *text = (const char *)sqlite3_column_text(statement, i);

		if (strcmp(table->rows[row].cells[columns[i]], text ? text : "") != 0)
			return false;
	}
	return true;
}

/* Each row of the table stands for one of the query. */
static void find_row(const struct csv_table *table, sqlite3_stmt *statement,
                     const uint32_t *columns, bool *is_used)
{
	for (uint64_t i = 0; i < table->n_rows; i++) {
		if (!is_used[i] && is_row(table, i, statement, columns)) {
			is_used[i] = true;
			return;
		}
	}
	fail_msg("No row of %s from %s", sqlite3_column_text(statement, 0),
	         sqlite3_column_text(statement, 1));
}

void nsys_expect_rows(const char *path, const char *sql, const struct csv_table *table,
                      const char *column, const char *kinds)
{
	bool *is_used = calloc(table->n_rows + 1, sizeof(*is_used));
	uint64_t n = 0, n_found = 0;
	uint32_t columns[16];
	sqlite3 *db;
	sqlite3_stmt *statement = ask(path, sql, &db);
	char list[256], *at = list, *kind;

	for (int i = 0; i < sqlite3_column_count(statement); i++)
		columns[i] = column_of(table, sqlite3_column_name(statement, i));
	for (; sqlite3_step(statement) == SQLITE_ROW; n++)
		find_row(table, statement, columns, is_used);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	free(is_used);
	snprintf(list, sizeof(list), "%s", kinds);
	while ((kind = strsep(&at, ",")))
		n_found += flex_count(table, column, kind);
	assert_int_equal(n_found, n);
}

/* -- conversions ----------------------------------------------------------------------------- */

void nsys_convert(struct flex_run *run, const char *path)
{
	flex_convert_files(run, &path, 1);
}

char *nsys_convert_sql(void **state, const char *schema, const char *sql)
{
	struct flex_run *run = *state;
	char *text = malloc(strlen(schema) + strlen(sql) + 1), *path;

	assert_non_null(text);
	strcat(strcpy(text, schema), sql);
	path = nsys_make(run, "report.sqlite", text);
	free(text);
	nsys_convert(run, path);
	return path;
}

static int import_one(const char *path, struct ledger *ledger, struct flextrace_error *error)
{
	const struct import_options import = {.paths = &path, .n_paths = 1};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	int code = import_run(&import, strings, &set, ledger, error);

	stream_set_release(&set);
	string_pool_free(strings);
	return code;
}

void nsys_try(const char *path)
{
	struct flextrace_error error = {0};
	struct ledger ledger;
	int code;

	ledger_init(&ledger);
	code = import_one(path, &ledger, &error);
	ledger_release(&ledger);
	assert_true(code == FLEXTRACE_OK || code == FLEXTRACE_E_INPUT);
	assert_true(code == FLEXTRACE_OK || *error.message);
}

void nsys_expect_error(struct flex_run *run, const char *path, const char *part)
{
	struct flextrace_error error = {0};

	assert_int_equal(import_one(path, &run->ledger, &error), FLEXTRACE_E_INPUT);
	if (!strstr(error.message, part))
		fail_msg("%s", error.message);
}
