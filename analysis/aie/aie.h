/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aie.h: what the cores of AI engines did, in cycles: kernels, stalls, and the iterations that long
 * stalls part.
 *
 * - A core is a device whose name has "core_trace". Its kernels are its rows of kind Exec, its
 *   stalls the states LOCK_STALL.
 * - An iteration begins with a kernel behind a stall of at least stall_factor median kernels. What
 *   a core waits before its first kernel is no iteration, and none is without kernels.
 * - Kernels are all kept: those far from the median are flagged as outliers.
 * - Memory: 16 bytes per kernel and stall, some 100 per iteration.
 */
#ifndef FLEXTRACE_ANALYSIS_AIE_H
#define FLEXTRACE_ANALYSIS_AIE_H

#include "model/aie_options.h"
#include "analysis/analysis_impl.h"

struct aie_span { /* cycles */
	uint64_t begin, end;
};

struct aie_spans {
	struct aie_span *all; /* owned; in order of begin */
	uint32_t n;
	uint64_t cycles; /* sum */
	bool is_open;    /* one more has no end: it began at `open_since` */
	uint64_t open_since;
};

struct aie_state {     /* of a core: the sum of its rows of one name */
	uint32_t name; /* string */
	uint64_t n, cycles;
	bool is_open;
	uint64_t open_since;
};

enum aie_phase { AIE_WARMUP, AIE_PERF, AIE_EXTRA };

struct aie_iteration {
	uint32_t first, n; /* kernels of its core */
	uint32_t n_outliers;
	uint64_t sum, min, max; /* of their cycles */
	uint64_t begin, end;    /* first start, last end */
	uint64_t stalled;       /* cycles of LOCK_STALL between these */
	enum aie_phase phase;
};

#define AIE_FILE_BYTES 160

struct aie_core {
	uint32_t device; /* index of struct device */
	char file[AIE_FILE_BYTES];
	struct aie_spans kernels, stalls;
	struct aie_state *states; /* owned */
	uint32_t n_states;
	struct map state_index; /* name -> state */
	uint64_t first, last;   /* cycles between which it was traced */
	double median;          /* cycles of a kernel; 0: there is none */
	double ghz;             /* 0: not known */
	uint32_t n_boundaries, n_outliers;
	uint64_t leading_wait;            /* cycles of the stall before the first kernel */
	struct aie_iteration *iterations; /* owned */
	uint32_t n_iterations;
	uint32_t perf_begin, perf_end; /* iterations that count */
};

#define AIE_HWID_BYTES 128

struct aie_run {
	const struct timeline *timeline; /* weak */
	const char *path;                /* weak: of the trace */
	struct aie_options options;
	char hwid[AIE_HWID_BYTES]; /* as the path tells it */
	struct aie_core *cores;    /* owned; in order of their devices */
	uint32_t n_cores;
};

/* FLEXTRACE_E_MEMORY or 0; aie_release() in any case. `run` stays where it is. */
int aie_find(struct aie_run *run, const struct findings *findings);
void aie_release(struct aie_run *run);

/* Adds what the path of a trace tells to options that nobody gave. */
void aie_read_path(struct aie_options *options, const char *path, char hwid[AIE_HWID_BYTES]);

/* Names the files of all cores: by their tiles, no two alike. FLEXTRACE_E_MEMORY or 0. */
int aie_name_files(struct aie_run *run);

/* "tile2,1": weak. */
const char *aie_tile_name(const struct aie_run *run, const struct aie_core *core);

bool aie_is_outlier(const struct aie_run *run, const struct aie_core *core,
                    const struct aie_span *kernel);

/* Cores that share the work, as told, or as there are. */
double aie_sharers(const struct aie_run *run);

/* Multiplications and additions of an iteration on all cores; 0: not known. */
double aie_macs(const struct aie_run *run);

/* 10^9 of them a second at that many cycles; 0: not known. */
double aie_gmacs(double macs, double ghz, double cycles);

/* Parts of a whole; NAN: not known. */
double aie_part(double part, double whole);

#endif
