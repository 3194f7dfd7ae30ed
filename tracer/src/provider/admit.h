/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.h: whether a record may be made, here and now.
 *
 * - Not in a process that LTTng does not know: the child of _Fork(), clone() or the system call,
 *   or of a parent with threads (fork.h). LTTng's buffers in it are its parent's. The word that
 *   tells is in a page that the kernel empties in every child.
 * - Not in a signal handler of a thread whose thread-local memory LTTng has not made yet: that
 *   takes malloc(), which the handler may have interrupted.
 * - Not while that memory is made: malloc() may be the program's, and record.
 * - Not in a process that LTTng does not know yet, although it is wanted (late.h).
 *
 * What is not admitted is counted, by event. 4 bytes of initial-exec thread-local memory.
 */
#ifndef FLEXTRACE_PROVIDER_ADMIT_H
#define FLEXTRACE_PROVIDER_ADMIT_H

#include <flextrace/flextrace.h>

enum admit_state {
	ADMIT_NONE = 0, /* LTTng does not know this process */
	ADMIT_ALL = 1,
	ADMIT_LATE = 2 /* not yet: late.h */
};

/* What LTTng has made of a thread's memory. */
enum admit_warmth {
	ADMIT_COLD = 0,
	ADMIT_WARM = ADMIT_ALL,
	ADMIT_WARMING = 4 /* no bit of enum admit_state */
};

extern const uint32_t *admit_is_own; /* points to an enum admit_state */
extern __thread uint32_t admit_warmth __attribute__((__tls_model__("initial-exec")));

/* Called once, before any record. Warms the calling thread. */
void admit_init(void);

/* In the child of a fork: it is known to LTTng again, or is not. */
void admit_set(enum admit_state state);

/* Makes the calling thread's thread-local memory; not in a signal handler. */
void admit_warm_thread(void);

/* What is rare: counts, or warms the thread. Returns as admit() does. */
int admit_slowly(enum flextrace_i_event event);

/* For signal handlers: 1 = make the record, 0 = it has been counted. */
int admit_in_handler(enum flextrace_i_event event);

/* Counts records that nobody made: they came before there was a provider. */
void admit_leave_out(uint64_t n);

/* Records of this process, and of its parent before the fork, that were not admitted. */
uint64_t admit_n_refused(void);

/* 1 = make the record, 0 = it has been counted. */
static inline int admit(enum flextrace_i_event event)
{
	uint32_t is_own = __atomic_load_n(admit_is_own, __ATOMIC_RELAXED);

	return __builtin_expect((is_own & admit_warmth) != 0, 1) || admit_slowly(event);
}

#endif
