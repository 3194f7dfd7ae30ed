/* SPDX-License-Identifier: Apache-2.0 */
/* user_options.h: what a user asks of single stages. Zeros ask for nothing; texts are weak. */
#ifndef FLEXTRACE_USER_OPTIONS_H
#define FLEXTRACE_USER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "aie_options.h"
#include "base/text/text_list.h"

/* Of align. */
struct align_options {
	int64_t reference_rank; /* whose clock is the reference; -1 = the lowest known rank */
	bool is_off;            /* use no evidence: shift by the epoch offsets only */
	double rho_host_ppm;    /* how fast a host clock's rate may wander around its mean */
};
#define ALIGN_OPTIONS_INIT     \
	{                      \
		-1, false, 2.0 \
	}

/* Of findings. */
struct findings_options {
	struct text_list compiler_info; /* see compiler_info.h */
	const char *kernels_from;       /* an output directory, see kernel_times.h; NULL = none */
	const char *power_unit;         /* us, cycle, uJ; NULL = as devices tell */
	bool per_rank;                  /* what files of single ranks need, too */
	struct aie_options aie;
};

/* Of select. */
struct select_options {
	const char *ranks;      /* "0,2-5"; NULL = all */
	const char *jobs;       /* likewise */
	const char *time_range; /* "FROM,TO", see select_check() */
	struct text_list keep;  /* "ATTRIBUTE:REGEX": rows must match all of them */
	struct text_list drop;  /* likewise: rows must match none */
	int64_t skip;           /* of the rows that are left, in order of time */
	int64_t count;          /* 0 = all */
	bool drop_globals;
	bool drop_flows; /* no arrow is shown */
};

/* Of traces, see emit_read_views(). */
struct view_options {
	const char *overlap, *types, *time_unit;
	bool packs_packets;            /* of trace.pftrace */
	bool error_bands;              /* a line of each device */
	const char *per_rank, *compat; /* NULL: no files of single ranks */
};

#endif
