/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "last_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "threads.h"

#define PAUSE_NS 20000000

static pthread_key_t key;
static int has_key;
static sigset_t signals; /* that the main thread had blocked */

static void *await_last(void *unused)
{
	const struct timespec pause = {0, PAUSE_NS};

	(void)unused;
	prctl(PR_SET_NAME, THREADS_NAME);
	while (!threads_are_gone())
		nanosleep(&pause, NULL);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	exit(0);
}

/* Of the main thread's value: not called where main() returns or somebody calls exit(). */
static void begin(void *unused)
{
	pthread_t thread;
	sigset_t all;

	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &signals);
	if (pthread_create(&thread, NULL, await_last, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void last_thread_init(void)
{
	has_key = pthread_key_create(&key, begin) == 0;
}

void last_thread_watch(void)
{
	if (has_key && syscall(SYS_gettid) == getpid())
		pthread_setspecific(key, &key);
}
