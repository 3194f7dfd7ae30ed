/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "fork.h"

#include <dlfcn.h>
#include <lttng/urcu/urcu-ust.h>
#include <lttng/ust-fork.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "admit.h"
#include "descriptors.h"
#include "emit_counts.h"
#include "late.h"
#include "recording.h"
#include "threads.h"

#define MS_NS   UINT64_C(1000000)
#define WAIT_MS "100" /* the least of what loader.c chooses */

static struct flextrace_i_identity *identity;
static int lttng_forks_itself;
static int is_vouched;   /* FLEXTRACE_FORK=register */
static int is_impatient; /* LTTNG_UST_REGISTER_TIMEOUT is set: that is how long it waits */
static uint64_t limit_ns;
static int has_left; /* this process is the child of one with threads */

/* Between before and after, under LTTng's lock and recording's. */
static sigset_t saved_signals;
static int child_leaves;

static int is_fork_preloaded(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "fork");
	Dl_info info;

	return symbol && dladdr(symbol, &info) && strstr(info.dli_fname, "liblttng-ust-fork");
}

static void before_fork(void)
{
	int leaves = has_left || (!is_vouched && !lttng_forks_itself && threads_are_others());
	sigset_t signals;

	if (!lttng_forks_itself && !has_left) {
		lttng_ust_before_fork(&signals);
		saved_signals = signals;
	}
	recording_lock();
	child_leaves = leaves;
}

static void after_fork_in_parent(void)
{
	sigset_t signals = saved_signals;

	recording_unlock();
	if (!lttng_forks_itself && !has_left)
		lttng_ust_after_fork_parent(&signals);
}

/*
 * Releases what before_fork() took, forgets the threads that are not here (LTTng would wait for
 * them at exit), and lets go of what the parent has open.
 */
static void leave(sigset_t *signals)
{
	has_left = 1;
	lttng_ust_after_fork_parent(signals);
	lttng_ust_urcu_before_fork();
	lttng_ust_urcu_after_fork_child();
	descriptors_leave();
}

/* LTTng waits as it did at the start of the parent. Nothing is said: standard error may be anything
 * by now. */
static void register_child(sigset_t *signals)
{
	uint64_t begun_ns = flextrace_now_ns();

	threads_watch_main();
	lttng_ust_after_fork_child(signals);
	late_begin(flextrace_now_ns() - begun_ns, limit_ns, !is_impatient, 0);
	recording_dump(); /* elsewise the state dump of the new process does it */
}

static void after_fork_in_child(void)
{
	sigset_t signals = saved_signals;
	int leaves = child_leaves;

	admit_set(ADMIT_NONE); /* where the kernel does not */
	__atomic_store_n(&identity->start_ns, flextrace_now_ns(), __ATOMIC_RELAXED);
	late_forked();
	recording_forked();
	recording_unlock();
	/* Without memory for the counts there is none for LTTng's buffers. Nobody would know. */
	if (!leaves && !emit_counts_open(EMIT_FILE_ROOT, identity->start_ns))
		leaves = 1;
	if (leaves) {
		if (!has_left && !lttng_forks_itself)
			leave(&signals);
		return;
	}
	admit_set(ADMIT_ALL); /* before LTTng's thread dumps its state */
	if (!lttng_forks_itself)
		register_child(&signals);
}

void fork_init(struct flextrace_i_identity *shared, char *(*get)(const char *name))
{
	const char *how = get("FLEXTRACE_FORK");
	const char *limit = get("LTTNG_UST_REGISTER_TIMEOUT");

	identity = shared;
	is_vouched = how && !strcmp(how, "register");
	is_impatient = limit != NULL;
	limit_ns = MS_NS * strtoul(limit ? limit : WAIT_MS, NULL, 10);
	lttng_forks_itself = is_fork_preloaded();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
