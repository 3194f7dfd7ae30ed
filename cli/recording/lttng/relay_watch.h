/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_watch.h: reports during the recording that the relay is gone.
 *
 * LTTng reports it only when the session ends. Its consumer daemon has two connections for each
 * session. The kernel shows their state, so no daemon has to be asked, and the relay does not
 * notice.
 *
 *	relay_watch_before(&watch, true);
 *	... LTTng makes the session, and no other one meanwhile ...
 *	relay_watch_after(&watch);
 *	... every now and then: relay_watch_look(&watch);
 */
#ifndef FLEXTRACE_RELAY_WATCH_H
#define FLEXTRACE_RELAY_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RELAY_WATCH_MAX 64

struct relay_watch {
	pid_t consumer; /* 0 = none is watched */
	uint64_t consumer_start_ticks;
	uint64_t inodes[RELAY_WATCH_MAX]; /* of its sockets */
	uint32_t n;
	bool is_wanted, has_reported_silent, has_reported_broken;
};

void relay_watch_before(struct relay_watch *watch, bool is_wanted);
void relay_watch_after(struct relay_watch *watch);

/* Tells once that a connection is broken, and once that nobody answers on it. */
void relay_watch_look(struct relay_watch *watch);

#endif
