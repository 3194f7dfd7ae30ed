/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h: which control block a run of the firmware worked on.
 *
 * A slot knows the queue and the low 32 bits of the job; a runtime may use a job number again, so
 * that the time decides among equals: the last one that had begun when the run's kernel ended.
 */
#ifndef FLEXTRACE_DERIVE_JOBS_H
#define FLEXTRACE_DERIVE_JOBS_H

#include "derive_impl.h"

struct job {
	uint32_t device, queue, job;
	uint32_t op; /* index of struct tick_op */
	int64_t first_time_ns;
};

struct job_names {
	struct derive *derive; /* weak */
	struct job *jobs;      /* owned: sorted; made when first asked for */
	uint32_t n_jobs;
	bool is_made;
};

/* Stores the name of the control block that `run`, a slot's whose kernel ended at `time_ns`,
 * belongs to; leaves `ret_name` alone if there is none. FLEXTRACE_E_MEMORY or 0. */
int job_name(struct job_names *names, const struct mark_run *run, int64_t time_ns,
             uint32_t *ret_name);

#endif
