/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guardian.h: a process that looks after a recording: it ends it if its recorder dies.
 *
 * Whatever takes `flextrace record` away (SIGKILL, a launcher that kills the job of a failed rank)
 * would leave the LTTng session active, and what ran later would be recorded into it. So `record`
 * forks a guardian before it makes the session. It is in a session of its own, out of reach of what
 * is sent to a process group or from a terminal, and does nothing but:
 *
 * - while the recording runs, have the buffers healed where a program that died holds everything
 *   up (rings.h). That is all that one of `flextrace start` does, until `flextrace stop`, or until
 *   the session has gone in another way: then it takes the note back that makes programs wait;
 * - once the recorder is gone without having ended the session: end it, unless other members of
 *   the job live. Its trace stays for `flextrace convert`;
 * - convert, if the recorder had been asked to end (SIGTERM) and was killed before it was done.
 */
#ifndef FLEXTRACE_GUARDIAN_H
#define FLEXTRACE_GUARDIAN_H

#include "recording.h"

/* What to convert, with what; called in the guardian. */
struct guardian_work {
	int (*convert)(void *context, const struct recording *recording);
	void *context;       /* weak */
	uint32_t n_expected; /* members of the job, 0 = not known */
};

/*
 * Forks it. Where that cannot be, the recording goes on without, and says so. `work` NULL: the
 * guardian of `start`, which outlives its caller: two processes, each of which replaces the other
 * if that is killed. The others below do nothing without one.
 *
 * `recording->guardian` breaks (POLLERR) when the guardian dies.
 */
void guardian_begin(struct recording *recording, const struct guardian_work *work);

/* Forks another one, as this one has died. False: it cannot be. */
bool guardian_replace(struct recording *recording, const struct guardian_work *work);

/* What the recorder tells: that it was asked to end; that the session has ended; all is done. */
enum guardian_word { GUARDIAN_ASKED = 'a', GUARDIAN_ENDED = 's', GUARDIAN_DONE = 'e' };
void guardian_tell(const struct recording *recording, enum guardian_word word);

/*
 * Forks a process that ends a session once LTTng answers again, as long as its daemon is there: one
 * that it may still make, though nobody waits for that any more. False: it cannot be.
 */
bool guardian_undo(const char *session);

/* All is done. */
void guardian_end(struct recording *recording);

#endif
