/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex_truth.h: Flex-style JSON of ranks whose clocks are known, for tests of its importer.
 *
 * Each rank has a device with a counter of its own rate, drift and origin, and a host whose clock
 * is off the others'. In each iteration a rank launches kernels, one after the other on the
 * compute engine; then the ranks pass a ring all-reduce: rank r sends to r + 1, which receives and
 * adds; the last one sends the sum to all. Launches of an iteration are one "AIU Roundtrip".
 *
 * What Flex would write (32-bit stamps, host times it estimated by a rate that is a little off)
 * goes to one file, what really was to another. The same scene gives the same bytes.
 *
 * flex_damage() spoils what is written, and notes on each event what was done to it.
 */
#ifndef FLEX_TRUTH_H
#define FLEX_TRUTH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "clock_model.h"

#define FLEX_STAMPS    5
#define FLEX_MAX_RANKS 8

enum flex_stamps {
	FLEX_HEX,     /* "TS1":"0xc06cc211" */
	FLEX_DECIMAL, /* "TS1":"3228353041" */
	FLEX_NUMBER,  /* "TS1":3228353041 */
	FLEX_LIST,    /* "cycles_ts":[...] */
	FLEX_N_STAMP_FORMS
};

struct flex_form {
	bool is_object;   /* {"traceEvents":[...]}, else a bare array */
	bool is_complete; /* X, else adjacent B and E */
	bool has_args;    /* "args", else "attr" */
	bool is_shuffled; /* events stand in any order; B and E stay together */
	bool is_nested;   /* B and E stand where their times say, others between them */
	enum flex_stamps stamps;
};

struct flex_scene {
	uint64_t seed;
	uint32_t n_ranks, n_iterations;
	uint32_t n_empty_ranks; /* further ones that have a name and no event */
	uint32_t reset_every;   /* iterations after which all counters begin anew, 0 = never */
	uint32_t n_kernels;     /* of each rank and iteration */
	struct counter_model counter;
	double rank_ppm;    /* rates of the ranks' counters differ by up to this, each way */
	double host_ppm;    /* so do those of their hosts' clocks */
	int64_t start_ns;   /* the first host's clock */
	int64_t boot_ns;    /* each further host's is so much behind the one before */
	double period_ns;   /* from iteration to iteration */
	uint32_t gap_every; /* iterations between idle gaps, 0 = none */
	double gap_ns;
	double exec_ns; /* mean time of a kernel's compute phase */
	double longs;   /* share of kernels that take `long_ns` to 1.4 times that instead */
	double long_ns;
	double floor_submit_ns, floor_complete_ns, jitter_ns;
	double estimate_ppm, estimate_ns; /* how far off Flex's own host times are */
	struct flex_form form;
};

/* A scene with wraps, gaps and drift, its form drawn by the seed. */
struct flex_scene flex_scene_of(uint64_t seed);

enum flex_kind { FLEX_KERNEL, FLEX_SEND, FLEX_RECEIVE, FLEX_PROTOCOL };

enum flex_fate { /* of an event, as bits */
	         FLEX_LOST = 1,
	         FLEX_NO_BEGIN = 2, /* only its E is there */
	         FLEX_NO_END = 4,
	         FLEX_TWICE = 8
};

struct flex_op {                        /* a control block */
	char name[128];                 /* without the phase */
	uint64_t ticks[FLEX_STAMPS];    /* whole counter; the low 32 bits are recorded */
	double true_ns[FLEX_STAMPS];    /* of the first host's clock, since the start */
	int64_t host_ns[FLEX_STAMPS];   /* of its own host's clock */
	int64_t submit_ns, complete_ns; /* likewise; only the iteration's are recorded */
	int64_t flex_ns[FLEX_STAMPS];   /* what Flex believes of host_ns */
	uint32_t words[FLEX_STAMPS];    /* the stamps as recorded */
	uint32_t rank, iteration;
	uint32_t n_resets; /* of its counter, before */
	uint8_t fates[2];  /* enum flex_fate, of its phases' events */
	bool is_garbage;   /* `words` are chance */
	enum flex_kind kind;
	uint32_t power;
	char attributes[128]; /* further members, as JSON: ,"Peer":"1" */
};

struct flex_trip {                          /* "AIU Roundtrip" */
	int64_t begin_ns, end_ns;           /* of its host's clock */
	int64_t told_begin_ns, told_end_ns; /* as recorded */
	uint32_t rank, iteration;
	uint8_t fate;
};

struct flex_truth {
	struct flex_scene scene;
	struct flex_op *ops; /* owned */
	uint32_t n_ops;
	struct flex_trip *trips; /* owned */
	uint32_t n_trips;
	struct {
		uint64_t origin_ticks;
		int64_t origin_ns; /* of its host's clock */
		double hz, host_ppm;
	} ranks[FLEX_MAX_RANKS];
};

/* Shares are of 1. What is not named is left as it is. */
struct flex_damage {
	uint64_t seed;
	double lost, lost_begins, lost_ends; /* events */
	uint32_t burst_every, burst;         /* events: so many in a row are lost, every so many */
	double duplicated;                   /* events */
	double garbage;                      /* control blocks with stamps of chance */
	double wrong_trips;                  /* trips with the times of the one before */
	double lost_trips;
	/* Flex's host times of device work: */
	double gaps;      /* iterations of a rank that seem to be `gap_wraps` wraps later */
	double half_gaps; /* iterations of a rank whose second half seems to be so */
	double odd_gaps;  /* iterations of a rank of which every other control block seems so */
	int32_t gap_wraps;
	bool loses_wraps;    /* of long work: all that follows in its trip is early */
	bool keeps_early;    /* and all in later trips */
	bool is_counted_low; /* each control block, from its first stamp on, by low bits alone */
	int64_t shift_ns;
	double scatter_ns;  /* each trip's by up to this, either way */
	double noise_ns;    /* each control block's likewise */
	double stretch_ppm; /* from the begin of each trip on */
	double overlaps;    /* control blocks that seem to end `overlap_ns` later */
	int64_t overlap_ns;
};

/* Returns false if there is no memory. */
bool flex_truth_init(struct flex_truth *truth, const struct flex_scene *scene);
void flex_truth_release(struct flex_truth *truth);

/* Fills in what Flex makes of an undamaged trace: flex_ns, words, told. */
void flex_truth_tell(struct flex_truth *truth);

/* Spoils what will be written. */
void flex_damage(struct flex_truth *truth, const struct flex_damage *damage);

/* Writes the events of a rank, or of all (-1). Returns whether it could; likewise below. */
bool flex_truth_write_json(const struct flex_truth *truth, int32_t rank, FILE *file);

/*
 * Writes one line each, fields apart by tabs:
 *   rank R ORIGIN_NS HOST_PPM HZ
 *   trip R ITERATION BEGIN_NS END_NS IS_WRONG
 *   op R ITERATION KIND NAME TS1..TS5 NS1..NS5 SUBMIT_NS COMPLETE_NS TRUE1..TRUE5 FATE1 FATE2
 *      IS_GARBAGE OFF_NS
 * Ticks are whole; ns are of the rank's host clock, TRUE of the first rank's. OFF: by how much
 * Flex's time of TS4 is late. FATE: enum flex_fate of the events of its phases.
 */
bool flex_truth_write_truth(const struct flex_truth *truth, FILE *file);

/* The phases of an operation that are events: from stamp, to stamp, suffix of the name. */
struct flex_phase {
	int from, to;
	const char *suffix;
	uint64_t tid;
};

/* Returns how many there are, at most 2. */
uint32_t flex_phases(const struct flex_op *op, struct flex_phase phases[2]);

#endif
