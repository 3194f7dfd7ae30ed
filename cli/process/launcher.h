/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h: whether this process is one of several that a launcher (mpirun, srun, torchrun,
 * ...) started, and which of them belong together.
 *
 * Knows Open MPI, MPICH and Intel MPI (Hydra), Slurm, PALS and torchrun by the environment they
 * give to each rank. Launchers that give no unique name are told apart by the process that
 * started the ranks.
 */
#ifndef FLEXTRACE_LAUNCHER_H
#define FLEXTRACE_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#define LAUNCHER_JOB_SIZE 96

struct launcher {
	char job[LAUNCHER_JOB_SIZE]; /* fit for a file name; "" = not behind a launcher */
	uint32_t n_local;            /* ranks on this host, 0 = unknown */
	bool is_multi_host;          /* known to run on several hosts */
};

/* Fills `ret_launcher` from `get`, which is getenv() but for tests. */
void launcher_detect(struct launcher *ret_launcher, char *(*get)(const char *name));

#endif
