/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_time.h: what each device was at from its first work to its last, in all and over time, and
 * how long the host program of its process was in a call.
 *
 * The stretches of a device in which the same classes of work are under way follow each other
 * without a hole, so that whatever is counted of them adds up to the time between the two. Found in
 * one pass for all tables. Memory: 300 bytes per device and 19 kB per process.
 */
#ifndef FLEXTRACE_DEVICE_TIME_H
#define FLEXTRACE_DEVICE_TIME_H

#include "model/timeline/findings.h"
#include "work.h"

/* What time is counted as, behind the sets of classes that were at work: enum work_class, from each
 * on. Of classes the first one is what a stretch counts for: what computes hides all else,
 * communication hides copies, and copies hide preparation. */
enum device_time_part {
	SPENT_IDLE,                         /* no class at all */
	SPENT_WALL = 1 << WORK_CLASS_COUNT, /* behind all sets of classes */
	SPENT_BUSY,
	SPENT_CLASS,                                    /* one was at work */
	SPENT_EXPOSED = SPENT_CLASS + WORK_CLASS_COUNT, /* it was what counts */
	/* why a device was idle: its next work was launched later, or just before */
	SPENT_HOST_WAIT = SPENT_EXPOSED + WORK_CLASS_COUNT,
	SPENT_KERNEL_WAIT,
	SPENT_OTHER_IDLE,
	SPENT_UNSURE_IDLE, /* of these: if times are wrong by their errors, another one */
	SPENT_PART_COUNT
};

struct device_time {
	uint32_t n; /* stretches, or devices that are summed up; 0: it never worked */
	int64_t first_time_ns, last_time_ns;
	uint64_t ns[SPENT_PART_COUNT];
};

enum time_bucket_part { BUCKET_IDLE = WORK_CLASS_COUNT, BUCKET_HOST, BUCKET_PART_COUNT };

/* A part of the run. */
struct time_bucket {
	uint64_t ns[BUCKET_PART_COUNT]; /* enum work_class: exposed; enum time_bucket_part */
};

struct device_times {
	struct device_time *devices; /* owned: by struct device */
	struct time_bucket *buckets; /* owned: `n_buckets` of each struct process */
	bool *is_there;              /* owned: by process: there is anything in its buckets */
	uint64_t width_ns;           /* of a bucket but for the last */
	uint32_t n_buckets;          /* 0: the run lasts no time */
	bool is_made;
};

/* Stores the times of what is shown, weak: findings have them from when they are first asked for.
 * One analysis at a time. FLEXTRACE_E_MEMORY or 0. */
int device_times_borrow(const struct device_times **ret, const struct findings *findings);
void device_times_release(struct device_times *times);

#endif
