/* SPDX-License-Identifier: Apache-2.0 */
#include "running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/cli.h"
#include "base/paths.h"

/* The directory of a session's recording: the parent of where LTTng writes. */
static int name_dir(const struct session_entry *entry, char dir[PATH_MAX],
                    struct flextrace_error *error)
{
	const char *slash = strrchr(entry->trace_dir, '/');

	if (entry->trace_dir[0] != '/' || slash == entry->trace_dir)
		return error_set(
			error, FLEXTRACE_E_INPUT,
			"Cannot tell the directory of a recording, name it; if it is gone, "
			"end the session with `lttng destroy %s`",
			entry->name);
	memcpy(dir, entry->trace_dir, (size_t)(slash - entry->trace_dir));
	dir[slash - entry->trace_dir] = '\0';
	return FLEXTRACE_OK;
}

static int load(const struct session_entry *entry, struct recording *ret_recording)
{
	char dir[PATH_MAX];
	struct flextrace_error error = {0};

	if (name_dir(entry, dir, &error) < 0)
		return cli_fail(&error);
	if (path_is_there(dir, RECORDING_STATE_FILE) || errno != ENOENT)
		return recording_load(dir, ret_recording, &error) < 0 ? cli_fail(&error) : CLI_OK;
	recording_make_up(entry, dir, ret_recording);
	if (recording_runs(ret_recording, NULL) != 0)
		return CLI_OK;
	return cli_refuse(CLI_INPUT, "It has just been ended, by another `flextrace stop`: path=%s",
	                  dir);
}

/* Keeps the entries that are wished for in front; returns how many. */
static int keep_wished(struct session_entry *entries, int n, const char *name,
                       const struct running_wish *wish)
{
	int n_kept = 0;

	for (int i = 0; i < n; i++)
		if (name ? strcmp(entries[i].name, name) == 0
		         : strncmp(entries[i].name, wish->prefix, strlen(wish->prefix)) == 0 &&
		                    (!wish->is_flight || entries[i].is_flight))
			entries[n_kept++] = entries[i];
	return n_kept;
}

/* Why there is not one. `n_kept` of `n` that run are wished for. */
static int explain(int n, int n_kept, const struct running_wish *wish)
{
	if (n_kept)
		return cli_refuse(CLI_USAGE, "Several recordings run; `flextrace status` lists "
		                             "them, name the directory of one");
	if (wish->is_flight)
		return cli_refuse(CLI_INPUT, "No flight recorder runs; `flextrace start "
		                             "--flight-recorder=SIZE` starts one");
	if (n)
		return cli_refuse(CLI_INPUT, "No such recording of `flextrace start` runs; "
		                             "`flextrace status` lists others, name the "
		                             "directory of one");
	return cli_refuse(CLI_INPUT, "No recording runs; name the directory of one that broke off");
}

/* The one recording that runs and has the session's name, or is wished for. */
static int find_session(const char *name, const struct running_wish *wish,
                        struct recording *ret_recording)
{
	struct session_entry *entries = NULL;
	struct flextrace_error error = {0};
	int n = daemon_is_alive() ? session_list(SESSION_PREFIX, &entries, &error) : 0;
	int n_kept, code;

	if (n < 0)
		return cli_fail(&error);
	n_kept = keep_wished(entries, n, name, wish);
	code = n_kept == 1 ? load(&entries[0], ret_recording) : explain(n, n_kept, wish);
	free(entries);
	return code;
}

int running_find(const char *name, const struct running_wish *wish, struct recording *ret_recording)
{
	struct flextrace_error error = {0};

	if (!name || strncmp(name, SESSION_PREFIX, strlen(SESSION_PREFIX)) == 0) {
		/* A directory may be called like a session. */
		if (name && recording_load(name, ret_recording, NULL) == FLEXTRACE_OK)
			return CLI_OK;
		return find_session(name, wish, ret_recording);
	}
	return recording_load(name, ret_recording, &error) < 0 ? cli_fail(&error) : CLI_OK;
}
