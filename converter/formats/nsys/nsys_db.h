/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_db.h: the tables of a report that nsys exported as SQLite, row by row.
 *
 * - The file is opened read-only and as one that nobody changes: nothing is written beside it.
 * - Versions of the export differ in tables and columns. nsys_db_define() puts a view of all
 *   columns that are known before a table, which has NULL where the report has no such column, and
 *   no rows where it has no such table: one statement reads all versions.
 * - Only tables are read: a view of the file may compute for ever. A statement that takes more
 *   steps than the bytes of the file can ask for is broken off, and so is a table whose rows go
 *   backwards.
 * - SQL: name_of(id) is the text that StringIds has, or `string ID`.
 */
#ifndef FLEXTRACE_IMPORT_NSYS_DB_H
#define FLEXTRACE_IMPORT_NSYS_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/text/strings.h"
#include "base/text/text_list.h"

struct nsys_db {
	sqlite3 *handle;             /* owned */
	sqlite3_stmt *name;          /* owned: of an id */
	struct text_list tables;     /* owned: names of letters that need no quotes */
	uint64_t n_calls, max_calls; /* of has_no_end(), in a statement */
	struct string_pool *strings; /* weak, both */
	struct string_cache *cache;
	struct map names; /* id -> string */
	uint64_t n_unnamed;
};

/* Opens a file; `strings` and `cache` are set. FLEXTRACE_E_INPUT: it is no such file. Either way
 * nsys_db_close() releases it, as it does zeroes. */
int nsys_db_open(struct nsys_db *db, const char *path);
void nsys_db_close(struct nsys_db *db);

/* Whether the file has a table. Views and the like are none. */
bool nsys_db_has(const struct nsys_db *db, const char *table);

/* Before the first statement, for each table that one asks. As nsys_db_run(). */
int nsys_db_define(struct nsys_db *db, const char *table);

/* Runs statements that have no rows. FLEXTRACE_E_MEMORY, FLEXTRACE_E_INPUT (damage) or 0. */
int nsys_db_run(struct nsys_db *db, const char *sql);

/* What SQLite says of the last damage; weak. */
const char *nsys_db_cause(const struct nsys_db *db);

/* A walk over rows. */
struct nsys_rows {
	struct nsys_db *db;      /* weak */
	sqlite3_stmt *statement; /* owned */
	int64_t number;          /* of the row in its table */
	uint64_t place;          /* that, or 0 */
	bool has_numbers;        /* the first cell is that */
	bool is_in_any_order;    /* else these only rise */
	bool is_damaged;         /* the walk ended early */
};

/* FLEXTRACE_E_MEMORY or 0, also where damage leaves no rows. */
int nsys_rows_begin(struct nsys_rows *rows, struct nsys_db *db, const char *sql);

/* 1: there is one, 0: the end, or FLEXTRACE_E_MEMORY. */
int nsys_rows_next(struct nsys_rows *rows);
void nsys_rows_end(struct nsys_rows *rows);

/* Each returns whether the cell is of this type. Texts are weak: until the next row. */
bool nsys_integer(const struct nsys_rows *rows, int cell, int64_t *ret);
const char *nsys_text(const struct nsys_rows *rows, int cell); /* NULL: none */

#endif
