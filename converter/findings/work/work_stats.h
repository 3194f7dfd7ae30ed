/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_stats.h: device work by queue, name and kind, counted once for all tables of names.
 *
 * It is control blocks as wholes: their DMA and preparation are parts of them, marker zones the
 * inside. Memory: that of struct stats.
 */
#ifndef FLEXTRACE_WORK_STATS_H
#define FLEXTRACE_WORK_STATS_H

#include "findings/statistics/stats.h"
#include "model/timeline/findings.h"

struct work_queue {
	uint32_t process, device; /* indexes */
	uint32_t queue;
};

struct work_stats {
	struct stats stats;        /* owners: places in `queues` */
	struct work_queue *queues; /* owned */
	uint32_t n_queues;
	bool is_of_many; /* devices of several processes worked */
	bool is_made;
};

/* Stores the statistics of the rows that are shown, weak: findings have them from when they are
 * first asked for. One analysis at a time. FLEXTRACE_E_MEMORY or 0. */
int work_stats_borrow(struct work_stats **ret, const struct findings *findings);
void work_stats_release(struct work_stats *all);

#endif
