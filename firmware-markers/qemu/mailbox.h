/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.h: the memory that the host and the firmware on QEMU share, as both see it.
 *
 *   0x80000000  image            code, read-only data, data and stacks of the firmware (link.ld)
 *   0x800ff000  boot block       written by the host before the machine starts
 *   0x80100000  window of core 0 `window_bytes`, then that of core 1, ...
 *
 * A window holds the mailbox, the marker area, rows of the ground truth, the core's local memory,
 * and per control block of the mailbox a stage: the "host memory" that the firmware's DMA reaches.
 * Each part begins on a page of its own: QEMU notices stores to a page that holds code, slowly.
 *
 * - Words are 32 bits, little-endian, each with one writer.
 * - Control block i stands at blocks[i % QEMU_MAILBOX_DEPTH]. The host fills it, then stores
 *   `doorbell` = i + 1. The firmware works blocks off in order, fills the completion, stores
 *   `done` = i + 1 and sends a zero byte through the UART: the interrupt, which says nothing but
 *   "look". Other bytes are the firmware's console.
 * - An idle core sleeps in wfi for `idle_ticks` of the 10 MHz timer, then looks at its doorbell.
 * - The counter of a core is floor(mcycle * ratio / 2^32) + offset.
 * - A core that works on QEMU_OP_CLOCK stays awake for QEMU_PROBE_TICKS of the 10 MHz timer after
 *   each number that it sees in `probe`: it reads its counter, then stores the number in `probed`.
 *   Bit 31 of the number ends it.
 */
#ifndef QEMU_MAILBOX_H
#define QEMU_MAILBOX_H

#include <flextrace/wire.h>

#define QEMU_RAM_ADDRESS   0x80000000u
#define QEMU_BOOT_OFFSET   0x000ff000u
#define QEMU_CORES_OFFSET  0x00100000u
#define QEMU_PAGE_BYTES    0x1000u
#define QEMU_MAX_CORES     16u
#define QEMU_MAILBOX_DEPTH 4u
#define QEMU_TRUTH_ROWS    0x8000u /* per core, a power of two */

/* How far a core has come, in its mailbox. */
#define QEMU_ALIVE 1u /* it runs, and waits for `go` */
#define QEMU_READY 2u /* its marker area is set up */

struct qemu_boot {
	uint32_t go; /* 1 = the counters are set: cores may take control blocks */
	uint32_t n_cores;
	uint32_t window_bytes;
	uint32_t truth_offset, local_offset, stage_offset; /* in a window */
	uint32_t stage_bytes;
	uint32_t ring_capacity;
	uint32_t policy;
	uint32_t idle_ticks;
	uint32_t has_truth;
};

/* Beyond enum flextrace_emulator_op: the completion brings the counter. No markers. */
#define QEMU_OP_CLOCK 0x100u

#define QEMU_PROBE_TICKS 200000u
#define QEMU_PROBE_END   0x80000000u

struct qemu_block {
	/* the host's */
	uint32_t op, n, repeat, kinds, bytes, fill, queue, job_lo, job_hi, unused0[7];
	/* the firmware's */
	uint32_t run, power, ts[5];
	uint32_t ticks_lo, ticks_hi;   /* the counter ... */
	uint32_t cycles_lo, cycles_hi; /* ... and the mcycle it was made of */
	uint32_t unused1[5];
};

struct qemu_mailbox { /* one page */
	/* the host's */
	uint32_t doorbell;
	uint32_t truth_taken; /* rows that the host has read */
	uint32_t domain;
	uint32_t ratio, offset_lo, offset_hi;
	uint32_t probe; /* QEMU_OP_CLOCK: asks for a reading */
	uint32_t unused0[9];
	/* the firmware's */
	uint32_t state;
	uint32_t done;
	uint32_t truth_written, truth_lost;
	uint32_t power;                                    /* units this core has spent */
	uint32_t ticks_lo, ticks_hi, cycles_lo, cycles_hi; /* last reading of the counter */
	uint32_t probed;                                   /* the reading is of this `probe` */
	uint32_t unused1[6];
	struct qemu_block blocks[QEMU_MAILBOX_DEPTH];
};

#define QEMU_AREA_OFFSET QEMU_PAGE_BYTES /* of the marker area in a window */

struct qemu_truth { /* one stamp */
	uint32_t kind, id, run;
	uint32_t job_lo, job_hi;
	uint32_t ticks_lo, ticks_hi, cycles_lo, cycles_hi;
	uint32_t unused[7];
};

#endif
