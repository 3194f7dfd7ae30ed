/* SPDX-License-Identifier: Apache-2.0 */
#include "bt2/discover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* -- groups ------------------------------------------------------------------------------------ */

static struct trace_group *find_group(struct trace_groups *groups, const char *name)
{
	for (uint32_t i = 0; name && i < groups->n_groups; i++)
		if (groups->groups[i].name && strcmp(groups->groups[i].name, name) == 0)
			return &groups->groups[i];
	return NULL;
}

static struct trace_group *add_group(struct trace_groups *groups, const char *name)
{
	struct trace_group *grown = realloc(groups->groups,
	                                    (groups->n_groups + 1) * sizeof(*groups->groups));
	struct trace_group *group;

	if (!grown)
		return NULL;
	groups->groups = grown;
	group = &grown[groups->n_groups];
	*group = (struct trace_group){.name = name ? strdup(name) : NULL};
	if (name && !group->name)
		return NULL;
	groups->n_groups++;
	return group;
}

/* Adds a directory to its group, once however often it was named. */
static int add_path(struct trace_groups *groups, const char *path, const char *name)
{
	struct trace_group *group = find_group(groups, name);
	char **paths;

	if (!group)
		group = add_group(groups, name);
	if (!group)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < group->n_paths; i++)
		if (strcmp(group->paths[i], path) == 0)
			return 0;
	paths = realloc(group->paths, (group->n_paths + 1) * sizeof(*paths));
	if (!paths)
		return FLEXTRACE_E_MEMORY;
	group->paths = paths;
	paths[group->n_paths] = strdup(path);
	return paths[group->n_paths++] ? 0 : FLEXTRACE_E_MEMORY;
}

void trace_groups_release(struct trace_groups *groups)
{
	for (uint32_t i = 0; i < groups->n_groups; i++) {
		for (uint32_t j = 0; j < groups->groups[i].n_paths; j++)
			free(groups->groups[i].paths[j]);
		free(groups->groups[i].paths);
		free(groups->groups[i].name);
	}
	free(groups->groups);
	*groups = (struct trace_groups){NULL, 0};
}

/* -- the query --------------------------------------------------------------------------------- */

/* Asks the source; NULL: it cannot say. The result is an owned reference. */
static const bt_value *query(const struct plugins *plugins, const char *path)
{
	bt_value *params = bt_value_map_create();
	bt_query_executor *executor = NULL;
	const bt_value *result = NULL;

	if (params && bt_value_map_insert_string_entry(params, "input", path) == 0 &&
	    bt_value_map_insert_string_entry(params, "type", "directory") == 0)
		executor = bt_query_executor_create(
			bt_component_class_source_as_component_class_const(plugins->fs),
			"babeltrace.support-info", params);
	if (executor)
		bt_query_executor_query(executor, &result);
	bt_query_executor_put_ref(executor);
	bt_value_put_ref(params);
	bt_current_thread_clear_error();
	return result;
}

/* Weight and group of a query's result: a number, or a map of both. */
static double weight_of(const bt_value *result, const char **ret_group)
{
	const bt_value *group, *weight = result;

	*ret_group = NULL;
	if (!result)
		return 0;
	if (bt_value_is_map(result)) {
		weight = bt_value_map_borrow_entry_value_const(result, "weight");
		group = bt_value_map_borrow_entry_value_const(result, "group");
		if (group && bt_value_is_string(group))
			*ret_group = bt_value_string_get(group);
	}
	return weight && bt_value_is_real(weight) ? bt_value_real_get(weight) : 0;
}

/* Adds a directory if it is a trace. 1: it is, 0: it is not. */
static int add_trace(const struct plugins *plugins, const char *path, struct trace_groups *groups)
{
	const bt_value *result = query(plugins, path);
	const char *group;
	int code = 0;

	if (weight_of(result, &group) > 0) {
		code = add_path(groups, path, group);
		code = code < 0 ? code : 1;
	}
	bt_value_put_ref(result);
	return code;
}

/* -- directories: functions return how many traces they found ---------------------------------- */

/* A directory on the way down: links may lead back to one. */
struct level {
	const struct level *above; /* weak */
	dev_t device;
	ino_t inode;
};

static bool is_on_the_way(const struct level *level, const struct stat *status)
{
	for (; level; level = level->above)
		if (level->device == status->st_dev && level->inode == status->st_ino)
			return true;
	return false;
}

static int search(const struct plugins *plugins, const char *path, const struct level *above,
                  struct trace_groups *groups);

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int search_below(const struct plugins *plugins, const char *path, const struct level *level,
                        struct trace_groups *groups)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_visible, alphasort);
	int n_found = 0;

	for (int i = 0; i < n; i++) {
		char below[PATH_MAX];

		snprintf(below, sizeof(below), "%s/%s", path, entries[i]->d_name);
		if (n_found >= 0) {
			int found = search(plugins, below, level, groups);

			n_found = found < 0 ? found : n_found + found;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n_found;
}

static int search(const struct plugins *plugins, const char *path, const struct level *above,
                  struct trace_groups *groups)
{
	struct level level = {.above = above};
	struct stat status;
	int found;

	if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode) || is_on_the_way(above, &status))
		return 0;
	level.device = status.st_dev;
	level.inode = status.st_ino;
	found = add_trace(plugins, path, groups);
	return found ? found : search_below(plugins, path, &level, groups);
}

static int search_named(const struct plugins *plugins, const char *named,
                        struct trace_groups *groups, struct flextrace_error *error)
{
	char *path = realpath(named, NULL);
	struct stat status;
	int code;

	if (!path)
		return error_set(error, FLEXTRACE_E_INPUT, "Cannot read trace: path=%s, reason=%s",
		                 named, strerror(errno));
	if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "A trace is a directory, this is not: path=%s", named);
	else
		code = search(plugins, path, NULL, groups);
	free(path);
	if (code == FLEXTRACE_E_MEMORY)
		return error_set(error, code, "Out of memory");
	if (code == 0)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "No data: there is no trace at or below the path; was a program "
		                 "recorded? path=%s",
		                 named);
	return code < 0 ? code : 0;
}

int discover(const struct plugins *plugins, const char *const *paths, uint32_t n_paths,
             struct trace_groups *ret_groups, struct flextrace_error *error)
{
	*ret_groups = (struct trace_groups){NULL, 0};
	for (uint32_t i = 0; i < n_paths; i++) {
		int code = search_named(plugins, paths[i], ret_groups, error);

		if (code < 0) {
			trace_groups_release(ret_groups);
			return code;
		}
	}
	return 0;
}
