/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definitions.h: the table of what this copy of libflextrace has defined: devices, clock domains
 * and names.
 *
 * - Things are only added. Emitting all reads them without a lock, from any thread, while others
 *   define: LTTng asks for it with its own locks held.
 * - Defining the same thing again replaces what was said; the old text is freed when the last one
 *   who may look at it is done.
 * - Each definition is emitted when it is made, and all of them by flextrace_i_definitions_emit().
 */
#ifndef FLEXTRACE_TRACER_DEFINITIONS_H
#define FLEXTRACE_TRACER_DEFINITIONS_H

#include <flextrace/flextrace.h>

/* As flextrace_define_device() does: copies the payload and its strings into
 * the table. Without memory the definition is lost. `event` is thread_name (always of the calling
 * thread), queue_name or marker_name. */
void flextrace_i_definitions_add_name(enum flextrace_i_event event,
                                      const struct flextrace_name *name);

/* Emits all definitions in the order they were made. */
void flextrace_i_definitions_emit(void);

/* Around a fork: the table is whole in the child. */
void flextrace_i_definitions_lock(void);
void flextrace_i_definitions_unlock(void);

/*
 * In the child of a fork: threads of the parent lose their names, the calling thread keeps its own
 * under its new id, `tid`. Takes no lock.
 */
void flextrace_i_definitions_forked(uint32_t tid);

#endif
