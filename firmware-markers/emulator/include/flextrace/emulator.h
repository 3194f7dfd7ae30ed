/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulator.h: an accelerator inside the process, for demos and tests without one.
 *
 * A device has cores, each a thread that runs "firmware" instrumented with marker.h, a mailbox
 * (FIFO of control blocks) with a doorbell and a completion word per block, a local memory that
 * operands are copied into and results out of, and one marker area. All cores of a device share its
 * counter, or each has one of its own (`core_clocks`). A counter counts from CLOCK_MONOTONIC by a
 * rule the host knows exactly:
 *
 *   ticks(host_ns) = offset_ticks + rate * (host_ns - created_ns),  rate = counter_hz * (1 + drift)
 *
 * in integers, rounded down; the marker area and TS1..TS5 show its low 32 bits. With
 * `truth_path` set, every stamp a core takes is written with its true host time to a CSV file.
 *
 * A control block's life: the runtime takes its submit time, calls submit() (which rings the
 * doorbell), the core stamps TS1..TS5 into the control block, sets the completion word, wait()
 * returns, the runtime takes its complete time. TS1 accepted = DMA in starts, TS2 DMA in ends =
 * prep starts, TS3 prep ends = compute starts, TS4 compute ends = DMA out starts, TS5 DMA out ends.
 *
 * - Idle cores sleep on a futex; nothing here spins.
 * - Any thread may submit and wait; the memory of a job stays the caller's (weak) until wait()
 *   returned for it.
 * - Functions return 0 or a negative errno value.
 *
 * Linux only. C99 and C++11.
 */
#ifndef FLEXTRACE_EMULATOR_H
#define FLEXTRACE_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#include <flextrace/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

struct flextrace_emulator; /* opaque */

#define FLEXTRACE_EMULATOR_MAX_CORES 64u
#define FLEXTRACE_EMULATOR_N_STAMPS  5

/* From `at_ns` after creation on, the counter runs at counter_hz * (1 + drift_ppb / 1e9). */
struct flextrace_emulator_step {
	uint64_t at_ns;
	int32_t drift_ppb;
};

/* The counter of one core, where cores have their own. */
struct flextrace_emulator_clock {
	uint64_t offset_ticks; /* counter at creation: cores that were gated apart differ here */
	int32_t drift_ppb;     /* cores on one oscillator have the same drift and steps */
	/* Weak, ascending at_ns; NULL = constant rate */
	const struct flextrace_emulator_step *steps;
	size_t n_steps;
};

/* All zero but n_cores and counter_hz is a good configuration. */
struct flextrace_emulator_config {
	uint32_t device;       /* number of the device, for the truth file */
	uint32_t domain;       /* clock domain, for the marker areas; see core_clocks */
	uint32_t n_cores;      /* 1..FLEXTRACE_EMULATOR_MAX_CORES */
	uint64_t counter_hz;   /* nominal rate, 1..2^33 */
	uint64_t offset_ticks; /* counter at creation; just below 2^32 makes it wrap soon */
	int32_t drift_ppb;     /* how much faster than nominal it really runs, 1000 = 1 ppm */
	/* Weak, ascending at_ns; NULL = constant rate */
	const struct flextrace_emulator_step *steps;
	size_t n_steps;
	/* n_cores counters, weak: core c counts by core_clocks[c] in clock domain `domain` + c, and
	 * offset_ticks, drift_ppb and steps above say nothing. NULL = all share one counter and
	 * `domain`. */
	const struct flextrace_emulator_clock *core_clocks;
	uint32_t ring_capacity; /* marker records per core, a power of two; 0 = 4096 */
	uint32_t policy;        /* enum flextrace_wire_policy */
	uint32_t mailbox_depth; /* control blocks per core, a power of two; 0 = 16 */
	size_t local_bytes;     /* local memory per core; 0 = 1 MiB */
	uint64_t seed;          /* of the small pauses in the firmware; 0 = none */
	const char *truth_path; /* weak; ground-truth file to create, NULL = none */
	/* Gets what the firmware prints by its own means, beside the markers, as it comes, from a
	 * thread of the device, one call at a time. NULL = thrown away. */
	void (*console)(void *context, const char *text, size_t bytes);
	void *console_context; /* weak */
};

enum flextrace_emulator_op {
	FLEXTRACE_EMULATOR_MATMUL = 0, /* c = a * b, n x n int32 modulo 2^32, row-major */
	FLEXTRACE_EMULATOR_COPY = 1,   /* source to local memory to target */
	FLEXTRACE_EMULATOR_FILL = 2,   /* target is filled with `fill` bytes */
	FLEXTRACE_EMULATOR_ADD = 3,    /* c = a + b, n x n int32 modulo 2^32 */
	FLEXTRACE_EMULATOR_REDUCE = 4, /* c[0] = sum of the n x n int32 of a, modulo 2^32 */
	FLEXTRACE_EMULATOR_EMIT = 5,   /* n rounds of the markers in `kinds`, nothing else */
	/* The firmware opens a zone in the kernel and never comes back. On QEMU only: there a core
	 * can be taken away. */
	FLEXTRACE_EMULATOR_HANG = 6
};

#define FLEXTRACE_EMULATOR_PRINT 1u /* in `kinds`: a line on the console in each round, too */

/* One control block. MATMUL, ADD and REDUCE need 3 * n * n * 4 bytes of local memory, COPY and FILL
 * `bytes`. */
struct flextrace_emulator_job {
	uint32_t core;
	uint32_t queue;       /* goes into the marker slot */
	uint64_t job;         /* host's number for the block; its low 32 bits go into the slot */
	uint32_t op;          /* enum flextrace_emulator_op */
	uint32_t n;           /* all but COPY and FILL */
	uint32_t repeat;      /* times a kernel is computed, to make it longer; 0 = 1 */
	uint32_t kinds;       /* EMIT: 1 << FLEXTRACE_WIRE_MARK, _ZONE_BEGIN (and end), _VALUE */
	const int32_t *a, *b; /* MATMUL, ADD; REDUCE only a; weak */
	int32_t *c;           /* MATMUL, ADD, REDUCE; weak */
	const void *source;   /* COPY, weak */
	void *target;         /* COPY and FILL, weak */
	size_t bytes;         /* COPY and FILL */
	uint8_t fill;         /* FILL */
};

struct flextrace_emulator_completion {
	int status;                               /* 0 or negative errno of the work itself */
	uint32_t ts[FLEXTRACE_EMULATOR_N_STAMPS]; /* low 32 bits of TS1..TS5 */
	uint32_t run;   /* number of the firmware's run in its marker area */
	uint32_t power; /* accumulated power counter of the device at TS4 */
};

/* Starts a device. -EINVAL: bad configuration; -ENOMEM; or why the truth file cannot be made. */
int flextrace_emulator_create(const struct flextrace_emulator_config *config,
                              struct flextrace_emulator **ret_emulator);

/*
 * Finishes all submitted jobs, stops the cores, closes the truth file. NULL is a no-op. -EIO if a
 * row of the truth file could not be written.
 */
int flextrace_emulator_destroy(struct flextrace_emulator *emulator);

/*
 * Queues a job and rings its core's doorbell. Never blocks: -EAGAIN when the mailbox is full (wait
 * for the oldest ticket of this core first), -EINVAL for a job that cannot run.
 */
int flextrace_emulator_submit(struct flextrace_emulator *emulator,
                              const struct flextrace_emulator_job *job, uint64_t *ret_ticket);

/*
 * Blocks until the job is complete and frees its control block. Each ticket is waited for exactly
 * once, in any order; -EINVAL for one that is not outstanding.
 */
int flextrace_emulator_wait(struct flextrace_emulator *emulator, uint32_t core, uint64_t ticket,
                            struct flextrace_emulator_completion *ret_completion);

/* The marker area of a core (the device keeps it), as a driver would map it for the drain. */
struct flextrace_wire_area *flextrace_emulator_area(struct flextrace_emulator *emulator,
                                                    uint32_t core, size_t *ret_bytes);

/* All 64 bits of a core's counter now, for an explicit clock_sync bracket. */
uint64_t flextrace_emulator_counter(const struct flextrace_emulator *emulator, uint32_t core);

/* What it shows at `host_ns` (CLOCK_MONOTONIC): the truth that tests compare with. */
uint64_t flextrace_emulator_ticks_at(const struct flextrace_emulator *emulator, uint32_t core,
                                     uint64_t host_ns);

/* Path of the ELF file that holds the firmware's marker names, for flextrace_device_names(). */
const char *flextrace_emulator_elf(void);

#ifdef __cplusplus
}
#endif

#endif
