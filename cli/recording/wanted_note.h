/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wanted_note.h: tells programs that a recording wants them (tracer/src/wanted.h), so that they
 * wait for LTTng's session daemon as they start.
 *
 * - Lines of other recordings stay, but for those whose daemon is gone.
 * - Where it cannot be written programs start as if nobody recorded: that is no error.
 */
#ifndef FLEXTRACE_WANTED_NOTE_H
#define FLEXTRACE_WANTED_NOTE_H

#include <stdbool.h>

/* Wants all programs that register with this user's session daemon, or those of the session.
 * Returns false if another flextrace does not let us, or a signal ended the wait for it. */
bool wanted_note(const char *session, bool wants_all);

void wanted_remove(const char *session);

#endif
