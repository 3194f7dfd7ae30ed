/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "threads.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel_file.h"
#include "proc_list.h"

#define TASKS            "/proc/self/task"
#define SUFFIX           "-ust)" /* of LTTng's threads and ours, as the kernel shows names */
#define FLAG_EXITING     0x4     /* PF_EXITING of the kernel, part of what /proc promises */
/* Fields between the name and the flags (state, ppid, pgrp, ...), and the number of threads. */
#define N_BEFORE_FLAGS   6
#define N_BEFORE_THREADS 17
#define OWN_NAME         "flextrace-ust"
#define PAUSE_NS         20000000

/* Reads "TID (NAME) STATE PPID ...", cut to `size`; "" if the thread is gone. */
static void read_stat(int tid, char *line, size_t size)
{
	char path[sizeof(TASKS "/2147483647/stat")];

	snprintf(path, sizeof(path), TASKS "/%d/stat", tid);
	kernel_file_read(path, line, size);
}

/* The number that a link of /proc ends in: in a pid namespace that /proc was not mounted in, that
 * is not what gettid() and getpid() say. */
static int read_link(const char *link, int otherwise)
{
	char path[64];
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	const char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	return n > 0 ? (int)strtol(slash ? slash + 1 : path, NULL, 10) : otherwise;
}

static int find_own(void)
{
	return read_link("/proc/thread-self", (int)syscall(SYS_gettid));
}

static unsigned long read_field(const char *after_name, int n_before)
{
	int n_spaces = 0;

	for (; *after_name && n_spaces <= n_before; after_name++)
		n_spaces += *after_name == ' ';
	return strtoul(after_name, NULL, 10);
}

static int is_exiting(const char *after_name)
{
	return (read_field(after_name, N_BEFORE_FLAGS) & FLAG_EXITING) != 0;
}

/* `end`: of the name, in `line`. */
static int is_lttngs(const char *line, const char *end)
{
	return end - line >= (ptrdiff_t)strlen(SUFFIX) &&
	       memcmp(end + 1 - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) == 0;
}

static int is_other(int tid, void *own)
{
	char line[256];
	const char *end;

	if (tid == *(const int *)own)
		return 0;
	read_stat(tid, line, sizeof(line));
	end = strrchr(line, ')');
	return end && !is_exiting(end) && !is_lttngs(line, end);
}

int threads_are_others(void)
{
	int own = find_own();

	return proc_list(TASKS, is_other, &own) != 0;
}

struct census {
	int own, leader;
	unsigned long n_known;
};

/* Counts LTTng's threads, and the main one once it has ended; 1: one of the program's lives. */
static int count_known(int tid, void *data)
{
	struct census *census = data;
	char line[256];
	const char *end;

	read_stat(tid, line, sizeof(line));
	end = strrchr(line, ')');
	if (!end)
		return 0;
	if (tid != census->own && !is_lttngs(line, end) && !is_exiting(end))
		return 1;
	census->n_known += tid == census->own || tid == census->leader || !is_exiting(end);
	return 0;
}

/* Whether the main thread has ended and no other of the program's is left: only LTTng's, and the
 * calling one, which has a name as these. A thread that came while the list was read is in the
 * number that is read behind it. */
static int are_gone(void)
{
	struct census census = {find_own(), read_link("/proc/self", (int)getpid()), 0};
	char line[512];
	const char *end;

	if (proc_list(TASKS, count_known, &census) != 0)
		return 0;
	read_stat(census.own, line, sizeof(line));
	end = strrchr(line, ')');
	return end && read_field(end, N_BEFORE_THREADS) == census.n_known;
}

/* -- the last one -- */

static pthread_key_t key;
static int has_key;
static sigset_t signals; /* that the main thread had blocked */

static void *await_last(void *unused)
{
	const struct timespec pause = {0, PAUSE_NS};

	(void)unused;
	prctl(PR_SET_NAME, OWN_NAME);
	while (!are_gone())
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

void threads_init(void)
{
	has_key = pthread_key_create(&key, begin) == 0;
}

void threads_watch_main(void)
{
	if (has_key && syscall(SYS_gettid) == getpid())
		pthread_setspecific(key, &key);
}
