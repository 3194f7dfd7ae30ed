/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_result.h: what became of a conversion. */
#ifndef FLEXTRACE_PIPELINE_RESULT_H
#define FLEXTRACE_PIPELINE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

/* What a summary says about a conversion, after the files are written. */
struct pipeline_result {
	uint64_t records, host_rows, device_rows, lost;
	uint64_t n_without_clock; /* device work of processes of which no clock places any */
	bool is_lossy; /* fail_on_loss is set, and losses exceed it or there is such work */
};

#endif
