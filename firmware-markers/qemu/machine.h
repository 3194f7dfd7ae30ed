/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: a QEMU process, its memory, and its interrupts.
 *
 * A thread of the machine starts QEMU, so that PR_SET_PDEATHSIG, which follows the thread that
 * started a process, ends QEMU exactly when this process ends without machine_release(). Then it
 * listens to QEMU's UART: each byte is an interrupt, those that are not zero are text for the
 * console, the end of the stream is QEMU's end.
 */
#ifndef QEMU_MACHINE_H
#define QEMU_MACHINE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct machine_setup {
	const char *program; /* weak; path of qemu-system-* */
	const char *cpu;     /* weak; -cpu, NULL = default */
	uint32_t n_harts;
};

struct machine {
	uint8_t *ram; /* owned; shared with QEMU */
	size_t ram_bytes;
	int ram_fd;  /* owned */
	int uart_fd; /* owned; -1 = not started */
	pthread_t thread;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t changed;
	const struct machine_setup *setup;                              /* weak, while it starts */
	void (*console)(void *context, const char *text, size_t bytes); /* NULL = nobody reads */
	void *console_context;                                          /* weak */
	pid_t pid;
	int is_alive;
};

/* Memory of zeros, in a file without a name; QEMU is not started. Negative errno. */
int machine_init(struct machine *machine, size_t ram_bytes);

/* Starts QEMU, whose harts begin at the start of the memory. Negative errno. */
int machine_start(struct machine *machine, const struct machine_setup *setup);

/* Ends QEMU, waits until it is gone, unmaps the memory. */
void machine_release(struct machine *machine);

/* Sleeps until `*word` - `count` >= 0 (modulo 2^32). -ETIMEDOUT at `deadline_ns`
 * (CLOCK_MONOTONIC), -EIO if QEMU ends first. */
int machine_wait(struct machine *machine, const uint32_t *word, uint32_t count,
                 uint64_t deadline_ns);

#endif
