/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_id.h: what the id of a recording says of it.
 *
 * The id of a recording is the name of its LTTng session, which LTTng writes into each of its
 * traces (`trace_name`): "flextrace-LABEL-YYYYMMDD-HHMMSS-PID". The programs that the recording
 * starts carry it in FLEXTRACE_SESSION and tell it with their process. LTTng records every program
 * of the user into every session; so the id of the trace and that of the process say whose it is.
 */
#ifndef FLEXTRACE_RECORDING_ID_H
#define FLEXTRACE_RECORDING_ID_H

#include <stdbool.h>

/* LABEL of a recording that is not about a command; a command is never labelled like this. */
#define RECORDING_LABEL_START   "start"   /* of `start`: all that runs */
#define RECORDING_LABEL_RUNNING "running" /* of `record` without a command: the same */
#define RECORDING_LABEL_PROCESS "process" /* of `record --pid`: one process, whosoever it is */

/* --session with this keeps the processes of all recordings. */
#define RECORDING_ALL "all"

enum recording_scope {
	RECORDING_OF_OTHERS,  /* not the id of a recording of ours */
	RECORDING_OF_COMMAND, /* only processes that carry the id */
	RECORDING_OF_RUNNING, /* all but those that carry another one */
	RECORDING_OF_PROCESS, /* all that was recorded */
};

enum recording_scope recording_scope_of(const char *id);

/* Whether a process that says it is of the recording `claimed` ("" = of none) is left out of the
 * trace of the recording `id`. */
bool recording_excludes(const char *id, const char *claimed);

#endif
