/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.h: LTTng's session daemon: found, or started for as long as it is needed.
 *
 * A daemon that answers is used, and never stopped. If none answers, one is started without a
 * console. It is identified by its pid and start time, so that the command that ends the recording
 * can stop that process and no other. Of several recordings the last one stops it.
 */
#ifndef FLEXTRACE_DAEMON_H
#define FLEXTRACE_DAEMON_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct session_daemon {
	pid_t pid;            /* 0: it was there before us, leave it alone */
	uint64_t start_ticks; /* /proc/PID/stat, tells it from a later process of that pid */
};

bool daemon_is_alive(void);

/* True if a daemon of ours could write its directory, which is stored. */
bool daemon_has_place(char ret_run_dir[PATH_MAX]);

/* Whether we are root where LTTng's group is not mapped: root's daemon cannot give it files. */
bool daemon_lacks_group(void);

/*
 * One `flextrace` of a user at a time starts the daemon and makes its session, or ends its session
 * and stops the daemon: else two would start one each, or one stop it under the other. Stores a
 * descriptor for daemon_unlock(); -1 = there is nowhere to lock, go on without. Returns false if
 * another one holds it too long, or a signal ended the wait.
 */
bool daemon_lock(int *ret_lock);
void daemon_unlock(int lock);

/* Waits, with a word to the user, for the consumer daemons that a session daemon left when it died:
 * they write what they have, and a new session daemon would trip over them. Bounded. */
int daemon_await_orphans(struct flextrace_error *error);

/* Makes sure that a session daemon answers. Where one died, daemon_await_orphans()
 * comes first. Blocks SIGCHLD and SIGUSR1 while it starts one. */
int daemon_ensure(struct session_daemon *ret_daemon, struct flextrace_error *error);

/* Stores the daemon that runs if some `flextrace` started it, by its command line: for whoever ends
 * its last session. Else zeroes: leave it alone. */
void daemon_recognize(struct session_daemon *ret_daemon);

/*
 * Stops the daemon if it is ours and no session is left in it, and waits for its end. Returns 1
 * if it was left running for the sessions of others, 0 otherwise.
 */
int daemon_stop(const struct session_daemon *daemon);

#endif
