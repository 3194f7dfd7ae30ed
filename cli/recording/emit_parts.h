/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_parts.h: what programs emitted into a recording, into each of its chunks, and until each of
 * its snapshots.
 *
 *	DIR/EMITTED_FILE           the recording; of a flight recorder its beginning only, of one
 *	                           over the network until its sum is told
 *	DIR/EMITTED_FILE-N         chunk N, from the first rotation on until it is in `archives`,
 *	trace/archives/...-N/EMITTED_FILE  where it stands then
 *	DIR/snapshots/N/EMITTED_FILE       a snapshot: the beginning, and when it was taken
 *
 * Notes that cannot be written are warned of, and nothing fails.
 */
#ifndef FLEXTRACE_EMIT_PARTS_H
#define FLEXTRACE_EMIT_PARTS_H

#include "ring/emit_note.h"
#include "recording/recording.h"

/* Of the recording itself and, as it ends, of the chunk that is written then. */
void emit_parts_note(const struct recording *recording, struct emit_wish wish,
                     enum emitted_time time);

/* Around a rotation: EMITTED_STOPPING in front of it, EMITTED_STOPPED behind. */
void emit_parts_rotate(const struct recording *recording, enum emitted_time time);

/* Puts the notes of closed chunks where these are. */
void emit_parts_settle(const struct recording *recording);

/* Around a snapshot, likewise. */
void emit_parts_snapshot(const struct recording *recording, const struct recording *snapshot,
                         enum emitted_time time);

#endif
