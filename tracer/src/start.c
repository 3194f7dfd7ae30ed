/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every call site refers to, and the constructor beside it: whoever links a call site from
 * libflextrace.a gets the start as well.
 *
 * A library that is constructed first may call functions of this program or library before that. So
 * all events are on at first, and what is recorded then starts flextrace. Where it cannot start yet
 * (the C library has no environment), and while it starts, records are left out and counted.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "definitions.h"
#include "area/elf_note.h"
#include "environment.h"
#include "loader.h"
#include "services.h"
#include "start.h"
#include "tracer.h"

ELF_NOTE(ELF_NOTE_PROGRAM)

static const int off = 0;

static int is_begun;

#ifdef FLEXTRACE_START_LATE
#define EARLY_WORD &off
#define EARLY_API  NULL
#else
#define EARLY_WORD &early
#define EARLY_API  &early_api

static const int early = 1;
static const struct flextrace_i_api early_api;

/* The provider, if it records this event; NULL: it does not, or the record was left out. */
static const struct flextrace_i_api *start_for(enum flextrace_i_event event)
{
	const struct flextrace_i_api *api;

	if (environ)
		flextrace_i_start();
	api = __atomic_load_n(&flextrace_i_api, __ATOMIC_ACQUIRE);
	if (api == &early_api)
		flextrace_i_services_leave_out();
	if (!api || api == &early_api)
		return NULL;
	return event == flextrace_i_event_window || flextrace_i_is_on(event) ? api : NULL;
}

#define EARLY(event, payload)                                                             \
	static void early_##event(const struct payload *p)                                \
	{                                                                                 \
		const struct flextrace_i_api *api = start_for(flextrace_i_event_##event); \
                                                                                          \
		if (api)                                                                  \
			api->event(p);                                                    \
	}
FLEXTRACE_I_EVENTS(EARLY)
#undef EARLY

static void ignore(struct flextrace_i_client *client)
{
	(void)client;
}

static const struct flextrace_i_api early_api = {sizeof(early_api), NULL, ignore, ignore,
#define EARLY(event, payload) early_##event,
                                                 FLEXTRACE_I_EVENTS(EARLY)
#undef EARLY
};

/* The first priority that is not the compiler's: static constructors of the program may record. */
__attribute__((constructor(101))) static void start(void)
{
	flextrace_i_start();
}
#endif

/* Definitions are kept and recorded by the start itself. */
const int *flextrace_i_state[flextrace_i_n_events] = {
#define WORD(event, payload) \
	flextrace_i_event_##event > flextrace_i_event_marker_name ? EARLY_WORD : &off,
	FLEXTRACE_I_EVENTS(WORD)
#undef WORD
};
const struct flextrace_i_api *flextrace_i_api = EARLY_API;

static void turn_off(void)
{
	int event;

	for (event = 0; event < flextrace_i_n_events; event++)
		__atomic_store_n(&flextrace_i_state[event], &off, __ATOMIC_RELAXED);
	__atomic_store_n(&flextrace_i_api, NULL, __ATOMIC_RELAXED);
}

void flextrace_i_start(void)
{
	const struct flextrace_i_services *services = NULL;
	const struct flextrace_i_api *api;
	struct environment env;

	if (__atomic_exchange_n(&is_begun, 1, __ATOMIC_RELAXED))
		return;
	flextrace_i_environment_read(&env, secure_getenv);
	flextrace_i_tracer_init(&env);
	pthread_atfork(flextrace_i_definitions_lock, flextrace_i_definitions_unlock,
	               flextrace_i_definitions_unlock);
	flextrace_i_services_init();
	api = env.enabled ? flextrace_i_loader_open(&env, &services) : NULL;
	if (!api) {
		turn_off();
		return;
	}
	flextrace_i_services_set(services);
	flextrace_i_tracer_attach(api);
}

__attribute__((destructor)) static void stop(void)
{
	flextrace_i_tracer_detach();
}
