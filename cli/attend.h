/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.h: what `record` attends to while the program runs: snapshots that SIGUSR2 asks for, and
 * conversions beside the recording.
 *
 *	attend_begin(&attendance, ...);
 *	child_wait(pid, signals, &attendance.meanwhile);
 *	code = attend_finish(&attendance);
 */
#ifndef FLEXTRACE_ATTEND_H
#define FLEXTRACE_ATTEND_H

#include "background.h"
#include "child.h"
#include "recording.h"

struct attendance {
	struct meanwhile meanwhile;
	const struct recording *recording; /* weak */
	struct background background;
	bool is_unconverted;
};

/* `recording` and `conversion` stay where they are until attend_finish(). */
void attend_begin(struct attendance *attendance, const struct recording *recording,
                  const struct conversion_options *conversion);

/* Waits for the conversions. Returns the first exit code of one that was not CLI_OK, or CLI_OK. */
int attend_finish(struct attendance *attendance);

#endif
