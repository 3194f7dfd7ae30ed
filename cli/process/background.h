/* SPDX-License-Identifier: Apache-2.0 */
/*
 * background.h: traces that are converted while the recording goes on: by a process of low
 * priority, one after another, in the order in which they were added.
 *
 * - Such a process ends with SIGCHLD; background_poll() sees it and starts the next one.
 * - Ctrl-C does not reach it: it is for the program.
 */
#ifndef FLEXTRACE_BACKGROUND_H
#define FLEXTRACE_BACKGROUND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "options.h"

struct background_job {
	char what[64]; /* for messages: "snapshot 3" */
	char trace_dir[PATH_MAX];
	char output_dir[PATH_MAX];
	bool is_part; /* of a whole that is converted later: losses are judged there */
};

struct background {
	const struct conversion_options *conversion; /* weak, but for its output directory */
	struct background_job *jobs;                 /* owned: those not done, in their order */
	uint32_t n_jobs, n_allocated;
	pid_t pid; /* converts the first one; 0 = nothing is converted */
	int code;  /* the first exit code that was not CLI_OK */
};

/* Adds a conversion and starts it if none runs. FLEXTRACE_E_MEMORY. */
int background_add(struct background *background, const struct background_job *job,
                   struct flextrace_error *error);

/* Sees whether a conversion has ended, tells how, and starts the next one. */
void background_poll(struct background *background);

/* Waits until all are done. Returns the first exit code that was not CLI_OK, or CLI_OK. */
int background_finish(struct background *background);

#endif
