/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h: bounds the waits for LTTng's daemons.
 *
 * LTTng's control library waits without a limit: a daemon that was stopped (SIGSTOP, a debugger, a
 * frozen container) would keep `flextrace` waiting without a message. After some seconds the user
 * is told what is waited for. From then on a signal that ends programs ends the wait, and so does
 * its bound: the call returns an error, as if the daemon was gone. Waits for anything else:
 * patience.h.
 *
 *	WATCH(code, lttng_stop_tracing(name));
 *
 * - Signals end a wait only if the caller blocks them (child.h); otherwise they have their usual
 *   effect. They stay pending.
 */
#ifndef FLEXTRACE_WATCH_H
#define FLEXTRACE_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define WATCH_LIMIT_S 60

struct watch {
	pthread_t thread, caller;
	pthread_mutex_t mutex;
	pthread_cond_t over;
	int limit_s;
	bool is_over, is_running;
	atomic_bool has_given_up;
};

void watch_begin(struct watch *watch, int limit_s);

/* Returns true if the wait was given up. */
bool watch_end(struct watch *watch);

/* One call under a watch: code = call. */
#define WATCH_FOR(limit_s, code, call)         \
	do {                                   \
		struct watch watch_;           \
		watch_begin(&watch_, limit_s); \
		(code) = (call);               \
		watch_end(&watch_);            \
	} while (0)
#define WATCH(code, call) WATCH_FOR(WATCH_LIMIT_S, code, call)

#endif
