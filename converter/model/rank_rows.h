/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_rows.h: rows that the files of single ranks have besides those of the timeline, because
 * their readers cannot do without: steps where the program recorded none, and collectives that are
 * seen in the work of devices.
 *
 * Made by converter/findings/rank_rows.c, read by emit as const.
 */
#ifndef FLEXTRACE_RANK_ROWS_H
#define FLEXTRACE_RANK_ROWS_H

#include "model.h"

struct rank_row {
	int64_t start_time_ns, end_time_ns;
	uint32_t process;
	uint32_t number; /* of a step: ProfilerStep#number */
	bool is_turn;    /* of the loop in its kernels; else all there is */
	const char *op;  /* of a collective: "all_reduce", static; NULL = a step */
	uint64_t bytes;  /* of a collective */
	uint32_t lane;   /* collectives of one lane do not cross */
};

struct rank_rows {
	struct rank_row *rows; /* owned: by start, then process */
	uint32_t n;
};

#endif
