/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_note.h: writes down what processes have emitted so far, as they count it themselves
 * (tracer/src/emit_file.h), into a recording (converter/model/ledger/emitted.h).
 *
 * Looks at the files of this user; as root, of all. What a file says is checked: who may write it
 * is the program.
 */
#ifndef FLEXTRACE_EMIT_NOTE_H
#define FLEXTRACE_EMIT_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/emitted/emitted.h"

/* Whose records a recording is to have. */
struct emit_wish {
	const char *session; /* weak */
	bool wants_all;      /* of all that register with this user's session daemon */
	long pid;            /* of this process alone; 0: none */
	/* What LTTng says it had no room for, at the end; NULL: not asked. */
	const uint64_t *n_discarded;
};

/* Appends the counters of all processes to the file of a recording, of one of its chunks or of a
 * snapshot; begins it at EMITTED_STARTING. Warns where it cannot be written. */
void emit_note(const char *path, const struct emit_wish *wish, enum emitted_time time);

/* Begins the file of what began when another did. */
void emit_note_copy(const char *from, const char *to);

/* Removes the files of processes that have ended. Not while another session may still want them. */
void emit_forget(void);

#endif
