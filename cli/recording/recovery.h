/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recovery.h: recordings whose daemons died, or with --crash-safe the machine: their buffers are
 * files.
 *
 *	DIR/buffers/            what was recorded last, with --crash-safe; LTTng removes it at a
 *	                        proper end
 *	/dev/shm/SESSION/       the same without; the state file names it
 *	DIR/trace/recovered/    what lttng-crash made of it (snapshots/recovered/ of a flight
 *	                        recorder)
 *
 * What had been written before stands beside it; packets that are in both are read once. LTTng
 * writes the description of a trace late: where it is missing it is taken from the buffers.
 */
#ifndef FLEXTRACE_RECOVERY_H
#define FLEXTRACE_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define RECOVERY_BUFFERS "buffers"

struct recording;

/* Recovers what LTTng left of a recording that has just ended, if it left anything. Returns 1 if it
 * did, 0 if there is nothing. */
int recovery_finish(const struct recording *recording, struct flextrace_error *error);

/* True if `dir` is the directory of a recording whose buffers are there. */
bool recovery_is_needed(const char *dir);

/* Copies a list of paths, those of recordings that were converted or recovered replaced by their
 * traces. A recording is recovered where its trace or the directory above it is named, too. Owned,
 * by recovery_free_inputs(); NULL on failure. */
char **recovery_inputs(const char *const *paths, uint32_t n, struct flextrace_error *error);
void recovery_free_inputs(char **inputs, uint32_t n);

#endif
