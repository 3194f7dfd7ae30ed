/* SPDX-License-Identifier: Apache-2.0 */
#include "session_running.h"

#include <lttng/lttng.h>
#include <lttng/rotation.h>
#include <lttng/snapshot.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "session.h"
#include "watch.h"

int session_dump_definitions(const char *name, struct flextrace_error *error)
{
	struct watch watch;
	int code = 0;

	/* A program answers first and does what it is asked then, one request after another: when
	 * it answers the second time, the first dump is done. */
	watch_begin(&watch, WATCH_LIMIT_S);
	for (int i = 0; i < 2 && code >= 0; i++)
		code = lttng_regenerate_statedump(name);
	watch_end(&watch);
	return session_failed(error, "Cannot have the definitions recorded again", name, code);
}

/* LTTng makes a directory with a name of its own. */
static int name_trace(const char *parent, const char *trace_dir, struct flextrace_error *error)
{
	glob_t found;
	int code = FLEXTRACE_OK;

	if (!glob_in(parent, "snapshot-*", &found))
		code = error_set(error, FLEXTRACE_E_SYSTEM, "LTTng wrote no snapshot: path=%s",
		                 parent);
	else if (rename(found.gl_pathv[0], trace_dir) != 0)
		code = error_set(error, FLEXTRACE_E_OUTPUT, "Cannot rename: path=%s, reason=%s",
		                 found.gl_pathv[0], strerror(errno));
	globfree(&found);
	return code;
}

int session_snapshot(const char *name, const char *trace_dir, struct flextrace_error *error)
{
	struct lttng_snapshot_output *output = lttng_snapshot_output_create();
	int code = output ? 0 : -LTTNG_ERR_NOMEM;
	char parent[PATH_MAX];

	snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(trace_dir, '/') - trace_dir),
	         trace_dir);
	if (code >= 0)
		code = lttng_snapshot_output_set_name("snapshot", output);
	if (code >= 0)
		code = lttng_snapshot_output_set_local_path(parent, output);
	if (code >= 0)
		WATCH(code, lttng_snapshot_record(name, output, 0));
	lttng_snapshot_output_destroy(output);
	if (code < 0)
		return session_failed(error, "Cannot take a snapshot", name, code);
	return name_trace(parent, trace_dir, error);
}

int session_rotate(const char *name, struct lttng_rotation_handle **ret_rotation,
                   struct flextrace_error *error)
{
	int code;

	WATCH(code, lttng_rotate_session(name, NULL, ret_rotation));
	return session_failed(error, "Cannot rotate the LTTng session", name, code);
}

int session_rotated(struct lttng_rotation_handle *rotation, struct flextrace_error *error)
{
	enum lttng_rotation_state state = LTTNG_ROTATION_STATE_ERROR;
	int code;

	WATCH(code, lttng_rotation_handle_get_state(rotation, &state));
	if (code != LTTNG_ROTATION_STATUS_OK)
		state = LTTNG_ROTATION_STATE_ERROR;
	code = 1;
	if (state == LTTNG_ROTATION_STATE_ONGOING)
		return 0;
	if (state != LTTNG_ROTATION_STATE_COMPLETED)
		code = error_set(error, FLEXTRACE_E_SYSTEM,
		                 "LTTng could not finish a rotation: state=%d", (int)state);
	lttng_rotation_handle_destroy(rotation);
	return code;
}
