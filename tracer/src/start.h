/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h: how libflextrace begins: as the program does, or when its user says so.
 */
#ifndef FLEXTRACE_TRACER_START_H
#define FLEXTRACE_TRACER_START_H

/* Reads the environment and loads the provider, once: called by a constructor, or by the first
 * record if that is earlier; where FLEXTRACE_START_LATE is defined, by whoever has libflextrace in
 * a library of his own that is loaded into programs which are not to be recorded. */
void flextrace_i_start(void);

#endif
