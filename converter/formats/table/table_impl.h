/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_impl.h: plain tables: CSV with a row for each interval, from whatever program.
 *
 * A table has columns `rank`, `name`, `start_ns` and `end_ns` (or `dur_ns`), and any others of
 * events.csv and host.csv; `group` and `seq` make a row an operation of several ranks. Tables of
 * points have `time_ns`: instants, counters, memory. Columns that have other names are arguments.
 */
#ifndef FLEXTRACE_IMPORT_TABLE_IMPL_H
#define FLEXTRACE_IMPORT_TABLE_IMPL_H

#include "base/map.h"
#include "base/text/csv_reader.h"
#include "base/text/json_text.h"
#include "base/text/text_list.h"
#include "formats/kit/faults.h"
#include "formats/kit/format.h"

/* clang-format off */
/* What a column is, and its name. */
#define TABLE_FIELDS(X) \
	X(RANK, "rank") X(HOST, "host") X(PID, "pid") X(TID, "tid") X(THREAD, "thread") \
	X(DEVICE, "device") X(QUEUE, "queue") X(KIND, "kind") X(NAME, "name") X(JOB, "job") \
	X(CORRELATION, "correlation") X(START, "start_ns") X(END, "end_ns") X(DUR, "dur_ns") \
	X(TIME, "time_ns") X(VALUE, "value") X(ADDRESS, "address") X(BYTES, "bytes") \
	X(POWER, "power") X(GROUP, "group") X(PEER, "peer") X(PEERS, "peers") X(SEQ, "seq") \
	X(OP, "op") X(ARGS, "args") X(STATUS, "status")

/* What flextrace derives from these, or says of how sure it was. */
#define TABLE_DERIVED \
	"depth", "err_ns", "ts1", "ts2", "ts3", "ts4", "ts5", "category", "class", "core", \
	"phase", "moved_ns", "source", "ideal_cycles", "iteration", "pt_util", "total_bytes"
/* clang-format on */

enum table_field {
#define TABLE_ENUMERATOR(id, name) FIELD_##id,
	TABLE_FIELDS(TABLE_ENUMERATOR)
#undef TABLE_ENUMERATOR
		FIELD_COUNT
};

struct table_file {
	struct import import;     /* first; each process is a stream */
	struct map process_index; /* by rank and pid, and host */
	struct map thread_index;  /* those that are defined, by process and tid */
	struct map device_index;  /* the same, by process and number */
	struct map dialect_index; /* those that its rows are of, by process */
	uint64_t n_async;
	int64_t epoch_ns; /* what all times count from */
	bool has_epoch;
	struct json_text args;
	/* The file that is read. */
	const char *path; /* weak */
	struct csv_reader csv;
	size_t at[FIELD_COUNT];  /* which field; SIZE_MAX: there is none */
	struct text_list others; /* of each field the name of an argument; "": it is none */
};

/* A row of it. */
struct table_row {
	uint32_t process, device; /* FLEXTRACE_NONE: of the host */
	int32_t rank, pid, tid;
	uint8_t dialect;   /* of its kind */
	uint32_t kind_key; /* KIND_KEY() or KIND_NONE */
	int64_t begin_ns, end_ns;
	uint64_t correlation, job, bytes, seq;
	bool has_seq;
	const char *kind, *name, *group, *op, *peers; /* weak: of the file */
	struct origin origin;
};

/* -- table_row.c: fields -> a row ------------------------------------------------------------- */

/* Looks where the columns stand. FLEXTRACE_E_INPUT: one is missing, or stands twice. */
int table_read_heading(struct table_file *table, struct flextrace_error *error);

bool table_has(const struct table_file *table, enum table_field column);

/* "" where there is none; weak, until the next line. */
const char *table_text(const struct table_file *table, enum table_field column);

/* Reads a field with a number that is not negative; empty: 0. False: it is none. */
bool table_number(const struct table_file *table, enum table_field column, uint64_t max,
                  uint64_t *ret_number);

/* NULL in `ret_fault`, or what is wrong with the row; defines whose it is, if he is new.
 * FLEXTRACE_E_MEMORY or 0. */
int table_read_row(struct table_file *table, struct table_row *ret_row, const char **ret_fault);

/* -- table_write.c: a row -> events ----------------------------------------------------------- */

int table_write_row(struct table_file *table, const struct table_row *row);

#endif
