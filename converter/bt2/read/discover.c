/* SPDX-License-Identifier: Apache-2.0 */
#include "discover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"
#include "base/array.h"
#include "base/map.h"
#include "base/paths.h"

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
	struct trace_group *group;

	if (ARRAY_ROOM(groups->groups, groups->n_groups) < 0)
		return NULL;
	group = &groups->groups[groups->n_groups];
	*group = (struct trace_group){.name = name ? strdup(name) : NULL};
	if (name && !group->name)
		return NULL;
	groups->n_groups++;
	return group;
}

/* Appends a path to a list, unless it is there. */
static int append_path(struct text_list *paths, const char *path)
{
	for (uint32_t i = 0; i < paths->n; i++) {
		if (strcmp(paths->texts[i], path) == 0)
			return FLEXTRACE_OK;
	}
	return text_list_add(paths, "%s", path);
}

/* Adds a directory to its group, once however often it was named. */
static int add_path(struct trace_groups *groups, const char *path, const char *name)
{
	struct trace_group *group = find_group(groups, name);

	if (!group)
		group = add_group(groups, name);
	if (!group)
		return FLEXTRACE_E_MEMORY;
	return append_path(&group->paths, path);
}

const char *trace_group_path(const struct trace_group *group)
{
	return group->shown ? group->shown : group->paths.texts[0];
}

void trace_groups_release(struct trace_groups *groups)
{
	for (uint32_t i = 0; i < groups->n_groups; i++) {
		text_list_release(&groups->groups[i].paths);
		free(groups->groups[i].name);
		free(groups->groups[i].shown);
	}
	free(groups->groups);
	text_list_release(&groups->damaged);
	*groups = (struct trace_groups){0};
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

/* What is searched for, and where it goes. */
struct search {
	const struct plugins *plugins; /* weak, all */
	struct trace_groups *groups;
	struct flextrace_error *error;
	struct map seen; /* owned: device and inode of a directory -> whether there is a trace */
	bool is_careful;
};

struct question { /* to a probe */
	const struct plugins *plugins;
	const char *path;
};

static void ask(void *context)
{
	const struct question *question = context;

	bt_value_put_ref(query(question->plugins, question->path));
}

static bool survives(const struct search *search, const char *path)
{
	struct question question = {search->plugins, path};

	return !search->is_careful || probe(ask, &question) == 0;
}

static bool has_metadata(const char *path)
{
	struct stat status;

	return stat(path_of(path, "metadata").text, &status) == 0 && S_ISREG(status.st_mode);
}

/* Adds a directory if it is a trace. 1: it is, 0: it is not. */
static int add_trace(const struct search *search, const char *path)
{
	struct trace_groups *groups = search->groups;
	const bt_value *result;
	const char *group;
	int code;

	if (!has_metadata(path))
		return 0;
	result = survives(search, path) ? query(search->plugins, path) : NULL;
	if (weight_of(result, &group) > 0)
		code = add_path(groups, path, group);
	else
		code = append_path(&groups->damaged, path);
	bt_value_put_ref(result);
	return code < 0 ? code : 1;
}

/* -- directories: functions return 1 if they found a trace, 0 if not -------------------------- */

#define MAX_DEPTH 64 /* of directories below the one that was named */

static int visit(struct search *search, const char *path, uint32_t depth);

/* LTTng hides the chunk that it is about to close, and leaves it there if it dies meanwhile. */
static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.' || strcmp(entry->d_name, ".tmp_old_chunk") == 0;
}

/* LTTng's buffers (`record --crash-safe`) of which lttng-crash has made a trace beside them. */
static bool is_recovered(const char *path, const char *name)
{
	return strcmp(name, "buffers") == 0 && (path_is_there(path, "trace/recovered") ||
	                                        path_is_there(path, "snapshots/recovered"));
}

static int visit_below(struct search *search, const char *path, uint32_t depth)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_visible, alphasort);
	int found = 0;

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (found >= 0 && !is_recovered(path, name)) {
			int one = visit(search, path_of(path, name).text, depth + 1);

			found = one < 0 ? one : found | one;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return found;
}

/* Each directory once: links may lead to it in many ways, and back to where they stand. */
static int visit(struct search *search, const char *path, uint32_t depth)
{
	struct stat status;
	uint32_t known;
	int found;

	if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
		return 0;
	known = map_find(&search->seen, status.st_dev, status.st_ino);
	if (known != MAP_NONE)
		return (int)known;
	if (depth > MAX_DEPTH)
		return error_set(search->error, FLEXTRACE_E_INPUT,
		                 "Directories are nested too deep: limit=%d, path=%s", MAX_DEPTH,
		                 path);
	FLEXTRACE_TRY(map_put(&search->seen, status.st_dev, status.st_ino, 0));
	found = add_trace(search, path);
	if (found == 0)
		found = visit_below(search, path, depth);
	if (found > 0)
		FLEXTRACE_TRY(map_put(&search->seen, status.st_dev, status.st_ino, 1));
	return found;
}

static int visit_named(struct search *search, const char *named)
{
	char *path = realpath(named, NULL);
	struct stat status;
	int code;

	if (!path)
		return error_set(search->error, FLEXTRACE_E_INPUT,
		                 "Cannot read trace: path=%s, reason=%s", named, strerror(errno));
	if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
		code = error_set(search->error, FLEXTRACE_E_INPUT,
		                 "A trace is a directory, this is not: path=%s", named);
	else
		code = visit(search, path, 0);
	free(path);
	if (code == FLEXTRACE_E_MEMORY)
		return error_set(search->error, code, "Out of memory");
	if (code == 0)
		return error_set(search->error, FLEXTRACE_E_INPUT,
		                 "No data: there is no trace at or below the path; was a program "
		                 "recorded? path=%s",
		                 named);
	return code < 0 ? code : 0;
}

int discover(const struct plugins *plugins, const struct discover_options *options,
             struct trace_groups *ret_groups, struct flextrace_error *error)
{
	struct search search = {.plugins = plugins,
	                        .groups = ret_groups,
	                        .error = error,
	                        .is_careful = options->is_careful};
	int code = 0;

	*ret_groups = (struct trace_groups){0};
	for (uint32_t i = 0; i < options->n_paths && code == 0; i++)
		code = visit_named(&search, options->paths[i]);
	map_release(&search.seen);
	if (code < 0)
		trace_groups_release(ret_groups);
	return code;
}
