/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_impl.h: what the files of the importer of Nsight Systems share.
 *
 *   nsys.c         the format: which tables are read, row by row
 *   nsys_db.c      SQLite
 *   nsys_who.c     session, processes, ranks, devices
 *   nsys_host.c    calls, NVTX
 *   nsys_device.c  kernels, copies, memory
 *   nsys_mpi.c     collectives and messages of MPI
 *   nsys_nccl.c    what ranges carry; collectives of NCCL: whose kernels are whose
 *
 * Each file is a stream with the clock of its session: ns from a day before its start, so that what
 * began before the session has a time as well.
 */
#ifndef FLEXTRACE_IMPORT_NSYS_IMPL_H
#define FLEXTRACE_IMPORT_NSYS_IMPL_H

#include "base/map.h"
#include "base/text/json_text.h"
#include "formats/kit/faults.h"
#include "formats/kit/format.h"
#include "nsys_db.h"

#define NSYS_DAY_NS INT64_C(86400000000000)

struct nsys;

struct nsys_process {
	uint64_t global; /* a globalPid without its 24 bits of the thread */
	int32_t pid;
	int32_t rank;      /* FLEXTRACE_RANK_UNKNOWN until known */
	uint32_t program;  /* string */
	bool has_mpi_init; /* all that MPI did is in the file */
};

struct nsys_device { /* found by process and number */
	uint32_t process, number;
};

/* -- NCCL */

struct nsys_field { /* of a schema of payloads */
	int64_t domain, schema, type, offset;
	uint32_t name; /* string */
};

struct nsys_payload { /* what one told */
	uint64_t comm, bytes, n_ranks;
	bool has_comm, has_bytes;
};

enum nsys_nccl_kind { NCCL_OTHER, NCCL_OP, NCCL_GROUP_START, NCCL_GROUP_END };

struct nsys_nccl_range {
	uint64_t begin_ns, end_ns;
	uint32_t process, name; /* index; string */
	int32_t tid;
	uint8_t kind; /* enum nsys_nccl_kind */
	bool has_seq; /* the communicator was made in the recording */
	struct nsys_payload told;
	uint64_t seq;  /* of the communicator's operations */
	uint32_t work; /* place + 1 of the operation whose kernel is launched in it; 0: none */
};

struct nsys_nccl {
	struct nsys_field *fields; /* owned arrays, both */
	uint32_t n_fields;
	struct nsys_nccl_range *ranges; /* in order of thread and time, when settled */
	uint32_t n_ranges;
	struct map launches; /* correlation, process -> place of an operation */
};

/* -- MPI */

struct nsys_comm {                /* found by process and handle */
	uint32_t group;           /* string; 0: nobody tells which communicator it is */
	int32_t local_rank, root; /* of this rank in it; which rank is 0 in it; -1: not told */
	bool is_world;            /* ranks in it are ranks */
	bool has_doubts;          /* of which message is which */
	uint64_t n_collectives;
};

struct nsys_lane { /* messages of one direction, found by communicator, peer and tag */
	uint64_t n;
	int32_t tid;
	bool has_doubts;
};

struct nsys_mpi {
	struct nsys_comm *comms; /* owned arrays, both */
	uint32_t n_comms;
	struct nsys_lane *lanes;
	uint32_t n_lanes;
	struct map comm_index, lane_index;
};

/* When a row was, and whose it is. */
struct nsys_span {
	uint64_t begin_ns, end_ns; /* clock of the stream */
	uint32_t process;          /* index */
	int32_t tid;               /* -1: of no thread */
	bool has_end;
};

/* A table whose rows become events. */
struct nsys_table {
	const char *name;
	const char *what; /* it tells: said where it is missing; NULL: few reports have it */
	int (*take)(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span);
	const char *category; /* of its calls; NULL: of CUDA's, by their names */
	bool is_by_time;      /* order is more than that of the rows */
	bool may_be_open;     /* an end is not needed */
};

struct nsys_session {             /* what a file says of itself */
	int64_t epoch_ns;         /* when it began; 0: not told */
	uint64_t hash;            /* of when it began, and of whom it is */
	uint32_t version, host;   /* strings */
	int32_t rank, world_size; /* of the environment; -1, 0: not told */
	size_t n_ranks, n_sizes;  /* variables that would hold before these */
	bool has_lost;            /* nsys missed events, it says */
};

struct nsys {
	struct import import; /* first */
	struct json_text args;
	uint64_t n_jobs, n_asyncs;
	const char *ranks; /* weak: those of the options, less what is used */

	/* of the file that is read */
	struct nsys_db *db;             /* owned */
	const char *path;               /* weak */
	const struct nsys_table *table; /* weak */
	uint32_t stream;                /* index */
	int64_t base_ns;                /* time of the file where its clock is 0 */
	struct nsys_session session;
	struct nsys_process *processes; /* owned arrays, both */
	uint32_t n_processes;
	struct nsys_device *devices;
	uint32_t n_devices;
	struct map process_index, device_index;
	struct map strings;    /* id of StringIds -> string */
	struct map nvtx_names; /* of domains and categories -> string */
	uint64_t n_rows, n_unnamed;
	struct nsys_nccl nccl;
	struct nsys_mpi mpi;
};

/* -- nsys.c */

/* Rejects the row, for a static reason. FLEXTRACE_E_MEMORY or 0, as all below. */
int nsys_reject(struct nsys *nsys, const struct nsys_rows *rows, enum loss_cause cause,
                const char *fault);

/* Stores the text that a cell of the row is the id of: one of the pool. */
int nsys_name(struct nsys *nsys, const struct nsys_rows *rows, enum nsys_column column,
              const char **ret_text);

/* Begins arguments of a category, adds numbers, and ends them: weak. */
struct nsys_member {
	enum nsys_column column;
	const char *key;
};

void nsys_args_begin(struct nsys *nsys, const char *category);
void nsys_args_number(struct nsys *nsys, const char *key, int64_t value);
void nsys_args_columns(struct nsys *nsys, const struct nsys_rows *rows,
                       const struct nsys_member *members, size_t n);
int nsys_args_end(struct nsys *nsys, const char **ret_args);

struct event nsys_event(const struct nsys *nsys, const struct nsys_rows *rows,
                        const struct nsys_span *span, enum record_class class);
int nsys_write(struct nsys *nsys, const struct event *event);

/* Ends the arguments and writes an interval of a thread that has them; only its begin where the
 * recording ended before it. */
int nsys_write_scope(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                     struct flextrace_scope *scope);

/* Tells what was rejected of a table, and whether it is read to its end. */
int nsys_end_table(struct nsys *nsys, const struct nsys_rows *rows, const char *table);

/* -- nsys_who.c */

/* Reads what is known before the first row, and defines who the rows are of behind the last. */
int nsys_read_session(struct nsys *nsys);
int nsys_define(struct nsys *nsys);

/* Walks a table: any code but 0 ends it. */
int nsys_each(struct nsys *nsys, const char *table,
              int (*visit)(struct nsys *nsys, const struct nsys_rows *rows));

int nsys_find_process(struct nsys *nsys, uint64_t global, uint32_t *ret_process);
int nsys_find_device(struct nsys *nsys, uint32_t process, uint32_t number);

/* -- nsys_host.c, nsys_device.c, nsys_mpi.c: takers of rows */

typedef int nsys_take(struct nsys *nsys, const struct nsys_rows *rows,
                      const struct nsys_span *span);
nsys_take nsys_take_nvtx, nsys_take_call, nsys_take_mpi, nsys_take_collective, nsys_take_message;
nsys_take nsys_take_kernel, nsys_take_copy, nsys_take_set, nsys_take_graph, nsys_take_sync,
	nsys_take_memory;

int nsys_read_nvtx_names(struct nsys *nsys); /* before ranges are read */
int nsys_read_communicators(struct nsys *nsys);

/* -- nsys_nccl.c */

int nsys_read_schemas(struct nsys *nsys);

/* Adds what a range carries to its arguments, and notes the range if it is one of NCCL. */
int nsys_take_payload(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                      const char *name);

/* Behind the last range: numbers operations, and finds which range launches which. */
int nsys_nccl_settle(struct nsys *nsys);

/* Notes what a call launches; finds whose kernel one is: NULL, of none. */
int nsys_nccl_launch(struct nsys *nsys, const struct nsys_span *span, uint64_t correlation);
const struct nsys_nccl_range *nsys_nccl_of(const struct nsys *nsys, uint32_t process,
                                           uint64_t correlation);

#endif
