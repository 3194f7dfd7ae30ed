/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twice.h: the output of two runs of a program, without and with records of the device, as one
 * table: twice.csv.
 *
 * The n-th host interval of a rank, kind and name in one run is the n-th of these in the other.
 */
#ifndef FLEXTRACE_TWICE_H
#define FLEXTRACE_TWICE_H

#include <stdint.h>

#include "base/error.h"
#include "findings/statistics/difference.h"

struct twice_result {
	uint64_t n_both, n_without, n_with; /* intervals: in both runs, in one */
	uint64_t without_ns, with_ns;       /* outermost ones of both runs */
	struct sample cost_ns;              /* of each of these: with - without */
};

/* Reads host.csv of `without_dir` and of `dir`, and events.csv of `dir`; writes `dir`/twice.csv.
 * FLEXTRACE_E_INPUT: a table is missing or damaged. */
int twice_write(const char *without_dir, const char *dir, struct twice_result *ret_result,
                struct flextrace_error *error);

#endif
