/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consumers.h: LTTng's consumer daemons, which write what a session daemon's buffers hold.
 *
 * A session daemon that ends waits for its consumers; one that is killed leaves them behind. They
 * write what they have and end by themselves, and last of all they remove the socket of their name.
 * If a new session daemon has made its own socket of that name by then, its consumer cannot be
 * reached ("64-bit UST consumer start failed"), and neither daemon ends. So wait for old consumers
 * before starting a session daemon.
 */
#ifndef FLEXTRACE_CONSUMERS_H
#define FLEXTRACE_CONSUMERS_H

#include <limits.h>
#include <sys/types.h>

/* Where this user's session daemon has its sockets, as LTTng chooses it. "" = nowhere. */
void consumers_name_run_dir(char run_dir[PATH_MAX]);

/*
 * Finds a consumer daemon of this user that has its sockets in that very directory, be it mounted
 * under another name. Returns a pidfd and stores the pid; -1 = there is none.
 */
int consumers_find(const char *run_dir, pid_t *ret_pid);

/* The same in the directory of this user's session daemon. */
int consumers_find_own(pid_t *ret_pid);

/* That session daemon, by the file that it keeps there; 0 = unknown. */
pid_t consumers_daemon(void);

#endif
