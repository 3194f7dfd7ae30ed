/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.h: the tasks of `record` while the program runs: snapshots that SIGUSR2 asks for,
 * rotation, conversions beside the recording, a guardian that dies, and a relay that is lost.
 *
 *	attend_begin(&attendance, ...);
 *	child_wait(pid, signals, &attendance.meanwhile);
 *	attend_end(&attendance);
 *	... the recording ends ...
 *	code = attend_finish(&attendance);
 */
#ifndef FLEXTRACE_ATTEND_H
#define FLEXTRACE_ATTEND_H

#include "process/background.h"
#include "process/child.h"
#include "member.h"
#include "recording.h"
#include "rotation.h"

struct attendance {
	struct meanwhile meanwhile;
	struct recording *recording;         /* weak */
	const struct member *member;         /* weak */
	const struct guardian_work *guarded; /* weak */
	struct background background;
	struct rotator rotator;
	int n_guardians; /* that have died */
	bool is_asked;   /* to end */
	bool rotates;
	bool is_unconverted;
	bool has_failed; /* LTTng could not close a chunk */
};

/* `recording` and `conversion` stay where they are until attend_finish(); the members above that
 * are weak or plain are set before. */
void attend_begin(struct attendance *attendance, const struct rotation_plan *rotation,
                  struct recording *recording, const struct conversion_options *conversion);

/* No more chunks are closed. */
void attend_end(struct attendance *attendance);

/* Adds the chunks that were closed when the recording ended. */
void attend_rest(struct attendance *attendance);

/* Waits for the conversions. Returns the first exit code of one that was not CLI_OK, or CLI_OK. */
int attend_finish(struct attendance *attendance);

#endif
