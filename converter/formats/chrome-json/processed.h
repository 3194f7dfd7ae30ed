/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processed.h: files that some tool made of a recording. Their times were moved and their names
 * changed, so that they are no recording any more.
 */
#ifndef FLEXTRACE_IMPORT_PROCESSED_H
#define FLEXTRACE_IMPORT_PROCESSED_H

#include "trace_events.h"

/* Who wrote a file with this top-level member: "flextrace", "the AIU Trace Analyzer"; NULL: nobody
 * that it tells of. Static. */
const char *processed_by(const struct trace_text *key, const struct trace_value *value);

#endif
