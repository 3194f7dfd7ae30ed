/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_dir.h: the directory that a conversion writes into, into which only one at a time may:
 * files of two would have one name.
 */
#ifndef FLEXTRACE_OUTPUT_DIR_H
#define FLEXTRACE_OUTPUT_DIR_H

#include "base/error.h"

/* Creates `dir` with its missing parents, where it is not there. FLEXTRACE_E_OUTPUT,
 * FLEXTRACE_E_MEMORY. */
int output_dir_create(const char *dir, struct flextrace_error *error);

/*
 * Creates `dir` with its missing parents or takes the one that is there, locks it (flock(2), so
 * that nobody who dies leaves a lock behind) and removes the run.json of an earlier run. Stores
 * what output_dir_close() takes; FLEXTRACE_E_OUTPUT, FLEXTRACE_E_MEMORY: there is nothing to close.
 */
int output_dir_open(const char *dir, int *ret_lock, struct flextrace_error *error);

/* Another conversion may write there. */
void output_dir_close(int lock);

#endif
