/* SPDX-License-Identifier: Apache-2.0 */
#include "wanted_note.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/lttng/consumers.h"
#include "recording/lttng/daemon.h"
#include "base/paths.h"
#include "process/process.h"
#include "tracer/src/wanted.h"

struct paths {
	struct path file, next;
};

static struct paths name_paths(void)
{
	char run_dir[PATH_MAX];

	consumers_name_run_dir(run_dir);
	return (struct paths){path_of(run_dir, WANTED_FILE), path_of(run_dir, WANTED_FILE ".next")};
}

/* A line of a session that this one does not replace, and whose daemon lives. */
static bool is_to_keep(const char *line, const char *session)
{
	char name[128];
	uint64_t ticks, ns;
	long pid;

	if (sscanf(line, "%ld %" SCNu64 " %" SCNu64 " %*s %127s", &pid, &ticks, &ns, name) != 4 ||
	    strcmp(name, session) == 0)
		return false;
	return ns != process_inode_of("/proc/self/ns/pid") ||
	       process_start_ticks((pid_t)pid) == ticks;
}

static void copy_others(const char *from, FILE *to, const char *session)
{
	FILE *file = fopen(from, "re");
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		if (is_to_keep(line, session))
			fputs(line, to);
	free(line);
	if (file)
		fclose(file);
}

static void write_line(FILE *file, const char *session, bool wants_all)
{
	pid_t daemon = consumers_daemon();

	fprintf(file, "%ld %" PRIu64 " %" PRIu64 " %s %s\n", (long)daemon,
	        process_start_ticks(daemon), process_inode_of("/proc/self/ns/pid"),
	        wants_all ? WANTED_ALL : WANTED_OWN, session);
}

/* Programs of other users register with root's daemon, and read this. */
static FILE *open_next(const struct paths *paths)
{
	int fd;

	unlink(paths->next.text);
	fd = open(paths->next.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && geteuid() == 0)
		fchmod(fd, 0644);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

/* `wants_all` NULL: there is no line of this session any more. */
static bool replace(const char *session, const bool *wants_all)
{
	struct paths paths;
	bool is_empty;
	FILE *file;
	int lock;

	if (!daemon_lock(&lock))
		return false;
	paths = name_paths();
	file = open_next(&paths);
	if (file) {
		copy_others(paths.file.text, file, session);
		if (wants_all)
			write_line(file, session, *wants_all);
		is_empty = ftell(file) == 0;
		if (fclose(file) != 0 || is_empty || rename(paths.next.text, paths.file.text) != 0)
			unlink(paths.next.text);
		if (is_empty)
			unlink(paths.file.text);
	}
	daemon_unlock(lock);
	return true;
}

bool wanted_note(const char *session, bool wants_all)
{
	return replace(session, &wants_all);
}

void wanted_remove(const char *session)
{
	struct paths paths = name_paths();

	if (access(paths.file.text, F_OK) == 0)
		replace(session, NULL);
}
