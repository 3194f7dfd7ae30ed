/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h: which line of its family a row goes to, so that no two rows of a line cross.
 *
 * Rows come in output order (start, longer first). In a family that nests, lane 0 takes every row
 * that lies inside or behind what is open there, and the others overflow. Overflow lanes, and all
 * lanes of a family that does not nest, hold one row at a time; the lowest free one is taken. There
 * is no limit on lanes. O(log lanes) per row, amortised.
 */
#ifndef FLEXTRACE_LANES_H
#define FLEXTRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

struct busy_lane {
	int64_t end;
	uint32_t lane;
};

struct lanes {
	bool nests;
	int64_t *open; /* owned: ends of what is open on lane 0, outermost first */
	uint32_t n_open, n_open_allocated;
	struct busy_lane *busy; /* owned: heap, earliest end first */
	uint32_t n_busy, n_busy_allocated;
	uint32_t *free_lanes; /* owned: heap, lowest lane first */
	uint32_t n_free, n_free_allocated;
	uint32_t n_lanes; /* ever used */
};

void lanes_init(struct lanes *lanes, bool nests);
void lanes_release(struct lanes *lanes);

/* Stores the row's lane, and how many open rows of lane 0 lie around it. FLEXTRACE_E_MEMORY or
 * 0. */
int lanes_place(struct lanes *lanes, int64_t start, int64_t end, uint32_t *ret_lane,
                uint32_t *ret_depth);

#endif
