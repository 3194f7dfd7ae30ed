/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.h: the ring buffers of a session, files below one directory; see ring.h.
 * `trace_dir` is where LTTng writes what it reads from them.
 */
#ifndef FLEXTRACE_RINGS_H
#define FLEXTRACE_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

/*
 * Before buffers are read for the last time, or for a snapshot: heals the sub-buffers that nobody
 * has gone on writing into for a second. Costs nothing where all is well. `is_quiet`: nothing is
 * recorded any more. Returns how many.
 */
uint32_t rings_heal(const char *dir, const char *trace_dir, bool is_quiet);

/* The same at once, where no daemon is left to read them and no program records: also what is being
 * written is closed. */
uint32_t rings_close(const char *dir, const char *trace_dir);

/* What was stuck when it was looked at last. Zero-initialise; release with rings_forget(). */
struct rings_watch {
	struct rings_seen *seen; /* owned */
	uint32_t n_seen;
};

/*
 * For a session that records: to be called a few times a second. Heals a sub-buffer that nothing
 * was written into for some seconds, unless a thread may still be in the middle of it (mappers.h).
 */
void rings_tend(struct rings_watch *watch, const char *dir, const char *trace_dir);
void rings_forget(struct rings_watch *watch);

#endif
