/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h: the short story of a conversion: what ran, where the time went, what was lost, how
 * good the clocks are.
 *
 * Reads only the files in the output directory (run.json and the CSV tables), so that `convert`,
 * `record` and `report` print the same for the same files.
 */
#ifndef FLEXTRACE_SUMMARY_H
#define FLEXTRACE_SUMMARY_H

#include <stdio.h>

#include "base/error.h"

/* FLEXTRACE_E_INPUT: no conversion in that directory. Tables that were not written are left out. */
int summary_print(const char *output_dir, FILE *to, struct flextrace_error *error);

#endif
