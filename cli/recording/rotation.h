/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotation.h: a long recording in chunks: each is closed while the next one is written, and is a
 * trace by itself.
 *
 *	DIR/trace/archives/BEGIN-END-N/   chunk N, from 0, as LTTng names it; closed
 *	DIR/chunks/N/                     what is made of it
 *
 * DIR/trace with all its chunks is the whole trace. Every chunk begins with the definitions of the
 * programs that run then.
 */
#ifndef FLEXTRACE_ROTATION_H
#define FLEXTRACE_ROTATION_H

#include "recording.h"

/* When a chunk is closed; both 0: never. */
struct rotation_plan {
	uint64_t size_bytes; /* as soon as that much of it is on the disk */
	int64_t period_ns;   /* or when that time has passed */
};

/* "64M", "2G": a size; "30s", "10min", "1h": a time. FLEXTRACE_E_USAGE. */
int rotation_parse(const char *text, struct rotation_plan *ret_plan, struct flextrace_error *error);

struct lttng_rotation_handle;

struct rotator {
	struct rotation_plan plan;
	const struct recording *recording;      /* weak */
	struct lttng_rotation_handle *going_on; /* owned; NULL = none */
	int64_t began_ns;                       /* of the chunk that is written, CLOCK_MONOTONIC */
};

void rotator_init(struct rotator *rotator, const struct rotation_plan *plan,
                  const struct recording *recording);

/* Closes a chunk if it is time to. Returns 1 if one that was being closed now is. After an error no
 * more are closed. */
int rotator_tick(struct rotator *rotator, struct flextrace_error *error);

/* Waits for the chunk that is being closed, if any; none is closed any more. */
int rotator_finish(struct rotator *rotator, struct flextrace_error *error);

/*
 * Finds a closed chunk with records that nobody has claimed, and claims it by making its output
 * directory.
 * Returns 1 and the chunk, as a recording that ended; 0 = there is none.
 */
int rotation_claim(const struct recording *recording, struct recording *ret_chunk,
                   struct flextrace_error *error);

#endif
