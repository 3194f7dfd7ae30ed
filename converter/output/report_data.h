/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_data.h: what the report page shows, as one JSON document: run.json, and the first rows of
 * each table. docs/formats.md describes it.
 */
#ifndef FLEXTRACE_REPORT_DATA_H
#define FLEXTRACE_REPORT_DATA_H

#include "output/emit.h"

/* Appends the document, in which no `<` stands. Without memory the writer fails. */
void report_data_write(struct writer *writer, const struct findings *findings,
                       const struct emit_options *options, const struct file_count *counts,
                       uint32_t n_counts);

#endif
