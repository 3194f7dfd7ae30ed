/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.h: a process that a recording wants, and that LTTng does not know yet.
 *
 * LTTng waits for its session daemon when it is loaded, and in the child of a fork, for a time that
 * loader.c chooses. Where that was too short, and a recording wants this process (wanted.h), it
 * waits on here, says so, and gives up after LATE_LIMIT_MS. From then on it is late: its records
 * are refused and counted apart (emit_file.h), until LTTng has registered it or no recording wants
 * it any more.
 */
#ifndef FLEXTRACE_PROVIDER_LATE_H
#define FLEXTRACE_PROVIDER_LATE_H

#include <flextrace/flextrace.h>

#define LATE_LIMIT_MS 30000

/* Called once. `state`: LTTng's state word of an event that is on in every recording. */
void late_init(const int *state, char *(*get)(const char *name));

/* Behind LTTng's wait, which took `waited_ns` of at most `limit_ns`. Without `may_wait` it does not
 * wait on; with `may_tell` it says so on standard error. */
void late_begin(uint64_t waited_ns, uint64_t limit_ns, int may_wait, int may_tell);

/* LTTng has registered this process, and records it. */
void late_end(void);

/* In the child of a fork, before LTTng makes it known. */
void late_forked(void);

/* Counts a record of a late process. Signal handlers, too. */
void late_count(enum flextrace_i_event event);

/* Now and then, where nobody wants the process any more, ends being late. Not in a signal handler.
 */
void late_check(void);

#endif
