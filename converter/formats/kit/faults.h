/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h: what is wrong with files: counted, each, and told in a warning for each file.
 */
#ifndef FLEXTRACE_IMPORT_FAULTS_H
#define FLEXTRACE_IMPORT_FAULTS_H

#include "formats/kit/import.h"

/* Counts `n` of something that never became an event. FLEXTRACE_E_MEMORY or 0, as all below. */
int import_lose(struct import *import, enum loss_cause cause, uint64_t n);

/* Remembers why something of the file was rejected (a static text), and where it stands. */
void import_note_fault(struct import *import, const char *fault, uint64_t place);

/* Both, of one event. */
int import_reject(struct import *import, enum loss_cause cause, const char *fault, uint64_t place);

/* Tells the user, if he wants to hear it. */
void import_warn(const struct import *import, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Tells what was rejected of a file, and forgets it: of `what` ("Events"), placed by `unit`. */
void import_warn_of_faults(struct import *import, const char *path, const char *what,
                           const char *unit);

/* Counts and tells that a file stops in the middle. */
int import_cut(struct import *import, const char *path);

/* Ends a file of events: counts those that its reader left out, the first by its byte, and tells of
 * all that were rejected. */
int import_end_events(struct import *import, const char *path, const struct faults *left_out,
                      bool is_cut);

#endif
