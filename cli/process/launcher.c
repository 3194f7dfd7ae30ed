/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "base/text/digits.h"

/* One launcher: what marks its ranks, what names the job, how many ranks there are. */
struct launcher_kind {
	const char *label;
	const char *mark;      /* set for every rank */
	const char *id, *step; /* unique names, both where there are two; NULL = the parent */
	const char *n_local;
	const char *n_world;
};

/* Those that other launchers use underneath come last: mpirun inside of a Slurm job is mpirun's. */
static const struct launcher_kind kinds[] = {
	{"torchrun", "LOCAL_WORLD_SIZE", NULL, NULL, "LOCAL_WORLD_SIZE", "WORLD_SIZE"},
	{"ompi", "OMPI_COMM_WORLD_RANK", "PMIX_NAMESPACE", NULL, "OMPI_COMM_WORLD_LOCAL_SIZE",
         "OMPI_COMM_WORLD_SIZE"},
	{"hydra", "MPI_LOCALNRANKS", NULL, NULL, "MPI_LOCALNRANKS", "PMI_SIZE"},
	{"pals", "PALS_RANKID", "PALS_APID", NULL, NULL, NULL},
	{"slurm", "SLURM_PROCID", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_TASKS_PER_NODE",
         "SLURM_STEP_NUM_TASKS"},
	{"pmi", "PMI_RANK", NULL, NULL, NULL, NULL},
};

/* A whole number; "4(x2)", as Slurm writes it for several hosts, counts as unknown. */
static uint32_t get_count(char *(*get)(const char *name), const char *name)
{
	const char *text = name ? get(name) : NULL;
	uint64_t count;

	return text && digits_read_all(text, UINT32_MAX, &count) ? (uint32_t)count : 0;
}

static const struct launcher_kind *find_kind(char *(*get)(const char *name))
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		/* A Slurm batch script has a rank but is no step. */
		if (get(kinds[i].mark) && (!kinds[i].step || get(kinds[i].step)))
			return &kinds[i];
	return NULL;
}

static void name_job(const struct launcher_kind *kind, char *(*get)(const char *name),
                     char job[LAUNCHER_JOB_SIZE])
{
	const char *id = kind->id ? get(kind->id) : NULL;
	const char *step = kind->step ? get(kind->step) : NULL;
	long parent = (long)getppid();

	if (id)
		snprintf(job, LAUNCHER_JOB_SIZE, "%s-%s%s%s", kind->label, id, step ? "." : "",
		         step ? step : "");
	else
		snprintf(job, LAUNCHER_JOB_SIZE, "%s-%ld-%" PRIu64, kind->label, parent,
		         process_start_ticks((pid_t)parent));
	for (char *c = job; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-')
			*c = '_';
}

void launcher_detect(struct launcher *ret_launcher, char *(*get)(const char *name))
{
	const struct launcher_kind *kind = find_kind(get);
	uint32_t n_world;

	*ret_launcher = (struct launcher){.n_local = 0};
	if (!kind)
		return;
	name_job(kind, get, ret_launcher->job);
	ret_launcher->n_local = get_count(get, kind->n_local);
	n_world = get_count(get, kind->n_world);
	ret_launcher->is_multi_host = n_world > ret_launcher->n_local && ret_launcher->n_local > 0;
	if (strcmp(kind->label, "slurm") == 0)
		ret_launcher->is_multi_host = get_count(get, "SLURM_STEP_NUM_NODES") > 1 ||
		                              get_count(get, "SLURM_NNODES") > 1;
}
