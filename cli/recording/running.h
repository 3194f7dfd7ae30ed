/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running.h: which of the recordings that run a command is about.
 */
#ifndef FLEXTRACE_RUNNING_H
#define FLEXTRACE_RUNNING_H

#include "recording.h"

/* What a command looks for where nothing is named. */
struct running_wish {
	const char *prefix; /* weak: of the session's name */
	bool is_flight;     /* only flight recorders */
};

/*
 * Finds the recording with the directory or the session `name`, or, where it is NULL, the only one
 * that is wished for. Returns an exit code; a message was printed if it is not CLI_OK.
 */
int running_find(const char *name, const struct running_wish *wish,
                 struct recording *ret_recording);

#endif
