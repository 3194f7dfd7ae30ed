/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h: runs the traced program in the foreground, as if it was started from the terminal
 * directly.
 *
 * The program stays in our process group: it keeps the terminal and its place in a pipeline, and
 * Ctrl-C, Ctrl-\ and Ctrl-Z reach it as they would without us. We outlive the first two. Signals
 * that are sent to us alone are passed on.
 *
 * - signals_hold() first, so that a signal at any time ends the recording properly;
 *   signals_release() last.
 */
#ifndef FLEXTRACE_CHILD_H
#define FLEXTRACE_CHILD_H

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct held_signals {
	sigset_t held;                 /* those that would end us, and SIGCHLD */
	sigset_t before;               /* the mask that the program gets */
	struct sigaction child_action; /* of SIGCHLD, before */
};

/* What is done while we wait. */
struct meanwhile {
	void (*tick)(void *context);      /* each tick_ns, and when a child of ours ends; or NULL */
	void (*on_usr2)(void *context);   /* SIGUSR2 is for us; NULL: it is as any other signal */
	void (*on_end)(void *context);    /* somebody asked us to end (SIGTERM); or NULL */
	void (*on_broken)(void *context); /* `watched_fd` has lost its other end */
	int watched_fd;                   /* weak; 0 = none */
	int64_t tick_ns;                  /* 0 = only when a child ends */
	void *context;                    /* weak */
};

/* Holds back the signals that would end us, but those that we were told to ignore (nohup). */
void signals_hold(struct held_signals *ret_signals);

/* Holds back SIGUSR2 from here on, even if we were told to ignore it: who starts us so means that
 * it shall not end us before we listen. */
void signals_hear_usr2(struct held_signals *signals);
void signals_release(const struct held_signals *signals);

/* What has come so far has been obeyed: it ends no wait (patience.h). */
void signals_forget(const struct held_signals *signals);

/* For a forked child: its signals are as they were before, and those that have come reach it. */
void signals_restore(const struct held_signals *signals);

/* From now on the signal neither asks for anything nor ends us; the program is as it was. */
void signals_ignore(int number);

/* A signal that came while it was held and that ends, 0 = none. */
int signals_pending(const struct held_signals *signals);

/* Waits for one of the held signals to come, or for the process `pid` to end (0 = none). Returns
 * the signal or 0. */
int signals_wait(const struct held_signals *signals, pid_t pid, const struct meanwhile *meanwhile);

/* Finds a program as a shell does. Returns 0 and its path, or the shell's exit code: 127 = not
 * found, 126 = cannot be executed. */
int child_find(const char *program, char ret_path[PATH_MAX]);

/* Starts argv with our environment. Returns its pid, or FLEXTRACE_E_SYSTEM with the reason. */
pid_t child_start(const char *path, char *const argv[], const struct held_signals *signals,
                  struct flextrace_error *error);

/* Waits for the program, passing signals on. Returns its exit code, 128 + n for signal n. */
int child_wait(pid_t pid, const struct held_signals *signals, const struct meanwhile *meanwhile);

#endif
