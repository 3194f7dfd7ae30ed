/* SPDX-License-Identifier: Apache-2.0 */
/* qemu_impl.h: the device as its parts see it: boot (qemu.c), control blocks, ground truth. */
#ifndef QEMU_QEMU_IMPL_H
#define QEMU_QEMU_IMPL_H

#include <pthread.h>

#include <flextrace/qemu.h>

#include "host_clock.h"
#include "machine.h"
#include "mailbox.h"
#include "truth.h"

#define IDLE_US 100u /* that a core sleeps before it looks at its doorbell */

struct core {
	struct qemu_mailbox *mailbox; /* in the device's memory */
	uint8_t *window;
	struct truth_buffer *truth; /* owned; NULL = no truth is kept */
	uint32_t truth_taken;
	uint32_t index;
	pthread_mutex_t probe_lock; /* of who reads the counter */
	pthread_mutex_t lock;       /* of submitters and waiters: the rest */
	uint64_t submitted;
	int is_taken[QEMU_MAILBOX_DEPTH];
	uint64_t tickets[QEMU_MAILBOX_DEPTH];
	struct flextrace_emulator_job jobs[QEMU_MAILBOX_DEPTH];
	int is_stuck; /* a wait gave up */
};

/* Offsets in a window; bytes of a window and of all memory. The device may not be asked: whatever
 * its firmware does to its memory, the host stays within. */
struct layout {
	size_t truth, local, stage, window, ram;
};

struct flextrace_qemu {
	struct flextrace_emulator_config config; /* defaults filled in; pointers say nothing */
	struct machine machine;
	struct layout layout;
	struct qemu_boot *boot; /* in the device's memory */
	struct core cores[FLEXTRACE_QEMU_MAX_CORES];
	size_t area_bytes;
	uint64_t timeout_ns;
	uint64_t start_cycles;
	pthread_mutex_t truth_lock;
	struct truth_file truth;
	struct host_clock clock;
};

/* Words of the device. */
static inline uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline uint64_t load64(const uint32_t *low, const uint32_t *high)
{
	return (uint64_t)load(high) << 32 | load(low);
}

/* When a wait that begins now gives up. */
uint64_t deadline_of(const struct flextrace_qemu *qemu);

/* The counter of a core, read by the core: once, or with `probes` as closely as can be; and an
 * mcycle of meanwhile. */
int read_counter(struct flextrace_qemu *qemu, uint32_t core, int probes,
                 struct flextrace_qemu_reading *ret_reading, uint64_t *ret_cycles);

/* Opens the truth file, if there is to be one; takes the rows that a core has written; closes it.
 */
int stamps_open(struct flextrace_qemu *qemu);
void stamps_take(struct flextrace_qemu *qemu, struct core *core);
int stamps_close(struct flextrace_qemu *qemu);

#endif
