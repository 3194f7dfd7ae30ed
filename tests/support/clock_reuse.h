/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_reuse.h: a truth recorded by a runtime whose job numbers come again, as submit and complete
 * records and a device_op record without host times, which is written whenever somebody drained
 * the stamps.
 */
#ifndef CLOCK_REUSE_H
#define CLOCK_REUSE_H

#include "clock_truth.h"

struct clock_reuse {
	uint64_t seed;
	uint32_t n_jobs;    /* of the ring; more where so much work is in flight */
	double drain_ns[2]; /* from completion to the device_op's record, least and greatest */
	bool is_in_use;     /* numbers come in turn, whether their work is complete or not */
	bool is_in_turn;    /* stamps are drained in order, else whenever */
	double lost_share;  /* of each kind of record, which the tracer tells */
	double burst_s[2];  /* every so often, all records of so long are lost */
	double cut_s;       /* all records until then are lost */
	double shuffle_ns;  /* submit and complete records are written so much later, at most */
	double late_share;  /* of the completions ... */
	double late_ns;     /* ... are seen so much later on average */
	bool has_correlation;
};

/* Pushes a truth that way, and puts its operations in the order of their device_op records; those
 * whose device_op is lost leave it. */
void clock_reuse_push(struct clock_run *run, struct clock_truth *truth,
                      const struct clock_reuse *reuse);

#endif
