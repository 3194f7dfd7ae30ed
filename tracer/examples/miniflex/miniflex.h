/* SPDX-License-Identifier: Apache-2.0 */
/*
 * miniflex.h: a small runtime in the shape of a real one, instrumented as a user would.
 *
 * Each rank is a process with a device of its own (emulated in the process, or RISC-V cores under
 * QEMU), forked by miniflex or started by a launcher with --rank and --join. A run compiles a
 * graph once and executes it `iterations` times: convert data, copy it in, launch one kernel after
 * the other on all cores, wait, copy out, check the result, all-reduce it with the other ranks.
 *
 *   main.c        ranks as processes
 *   options.c     the command line
 *   runtime.c     the phases
 *   device.c      control blocks, their completion, clock calibration, markers
 *   backend.c     what kind of device it is
 *   collective.c  barrier and all-reduce over shared memory
 */
#ifndef MINIFLEX_H
#define MINIFLEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <flextrace/emulator.h>
#include <flextrace/flextrace.h>

#define MINIFLEX_MAX_RANKS 64u
#define MINIFLEX_MAX_STEPS 16u

struct options {
	uint32_t n_ranks;
	int32_t rank;          /* run this one only, in this process; -1 = fork all */
	const char *join_path; /* where ranks that were started one by one meet; NULL = nowhere */
	uint32_t n_iterations;
	uint32_t idle_ms;   /* pause after each iteration */
	uint32_t n_kernels; /* per iteration */
	bool is_qemu;
	uint32_t isa; /* of QEMU's cores, enum flextrace_qemu_isa */
	uint32_t n_cores;
	uint32_t size;        /* rows of the square matrices */
	bool has_core_clocks; /* each core counts by a counter of its own */
	uint64_t counter_hz[MINIFLEX_MAX_RANKS];
	/* the 32-bit counter wraps for the first time this long after start; that of core c with a
	 * counter of its own c + 1 times as long */
	uint64_t wrap_after_ms;
	int32_t drift_ppb;
	struct flextrace_emulator_step steps[MINIFLEX_MAX_STEPS]; /* of the drift */
	uint32_t n_steps;
	uint32_t ring_capacity;
	uint64_t seed;
	const char *truth_dir; /* NULL = no ground-truth files */
	bool is_quiet;
};

/* 0: run, 1: usage was asked for and printed, -1: wrong usage, said on stderr. */
int options_parse(struct options *options, int argc, char **argv);

/* -- collective.c: between the ranks of one run ---------------------------------------------- */

#define COLLECTIVE_WORDS 64u

struct collective; /* in memory shared by all ranks */

struct collective *collective_new(uint32_t n_ranks); /* before the ranks fork; NULL: no memory */

/* The same in a file, for ranks that were not forked: the first to come makes it. A run needs a
 * file of its own. NULL: why is in errno. */
struct collective *collective_join(const char *path, uint32_t n_ranks);
void collective_free(struct collective *collective);

/* Adds `values` (COLLECTIVE_WORDS of them) of all ranks; every rank gets the sum. */
void collective_all_reduce(struct collective *collective, int64_t *values);

/* A rank that fails leaves, so that the others do not wait for it. */
void collective_leave(struct collective *collective);

/* -- device.c -----------------------------------------------------------------------------------
 */

struct device; /* a backend, one completion thread per core */

struct launch { /* one control block to be launched */
	struct flextrace_emulator_job job;
	enum flextrace_device_kind kind;
	const char *name;
	uint64_t correlation;
	uint64_t bytes;
};

/* NULL after a message on stderr. */
struct device *device_open(const struct options *options, uint32_t rank);
void device_close(struct device *device);

/* Rings the doorbell; the completion thread of the core records the rest. 0 or negative errno. */
int device_launch(struct device *device, struct launch *launch);

/* Waits until everything launched is complete; 0 or the first control block's error. */
int device_synchronize(struct device *device);

/* A few bracketed reads of each counter. */
void device_calibrate(struct device *device);

/* -- runtime.c ------------------------------------------------------------------------------------
 */

/* Runs one rank to its end; exit status. `collective` NULL: reduces nothing. */
int runtime_run(const struct options *options, struct collective *collective, uint32_t rank);

#endif
