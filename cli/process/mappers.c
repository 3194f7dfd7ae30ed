/* SPDX-License-Identifier: Apache-2.0 */
#include "mappers.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "process.h"

#define TICKS_PAST 2

/* The file, or one below the directory `path`/. */
static bool is_of(const char *file, const char *path)
{
	size_t n = strlen(path);

	return n && path[n - 1] == '/' ? strncmp(file, path, n) == 0 : strcmp(file, path) == 0;
}

bool mappers_has(pid_t pid, const char *path)
{
	FILE *maps = process_fopen(pid, "maps");
	bool has_it = false;
	size_t n_bytes = 0;
	char *line = NULL;

	while (maps && !has_it && getline(&line, &n_bytes, maps) > 0) {
		char *file = strchr(line, '/');

		if (file)
			file[strcspn(file, "\n")] = '\0';
		has_it = file && is_of(file, path);
	}
	free(line);
	if (maps)
		fclose(maps);
	return has_it;
}

/* Reads fields 3, 14 and 15 of a thread's /proc/PID/task/TID/stat. */
static bool read_thread(pid_t pid, pid_t thread, char *ret_state, uint64_t *ret_ticks)
{
	uint64_t user, system;
	char name[64], text[1024];
	const char *fields;

	snprintf(name, sizeof(name), "task/%ld/stat", (long)thread);
	if (!process_read(pid, name, text, sizeof(text)))
		return false;
	fields = strrchr(text, ')');
	if (!fields ||
	    sscanf(fields, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64,
	           ret_state, &user, &system) != 3)
		return false;
	*ret_ticks = user + system;
	return true;
}

typedef bool visit_thread(void *context, pid_t thread, char state, uint64_t ticks);

/* Visits the threads of a process until a visit is the last one. */
static bool visit_process(pid_t pid, visit_thread *visit, void *context)
{
	DIR *tasks = process_opendir(pid, "task");
	struct dirent *entry;
	bool is_over = false;
	uint64_t ticks;
	char state;

	while (tasks && !is_over && (entry = readdir(tasks))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread > 0 && read_thread(pid, thread, &state, &ticks))
			is_over = visit(context, thread, state, ticks);
	}
	if (tasks)
		closedir(tasks);
	return is_over;
}

static bool visit_all(const char *path, visit_thread *visit, void *context)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	bool is_over = false;

	while (processes && !is_over && (entry = readdir(processes))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && mappers_has(pid, path))
			is_over = visit_process(pid, visit, context);
	}
	if (processes)
		closedir(processes);
	return is_over;
}

static bool add(void *context, pid_t thread, char state, uint64_t ticks)
{
	struct mappers *mappers = context;

	(void)state;
	if (array_make_room(&mappers->all, mappers->n, sizeof(*mappers->all)) < 0)
		return true;
	mappers->all[mappers->n++] = (struct mapper){thread, ticks};
	return false;
}

void mappers_list(const char *path, struct mappers *ret_owners)
{
	*ret_owners = (struct mappers){NULL, 0};
	visit_all(path, add, ret_owners);
}

void mappers_release(struct mappers *mappers)
{
	free(mappers->all);
	*mappers = (struct mappers){NULL, 0};
}

static bool may_write(void *context, pid_t thread, char state, uint64_t ticks)
{
	const struct mappers *before = context;

	if (state == 'S' || state == 'Z' || state == 'X' || state == 'I')
		return false;
	for (uint32_t i = 0; i < before->n; i++)
		if (before->all[i].thread == thread)
			return state != 'R' || ticks - before->all[i].ticks < TICKS_PAST;
	return false; /* it began later */
}

bool mappers_may_write(const struct mappers *before, const char *path)
{
	struct mappers copy = *before;

	return visit_all(path, may_write, &copy);
}
