/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "threads.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_file.h"
#include "proc_list.h"

#define TASKS            "/proc/self/task"
#define SUFFIX           "-ust)" /* of LTTng's threads and ours, as the kernel shows names */
#define FLAG_EXITING     0x4     /* PF_EXITING of the kernel, part of what /proc promises */
/* Fields between the name and the flags (state, ppid, pgrp, ...), and the number of threads. */
#define N_BEFORE_FLAGS   6
#define N_BEFORE_THREADS 17

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

/* A thread that came while the list was read is in the number that is read behind it. */
int threads_are_gone(void)
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
