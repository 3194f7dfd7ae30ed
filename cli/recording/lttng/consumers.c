/* SPDX-License-Identifier: Apache-2.0 */
#include "consumers.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/paths.h"
#include "process/process.h"

#define SYSTEM_RUN_DIR "/var/run/lttng"
#define SOCKET_OPTION  "--consumerd-cmd-sock"

void consumers_name_run_dir(char run_dir[PATH_MAX])
{
	const char *home = getenv("LTTNG_HOME");
	const struct passwd *user;
	int n;

	if (geteuid() == 0) {
		snprintf(run_dir, PATH_MAX, "%s", SYSTEM_RUN_DIR);
		return;
	}
	if (!home)
		home = getenv("HOME");
	if (!home && (user = getpwuid(geteuid())))
		home = user->pw_dir;
	n = home ? snprintf(run_dir, PATH_MAX, "%s/.lttng", home) : -1;
	if (n < 0 || n >= PATH_MAX)
		run_dir[0] = '\0';
}

/* The argument behind SOCKET_OPTION in the command line; NULL = there is none. */
static char *find_socket(char *words, size_t n)
{
	for (size_t i = 0; i < n; i += strlen(words + i) + 1)
		if (strcmp(words + i, SOCKET_OPTION) == 0 && i + sizeof(SOCKET_OPTION) < n)
			return words + i + sizeof(SOCKET_OPTION);
	return NULL;
}

/* Opens a directory as the process sees it, absolute links on the way included. */
static int open_of(pid_t pid, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
	                       .resolve = RESOLVE_IN_ROOT};
	char name[64];
	int root, fd;

	snprintf(name, sizeof(name), "/proc/%ld/root", (long)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	close(root);
	return fd;
}

/* True if RUN_DIR/<kind of consumer>/<socket>, as the process sees it, lies in `run_dir`. */
static bool is_in(pid_t pid, char *socket, const struct stat *run_dir)
{
	struct stat status;
	bool is_same;
	int fd;

	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(socket, '/');

		if (!slash)
			return false;
		*slash = '\0';
	}
	fd = open_of(pid, socket);
	if (fd < 0)
		return false;
	is_same = fstat(fd, &status) == 0 && status.st_dev == run_dir->st_dev &&
	          status.st_ino == run_dir->st_ino;
	close(fd);
	return is_same;
}

static bool is_consumer(pid_t pid, const struct stat *run_dir)
{
	char name[32], words[PATH_MAX], path[64], *socket;
	struct stat status;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
	process_read(pid, "comm", name, sizeof(name));
	if (strcmp(name, "lttng-consumerd\n") != 0 || stat(path, &status) != 0 ||
	    status.st_uid != geteuid())
		return false;
	n = process_read(pid, "cmdline", words, sizeof(words));
	socket = find_socket(words, n);
	return socket && is_in(pid, socket, run_dir);
}

int consumers_find(const char *run_dir, pid_t *ret_pid)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct stat status;
	int found = -1;

	if (!dir || stat(run_dir, &status) != 0) {
		if (dir)
			closedir(dir);
		return -1;
	}
	while (found < 0 && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || !is_consumer(pid, &status))
			continue;
		/* Open first, look again then: from here on it cannot become another process. */
		found = process_open(pid);
		if (found >= 0 && !is_consumer(pid, &status)) {
			close(found);
			found = -1;
		}
		*ret_pid = pid;
	}
	closedir(dir);
	return found;
}

int consumers_find_own(pid_t *ret_pid)
{
	char run_dir[PATH_MAX];

	consumers_name_run_dir(run_dir);
	return consumers_find(run_dir, ret_pid);
}

pid_t consumers_daemon(void)
{
	char run_dir[PATH_MAX], text[32];

	consumers_name_run_dir(run_dir);
	path_read(path_of(run_dir, "lttng-sessiond.pid").text, text, sizeof(text));
	return (pid_t)strtol(text, NULL, 10);
}
