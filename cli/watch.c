/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "consumers.h"
#include "process.h"

#define PATIENCE_S 3

static bool tell_stopped(const char *name, pid_t pid)
{
	if (pid <= 0 || !process_is_stopped(pid))
		return false;
	cli_warn("LTTng does not answer: %s is stopped, `kill -CONT %ld` lets it go on", name,
	         (long)pid);
	return true;
}

static void tell(void)
{
	char run_dir[PATH_MAX];
	pid_t consumer = 0;
	bool is_told;
	int pidfd;

	consumers_name_run_dir(run_dir);
	pidfd = consumers_find(run_dir, &consumer);
	is_told = tell_stopped("lttng-sessiond", consumers_daemon(run_dir));
	if (pidfd >= 0) {
		is_told |= tell_stopped("lttng-consumerd", consumer);
		close(pidfd);
	}
	if (!is_told)
		cli_note("waiting for LTTng");
}

static void *watch_main(void *data)
{
	struct watch *watch = data;
	struct timespec until;
	int code = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&watch->mutex);
	while (!watch->is_over && code != ETIMEDOUT)
		code = pthread_cond_timedwait(&watch->over, &watch->mutex, &until);
	if (!watch->is_over)
		tell();
	pthread_mutex_unlock(&watch->mutex);
	return NULL;
}

void watch_begin(struct watch *watch)
{
	pthread_condattr_t attributes;
	sigset_t all, before;

	*watch = (struct watch){.is_over = false};
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&watch->mutex, NULL);
	pthread_cond_init(&watch->over, &attributes);
	pthread_condattr_destroy(&attributes);
	/* No signal is for this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watch->is_running = pthread_create(&watch->thread, NULL, watch_main, watch) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void watch_end(struct watch *watch)
{
	pthread_mutex_lock(&watch->mutex);
	watch->is_over = true;
	pthread_cond_signal(&watch->over);
	pthread_mutex_unlock(&watch->mutex);
	if (watch->is_running)
		pthread_join(watch->thread, NULL);
	pthread_cond_destroy(&watch->over);
	pthread_mutex_destroy(&watch->mutex);
}
