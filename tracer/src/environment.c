/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Who tells the rank, most specific first. */
static const struct launcher {
	const char *rank;
	const char *world_size; /* NULL = does not tell */
} launchers[] = {
	{"FLEXTRACE_RANK", NULL},
	{"RANK", "WORLD_SIZE"}, /* torchrun */
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"PMIX_RANK", NULL},
	{"SLURM_PROCID", "SLURM_NTASKS"},
};
#define N_LAUNCHERS (sizeof(launchers) / sizeof(launchers[0]))

/* A whole decimal number of at least `least`, else `otherwise`. */
static int32_t parse_number(const char *text, int32_t least, int32_t otherwise)
{
	char *end;
	long value;

	if (!text || text[0] < '0' || text[0] > '9')
		return otherwise;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || value < least || value > INT32_MAX)
		return otherwise;
	return (int32_t)value;
}

static int32_t world_size_of(const struct launcher *launcher, char *(*get)(const char *name))
{
	return launcher->world_size ? parse_number(get(launcher->world_size), 1, 0) : 0;
}

/* The world size comes from who told the rank, else from the first who tells it. */
static void read_rank(struct environment *env, char *(*get)(const char *name))
{
	size_t i;

	for (i = 0; i < N_LAUNCHERS && env->rank == FLEXTRACE_RANK_UNKNOWN; i++) {
		env->rank = parse_number(get(launchers[i].rank), 0, FLEXTRACE_RANK_UNKNOWN);
		if (env->rank != FLEXTRACE_RANK_UNKNOWN)
			env->world_size = world_size_of(&launchers[i], get);
	}
	for (i = 0; i < N_LAUNCHERS && !env->world_size; i++)
		env->world_size = world_size_of(&launchers[i], get);
}

static enum flextrace_device_mode parse_device(const char *text)
{
	if (text && !strcmp(text, "off"))
		return FLEXTRACE_DEVICE_MODE_OFF;
	if (text && !strcmp(text, "sync"))
		return FLEXTRACE_DEVICE_MODE_SYNC;
	return FLEXTRACE_DEVICE_MODE_DRAIN;
}

static int is_text(const char *value, const char *text)
{
	return value && !strcmp(value, text);
}

void flextrace_i_environment_read(struct environment *ret_environment,
                                  char *(*get)(const char *name))
{
	struct environment *env = ret_environment;
	const char *provider = get("FLEXTRACE_PROVIDER");
	const char *session = get("FLEXTRACE_SESSION");

	memset(env, 0, sizeof(*env));
	env->enabled = !is_text(get("FLEXTRACE"), "0");
	env->verbose = is_text(get("FLEXTRACE_VERBOSE"), "1");
	env->device = parse_device(get("FLEXTRACE_DEVICE"));
	env->provider = provider && provider[0] ? provider : NULL;
	env->session = session ? session : "";
	env->rank = FLEXTRACE_RANK_UNKNOWN;
	read_rank(env, get);
}
