/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_running.h: what can be asked of a session while it records: that programs tell their
 * definitions again, a snapshot, a rotation.
 *
 * - Every function that fails says why, with what LTTng said: FLEXTRACE_E_SYSTEM.
 */
#ifndef FLEXTRACE_SESSION_RUNNING_H
#define FLEXTRACE_SESSION_RUNNING_H

#include "base/error.h"

/* Has all programs record their definitions again, and waits until they have. */
int session_dump_definitions(const char *name, struct flextrace_error *error);

/* Writes what the buffers of a flight recorder hold into the new directory `trace_dir`, whose
 * parent is there. The buffers keep it. */
int session_snapshot(const char *name, const char *trace_dir, struct flextrace_error *error);

/* A rotation that goes on; owned by LTTng's library. */
struct lttng_rotation_handle;

/* Closes the part of the trace that is being written; records go into the next one from now on.
 * Stores an owned handle, for session_rotated() to ask. */
int session_rotate(const char *name, struct lttng_rotation_handle **ret_rotation,
                   struct flextrace_error *error);

/* Returns 1 once all of the closed part is written, and 0 before that. Releases the rotation unless
 * it returns 0. */
int session_rotated(struct lttng_rotation_handle *rotation, struct flextrace_error *error);

#endif
