/* SPDX-License-Identifier: Apache-2.0 */
/* registration.h: what the session daemon knows of a process with our provider. */
#ifndef FLEXTRACE_REGISTRATION_H
#define FLEXTRACE_REGISTRATION_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "session.h"

/* Events of ours that a process registered; 0: the daemon does not know it. */
int registration_count(pid_t pid, uint32_t *ret_n_events, struct flextrace_error *error);

/* An active session that records events of ours from a process. */
struct registration_session {
	char name[SESSION_NAME_SIZE];
	uint32_t n_events; /* of ours that are on */
};

/* Stores an owned array (free()) and returns its length. */
int registration_sessions(pid_t pid, struct registration_session **ret_sessions,
                          struct flextrace_error *error);

#endif
