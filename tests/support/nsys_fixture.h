/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_fixture.h: small reports of Nsight Systems, made of SQL, and what SQL says of them.
 */
#ifndef NSYS_FIXTURE_H
#define NSYS_FIXTURE_H

#include <sqlite3.h>
#include <stdint.h>

#include "flex_fixture.h"

#define NSYS_EPOCH_NS INT64_C(1700000000000000000)

/* Ids of a process, and of a thread of it. */
#define NSYS_PID(pid)      ((INT64_C(1) << 48) + ((int64_t)(pid) << 24))
#define NSYS_TID(pid, tid) (NSYS_PID(pid) + (tid))

/* Makes the file `name` of the input by SQL: of the words PID(n) and TID(n, m) it takes ids. Owned:
 * its path. */
char *nsys_make(const struct flex_run *run, const char *name, const char *sql);

/* The tables of a report, with no row but the session's. */
extern const char nsys_schema_2022[], nsys_schema_2024[];

/* A number that a query gives; fails if it gives none. */
int64_t nsys_ask(const char *path, const char *sql);

/* Expects that each row of a query stands in a table of the output, and that there are as many as
 * those where `column` is one of `kinds`, apart by commas. The query's columns are named as those
 * of the table. */
void nsys_expect_rows(const char *path, const char *sql, const struct csv_table *table,
                      const char *column, const char *kinds);

/* Converts one file. */
void nsys_convert(struct flex_run *run, const char *path);

/* Reads one, expecting rows or an explained error. */
void nsys_try(const char *path);

/* The same, expecting an error whose text has `part`. */
void nsys_expect_error(struct flex_run *run, const char *path, const char *part);

#endif
