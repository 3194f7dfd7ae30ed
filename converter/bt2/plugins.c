/* SPDX-License-Identifier: Apache-2.0 */
#include "bt2/plugins.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int plugins_load(struct plugins *plugins, struct flextrace_error *error)
{
	bt_plugin_find_status status;

	*plugins = (struct plugins){NULL, NULL};
	pthread_mutex_lock(&lock);
	status = bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugins->ctf);
	pthread_mutex_unlock(&lock);
	if (status == BT_PLUGIN_FIND_STATUS_OK)
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
