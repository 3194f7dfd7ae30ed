/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h: what the environment says, read once when libflextrace starts; see flextrace(7).
 *
 * A value that cannot be understood counts as not set. A set-uid program ignores all of it.
 */
#ifndef FLEXTRACE_TRACER_ENVIRONMENT_H
#define FLEXTRACE_TRACER_ENVIRONMENT_H

#include <stdint.h>

#include <flextrace/flextrace.h>

struct environment {
	int enabled;                       /* FLEXTRACE=0 makes it 0 */
	int verbose;                       /* FLEXTRACE_VERBOSE=1: say on stderr what happens */
	enum flextrace_device_mode device; /* FLEXTRACE_DEVICE, DRAIN if not set */
	int32_t rank;                      /* FLEXTRACE_RANK_UNKNOWN if no launcher tells */
	int32_t world_size;                /* 0 if no launcher tells */
	const char *provider;              /* weak, FLEXTRACE_PROVIDER, NULL = search */
	const char *session;               /* weak, FLEXTRACE_SESSION, "" = none */
};

/* Fills `ret_environment` from `get`, which is secure_getenv() but for tests. */
void flextrace_i_environment_read(struct environment *ret_environment,
                                  char *(*get)(const char *name));

#endif
