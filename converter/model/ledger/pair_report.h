/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_report.h: how well files of two tools were put together: one line of "pairings" in run.json.
 */
#ifndef FLEXTRACE_PAIR_REPORT_H
#define FLEXTRACE_PAIR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct pair_report {
	int32_t rank;
	uint32_t n_torch_files;
	/* intervals of names and kinds that both have, from the first one of both to the last */
	uint32_t n_flex, n_torch;
	uint32_t n_pairs;  /* told by both; 0: all below means nothing */
	int64_t offset_ns; /* since the Unix epoch at the middle of Flex's times - Flex's time */
	double drift_ppm;  /* how much faster torch's clock runs */
	/* how far the two told times of a pair are apart */
	int64_t residual_ns_p50, residual_ns_p99, residual_ns_max;
	bool is_uncertain; /* another offset would do nearly as well */
};

#endif
