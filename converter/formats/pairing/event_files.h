/* SPDX-License-Identifier: Apache-2.0 */
/* event_files.h: the format of files of Chrome Trace Events: JSON of Flex and of torch. */
#ifndef FLEXTRACE_IMPORT_EVENT_FILES_H
#define FLEXTRACE_IMPORT_EVENT_FILES_H

#include "formats/kit/format.h"

extern const struct import_format import_event_files;

/* Finds the dialect of a file: of torch are the top-level members that Kineto writes before the
 * events, and its categories. Reads no more than it needs to tell; a file that tells nothing is
 * Flex's. FLEXTRACE_E_INPUT: cannot be read, or is no trace. */
int dialect_of_file(const char *path, enum import_dialect *ret_dialect,
                    struct flextrace_error *error);

#endif
