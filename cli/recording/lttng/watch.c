/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "consumers.h"
#include "process/patience.h"
#include "process/process.h"

#define POLL_NS INT64_C(200000000)

static bool warn_stopped(const char *name, pid_t pid)
{
	if (pid <= 0 || !process_is_stopped(pid))
		return false;
	cli_warn("LTTng does not answer: %s is stopped, `kill -CONT %ld` lets it go on", name,
	         (long)pid);
	return true;
}

static void say_what_for(void)
{
	pid_t consumer = 0;
	int pidfd = consumers_find_own(&consumer);
	bool is_said = warn_stopped("lttng-sessiond", consumers_daemon());

	if (pidfd >= 0) {
		is_said |= warn_stopped("lttng-consumerd", consumer);
		close(pidfd);
	}
	if (!is_said)
		cli_note("waiting for LTTng");
}

/* -- giving up --------------------------------------------------------------------------------- */

static bool is_daemons(int fd)
{
	struct sockaddr_un peer;
	socklen_t n = sizeof(peer);

	memset(&peer, 0, sizeof(peer));
	return getpeername(fd, (struct sockaddr *)&peer, &n) == 0 && peer.sun_family == AF_UNIX &&
	       n < sizeof(peer) && strstr(peer.sun_path, "client-lttng-sessiond");
}

/* The library keeps its connection to itself. One that is shut down fails the call that waits. */
static void break_connections(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > STDERR_FILENO && is_daemons(fd))
			shutdown(fd, SHUT_RDWR);
	}
	if (dir)
		closedir(dir);
}

/* Waits for the end of the call; false: it lasts longer. */
static bool wait_for_end(struct watch *watch, int64_t ns)
{
	struct timespec until;
	int code = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += until.tv_nsec;
	until.tv_sec += ns / 1000000000;
	until.tv_nsec = ns % 1000000000;
	while (!watch->is_over && code != ETIMEDOUT)
		code = pthread_cond_timedwait(&watch->over, &watch->mutex, &until);
	return watch->is_over;
}

static void do_nothing(int number)
{
	(void)number;
}

static void give_up(struct watch *watch, int number)
{
	/* Of a daemon that takes no connection any more the call waits in connect(). */
	const struct sigaction action = {.sa_handler = do_nothing};
	struct sigaction before;

	watch->has_given_up = true;
	if (number)
		cli_warn("Waiting no longer for LTTng: %s", strsignal(number));
	else
		cli_warn("Waiting no longer for LTTng: seconds=%d", watch->limit_s);
	sigaction(SIGURG, &action, &before);
	/* A call may be several, each with a connection of its own. */
	do {
		break_connections();
		pthread_kill(watch->caller, SIGURG);
	} while (!wait_for_end(watch, POLL_NS));
	sigaction(SIGURG, &before, NULL);
}

static void *watch_main(void *data)
{
	struct watch *watch = data;
	int64_t left_ns = (int64_t)(watch->limit_s - PATIENCE_S) * 1000000000;
	int number = 0;

	pthread_mutex_lock(&watch->mutex);
	if (!wait_for_end(watch, INT64_C(1000000000) * PATIENCE_S)) {
		say_what_for();
		number = patience_ending_signal();
		while (left_ns > 0 && !number && !wait_for_end(watch, POLL_NS)) {
			left_ns -= POLL_NS;
			number = patience_ending_signal();
		}
		if (!watch->is_over)
			give_up(watch, number);
	}
	pthread_mutex_unlock(&watch->mutex);
	return NULL;
}

void watch_begin(struct watch *watch, int limit_s)
{
	pthread_condattr_t attributes;
	sigset_t all, before;

	*watch = (struct watch){.limit_s = limit_s, .caller = pthread_self()};
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

bool watch_end(struct watch *watch)
{
	pthread_mutex_lock(&watch->mutex);
	watch->is_over = true;
	pthread_cond_signal(&watch->over);
	pthread_mutex_unlock(&watch->mutex);
	if (watch->is_running)
		pthread_join(watch->thread, NULL);
	pthread_cond_destroy(&watch->over);
	pthread_mutex_destroy(&watch->mutex);
	return watch->has_given_up;
}
