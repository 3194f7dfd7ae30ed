/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.c: libflextrace-lttng.so, the one thing in a process that knows LTTng-UST.
 *
 * It hands out the table of functions behind the macros, keeps what there is once in a process
 * (identity, recording), and emits all definitions when LTTng dumps its state. Loaded by dlopen(),
 * never unloaded.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "admit.h"
#include "descriptors.h"
#include "area/elf_note.h"
#include "emit_counts.h"
#include "fork.h"
#include "threads.h"
#include "last_words.h"
#include "late.h"
#include "payload.h"
#include "recording.h"

ELF_NOTE(ELF_NOTE_PROVIDER)

static struct flextrace_i_identity identity = {0, 0, FLEXTRACE_RANK_UNKNOWN, 0, NULL, NULL, NULL};

/* -- one function per event -- */

#ifdef __clang_analyzer__ /* does not see that LTTng's read lock makes the reader that it reads */
#undef lttng_ust_do_tracepoint
#define lttng_ust_do_tracepoint(provider, event, p) ((void)(p))
#endif

/* LTTng's record path may wake its consumer, which changes errno. */
#define EMIT(event, payload)                                     \
	static void emit_##event(const struct payload *p)        \
	{                                                        \
		int saved_errno = errno;                         \
                                                                 \
		struct payload whole;                            \
                                                                 \
		if (!admit(flextrace_i_event_##event))           \
			return;                                  \
		if (__builtin_expect(p->size < sizeof(*p), 0)) { \
			PAYLOAD_COPY(payload, &whole, p);        \
			p = &whole;                              \
		}                                                \
		emit_counts_add(flextrace_i_event_##event);      \
		lttng_ust_do_tracepoint(flextrace, event, p);    \
		errno = saved_errno;                             \
	}
FLEXTRACE_I_EVENTS(EMIT)
#undef EMIT

static const int *const states[flextrace_i_n_events] = {
#define STATE(event, payload) &lttng_ust_tracepoint_flextrace___##event.state,
	FLEXTRACE_I_EVENTS(STATE)
#undef STATE
};

/* -- definitions on LTTng's state dump -- */

/*
 * LTTng calls this at the start of a session and on `lttng regenerate statedump`, in its own
 * thread and with its locks held. The signature is checked by LTTng, literally.
 */
static void on_state_dump(void *data, void *session)
{
	(void)data;
	(void)session;
	late_end();
	recording_dump();
}

static void watch_state_dump(void)
{
	void (*callback)(void *data, void *session) = on_state_dump;
	void (*func)(void);

	memcpy(&func, &callback, sizeof(func));
	lttng_ust_tracepoint_provider_register("lttng_ust_statedump", "start", func, NULL,
	                                       "struct lttng_ust_session *, session");
}

/* -- the table -- */

static const struct recording_backend backend = {states, emit_step, emit_window};

static struct flextrace_i_api api = {sizeof(struct flextrace_i_api), &identity, recording_attach,
                                     recording_detach,
#define MEMBER(event, payload) emit_##event,
                                     FLEXTRACE_I_EVENTS(MEMBER)
#undef MEMBER
};

/* These two steer the recording. Not in a child that has, of its lock, what its parent had. */
static void take_step(const struct flextrace_step *step)
{
	if (admit(flextrace_i_event_step))
		recording_step(step);
}

static void take_window(const struct flextrace_window *window)
{
	if (admit(flextrace_i_event_window))
		recording_window(window);
}

static void set_up(void)
{
	api.step = take_step;
	api.window = take_window;
	__atomic_store_n(&identity.start_ns, flextrace_now_ns(), __ATOMIC_RELAXED);
	late_init(states[flextrace_i_event_process], secure_getenv);
	emit_counts_open(EMIT_FILE_ROOT, identity.start_ns);
	threads_init();
	admit_init();
	descriptors_init();
	recording_init(&backend, secure_getenv);
	watch_state_dump();
	fork_init(&identity, secure_getenv);
	last_words_init(emit_counts_close);
}

static const struct flextrace_i_services services = {sizeof(struct flextrace_i_services),
                                                     admit_warm_thread,
                                                     admit_in_handler,
                                                     admit_n_refused,
                                                     descriptors_close,
                                                     descriptors_close_range,
                                                     late_begin,
                                                     admit_leave_out};

#pragma GCC visibility push(default)
const struct flextrace_i_api *flextrace_provider_2(void);
const struct flextrace_i_services *flextrace_services_2(void);
const void *flextrace_provider_1(void);
#pragma GCC visibility pop

/* A program of 0.1, whose payloads are others: it goes on without a provider, and is told. */
const void *flextrace_provider_1(void)
{
	if (!getauxval(AT_SECURE)) /* nothing is said with the rights of another */
		fputs("flextrace: Nothing is recorded: the program was built with flextrace 0.1, "
		      "and its provider is newer. Build the program again\n",
		      stderr);
	return NULL;
}

const struct flextrace_i_api *flextrace_provider_2(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_up);
	return &api;
}

const struct flextrace_i_services *flextrace_services_2(void)
{
	return &services;
}
