/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_counts.h: each thread counts what it emits, in a file that outlives the process
 * (emit_file.h).
 *
 * - Counting takes one addition to memory. A thread takes its slot with its first record: no lock,
 *   no malloc, one system call for each 16 threads.
 * - A signal handler that interrupts a record loses no count: one instruction adds, or an atomic
 *   operation where the processor has no such instruction.
 * - Where the file cannot be made, counts go to memory of the process, and readers are told by the
 *   absence of the file. Nothing here fails.
 */
#ifndef FLEXTRACE_PROVIDER_EMIT_COUNTS_H
#define FLEXTRACE_PROVIDER_EMIT_COUNTS_H

#include "emit_file.h"
#include "wanted.h"

/* Slot of this thread; NULL until its first record, and for threads that found none. Initial-exec:
 * the dynamic kind may call malloc() at the first access. */
extern __thread struct emit_slot *emit_counts_own
	__attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Which recording the process is started by, and where its user's own session daemon is; before the
 * file is made. */
void emit_counts_init(const struct wanted *wanted);

/* Makes the file, below `root`. In the child of a fork as well: counts from here on are its own.
 * False: there is no memory for counts at all. */
int emit_counts_open(const char *root, uint64_t start_ns);

/* At the end of the process: removes the file if nothing was emitted. Nothing in a child that did
 * not open one of its own. */
void emit_counts_close(void);

/* What is told of a process that registers late: how long it waited; that its records are counted
 * by emit_counts_add_late() now, which takes no slot. Signal handlers may call that. */
void emit_counts_note_wait(uint64_t ms);
void emit_counts_be_late(void);
void emit_counts_add_late(unsigned int event);

/* A record that was not made. Of a child that has no file it counts for its parent. Signal handlers
 * may call that. */
void emit_counts_add_unrecorded(void);

/* Takes a slot for the thread, and counts. */
void emit_counts_first(unsigned int event);

static inline void emit_counts_add(unsigned int event)
{
	struct emit_slot *slot = emit_counts_own;

	if (__builtin_expect(!slot, 0)) {
		emit_counts_first(event);
		return;
	}
#if defined(__x86_64__)
	__asm__("addq $1, %0" : "+m"(slot->n[event]) : : "cc");
#else
	__atomic_fetch_add(&slot->n[event], 1, __ATOMIC_RELAXED);
#endif
}

#endif
