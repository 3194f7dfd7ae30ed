/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h: which copies of libflextrace are in the process, and whether they record now.
 *
 * Recording is on unless the environment asks for less: FLEXTRACE_WINDOWS_ONLY=1 masks everything
 * but definitions outside windows, FLEXTRACE_SCHEDULE=wait,warmup,active,repeat outside the active
 * steps. Masked means that the state words the call sites look at are a static 0: a masked call
 * site costs what an event that is off costs. A thread that had looked just before still records.
 *
 * - All functions may be called from any thread; one lock holds the state. Under it nothing is done
 *   but state words written and records emitted.
 * - With a schedule the step event's state word is a static 1, so that steps are always counted.
 * - Knows no LTTng: recording_init() is told where LTTng's state words are.
 */
#ifndef FLEXTRACE_PROVIDER_RECORDING_H
#define FLEXTRACE_PROVIDER_RECORDING_H

#include <flextrace/flextrace.h>

#include "schedule.h"

/* Where LTTng keeps its state words, and the two events that recording emits itself. */
struct recording_backend {
	const int *const *states; /* one per event, flextrace_i_n_events of them */
	void (*step)(const struct flextrace_step *step);
	void (*window)(const struct flextrace_window *window);
};

/*
 * Sets up from the environment (`get` is secure_getenv() but for tests). `backend` is weak and
 * lives on. A schedule that cannot be understood counts as not set. May be called again (tests).
 */
void recording_init(const struct recording_backend *backend, char *(*get)(const char *name));

/* 1 if the step with this number (from 0, counted since start) is recorded. */
int recording_is_active(const struct recording_schedule *schedule, uint64_t step);

/* Keeps the client (weak, until detach) and gives it its state words. */
void recording_attach(struct flextrace_i_client *client);
void recording_detach(struct flextrace_i_client *client);

/*
 * While a process is late (late.h) all state words but those of definitions are a static 1: what is
 * not recorded is to be counted. Returns 1; 0 where the lock is held and the caller may not wait.
 */
int recording_set_late(int is_late, int may_wait);

/* Calls dump() of all clients. */
void recording_dump(void);

/* Counts a step, opens or closes the schedule's window, and records the step if recording. */
void recording_step(const struct flextrace_step *step);

/* Opens or closes a window and records that, inside it. */
void recording_window(const struct flextrace_window *window);

/* Around a fork; recording_forked() in the child, between lock and unlock, calls all forked(). */
void recording_lock(void);
void recording_unlock(void);
void recording_forked(void);

#endif
