/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h: tells who waits for LTTng's daemons for long which of them stands still.
 *
 * LTTng's control library waits without an end: a daemon that somebody stopped (SIGSTOP, a
 * debugger, a frozen container) would keep `flextrace` waiting without a word. Nothing is given
 * up, for the records are in the daemon's hands.
 *
 *	struct watch watch;
 *
 *	watch_begin(&watch);
 *	lttng_stop_tracing(name);
 *	watch_end(&watch);
 */
#ifndef FLEXTRACE_WATCH_H
#define FLEXTRACE_WATCH_H

#include <pthread.h>
#include <stdbool.h>

struct watch {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t over;
	bool is_over, is_running;
};

void watch_begin(struct watch *watch);
void watch_end(struct watch *watch);

#endif
