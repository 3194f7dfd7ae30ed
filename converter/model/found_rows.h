/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_rows.h: rows that traces have besides those of the timeline: collectives that are seen in
 * the work of devices; and, for readers of files of single ranks, which cannot do without, steps
 * where the program recorded none.
 *
 * Made by converter/findings/found_rows.c, read by emit as const.
 */
#ifndef FLEXTRACE_FOUND_ROWS_H
#define FLEXTRACE_FOUND_ROWS_H

#include "model.h"

struct found_row {
	int64_t start_time_ns, end_time_ns;
	uint32_t process;
	uint32_t number; /* of a step: ProfilerStep#number */
	bool is_turn;    /* of the loop in its kernels; else all there is */
	const char *op;  /* of a collective: "all_reduce", static; "": not known; NULL = a step */
	uint64_t bytes;  /* of a collective, and all that follow */
	uint32_t device; /* index */
	uint32_t group;  /* string */
	uint32_t lane;   /* collectives of a process that have one lane do not cross */
	uint32_t err_ns; /* UINT32_MAX = no bound */
	uint8_t status;  /* enum time_status */
};

struct found_rows {
	struct found_row *rows; /* owned: by start, then process */
	uint32_t n;
	bool has_ranks; /* files of single ranks are asked for */
};

#endif
