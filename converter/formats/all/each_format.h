/* SPDX-License-Identifier: Apache-2.0 */
/*
 * each_format.h: files of other tools, whosever they are: asks the formats of kit/formats.h in
 * turn.
 */
#ifndef FLEXTRACE_IMPORT_EACH_FORMAT_H
#define FLEXTRACE_IMPORT_EACH_FORMAT_H

#include "formats/kit/import.h"

/* Whether a path is for import_each(), and not for the reader of traces: 1, 0, or
 * FLEXTRACE_E_MEMORY. */
int import_is_foreign(const char *path);

/* Whose a path is, by content; IMPORT_BY_CONTENT: nobody's that we know, or no memory. */
enum import_dialect import_dialect_of(const char *path);

/* Opens files of one format, owned: import_close(). NULL on failure. FLEXTRACE_E_INPUT: there is no
 * event, or nothing can be read. */
int import_open(const struct import_options *options, struct import **ret_import,
                struct flextrace_error *error);

/* Reads an import to its end; a negative code of it, or of import_next(), ends all. */
typedef int import_visit(void *context, struct import *import);

/* Opens all files, those of one format at once, and visits what was opened. FLEXTRACE_E_INPUT:
 * there is no event file. */
int import_each(const struct import_options *options, import_visit *visit, void *context,
                struct flextrace_error *error);

#endif
