/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.c: libflextrace-lttng.so, the one thing in a process that knows LTTng-UST.
 *
 * It hands out the table of functions behind the macros, keeps what there is once in a process
 * (identity, recording), emits all definitions when LTTng dumps its state, and makes the child of a
 * fork a process of its own. Loaded by dlopen(), never unloaded.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints.h"

#include <dlfcn.h>
#include <lttng/ust-fork.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "elf_note.h"
#include "recording.h"

ELF_NOTE(ELF_NOTE_PROVIDER)

static struct flextrace_i_identity identity = {0, 0, FLEXTRACE_RANK_UNKNOWN, 0, NULL, NULL};

/* -- one function per event -- */

#define EMIT(event, payload)                                  \
	static void emit_##event(const struct payload *p)     \
	{                                                     \
		lttng_ust_do_tracepoint(flextrace, event, p); \
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

/* -- fork -- */

/*
 * Only LTTng's before and after functions make a child register as a process of its own. If
 * liblttng-ust-fork is preloaded it calls them around all of this.
 */
static int lttng_forks_itself;
static sigset_t saved_signals; /* under LTTng's lock between before and after */

static int is_fork_preloaded(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "fork");
	Dl_info info;

	return symbol && dladdr(symbol, &info) && strstr(info.dli_fname, "liblttng-ust-fork");
}

static void before_fork(void)
{
	sigset_t signals;

	if (!lttng_forks_itself) {
		lttng_ust_before_fork(&signals);
		saved_signals = signals;
	}
	recording_lock();
}

static void after_fork_in_parent(void)
{
	sigset_t signals = saved_signals;

	recording_unlock();
	if (!lttng_forks_itself)
		lttng_ust_after_fork_parent(&signals);
}

static void after_fork_in_child(void)
{
	sigset_t signals = saved_signals;

	__atomic_store_n(&identity.start_ns, flextrace_now_ns(), __ATOMIC_RELAXED);
	recording_forked();
	recording_unlock();
	if (!lttng_forks_itself) {
		lttng_ust_after_fork_child(&signals);
		recording_dump(); /* elsewise the state dump of the new process does it */
	}
}

/* -- the table -- */

static const struct recording_backend backend = {states, emit_step, emit_window};

static struct flextrace_i_api api = {sizeof(struct flextrace_i_api), &identity, recording_attach,
                                     recording_detach,
#define MEMBER(event, payload) emit_##event,
                                     FLEXTRACE_I_EVENTS(MEMBER)
#undef MEMBER
};

static void set_up(void)
{
	api.step = recording_step; /* these two steer the recording */
	api.window = recording_window;
	__atomic_store_n(&identity.start_ns, flextrace_now_ns(), __ATOMIC_RELAXED);
	recording_init(&backend, secure_getenv);
	watch_state_dump();
	lttng_forks_itself = is_fork_preloaded();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((visibility("default"))) const struct flextrace_i_api *flextrace_provider_1(void);

const struct flextrace_i_api *flextrace_provider_1(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_up);
	return &api;
}
