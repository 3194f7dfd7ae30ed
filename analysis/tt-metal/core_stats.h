/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_stats.h: how long what took on cores, in cycles: the analyses of tt-metal's post-processing,
 * with true medians.
 *
 * Launches of a core begin where its first processor's firmware does. Operations are runs of one
 * job: the n-th run of a job on each processor belongs to its n-th operation.
 */
#ifndef FLEXTRACE_ANALYSIS_CORE_STATS_H
#define FLEXTRACE_ANALYSIS_CORE_STATS_H

#include "core_stamps.h"

/* In the order of the text; kernels stand behind the first, one for each processor. */
enum core_analysis {
	CORE_T0_TO_START, /* T0 -> FW start */
	CORE_KERNEL,      /* kernel start -> kernel end */
	CORE_FIRMWARE,    /* first FW start -> last FW end of a launch */
	CORE_GAP,         /* last FW end -> FW start of the next launch */
	CORE_T0_TO_END,   /* T0 -> last FW end */
	CORE_SESSION,     /* first FW start -> last FW end */
	CORE_ALL,         /* the same over all cores */
	CORE_OP_FIRMWARE, /* of an operation, over all cores: first FW start -> last FW end */
	CORE_OP_KERNEL,   /* first kernel start -> last kernel end */
	CORE_OP_SPREAD,   /* first core's kernel start -> last core's */
	CORE_OP_TO_OP,    /* last kernel end -> first kernel start of the next one */
	CORE_ANALYSIS_COUNT
};

#define CORE_LABEL_BYTES 160

struct core_line {
	uint32_t device;    /* place in owners->devices */
	uint32_t core;      /* index of struct core; FLEXTRACE_NONE: all of the device */
	uint32_t processor; /* CORE_KERNEL only */
	uint32_t analysis;  /* enum core_analysis */
	uint64_t n, first;  /* values; the first one */
	struct spread spread;
};

static inline double core_average(const struct core_line *line)
{
	return (double)line->spread.total / (double)line->n;
}

struct core_op {
	uint64_t first_fw, last_fw, first_kernel, last_kernel, last_start; /* 0: none */
	uint64_t to_op; /* cycles since the kernel of the one before; UINT64_MAX: there is none */
	uint32_t device, job;
	uint32_t n_cores, core; /* the one last seen */
	uint32_t run;           /* any of its, index of struct mark_run */
	uint32_t name;          /* string */
	/* the longest kernel of any processor: what the operation waits for */
	uint64_t longest;
	uint32_t longest_processor;
};

struct core_stats {
	struct core_stamps all;
	struct core_line *lines; /* owned: by device, analysis, processor; its cores, then all */
	uint32_t n_lines;
	struct core_op *ops; /* owned: by device, then by the kernel's start */
	uint32_t n_ops;
};

/* FLEXTRACE_E_MEMORY or 0; release in any case. */
int core_stats_init(struct core_stats *stats, const struct findings *findings);
void core_stats_release(struct core_stats *stats);

/* Stores what a line is called. */
void core_label(const struct core_stats *stats, const struct core_line *line,
                char ret_label[CORE_LABEL_BYTES]);

/* -- core_ops.c ------------------------------------------------------------------------------ */

/* Finds the operations. FLEXTRACE_E_MEMORY or 0. */
int core_ops_find(struct core_stats *stats);

#endif
