/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ROW_LIMIT_BYTES (16 << 20)
#define STEPS_A_CALL    1000
#define LEAST_STEPS     1000000
#define STEPS_A_BYTE    100 /* a row takes some tens, a few bytes at least, and is read once */

struct nsys_db {
	sqlite3 *handle;             /* owned */
	sqlite3_stmt *strings;       /* owned; NULL: there is no table of them */
	struct text_list tables;     /* owned: names of letters that need no quotes */
	uint64_t n_calls, max_calls; /* of has_no_end(), in a statement */
};

/* -- a file ---------------------------------------------------------------------------------- */

static int has_no_end(void *context)
{
	struct nsys_db *db = context;

	return ++db->n_calls > db->max_calls;
}

static int begin(struct nsys_db *db, const char *sql, sqlite3_stmt **ret_statement)
{
	int code = sqlite3_prepare_v2(db->handle, sql, -1, ret_statement, NULL);

	db->n_calls = 0;
	return code == SQLITE_NOMEM ? FLEXTRACE_E_MEMORY : code == SQLITE_OK;
}

/* 1: there is a row, 0: the end, FLEXTRACE_E_INPUT: damage. */
static int step(sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW)
		return 1;
	if (code == SQLITE_DONE)
		return 0;
	return code == SQLITE_NOMEM ? FLEXTRACE_E_MEMORY : FLEXTRACE_E_INPUT;
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "";
}

static int list_tables(struct nsys_db *db)
{
	sqlite3_stmt *statement;
	int code = begin(db,
	                 "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
	                 " AND name NOT GLOB '*[^A-Za-z0-9_]*' ORDER BY name",
	                 &statement);

	if (code <= 0)
		return code < 0 ? code : FLEXTRACE_E_INPUT;
	while ((code = step(statement)) > 0) {
		if (text_list_add(&db->tables, "%.100s", text_at(statement, 0)) < 0)
			break;
	}
	sqlite3_finalize(statement);
	return code > 0 ? FLEXTRACE_E_MEMORY : code;
}

bool nsys_db_has(const struct nsys_db *db, const char *table)
{
	for (uint32_t i = 0; i < db->tables.n; i++) {
		if (strcmp(db->tables.texts[i], table) == 0)
			return true;
	}
	return false;
}

/* A path as a URI: what has a meaning there is told by its number. */
static char *uri_of(const char *path)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./";
	char *uri = malloc(3 * strlen(path) + sizeof("file:./?immutable=1"));
	char *at = uri;

	if (!uri)
		return NULL;
	at += sprintf(at, *path == '/' ? "file:" : "file:./");
	for (; *path; path++)
		at += sprintf(at, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
	strcpy(at, "?immutable=1");
	return uri;
}

static int open_handle(struct nsys_db *db, const char *path)
{
	char *uri = uri_of(path);
	struct stat about;
	int code;

	if (!uri)
		return FLEXTRACE_E_MEMORY;
	code = sqlite3_open_v2(uri, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	free(uri);
	if (!db->handle || code == SQLITE_NOMEM)
		return FLEXTRACE_E_MEMORY;
	if (code != SQLITE_OK)
		return FLEXTRACE_E_INPUT;
	db->max_calls = stat(path, &about) < 0 ? 0 : (uint64_t)about.st_size * STEPS_A_BYTE;
	db->max_calls = (db->max_calls + LEAST_STEPS) / STEPS_A_CALL;
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, ROW_LIMIT_BYTES);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_progress_handler(db->handle, STEPS_A_CALL, has_no_end, db);
	return list_tables(db);
}

int nsys_db_open(const char *path, struct nsys_db **ret_db, struct flextrace_error *error)
{
	struct nsys_db *db = calloc(1, sizeof(*db));
	int code = db ? open_handle(db, path) : FLEXTRACE_E_MEMORY;

	*ret_db = NULL;
	if (code >= 0 && nsys_db_has(db, "StringIds"))
		code = begin(db, "SELECT value FROM StringIds WHERE id = ?", &db->strings);
	if (code < 0) {
		error_set(error, code, "Cannot read the SQLite file: file=%s, cause=%s", path,
		          code == FLEXTRACE_E_MEMORY ? "no memory" : nsys_db_cause(db));
		nsys_db_close(db);
		return code;
	}
	*ret_db = db;
	return FLEXTRACE_OK;
}

void nsys_db_close(struct nsys_db *db)
{
	if (!db)
		return;
	sqlite3_finalize(db->strings);
	sqlite3_close(db->handle);
	text_list_release(&db->tables);
	free(db);
}

const struct text_list *nsys_db_tables(const struct nsys_db *db)
{
	return &db->tables;
}

const char *nsys_db_cause(struct nsys_db *db)
{
	if (sqlite3_errcode(db->handle) == SQLITE_INTERRUPT)
		return "it has no end";
	return sqlite3_errcode(db->handle) == SQLITE_ROW ? "its rows go backwards"
	                                                 : sqlite3_errmsg(db->handle);
}

/* -- rows ------------------------------------------------------------------------------------ */

static void find_columns(struct nsys_rows *rows)
{
	static const char *const names[] = {
#define NSYS_NAME(id, name) [NSYS_##id] = name,
		NSYS_COLUMNS(NSYS_NAME)
#undef NSYS_NAME
	};
	int n = sqlite3_column_count(rows->statement);

	memset(rows->place, -1, sizeof(rows->place));
	for (int i = rows->has_numbers; i < n && i <= INT8_MAX; i++) {
		const char *name = sqlite3_column_name(rows->statement, i);

		for (int k = 0; k < NSYS_N_COLUMNS; k++) {
			if (name && sqlite3_stricmp(name, names[k]) == 0)
				rows->place[k] = (int8_t)i;
		}
	}
}

int nsys_rows_begin(struct nsys_rows *rows, struct nsys_db *db, const char *table, bool by_time)
{
	sqlite3_stmt *statement = NULL;
	char sql[160];
	int code;

	*rows = (struct nsys_rows){
		.db = db, .number = INT64_MIN, .has_numbers = true, .is_by_time = by_time};
	if (!nsys_db_has(db, table))
		return FLEXTRACE_OK;
	snprintf(sql, sizeof(sql), "SELECT rowid, * FROM %s%s", table,
	         by_time ? " ORDER BY start, rowid" : "");
	code = begin(db, sql, &statement);
	if (code == 0) { /* without numbers, or without a start */
		rows->has_numbers = rows->is_by_time = false;
		rows->number = 0;
		snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
		code = begin(db, sql, &statement);
	}
	rows->statement = statement;
	rows->is_damaged = code == 0;
	if (code > 0)
		find_columns(rows);
	return code < 0 ? code : FLEXTRACE_OK;
}

int nsys_rows_next(struct nsys_rows *rows)
{
	int64_t last = rows->number;
	int code;

	if (!rows->statement || rows->is_damaged)
		return 0;
	code = step(rows->statement);
	if (code > 0) {
		rows->number = rows->has_numbers ? sqlite3_column_int64(rows->statement, 0)
		                                 : last + 1;
		rows->is_damaged = !rows->is_by_time && rows->number <= last;
	} else {
		rows->is_damaged = code == FLEXTRACE_E_INPUT;
	}
	return rows->is_damaged ? 0 : code;
}

void nsys_rows_end(struct nsys_rows *rows)
{
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
}

/* -- cells ----------------------------------------------------------------------------------- */

static bool is_of(const struct nsys_rows *rows, enum nsys_column column, int type)
{
	return rows->place[column] >= 0 &&
	       sqlite3_column_type(rows->statement, rows->place[column]) == type;
}

bool nsys_integer(const struct nsys_rows *rows, enum nsys_column column, int64_t *ret)
{
	if (!is_of(rows, column, SQLITE_INTEGER))
		return false;
	*ret = sqlite3_column_int64(rows->statement, rows->place[column]);
	return true;
}

bool nsys_double(const struct nsys_rows *rows, enum nsys_column column, double *ret)
{
	if (!is_of(rows, column, SQLITE_FLOAT))
		return false;
	*ret = sqlite3_column_double(rows->statement, rows->place[column]);
	return true;
}

const char *nsys_text(const struct nsys_rows *rows, enum nsys_column column)
{
	if (!is_of(rows, column, SQLITE_TEXT))
		return NULL;
	return (const char *)sqlite3_column_text(rows->statement, rows->place[column]);
}

const uint8_t *nsys_bytes(const struct nsys_rows *rows, enum nsys_column column, size_t *ret_n)
{
	const uint8_t *bytes;

	if (!is_of(rows, column, SQLITE_BLOB) && !is_of(rows, column, SQLITE_TEXT))
		return NULL;
	bytes = sqlite3_column_blob(rows->statement, rows->place[column]);
	*ret_n = (size_t)sqlite3_column_bytes(rows->statement, rows->place[column]);
	return bytes;
}

int nsys_string(struct nsys_db *db, int64_t id, const char **ret_text)
{
	int code;

	if (!db->strings)
		return 0;
	db->n_calls = 0;
	sqlite3_reset(db->strings);
	sqlite3_bind_int64(db->strings, 1, id);
	code = step(db->strings);
	if (code <= 0)
		return code == FLEXTRACE_E_INPUT ? 0 : code;
	if (sqlite3_column_type(db->strings, 0) != SQLITE_TEXT)
		return 0;
	*ret_text = (const char *)sqlite3_column_text(db->strings, 0);
	return *ret_text ? 1 : FLEXTRACE_E_MEMORY;
}
