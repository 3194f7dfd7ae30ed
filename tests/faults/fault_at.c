/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a program: a fault at call number FAULT_AT of those that change files, counted
 * over the program and its children.
 *
 *	FAULT=kill    its process group is killed right before that call; it must lead one
 *	FAULT=child   only the process that makes the call is
 *	FAULT=full    from that call on the disk is full
 *	FAULT=remove  the directory FAULT_DIR is gone before that call (renamed: FAULT_DIR.gone)
 *
 * The number of such calls is written to the file FAULT_COUNT at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* In memory that children share. */
static struct {
	atomic_ulong n_calls;
	pid_t leader;
} * shared;

__attribute__((constructor)) static void share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (shared == MAP_FAILED)
		abort();
	shared->leader = getpid();
}

/* What comes next in the order of libraries. */
#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static void remove_dir(void)
{
	const char *dir = getenv("FAULT_DIR");
	char gone[4096];

	snprintf(gone, sizeof(gone), "%s.gone", dir);
	NEXT(rename)(dir, gone);
}

/* Never that of a shell or of a test runner. */
static void kill_group(void)
{
	if (getpgrp() != shared->leader)
		abort();
	kill(0, SIGKILL);
}

/* Counts a call. True if the disk is full. */
static bool step(void)
{
	const char *at = getenv("FAULT_AT"), *fault = getenv("FAULT");
	unsigned long n = shared ? atomic_fetch_add(&shared->n_calls, 1) + 1 : 0;
	unsigned long n_at = at ? strtoul(at, NULL, 10) : 0;

	if (!n_at || !fault || n < n_at)
		return false;
	if (n == n_at && strcmp(fault, "kill") == 0)
		kill_group();
	if (n == n_at && strcmp(fault, "child") == 0)
		kill(getpid(), SIGKILL);
	if (n == n_at && strcmp(fault, "remove") == 0)
		remove_dir();
	return strcmp(fault, "full") == 0;
}

/* As a file system without room does. */
static int refuse(void)
{
	errno = ENOSPC;
	return -1;
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("FAULT_COUNT");
	FILE *file = path && getpid() == shared->leader ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu\n", atomic_load(&shared->n_calls));
	fclose(file);
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = (mode_t)va_arg(arguments, unsigned);
	va_end(arguments);
	if ((flags & O_CREAT) && step())
		return refuse();
	return NEXT(open)(path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	if (step())
		return refuse();
	return NEXT(write)(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	if (step())
		return refuse();
	return NEXT(pwrite)(fd, bytes, n, offset);
}

int rename(const char *from, const char *to)
{
	step();
	return NEXT(rename)(from, to);
}

int unlink(const char *path)
{
	step();
	return NEXT(unlink)(path);
}

int mkdir(const char *path, mode_t mode)
{
	if (step())
		return refuse();
	return NEXT(mkdir)(path, mode);
}

int symlink(const char *to, const char *path)
{
	if (step())
		return refuse();
	return NEXT(symlink)(to, path);
}

int close(int fd)
{
	step();
	return NEXT(close)(fd);
}
