/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rlimits.h: limits of a process (`ulimit`) that are too small for LTTng.
 *
 * LTTng does not tell a program that it lacks descriptors or address space for the buffers: the
 * program's registration does not end, and the program waits as long as it may.
 */
#ifndef FLEXTRACE_RLIMITS_H
#define FLEXTRACE_RLIMITS_H

#include "ring/buffers.h"
#include "base/error.h"

#define RLIMITS_TEXT 160

/* FLEXTRACE_E_SYSTEM: a process that we start has no room for these buffers, for sure. */
int rlimits_check(const struct buffer_plan *plan, struct flextrace_error *error);

/* "", or which limits are low: to be appended to an error that they may have caused. */
const char *rlimits_describe(char text[RLIMITS_TEXT]);

/* Allows as many descriptors as may be. */
void rlimits_raise_files(void);

#endif
