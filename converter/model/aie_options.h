/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aie_options.h: what a user says of a run on AMD's AI engines: the matrices that it multiplied
 * (M x K by K x N, in tiles of m x k x n), the cores that shared the work, and how to judge it.
 */
#ifndef FLEXTRACE_AIE_OPTIONS_H
#define FLEXTRACE_AIE_OPTIONS_H

#include <stdint.h>

struct aie_options {
	/* For readers: the rate of the cycles in traces, and how near two starts of a kernel are of
	 * which one is told twice, as a part of the median kernel. */
	double clock_ghz, duplicate_gap;
	double peak_macs;         /* of a core, each cycle */
	double stall_factor;      /* a stall this many median kernels long ends an iteration */
	double outlier_window;    /* kernels this many times longer or shorter than the median */
	int64_t M, K, N, m, k, n; /* 0 = not known */
	int64_t row, col;         /* of the cores used; 0 = as many as there are in the trace */
	int64_t warmup;           /* iterations before those that count */
	int64_t iterations;       /* that count; -1 = all that there are */
	const char *hwid;         /* NULL = not known */
};

#define AIE_OPTIONS_INIT                                                                       \
	{                                                                                      \
		.clock_ghz = 1.25, .duplicate_gap = 0.25, .peak_macs = 64, .stall_factor = 20, \
		.outlier_window = 3, .iterations = -1                                          \
	}

#endif
