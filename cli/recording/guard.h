/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h: leaves nothing half-written when the user interrupts a conversion.
 *
 * A thread waits for SIGINT, SIGTERM and SIGHUP, which are blocked meanwhile; when one comes it
 * removes private views and unfinished files (`*.tmp` of this user alone that are younger than the
 * guard) and lets the signal end the program. Signals that the caller ignores stay ignored.
 */
#ifndef FLEXTRACE_GUARD_H
#define FLEXTRACE_GUARD_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "formats/ctf/ctf_repair.h"

struct guard {
	pthread_t thread;
	bool is_running;
	sem_t waits; /* posted once: the thread holds no lock any more that a fork() would copy */
	sigset_t signals, old_mask;
	struct ctf_views *views; /* weak */
	const char *output_dir;  /* weak */
	struct timespec since;
};

/* Starts guarding; without a thread to spare it does nothing. */
void guard_begin(struct guard *guard, struct ctf_views *views, const char *output_dir);
void guard_end(struct guard *guard);

/* Does what a guard does on a signal, but ends nothing: for a conversion that died. */
void guard_clean(struct ctf_views *views, const char *output_dir, const struct timespec *since);

#endif
