/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_impl.h: what the files of the importer of Nsight Systems share.
 *
 *   nsys.c         the format, a file, and rows: whose they are, when, and their arguments
 *   nsys_tables.c  which tables are read, how, and what is not
 *   nsys_db.c      SQLite
 *   nsys_who.c     session, processes, ranks, devices
 *   nsys_host.c    calls, ranges of NVTX
 *   nsys_device.c  kernels, copies, memory
 *   nsys_mpi.c     collectives and messages of MPI
 *   nsys_nccl.c    what ranges carry; collectives of NCCL: whose kernels are whose
 *
 * Each file is a stream with the clock of its session: ns from a day before its start, so that what
 * began before the session has a time as well.
 */
#ifndef FLEXTRACE_IMPORT_NSYS_IMPL_H
#define FLEXTRACE_IMPORT_NSYS_IMPL_H

#include "base/text/json_text.h"
#include "formats/kit/faults.h"
#include "formats/kit/format.h"
#include "nsys_db.h"

#define NSYS_DAY_NS INT64_C(86400000000000)

struct nsys;

struct nsys_process {
	uint64_t global; /* a globalPid without its 24 bits of the thread */
	int32_t pid;
	int32_t rank;     /* FLEXTRACE_RANK_UNKNOWN until known */
	uint32_t program; /* string */
};

struct nsys_field { /* of a schema of payloads */
	int64_t domain, schema, type, offset;
	uint32_t name; /* string */
};

/* -- rows of events */

/* Their cells, in all tables: `meeting` of a table, its name, its category. Those from the category
 * on become arguments, by the names of their columns; a value whose column begins with `=` is JSON
 * where it can be. */
#define NSYS_CELLS                                                                    \
	"rowid, start, end, globalTid, globalPid, correlationId, deviceId, streamId," \
	" copyKind, address, memoryOperationType, eventType"
/* clang-format off */
enum nsys_cell {
	NSYS_ROW, NSYS_START, NSYS_END, NSYS_TID, NSYS_PID, NSYS_CORRELATION, NSYS_DEVICE,
	NSYS_STREAM, NSYS_COPY_KIND, NSYS_ADDRESS, NSYS_MEMORY_OP, NSYS_TYPE, NSYS_GROUP,
	NSYS_SEQ, NSYS_PEERS, NSYS_BYTES, NSYS_NAME, NSYS_CATEGORY
};
/* clang-format on */

/* The text of a row of NVTX, or of MPI. */
#define NSYS_TEXT "COALESCE(text, name_of(textId))"

/* A row of `nsys->table`, when it was, and whose it is. */
struct nsys_row {
	const struct nsys_rows *cells; /* weak */
	const char *name;              /* weak */
	const char *group;             /* weak: of ranks that meet; NULL: none */
	uint64_t begin_ns, end_ns;     /* clock of the stream */
	uint64_t correlation;          /* 0: none */
	uint32_t process;              /* index */
	int32_t tid;                   /* -1: of no thread */
	bool has_end;
};

typedef int nsys_take(struct nsys *nsys, const struct nsys_row *row);

/* A table whose rows become events. */
struct nsys_table {
	const char *table;
	const char *what; /* it tells: said where it is missing; NULL: few reports have it */
	nsys_take *take;
	uint8_t kind;                /* enum flextrace_runtime_kind or flextrace_device_kind */
	const char *name, *category; /* SQL, as all behind: of rows */
	const char *args;            /* more cells */
	const char *meeting;         /* the cells group (NULL: none), number in it, peers, bytes */
	const char *from;            /* the rows; NULL: those of the table */
	bool is_in_any_order;        /* they are not in that of the table */
	bool may_be_open;            /* an end is not needed */
};

struct nsys_session {             /* what a file says of itself */
	int64_t epoch_ns;         /* when it began; 0: not told */
	uint64_t hash;            /* of when it began, and of whom it is */
	uint32_t version, host;   /* strings */
	int32_t rank, world_size; /* of the environment; -1, 0: not told */
	bool has_lost;            /* nsys missed events, it says */
};

struct nsys {
	struct import import; /* first */
	struct json_text args;
	uint64_t n_jobs, n_asyncs;
	const char *ranks; /* weak: those of the options, less what is used */

	/* of the file that is read */
	struct nsys_db db;
	const char *path;               /* weak */
	const struct nsys_table *table; /* weak: whose rows are read; NULL: none of events */
	uint32_t stream;                /* index */
	int64_t base_ns;                /* time of the file where its clock is 0 */
	struct nsys_session session;
	struct nsys_process *processes; /* owned */
	uint32_t n_processes;
	struct map process_index; /* without the bits of the thread -> index */
	struct map devices;       /* those that did something: process, number */
	uint64_t n_rows;
	struct nsys_field *fields; /* owned */
	uint32_t n_fields;
};

/* All return FLEXTRACE_E_MEMORY or 0, where nothing else is said. */

/* -- nsys.c */

/* Rejects the row, for a static reason. */
int nsys_reject(struct nsys *nsys, const struct nsys_rows *rows, enum loss_cause cause,
                const char *fault);

/* Stores the arguments of a row: weak. */
int nsys_args(struct nsys *nsys, const struct nsys_row *row, const char **ret_args);

struct event nsys_event(const struct nsys *nsys, const struct nsys_row *row,
                        enum record_class class);
int nsys_write(struct nsys *nsys, const struct event *event);

/* Walks the rows of a statement, until one's code is not 0; tells what was rejected of them, and
 * whether they were read to the end. `table` is what they are called. */
int nsys_each(struct nsys *nsys, const char *table, const char *sql,
              int (*visit)(struct nsys *nsys, const struct nsys_rows *rows));

/* Runs statements without rows; tells whether a table that they read is damaged. */
int nsys_run(struct nsys *nsys, const char *table, const char *sql);

/* Reads the rows of a table of events. */
int nsys_read_table(struct nsys *nsys, const struct nsys_table *table);

/* -- nsys_tables.c */

/* Makes all tables that are asked readable; reads those of events; tells what is missing. */
int nsys_define_tables(struct nsys_db *db);
int nsys_read_tables(struct nsys *nsys);
int nsys_tell_what_is_not_read(struct nsys *nsys);

/* -- nsys_who.c */

/* Reads what is known before the first row, and defines who the rows are of behind the last. */
int nsys_read_session(struct nsys *nsys);
int nsys_define_all(struct nsys *nsys);

int nsys_find_process(struct nsys *nsys, int64_t global, uint32_t *ret_process);

/* -- nsys_host.c, nsys_device.c, nsys_mpi.c: takers of rows */

nsys_take nsys_take_nvtx, nsys_take_call, nsys_take_work, nsys_take_memory;

/* -- nsys_mpi.c, nsys_nccl.c: SQL, rows with who met whom; what that needs */

extern const char nsys_collectives[], nsys_messages[], nsys_kernels[];

int nsys_read_communicators(struct nsys *nsys);
int nsys_read_payloads(struct nsys *nsys);

#endif
