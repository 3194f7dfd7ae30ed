/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align_outcome.h: what align makes of a scene whose truth is known.
 */
#ifndef ALIGN_OUTCOME_H
#define ALIGN_OUTCOME_H

#include "align_truth.h"

struct align_outcome {
	struct align_verdict verdict;
	uint32_t n_one_sided, n_lines;
	uint64_t n_points, n_dropped, n_lies;
	uint64_t n_unaligned, n_wandering;
	double from_end_ns; /* how far breaks are from either end of the run, the nearest one */
	double miss_ns;     /* see align_oracle.h; INFINITY: not known, so take it as shown */
};

/* Aligns a scene, judges it, and prints one line. */
struct align_outcome align_outcome_of(const struct align_scene *scene);

#endif
