/* SPDX-License-Identifier: Apache-2.0 */
#include "full_disk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *full_for;

ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);

void full_disk_for(const char *name)
{
	full_for = name;
}

static bool is_full(int fd)
{
	char link[64], path[4096];
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (!full_for || n < 0)
		return false;
	path[n] = '\0';
	name = strrchr(path, '/');
	return name && strcmp(name + 1, full_for) == 0;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
	if (!is_full(fd))
		return __real_write(fd, bytes, n);
	errno = ENOSPC;
	return -1;
}
