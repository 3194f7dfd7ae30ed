/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_truth.h: traces of a device whose clock is known, for tests of unwrap and calibrate.
 *
 * A device takes operations from FIFO queues; its counter follows a host clock by a rate with
 * drift, steps and resets. What a trace would show (32-bit stamps, host brackets with latency
 * floors and long tails) stands beside what really was. The same seed gives the same trace.
 */
#ifndef CLOCK_TRUTH_H
#define CLOCK_TRUTH_H

#include "engine/calibrate/calibrate.h"
#include "engine/gather.h"
#include "engine/unwrap/unwrap.h"

struct clock_scene {
	const char *name;
	uint64_t seed;
	uint32_t n_ops;
	double hz;                /* of the counter at the start */
	uint64_t origin_ticks;    /* of the counter at the start */
	int64_t origin_ns;        /* host clock of the start */
	double mean_period_ns;    /* from submit to submit */
	double exec_ns;           /* mean time of the compute phase */
	uint32_t gap_every;       /* operations between idle gaps, 0 = none */
	double gap_ns;            /* length of a gap, +- 50 % */
	double floor_submit_ns;   /* least time from submit to TS1 */
	double floor_complete_ns; /* least time from TS5 to completion */
	double jitter_ns;         /* scale of what comes on top, with a heavy tail */
	double drift_ppm;         /* amplitude of a slow sine */
	double drift_period_ns;
	double step_ppm; /* the rate steps by this in the middle */
	uint32_t n_resets;
	double false_share;   /* brackets moved by up to 3 ms */
	double garbage_share; /* random stamps */
	uint32_t long_every;  /* operations between ones of long_ns, 0 = none */
	double long_ns;
	uint32_t n_queues;     /* 0 = 1 */
	uint32_t sync_every;   /* operations between clock_syncs, 0 = none */
	uint32_t counter_bits; /* 0 = 32 */
};

enum truth_lie { TRUTH_HONEST, TRUTH_FALSE_BRACKET, TRUTH_GARBAGE };

struct truth_op {
	uint64_t ticks[FLEXTRACE_N_STAMPS]; /* whole counter */
	double time_ns[FLEXTRACE_N_STAMPS]; /* after origin_ns */
	int64_t submit_ns, complete_ns;     /* as recorded */
	uint32_t queue;
	uint32_t ticks32[FLEXTRACE_N_STAMPS]; /* as recorded */
	uint32_t life;                        /* how many resets came before */
	enum truth_lie lie;
	uint8_t slipped; /* this stamp is false, and before the one in front of it; 0 = none */
};

struct truth_sync {
	int64_t before_ns, after_ns;
	uint64_t ticks;
	uint32_t after_op; /* recorded behind this operation */
};

struct clock_truth {
	struct clock_scene scene;
	struct truth_op *ops; /* owned, by completion */
	uint32_t n_ops;
	struct truth_sync *syncs; /* owned */
	uint32_t n_syncs;
	uint32_t n_lives;
};

void clock_truth_init(struct clock_truth *truth, const struct clock_scene *scene);
void clock_truth_release(struct clock_truth *truth);

/* A conversion up to calibrated clocks. */
struct clock_run {
	struct string_pool *strings; /* owned, all */
	struct identity identity;
	struct ledger ledger;
	struct stream stream;
	struct unwrap *unwrap;
	struct unwrap_output out;
	struct clocks *clocks;
	uint32_t n_records;
	bool is_recording; /* what is pushed goes to the stream, to be gathered */
	bool is_wide;      /* stamps of what is pushed have all bits of the counter */
	uint32_t domain;   /* of device 0: what is pushed next belongs to it, and what is judged */
};

void clock_run_init(struct clock_run *run);
void clock_run_release(struct clock_run *run);

/* The counter of `run->domain`, to be defined at will. */
struct counter *clock_run_counter(struct clock_run *run);

/* Pushes one record: fills the head's size, index, vpid, and counts it as read. */
void clock_run_push(struct clock_run *run, struct record *record, enum record_class class,
                    uint64_t clock_ns, uint32_t size_bytes);

/* Pushes the whole trace; with `split`, brackets come as submit and complete records. */
void clock_run_push_truth(struct clock_run *run, const struct clock_truth *truth, bool split);

/* Pushes what was recorded, as the converter does it. */
void clock_run_gather(struct clock_run *run);

/* unwrap_finish(); then calibrate_run(), which uses up the brackets. `options` NULL: the usual
 * ones. */
void clock_run_unwrap(struct clock_run *run, const struct calibrate_options *options);
void clock_run_calibrate(struct clock_run *run, const struct calibrate_options *options);

/* Both. */
void clock_run_finish(struct clock_run *run, const struct calibrate_options *options);

/* What a run made of a truth. */
struct clock_verdict {
	uint32_t certified, assumed, outliers;
	uint32_t sure;                     /* certified, and all stamps are placed so */
	uint32_t wrong_epochs;             /* certified, but not where the truth is */
	uint32_t wrong_assumed;            /* likewise, assumed */
	uint32_t outside;                  /* certified stamps whose true time is beyond err_ns */
	uint32_t outside_from, outside_to; /* operations that have these, the last one included */
	uint32_t violations;               /* certified operations outside their bracket */
	uint32_t inversions;               /* certified stamps placed against their order */
	uint32_t honest_outliers;          /* outliers that told the truth */
	uint32_t believed_garbage;         /* certified operations with random stamps */
	uint32_t segments;
	double worst_error_ns, mean_error_ns, worst_excess_ns;
	double bias_ns; /* mean of signed errors */
	double p50_error_ns, p99_error_ns;
};

void clock_run_judge(struct clock_run *run, const struct clock_truth *truth,
                     struct clock_verdict *ret_verdict);

#endif
