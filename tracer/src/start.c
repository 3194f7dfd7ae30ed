/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every call site refers to, and the constructor beside it: whoever links a call site from
 * libflextrace.a gets the start as well.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>

#include "definitions.h"
#include "area/elf_note.h"
#include "environment.h"
#include "loader.h"
#include "services.h"
#include "start.h"
#include "tracer.h"

ELF_NOTE(ELF_NOTE_PROGRAM)

static const int off = 0;

const int *flextrace_i_state[flextrace_i_n_events] = {
#define OFF(event, payload) &off,
	FLEXTRACE_I_EVENTS(OFF)
#undef OFF
};
const struct flextrace_i_api *flextrace_i_api;

#ifndef FLEXTRACE_START_LATE
/* The first priority that is not the compiler's: static constructors of the program may record. */
__attribute__((constructor(101))) static void start(void)
{
	flextrace_i_start();
}
#endif

void flextrace_i_start(void)
{
	const struct flextrace_i_services *services = NULL;
	const struct flextrace_i_api *api;
	struct environment env;

	flextrace_i_environment_read(&env, secure_getenv);
	flextrace_i_tracer_init(&env);
	pthread_atfork(flextrace_i_definitions_lock, flextrace_i_definitions_unlock,
	               flextrace_i_definitions_unlock);
	flextrace_i_services_init();
	api = env.enabled ? flextrace_i_loader_open(&env, &services) : NULL;
	if (!api)
		return;
	flextrace_i_services_set(services);
	flextrace_i_tracer_attach(api);
}

__attribute__((destructor)) static void stop(void)
{
	flextrace_i_tracer_detach();
}
