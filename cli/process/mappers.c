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

static void add_threads(pid_t pid, struct mappers *mappers)
{
	DIR *tasks = process_opendir(pid, "task");
	struct dirent *entry;
	struct mapper mapper;

	while (tasks && (entry = readdir(tasks))) {
		mapper.thread = (pid_t)strtol(entry->d_name, NULL, 10);
		if (mapper.thread > 0 &&
		    read_thread(pid, mapper.thread, &mapper.state, &mapper.ticks) &&
		    array_make_room(&mappers->all, mappers->n, sizeof(mapper)) == FLEXTRACE_OK)
			mappers->all[mappers->n++] = mapper;
	}
	if (tasks)
		closedir(tasks);
}

void mappers_list(const char *path, struct mappers *ret_mappers)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	*ret_mappers = (struct mappers){NULL, 0};
	while (processes && (entry = readdir(processes))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && mappers_has(pid, path))
			add_threads(pid, ret_mappers);
	}
	if (processes)
		closedir(processes);
}

void mappers_release(struct mappers *mappers)
{
	free(mappers->all);
	*mappers = (struct mappers){NULL, 0};
}

/* One that is not in the list began later. */
static bool may_write(const struct mappers *before, const struct mapper *now)
{
	if (strchr("SZXI", now->state))
		return false;
	for (uint32_t i = 0; i < before->n; i++)
		if (before->all[i].thread == now->thread)
			return now->state != 'R' || now->ticks - before->all[i].ticks < TICKS_PAST;
	return false;
}

bool mappers_may_write(const struct mappers *before, const char *path)
{
	struct mappers now;
	bool may = false;

	mappers_list(path, &now);
	for (uint32_t i = 0; i < now.n; i++)
		may |= may_write(before, &now.all[i]);
	mappers_release(&now);
	return may;
}
