/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "threads.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_list.h"

#define TASKS          "/proc/self/task"
#define SUFFIX         "-ust)" /* of LTTng's threads, as the kernel shows names */
#define FLAG_EXITING   0x4     /* PF_EXITING of the kernel, part of what /proc promises */
#define N_BEFORE_FLAGS 6       /* fields between the name and the flags: state, ppid, pgrp, ... */

/* Reads "TID (NAME) STATE PPID ...", cut to `size`; "" if the thread is gone. */
static void read_stat(int tid, char *line, size_t size)
{
	char path[sizeof(TASKS "/2147483647/stat")];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), TASKS "/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, line, size - 1);
		syscall(SYS_close, fd);
	}
	line[n > 0 ? n : 0] = '\0';
}

static int is_exiting(const char *after_name)
{
	int n_spaces = 0;

	for (; *after_name && n_spaces <= N_BEFORE_FLAGS; after_name++)
		n_spaces += *after_name == ' ';
	return (strtoul(after_name, NULL, 10) & FLAG_EXITING) != 0;
}

static int is_other(int tid, void *own)
{
	char line[256];
	const char *end;

	if (tid == *(const int *)own)
		return 0;
	read_stat(tid, line, sizeof(line));
	end = strrchr(line, ')');
	if (!end || is_exiting(end))
		return 0;
	return end - line < (ptrdiff_t)strlen(SUFFIX) ||
	       memcmp(end + 1 - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) != 0;
}

int threads_are_others(void)
{
	int own = (int)syscall(SYS_gettid);

	return proc_list(TASKS, is_other, &own) != 0;
}
