/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wanted.h: whether a recording that runs wants this process, so that it is worth waiting for
 * LTTng's session daemon.
 *
 * `flextrace record` and `start` say so in a file beside the sockets of the daemon they record
 * with, a line for each of them:
 *
 *	RUN_DIR/WANTED_FILE	DAEMON_PID DAEMON_START_TICKS PID_NAMESPACE all|own SESSION
 *
 * - `all` wants every process that registers there, `own` those with FLEXTRACE_SESSION=SESSION.
 * - A line whose daemon is gone counts for nothing: its pid is nobody's, or a later process's. It
 *   cannot be checked from another pid namespace; then it is believed.
 * - Whoever has no such line does not wait, be the daemon stopped or busy.
 *
 * No malloc, no lock: may be asked in a signal handler.
 */
#ifndef FLEXTRACE_TRACER_WANTED_H
#define FLEXTRACE_TRACER_WANTED_H

#define WANTED_FILE    "flextrace.wanted"
#define WANTED_ALL     "all"
#define WANTED_OWN     "own"
#define WANTED_RUN_DIR "/var/run/lttng" /* of root's daemon, with which everybody registers */
#define WANTED_BYTES   4096             /* of the file; what is behind that is not read */

struct wanted {
	char session[128]; /* FLEXTRACE_SESSION */
	char home[512];    /* whose .lttng is the user's own daemon's directory; "" = none */
};

/* Reads the environment through `get`, which is secure_getenv() but for tests. */
void flextrace_i_wanted_init(struct wanted *ret_wanted, char *(*get)(const char *name));

/* 1 if a recording wants this process now. */
int flextrace_i_is_wanted(const struct wanted *wanted);

/* The same of the text of one file, which is changed. */
int flextrace_i_is_wanted_by(const struct wanted *wanted, char *text);

#endif
