/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t process_start_ticks(pid_t pid)
{
	char path[64], text[1024];
	const char *field;
	uint64_t ticks = 0;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	/* The name in parentheses may hold anything; field 22 is the 20th behind it. */
	field = strrchr(text, ')');
	for (int i = 0; i < 20 && field; i++)
		field = strchr(field + 1, ' ');
	if (field)
		ticks = strtoull(field, NULL, 10);
	return ticks;
}

int process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0U);
}

bool process_await_end(int pidfd, int timeout_ms)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	int n;

	do
		n = poll(&end, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	return n > 0;
}
