/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align_truth.h: traces of ranks on hosts whose clocks are known, for tests of align.
 *
 * Ranks work, meet in collectives and pass messages; hosts have offsets, rates that drift, wander
 * and are slewed. What the ranks would have recorded stands beside when it really was. The same
 * seed gives the same trace.
 */
#ifndef ALIGN_TRUTH_H
#define ALIGN_TRUTH_H

#include "engine/align/align.h"
#include "base/text/strings.h"

enum truth_shape {
	TRUTH_ALL,      /* everybody meets everybody */
	TRUTH_PAIRS,    /* neighbours meet, under one group name, told apart by their peers */
	TRUTH_PIPELINE, /* messages down the ranks and back up */
	TRUTH_DOWN,     /* messages down the ranks only */
	TRUTH_HALVES    /* two halves meet among themselves */
};

#define TRUTH_MAX_UPSETS 16

struct align_scene {
	const char *name;
	uint64_t seed;
	uint32_t n_ranks, ranks_per_host; /* 0 = 1 */
	uint32_t n_rounds;
	double period_ns; /* from round to round */
	enum truth_shape shape;
	double offset_ns;   /* hosts are off by up to this, each way */
	int64_t boot_ns;    /* and by this times their number */
	int64_t origin_ns;  /* of the first host's clock */
	double drift_ppm;   /* and run apart by up to this, each way */
	double wander_ppm;  /* amplitude of a slow sine in each rate */
	double slew_ppm;    /* rate of every second host steps by this for the middle third */
	double jump_ns;     /* the last host's clock jumps by this in the middle */
	double straggle_ns; /* somebody is late by up to this, at least by half of it */
	bool is_fixed;      /* always the last rank */
	double loose_ns;    /* nearly all leave late by up to this, at least by an eighth of it */
	double skew_ns;     /* either the first rank or all others leave late by up to this */
	double drop_share;  /* records that are missing */
	double false_share; /* records that are off by 1 to 20 ms, either way */
	/* What happens to one rank and its host only: rank 0 is the reference. */
	uint32_t odd_rank;
	double late_ns;    /* its exits are told late, by more and more up to this */
	double early_ns;   /* its enters are stamped early, likewise */
	double warm_ns;    /* both grow as what warms up does, in this time; 0 = evenly */
	uint32_t n_jumps;  /* of its clock, at any time; */
	double leap_ns;    /* each by up to this, at least by half of it, */
	bool is_backwards; /* either way */
	uint32_t n_slews;  /* of its clock, from any time on, either way, */
	double swift_ppm;  /* by this */
	double swift_ns;   /* for so long */
	double ramp_ppm;   /* all rates change evenly by up to this, either way */
	uint32_t n_empty;  /* ranks at the end, each on a host of its own, that record nothing */
};

struct truth_point {
	struct sync_point point;
	double enter_ns, exit_ns; /* true time since the start */
	uint32_t round;           /* which points belong together */
	bool is_lie;
};

struct align_truth {
	struct align_scene scene;
	struct truth_point *points; /* owned, by round and rank, all */
	uint32_t n_points;
	struct host { /* its clock: offset + t * rate + what wanders */
		int64_t offset_ns;
		double drift, phase, slew, jump_ns, ramp;
	} * hosts;
	struct upset {                 /* of the clock of the odd rank's host */
		double from_ns, to_ns; /* true time */
		double rate, leap_ns;
	} upsets[TRUTH_MAX_UPSETS];
	uint32_t n_upsets;
	uint32_t n_hosts;
	struct process *processes;
	struct host_clock *clocks;
	struct identity identity;
	struct string_pool *strings;
	double end_ns;
};

void align_truth_init(struct align_truth *truth, const struct align_scene *scene);
void align_truth_release(struct align_truth *truth);

/* What the clock of a host shows at a true time. */
int64_t align_truth_clock(const struct align_truth *truth, uint32_t host, double ns);

/* Fills a table with the points. */
void align_truth_points(const struct align_truth *truth, struct table *points);

/* What an alignment made of a truth, over all stamps and moments between them. */
struct align_verdict {
	uint64_t n, n_certified;
	double p50_ns, p99_ns, max_ns; /* error */
	uint64_t n_outside;            /* certified, but the truth is beyond err_ns */
	uint64_t n_violations; /* honest enters placed behind an honest exit of their round */
	uint64_t n_inversions; /* among them, of moments that are certified */
	double worst_ns;       /* how far a certified moment is beyond its bound */
	double width_ns;       /* mean half-width of what is certified */
	uint64_t n_backwards;  /* later moments of a host placed earlier */
};

void align_truth_judge(const struct align_truth *truth, const struct alignment *alignment,
                       struct align_verdict *ret_verdict);

#endif
