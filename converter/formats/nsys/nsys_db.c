/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_db.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ROW_LIMIT_BYTES (16 << 20)
#define STEPS_A_CALL    1000
#define LEAST_STEPS     1000000
#define STEPS_A_BYTE    100 /* a row takes some tens, a few bytes at least, and is read once */

/* What is asked for, of whatever table. */
/* clang-format off */
static const char *const columns[] = {
	"rowid", "start", "end", "globalTid", "globalPid", "nameId", "correlationId", "eventClass",
	"returnValue", "deviceId", "contextId", "streamId", "bytes", "shortName", "demangledName",
	"registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "gridX", "gridY",
	"gridZ", "blockX", "blockY", "blockZ", "graphId", "graphExecId", "graphNodeId", "copyKind",
	"srcKind", "dstKind", "srcDeviceId", "dstDeviceId", "migrationCause", "copyCount",
	"syncType", "memKind", "address", "memoryOperationType", "eventType", "text", "textId",
	"domainId", "category", "jsonText", "jsonTextId", "uint64Value", "int64Value",
	"uint32Value", "int32Value", "doubleValue", "floatValue", "binaryData", "schemaId", "type",
	"offset", "commHandle", "commUid", "tag", "remoteRank", "rootRank", "size", "recvSize",
	"rank", "parentHandle", "localRank", "groupRoot", "groupRootUid", "id", "name", "value",
	"busLocation", "smCount", "clockRate", "utcEpochNs"};
/* clang-format on */

/* -- statements ------------------------------------------------------------------------------ */

static int has_no_end(void *context)
{
	struct nsys_db *db = context;

	return ++db->n_calls > db->max_calls;
}

static int status_of(int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE)
		return FLEXTRACE_OK;
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_NOMEM ? FLEXTRACE_E_MEMORY : FLEXTRACE_E_INPUT;
}

int nsys_db_run(struct nsys_db *db, const char *sql)
{
	db->n_calls = 0;
	return status_of(sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

const char *nsys_db_cause(const struct nsys_db *db)
{
	int code = sqlite3_errcode(db->handle);

	return code == SQLITE_INTERRUPT ? "it has no end"
	       : code == SQLITE_ROW     ? "its rows go backwards"
	                                : sqlite3_errmsg(db->handle);
}

/* -- names ----------------------------------------------------------------------------------- */

static int find_name(struct nsys_db *db, int64_t id, uint32_t *ret_string)
{
	char missing[32];
	const char *name = NULL;
	int code;

	*ret_string = map_find(&db->names, (uint64_t)id, 0);
	if (*ret_string != MAP_NONE)
		return FLEXTRACE_OK;
	if (!db->name)
		sqlite3_prepare_v2(db->handle, "SELECT value FROM StringIds WHERE id = ?", -1,
		                   &db->name, NULL);
	db->n_calls = 0; /* ids are few, and each is looked up once */
	sqlite3_bind_int64(db->name, 1, id);
	code = status_of(sqlite3_step(db->name));
	if (code > 0 && sqlite3_column_type(db->name, 0) == SQLITE_TEXT)
		name = (const char *)sqlite3_column_text(db->name, 0);
	if (!name) {
		snprintf(missing, sizeof(missing), "string %" PRId64, id);
		name = missing;
		db->n_unnamed++;
	}
	if (code != FLEXTRACE_E_MEMORY)
		code = string_intern(db->cache, name, ret_string);
	sqlite3_reset(db->name);
	FLEXTRACE_TRY(code);
	return map_put(&db->names, (uint64_t)id, 0, *ret_string);
}

static void name_of(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct nsys_db *db = sqlite3_user_data(context);
	uint32_t string;

	(void)n;
	if (sqlite3_value_type(values[0]) != SQLITE_INTEGER)
		return;
	if (find_name(db, sqlite3_value_int64(values[0]), &string) < 0)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text(context, string_get(db->strings, string), -1, SQLITE_TRANSIENT);
}

/* -- a file ---------------------------------------------------------------------------------- */

bool nsys_db_has(const struct nsys_db *db, const char *table)
{
	for (uint32_t i = 0; i < db->tables.n; i++) {
		if (strcmp(db->tables.texts[i], table) == 0)
			return true;
	}
	return false;
}

int nsys_db_define(struct nsys_db *db, const char *table)
{
	bool has_table = nsys_db_has(db, table);
	char sql[8192];
	int n = sprintf(sql, "CREATE TEMP VIEW %s AS SELECT", table);

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		bool has_column = has_table && sqlite3_table_column_metadata(
						       db->handle, "main", table, columns[i], NULL,
						       NULL, NULL, NULL, NULL) == SQLITE_OK;

		n += sprintf(sql + n, "%s %s AS \"%s\"", i ? "," : "",
		             has_column ? columns[i] : "NULL", columns[i]);
	}
	sprintf(sql + n, has_table ? " FROM main.%s" : " WHERE 0", table);
	return nsys_db_run(db, sql);
}

/* Damage of the list is met again by nsys_db_define(). */
static int list_tables(struct nsys_db *db)
{
	struct nsys_rows rows;
	int code = nsys_rows_begin(
		&rows, db,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
		" AND name NOT GLOB '*[^A-Za-z0-9_]*' AND name NOT LIKE 'sqlite%' ORDER BY name");

	while (code == 0 && (code = nsys_rows_next(&rows)) > 0) {
		const char *name = nsys_text(&rows, 0);

		code = text_list_add(&db->tables, "%.100s", name ? name : "");
	}
	nsys_rows_end(&rows);
	return code;
}

/* A path as a URI: what has a meaning there is told by its number. */
static char *uri_of(const char *path)
{
	char *uri = malloc(3 * strlen(path) + sizeof("file://./?immutable=1")), *at = uri;

	if (!uri)
		return NULL;
	at += sprintf(at, *path == '/' ? "file://" : "file:./");
	for (; *path; path++)
		at += sprintf(at, strchr("%?#", *path) ? "%%%02X" : "%c", (unsigned char)*path);
	strcpy(at, "?immutable=1");
	return uri;
}

int nsys_db_open(struct nsys_db *db, const char *path)
{
	char *uri = uri_of(path);
	struct stat about;
	int code;

	if (!uri)
		return FLEXTRACE_E_MEMORY;
	code = sqlite3_open_v2(uri, &db->handle,
	                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	free(uri);
	if (!db->handle)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(status_of(code));
	db->max_calls = stat(path, &about) < 0 ? 0 : (uint64_t)about.st_size * STEPS_A_BYTE;
	db->max_calls = (db->max_calls + LEAST_STEPS) / STEPS_A_CALL;
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, ROW_LIMIT_BYTES);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_progress_handler(db->handle, STEPS_A_CALL, has_no_end, db);
	sqlite3_create_function(db->handle, "name_of", 1, SQLITE_UTF8, db, name_of, NULL, NULL);
	return list_tables(db);
}

void nsys_db_close(struct nsys_db *db)
{
	sqlite3_finalize(db->name);
	sqlite3_close(db->handle);
	text_list_release(&db->tables);
	map_release(&db->names);
	*db = (struct nsys_db){0};
}

/* -- rows ------------------------------------------------------------------------------------ */

int nsys_rows_begin(struct nsys_rows *rows, struct nsys_db *db, const char *sql)
{
	int code;

	*rows = (struct nsys_rows){.db = db, .number = INT64_MIN};
	db->n_calls = 0;
	code = status_of(sqlite3_prepare_v2(db->handle, sql, -1, &rows->statement, NULL));
	rows->is_damaged = code == FLEXTRACE_E_INPUT;
	return rows->is_damaged ? FLEXTRACE_OK : code;
}

int nsys_rows_next(struct nsys_rows *rows)
{
	int64_t last = rows->number;
	int code;

	if (!rows->statement || rows->is_damaged)
		return 0;
	code = status_of(sqlite3_step(rows->statement));
	rows->is_damaged = code == FLEXTRACE_E_INPUT;
	if (code > 0 && rows->has_numbers) {
		if (!nsys_integer(rows, 0, &rows->number))
			rows->number = last < 0 ? 1 : last + 1;
		rows->place = rows->number < 0 ? 0 : (uint64_t)rows->number;
		rows->is_damaged = !rows->is_in_any_order && rows->number <= last;
	}
	return rows->is_damaged ? 0 : code;
}

void nsys_rows_end(struct nsys_rows *rows)
{
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
}

bool nsys_integer(const struct nsys_rows *rows, int cell, int64_t *ret)
{
	if (sqlite3_column_type(rows->statement, cell) != SQLITE_INTEGER)
		return false;
	*ret = sqlite3_column_int64(rows->statement, cell);
	return true;
}

const char *nsys_text(const struct nsys_rows *rows, int cell)
{
	if (sqlite3_column_type(rows->statement, cell) != SQLITE_TEXT)
		return NULL;
	return (const char *)sqlite3_column_text(rows->statement, cell);
}
