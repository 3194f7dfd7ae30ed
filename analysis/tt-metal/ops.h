/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h: operations of a framework: what each was on the host, on each device, and what it called.
 *
 * - An operation is a host row that the program told more of (FLEXTRACE_OP_SCOPE, op, tensor).
 * - Device work is an operation's if it has its correlation, or that of a row on its thread inside
 *   it; of operations in each other it is the inner one's. Marks of firmware are those of the
 *   control block whose job their run worked on; without one, the job is the correlation.
 * - A call is the innermost operation's that it stands in.
 * - A line of a report that tells no host times has device work only, and a line of its own.
 */
#ifndef FLEXTRACE_ANALYSIS_OPS_H
#define FLEXTRACE_ANALYSIS_OPS_H

#include <cJSON.h>

#include "analysis/analysis_impl.h"
#include "base/map.h"
#include "ops_columns.h"

struct ops_span { /* from the first start to the last end; n 0: none */
	int64_t start_time_ns, end_time_ns;
	uint64_t first_ticks, last_ticks;
	uint64_t n;
};

struct ops_core { /* a core's kernels of an operation */
	struct ops_span span;
	uint32_t next; /* of the same work; FLEXTRACE_NONE: the last */
};

struct ops_work { /* what an operation did on one device */
	uint32_t line;
	uint32_t device;                    /* index */
	uint32_t next;                      /* of the same line; FLEXTRACE_NONE: the last */
	struct ops_span firmware, blocks;   /* runs of firmware; control blocks, all parts */
	struct ops_span kernels, exec;      /* kernels of the firmware; Exec rows */
	struct ops_span riscs[OPS_N_RISCS]; /* kernels, by processor */
	uint32_t first_core, n_cores;       /* of `cores` */
	double ideal_ns;                    /* of the kernels that the compiler names */
	int64_t latency_ns, dm_latency_ns;  /* since the end of the one before on the device */
	bool is_first;                      /* there is none before */
	uint8_t status;                     /* enum time_status, the worst */
};

struct ops_call { /* functions of one name that an operation called */
	uint64_t n, total_ns;
};

struct ops_line {
	struct host_row row;
	const struct op_call *call; /* weak */
	uint32_t given;             /* string: what a report told of it */
	bool has_host;              /* a row */
	uint32_t process, thread;   /* indexes */
	uint64_t number;            /* in its process, from 1 */
	uint32_t first_work;        /* FLEXTRACE_NONE: none */
};

/* What a report of tt-metal may tell instead of what we know. */
enum ops_report { REPORT_CANNOT_HAVE, REPORT_MAY_HAVE, REPORT_HAS };

struct ops {
	const struct timeline *timeline;  /* weak, both */
	const struct kernel_costs *costs; /* NULL: no compiler information */
	struct ops_line *lines;           /* owned, all; in order of time */
	uint32_t n_lines;
	struct ops_work *works;
	uint32_t n_works;
	struct ops_core *cores;
	uint32_t n_cores;
	struct map work_index; /* (line, device) -> work */
	struct map core_index; /* (work, core) -> core */
	/* (line, name) -> place in `calls` */
	struct map call_index;
	struct ops_call *calls;
	uint32_t n_calls;
	uint32_t *names; /* strings, sorted by their texts: of all functions */
	uint32_t n_names;
	struct map name_index;
	uint32_t n_inputs, n_outputs; /* the most that an operation has */
	struct column *columns;       /* owned, their names, too: of ops.csv */
	uint8_t *reports;             /* by column: enum ops_report */
	uint32_t n_columns;
};

/* FLEXTRACE_E_MEMORY or 0; ops_release() in any case. */
int ops_find(struct ops *ops, const struct findings *findings);
void ops_release(struct ops *ops);

/* What is its device time: of the firmware where it told any, else of the control blocks. */
static inline const struct ops_span *ops_firmware(const struct ops_work *work)
{
	return work->firmware.n ? &work->firmware : &work->blocks;
}

static inline const struct ops_span *ops_kernels(const struct ops_work *work)
{
	return work->kernels.n ? &work->kernels : &work->exec;
}

/* Kernels from the first of the data movement processors on; n 0: none is known. */
struct ops_span ops_moved_kernels(const struct ops_work *work);

/* ops_device.c: the device rows of operations. `launches`: (correlation, process) -> line. */
int ops_add_device(struct ops *ops, const struct map *launches);

/* -- rows of ops.csv ------------------------------------------------------------------------- */

/* ops_columns.c */
bool ops_is_of_work(const struct column *column);
struct ops_row ops_row_of(const struct ops *ops, const struct ops_line *line,
                          const struct ops_work *work);

/* ops_given.c: what a report told. */

/* Adds lines for device work whose report tells no host times. FLEXTRACE_E_MEMORY or 0. */
int ops_add_given(struct ops *ops, uint64_t *numbers);

/* Notes which columns reports have, and adds those that only they have. FLEXTRACE_E_MEMORY or 0. */
int ops_learn_given(struct ops *ops);

/* What a report told of an operation, owned by the caller; NULL: nothing, or no memory. */
cJSON *ops_parse_given(const struct ops *ops, const struct ops_line *line);

/* Its lines. */
const cJSON *ops_given_lines(const cJSON *given);

/* The runtime's number of a line's device; FLEXTRACE_NONE: it has none. */
uint32_t ops_given_device(const cJSON *given);

/* Stores the cells of a line, NULL: no report, by column; NULL where ours is to stand. A log of the
 * device goes before the report. */
void ops_list_given(const struct ops *ops, const cJSON *given, bool is_logged, const char **ret);

/* ops_csv.c */

/* Adds a column that only a report has. FLEXTRACE_E_MEMORY or 0. */
int ops_add_extra(struct ops *ops, const char *name);

/* Makes the columns and puts the rows. FLEXTRACE_E_MEMORY or 0. */
int ops_put(struct ops *ops, struct row_sink *sink);

#endif
