/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct path file_of(pid_t pid, const char *name)
{
	char dir[32];

	snprintf(dir, sizeof(dir), "/proc/%ld", (long)pid);
	return path_of(dir, name);
}

size_t process_read(pid_t pid, const char *name, char *text, size_t size)
{
	return path_read(file_of(pid, name).text, text, size);
}

FILE *process_fopen(pid_t pid, const char *name)
{
	return fopen(file_of(pid, name).text, "re");
}

DIR *process_opendir(pid_t pid, const char *name)
{
	return opendir(file_of(pid, name).text);
}

unsigned process_count(pid_t pid, const char *name)
{
	DIR *dir = process_opendir(pid, name);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n > 2 ? n - 2 : 0; /* . and .. */
}

/* Reads /proc/PID/stat into `text`. Returns what stands behind the name in parentheses, which may
 * hold anything: field 3 and on. NULL: there is no such process. */
static const char *read_stat(pid_t pid, char *text, size_t size)
{
	return process_read(pid, "stat", text, size) ? strrchr(text, ')') : NULL;
}

uint64_t process_start_ticks(pid_t pid)
{
	char text[1024];
	const char *field = read_stat(pid, text, sizeof(text));

	/* Field 22. */
	for (int i = 0; i < 20 && field; i++)
		field = strchr(field + 1, ' ');
	return field ? strtoull(field, NULL, 10) : 0;
}

bool process_is_stopped(pid_t pid)
{
	char text[1024];
	const char *field = read_stat(pid, text, sizeof(text));

	return field && (strncmp(field, ") T", 3) == 0 || strncmp(field, ") t", 3) == 0);
}

int process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0U);
}

void process_end(int pidfd)
{
	syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0U);
}

bool process_await_end(int pidfd, int timeout_ms)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	return TEMP_FAILURE_RETRY(poll(&end, 1, timeout_ms)) > 0;
}

void process_stand_alone(unsigned first)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setsid();
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	syscall(SYS_close_range, first, ~0U, 0U);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void descriptor_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

uint64_t process_inode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

uint64_t process_memory_bytes(const char *name)
{
	char text[4096];
	const char *line;

	path_read("/proc/meminfo", text, sizeof(text));
	line = strstr(text, name);
	return line ? strtoull(line + strlen(name), NULL, 10) << 10 : 0;
}
