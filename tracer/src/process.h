/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h: who this process is, as its `process` record says it.
 *
 * What a process is (host, boot, program) is read once, since emitting may run with LTTng's locks
 * held. Rank, names and start time are the process's, whichever copy of libflextrace was told: they
 * live in the provider's identity once there is one.
 */
#ifndef FLEXTRACE_TRACER_PROCESS_H
#define FLEXTRACE_TRACER_PROCESS_H

#include <flextrace/flextrace.h>

/* Reads that. `session` is copied; rank and world size are the environment's. */
void flextrace_i_process_init(int32_t rank, int32_t world_size, const char *session);

/* Makes `identity` (weak, never freed) the process's, adding what is known here and not there. */
void flextrace_i_process_share(struct flextrace_i_identity *identity);

/* Emits the process record; any thread, no lock. */
void flextrace_i_process_emit(void);

/* In the child of a fork: reads again what may differ. */
void flextrace_i_process_forked(void);

#endif
