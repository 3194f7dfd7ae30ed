/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_json.h: run.json: what a conversion read, what became of it, and which files tell it.
 *
 * Holds nothing that differs between two conversions of one input: no wall clock, no duration, no
 * number of workers, no output path.
 */
#ifndef FLEXTRACE_RUN_JSON_H
#define FLEXTRACE_RUN_JSON_H

#include "output/emit.h"

#define RUN_JSON_FILE "run.json"

/* Writes run.json. FLEXTRACE_E_OUTPUT also when the books do not close: the file is there and
 * says where. */
int run_json_write(const struct findings *findings, const struct emit_options *options,
                   const struct file_count *counts, uint32_t n_counts,
                   struct flextrace_error *error);

/* The same in one line, without the files. Owned (free()); NULL: no memory. */
char *run_json_print(const struct findings *findings, const struct emit_options *options,
                     const struct file_count *counts, uint32_t n_counts);

/* Returns 0 if every record is booked and every row of the tables is in its files, else negative
 * with the first place that does not close in `error`. */
int run_json_check(const struct timeline *timeline, const struct file_count *counts,
                   uint32_t n_counts, struct flextrace_error *error);

#endif
