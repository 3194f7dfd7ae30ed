/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patience.h: bounds the waits for others: a lock, a process, a program that we run.
 *
 * After some seconds the user is told what is waited for. From then on a signal that ends programs
 * ends the wait. Its bound ends it, too. The user is told of either. watch.h does the same for the
 * calls of LTTng's control library.
 *
 *	struct patience patience = {.what = "the lock", .limit_s = 60};
 *
 *	while (!has_it())
 *		if (!patience_lasts(&patience, -1))
 *			return GIVEN_UP;
 *
 * - Signals end a wait only if the caller blocks them (child.h); otherwise they have their usual
 *   effect. They stay pending: the next wait, and the caller, see them as well.
 */
#ifndef FLEXTRACE_PATIENCE_H
#define FLEXTRACE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define PATIENCE_S      3   /* before anything is told */
#define PATIENCE_LOCK_S 120 /* what another flextrace may take to begin or end a recording */

/* CLOCK_MONOTONIC. */
static inline int64_t patience_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

struct patience {
	const char *what; /* weak: what is waited for */
	int limit_s;
	int64_t began_ns; /* 0 = at the first call */
	bool is_announced;
};

/* Waits until `fd` (-1: none) can be read, but no longer than a moment. Returns false if the
 * patience is over. */
bool patience_lasts(struct patience *patience, int fd);

/* A held signal that has come and ends waits, 0 = none. */
int patience_ending_signal(void);

/* Waits for the end of a child, which is killed if that takes too long. Returns false then, or if
 * it is no child of ours. */
bool patience_reap(struct patience *patience, pid_t pid, int *ret_status);

/* Waits for the end of any process. */
bool patience_await_end(struct patience *patience, int pidfd);

/* Waits for a lock of flock(2). Returns false with ETIMEDOUT if the patience is over, or with
 * another errno. */
bool patience_flock(struct patience *patience, int fd);

/* Waits for the lock of one byte that belongs to the open file, for writing or reading (F_WRLCK,
 * F_RDLCK). Returns false likewise. */
bool patience_lock_byte(struct patience *patience, int fd, short type, off_t byte);

#endif
