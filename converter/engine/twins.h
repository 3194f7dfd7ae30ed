/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twins.h: records that two recordings at once have of one process, told apart from others.
 *
 * LTTng writes a record into each session before the thread goes on. So behind a record of one
 * trace its copy in another one is the next of that thread, but for those of signal handlers in
 * between: it has the same content and a clock value of its own, a little later. One of a recording
 * that began when the other had ended may have the same content, but not so soon.
 */
#ifndef FLEXTRACE_TWINS_H
#define FLEXTRACE_TWINS_H

#include <stdint.h>

#include "model/identity/identity.h"
#include "model/ledger/ledger.h"
#include "base/map.h"
#include "model/model.h"

#define TWINS_RECENT 8 /* records of a thread that are remembered */
#define TWINS_TRACES 8 /* that may have copies of one */
#define TWINS_FAR_NS \
	UINT64_C(100000000) /* from a record to its copy, where the thread had to wait */

struct twins_recent {
	uint64_t hash, clock_ns;
	uint32_t traces[TWINS_TRACES];
	uint32_t n_traces;
};

struct twins_thread {
	struct twins_recent recent[TWINS_RECENT];
	uint32_t next;
};

struct twins {
	struct identity *identity; /* weak, both */
	struct ledger *ledger;
	struct map index; /* (process, vtid) -> thread; owned, both */
	struct twins_thread *threads;
	uint32_t n_threads;
};

void twins_release(struct twins *twins);

/* Takes the next record of a stream, in gather order. Returns 1 if another trace had it before:
 * then it is booked as a duplicate. Returns 0 if not, or FLEXTRACE_E_MEMORY. */
int twins_leave_out(struct twins *twins, const struct stream *stream, uint32_t stream_id,
                    const struct record *record);

#endif
