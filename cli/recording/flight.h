/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h: snapshots of a flight recorder: what its buffers held at a moment, each by itself.
 *
 *	DIR/snapshots/1/ 2/ ...   those that were asked for, in the order of asking
 *	DIR/snapshots/end/        the last one: a program failed, or the recording was stopped
 *	DIR/snapshots/N/trace/    what LTTng wrote, with all definitions; what is made of it stands
 *	                          beside it
 */
#ifndef FLEXTRACE_FLIGHT_H
#define FLEXTRACE_FLIGHT_H

#include "recording.h"

enum flight_reason { FLIGHT_ASKED, FLIGHT_END };

/*
 * Takes a snapshot of a recording that runs, and stores it as a recording that ended: with its own
 * directory and trace; without records it is removed at once. Returns 0, or 1 where there is one of
 * FLIGHT_END already: of several programs of a job, the first that fails takes it.
 * FLEXTRACE_E_SYSTEM or _OUTPUT: nothing is left of it.
 */
int flight_take(const struct recording *recording, enum flight_reason reason,
                struct recording *ret_snapshot, struct flextrace_error *error);

/* Tells the user what there is of it, as recording_explain(). */
int flight_explain(const struct recording *snapshot);

/* The same of a snapshot; says what was overwritten before it. */
recording_converter flight_convert;

#endif
