/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Finds the source's class in the plug-in. */
static int find_source(struct plugins *plugins, struct flextrace_error *error)
{
	if (plugins->ctf)
		plugins->fs = bt_plugin_borrow_source_component_class_by_name_const(plugins->ctf,
		                                                                    "fs");
	if (plugins->fs)
		return 0;
	plugins_release(plugins);
	return plugins_take_error(
		error, FLEXTRACE_E_SYSTEM,
		"Cannot find babeltrace2's plug-in `ctf`: install babeltrace2 or set "
		"BABELTRACE_PLUGIN_PATH");
}

int plugins_load(struct plugins *plugins, struct flextrace_error *error)
{
	*plugins = (struct plugins){NULL, NULL};
	pthread_mutex_lock(&lock);
	bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugins->ctf);
	pthread_mutex_unlock(&lock);
	return find_source(plugins, error);
}

/* The plug-in `ctf` of a file, which has one only; NULL: it cannot be had. */
static const bt_plugin *load_file(const char *path)
{
	const bt_plugin_set *set;
	const bt_plugin *plugin = NULL;

	if (bt_plugin_find_all_from_file(path, BT_FALSE, &set) !=
	    BT_PLUGIN_FIND_ALL_FROM_FILE_STATUS_OK)
		return NULL;
	if (bt_plugin_set_get_plugin_count(set) > 0) {
		plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
		bt_plugin_get_ref(plugin);
	}
	bt_plugin_set_put_ref(set);
	return plugin;
}

int plugins_load_again(struct plugins *plugins, const struct plugins *loaded,
                       struct flextrace_error *error)
{
	const char *path = bt_plugin_get_path(loaded->ctf);

	if (!path)
		return plugins_load(plugins, error); /* built in: there is no file */
	*plugins = (struct plugins){NULL, NULL};
	pthread_mutex_lock(&lock);
	plugins->ctf = load_file(path);
	pthread_mutex_unlock(&lock);
	return find_source(plugins, error);
}

void plugins_release(struct plugins *plugins)
{
	pthread_mutex_lock(&lock);
	BT_PLUGIN_PUT_REF_AND_RESET(plugins->ctf);
	pthread_mutex_unlock(&lock);
	plugins->fs = NULL;
}

void plugins_put_graph(const bt_graph *graph)
{
	pthread_mutex_lock(&lock);
	bt_graph_put_ref(graph);
	pthread_mutex_unlock(&lock);
}

int plugins_take_error(struct flextrace_error *error, int code, const char *what)
{
	const bt_error *bt = bt_current_thread_take_error();

	if (!bt)
		return error_set(error, code, "%s", what);
	error_set(error, code, "%s, reason=%s", what,
	          bt_error_cause_get_message(bt_error_borrow_cause_by_index(bt, 0)));
	bt_error_release(bt);
	return code;
}
