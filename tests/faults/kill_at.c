/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a program: it dies of SIGKILL right before its call number KILL_AT of those that
 * change files. Without KILL_AT, the number of such calls is written to the file KILL_AT_COUNT at
 * the end.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_ulong n_calls;

static void step(void)
{
	const char *at = getenv("KILL_AT");
	unsigned long n = atomic_fetch_add(&n_calls, 1) + 1;

	if (at && strtoul(at, NULL, 10) == n)
		kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("KILL_AT_COUNT");
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu\n", atomic_load(&n_calls));
	fclose(file);
}

/* What comes next in the order of libraries. */
#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = (mode_t)va_arg(arguments, unsigned);
	va_end(arguments);
	if (flags & O_CREAT)
		step();
	return NEXT(open)(path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	step();
	return NEXT(write)(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	step();
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
	step();
	return NEXT(mkdir)(path, mode);
}

int symlink(const char *to, const char *path)
{
	step();
	return NEXT(symlink)(to, path);
}

int close(int fd)
{
	step();
	return NEXT(close)(fd);
}
