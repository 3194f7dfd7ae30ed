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

/* Names, and rows with them: kernels that begin behind their call, in it, and without one. */
#define NSYS_STRINGS                                                                          \
	"INSERT INTO StringIds VALUES (0, '[Unknown]'), (1, 'cudaLaunchKernel_v7000'),"       \
	" (2, 'add'), (3, 'void add<float>(int)'), (4, 'cudaMemcpy_v3020'), (5, 'cuLaunch')," \
	" (6, 'poll'), (7, 'worker'), (8, 'step'), (9, 'numerics');"                          \
	"INSERT INTO PROCESSES VALUES (PID(1), 1, 'init'), (PID(70), 70, './app');"           \
	"INSERT INTO ThreadNames VALUES (7, 0, TID(70, 71)), (7, 0, TID(1, 1));"              \
	"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'node7');"                    \
	"INSERT INTO TARGET_INFO_GPU VALUES (0, 'GPU A', '0000:c1:00.0', 108, 1410000000);"

#define NSYS_ROWS                                                                              \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid,"          \
	" correlationId, nameId, returnValue) VALUES"                                          \
	" (1000, 1200, 0, TID(70, 70), 11, 1, 0), (1050, 1150, 1, TID(70, 70), 11, 5, 0),"     \
	" (2000, 2900, 0, TID(70, 70), 12, 1, 0), (3000, 3100, 0, TID(70, 71), 13, 4, 700);"   \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,"   \
	" correlationId, globalPid, demangledName, shortName, registersPerThread, gridX,"      \
	" gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory)"      \
	" VALUES (1300, 1700, 0, 1, 7, 11, PID(70), 3, 2, 32, 4, 2, 1, 256, 1, 1, 0, 64),"     \
	" (2500, 2800, 0, 1, 7, 12, PID(70), 3, 2, 32, 4, 2, 1, 256, 1, 1, 0, 64),"            \
	" (2600, 2600, 0, 1, 9, NULL, PID(70), 2, 2, 32, 1, 1, 1, 1, 1, 1, 0, 0);"             \
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId,"   \
	" correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES"                 \
	" (3050, 3090, 0, 1, 7, 13, PID(70), 4096, 1, 0, 2),"                                  \
	" (3100, 3140, 0, 1, 7, 0, PID(70), 128, 2, 2, 1);"                                    \
	"INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid) VALUES"      \
	" (900, 3500, 59, NULL, 8, TID(70, 70)), (950, 1250, 59, 'inner', NULL, TID(70, 70));" \
	"INSERT INTO OSRT_API VALUES (800, 850, 27, TID(70, 71), 6, 0);"

/* Makes a report of a schema and SQL, and converts it. Owned: its path. */
char *nsys_convert_sql(void **state, const char *schema, const char *sql);

/* Converts one file. */
void nsys_convert(struct flex_run *run, const char *path);

/* Reads one, expecting rows or an explained error. */
void nsys_try(const char *path);

/* The same, expecting an error whose text has `part`. */
void nsys_expect_error(struct flex_run *run, const char *path, const char *part);

#endif
