/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_row.h: a row of a timeline, whatever table it is of.
 */
#ifndef FLEXTRACE_ANY_ROW_H
#define FLEXTRACE_ANY_ROW_H

#include "model/timeline/timeline.h"

struct event_classes; /* event_class.h */
struct inputs;        /* ledger/inputs.h */
struct kernel_costs;  /* kernel_costs.h */

enum row_table { OF_HOST, OF_DEVICE, OF_INSTANTS, OF_COUNTERS, OF_MEMORY, N_ROW_TABLES };

/* What rows of all tables have, and whose they are. */
struct any_row {
	enum row_table table;
	const void *row; /* weak */
	int64_t start_time_ns, end_time_ns;
	uint32_t process;
	uint32_t thread, device; /* indexes or FLEXTRACE_NONE */
	uint32_t track;          /* FLEXTRACE_NONE, these three: none */
	uint32_t core, queue;
	uint32_t err_ns; /* UINT32_MAX = no bound */
	uint32_t stream, index;
	uint32_t source;                  /* place of its origin, which is `index` but for parts */
	uint32_t name, args, group, type; /* strings */
	uint64_t job;                     /* UINT64_MAX = none */
	uint64_t correlation, bytes;      /* 0 = none */
	int64_t peer;                     /* INT64_MIN = none */
	uint8_t kind, class, status;
	const struct tick_op *op;   /* weak; NULL: not of a control block */
	const struct mark_run *run; /* weak; NULL: no marker row */
};

extern const size_t any_row_bytes[N_ROW_TABLES];

const struct table *timeline_table(const struct timeline *timeline, enum row_table table);

/* How many there are in all tables. */
uint64_t timeline_n_rows(const struct timeline *timeline);

void any_row_read(const struct timeline *timeline, enum row_table table, const void *row,
                  struct any_row *ret);

/* What is known of a row by its track; of one of a queue its number. */
struct any_row any_row_of_track(const struct timeline *timeline, uint32_t track);

#endif
