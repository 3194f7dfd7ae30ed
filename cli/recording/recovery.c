/* SPDX-License-Identifier: Apache-2.0 */
#include "recovery.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "base/paths.h"
#include "process/patience.h"
#include "recording/recording.h"
#include "ring/rings.h"

#define USERS        "/ust/uid/*/*-bit/metadata"
#define TOOL_LIMIT_S 300

/* Stores where the buffers of a recording are, if they are there. */
static bool find_buffers(const char *dir, const struct recording *recording, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/" RECOVERY_BUFFERS, dir);

	if (n > 0 && n < PATH_MAX && glob_count(path, USERS + 1))
		return true;
	snprintf(path, PATH_MAX, "%s", recording->memory_dir);
	return *path && glob_count(path, USERS + 1);
}

bool recovery_is_needed(const char *dir)
{
	struct recording recording;
	char path[PATH_MAX];

	if (recording_load(dir, &recording, NULL) < 0)
		recording.memory_dir[0] = '\0';
	return find_buffers(dir, &recording, path);
}

/* -- lttng-crash ------------------------------------------------------------------------------- */

_Noreturn static void exec_tool(const char *option, const char *buffers)
{
	int null = open("/dev/null", O_WRONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would want what it writes */
	dup2(null, STDOUT_FILENO);
	execlp("lttng-crash", "lttng-crash", option, buffers, (char *)NULL);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Has the buffers written as a trace into the new directory `to`; by hand it is `recovered`. */
static int extract(const char *buffers, const char *to, const char *recovered,
                   struct flextrace_error *error)
{
	struct patience patience = {.what = "lttng-crash, which reads the buffers",
	                            .limit_s = TOOL_LIMIT_S};
	char option[sizeof("--extract=") + PATHS_SIZE];
	int status = -1;
	pid_t pid;

	snprintf(option, sizeof(option), "--extract=%s", to);
	pid = fork();
	if (pid == 0)
		exec_tool(option, buffers);
	if (pid < 0)
		return error_set(error, FLEXTRACE_E_SYSTEM, "Cannot run lttng-crash: reason=%s",
		                 strerror(errno));
	if (!patience_reap(&patience, pid, &status))
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "lttng-crash did not end; by hand: lttng-crash --extract=%s %s",
		                 recovered, buffers);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return FLEXTRACE_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "Cannot find lttng-crash, which recovers the buffers; install the "
		                 "package lttng-tools, or elsewhere: lttng-crash --extract=%s %s",
		                 recovered, buffers);
	return error_set(error, FLEXTRACE_E_INPUT,
	                 "lttng-crash cannot recover the buffers: status=%d, command=lttng-crash "
	                 "--extract=%s %s",
	                 status, recovered, buffers);
}

/* -- metadata ---------------------------------------------------------------------------------- */

/* Describes a user's streams in the trace, which may be as good as the buffers know. */
static int complete_user(const char *user_dir, const char *metadata, struct flextrace_error *error)
{
	const struct path path = path_of(user_dir, "metadata");
	const struct path new_path = path_of(user_dir, "metadata.tmp");

	if (path_copy(metadata, new_path.text) && rename(new_path.text, path.text) == 0)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_OUTPUT, "Cannot write: path=%s, reason=%s", path.text,
	                 strerror(errno));
}

/* The same for what had been written when the recording broke off: right below the trace's
 * directory, or in the chunk that was written. */
static int complete(const char *trace_dir, const char *metadata, struct flextrace_error *error)
{
	static const char *const levels[] = {"", "[0-9]*-[0-9]*/"};
	const char *rest = strstr(metadata, "/ust/uid/") + 1;
	int n = (int)(strrchr(rest, '/') - rest), code = FLEXTRACE_OK;
	char pattern[PATH_MAX];
	glob_t found;

	for (int i = 0; i < 2 && code == FLEXTRACE_OK; i++) {
		snprintf(pattern, sizeof(pattern), "%s%.*s", levels[i], n, rest);
		glob_in(trace_dir, pattern, &found);
		for (size_t j = 0; j < found.gl_pathc && code == FLEXTRACE_OK; j++)
			code = complete_user(found.gl_pathv[j], metadata, error);
		globfree(&found);
	}
	return code;
}

static int complete_all(const char *trace_dir, const char *recovered, struct flextrace_error *error)
{
	int code = FLEXTRACE_OK;
	glob_t found;

	glob_in(recovered, "ust/uid/*/*-bit/metadata", &found);
	for (size_t i = 0; i < found.gl_pathc && code == FLEXTRACE_OK; i++)
		code = complete(trace_dir, found.gl_pathv[i], error);
	globfree(&found);
	return code;
}

/* -- recordings -------------------------------------------------------------------------------- */

static int check_ended(const char *dir, struct flextrace_error *error)
{
	struct recording recording;
	int runs = recording_load(dir, &recording, NULL) < 0 ? 0
	                                                     : recording_runs(&recording, error);

	if (runs <= 0)
		return runs;
	return error_set(error, FLEXTRACE_E_INPUT,
	                 "The recording still runs, end it with `flextrace stop %s`", dir);
}

static int is_odd(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)path;
	(void)walk;
	return type != FTW_D && (type != FTW_F || !S_ISREG(status->st_mode));
}

static bool is_plain(const char *path)
{
	return nftw(path, is_odd, 16, FTW_PHYS) <= 0;
}

/* We write into the recording, where a link would lead us elsewhere. What LTTng made has none, and
 * nobody else can put one there while we look. */
static int check_entries(const struct recording *recording, const char *buffers,
                         struct flextrace_error *error)
{
	struct stat status;

	if (stat(recording->dir, &status) == 0 && status.st_uid != geteuid())
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "The recording broke off and belongs to another user, who alone "
		                 "recovers it: path=%s",
		                 recording->dir);
	if (is_plain(recording->trace_dir) && is_plain(buffers))
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_INPUT,
	                 "Cannot recover a recording with links in it, or what else LTTng does not "
	                 "make: path=%s",
	                 recording->dir);
}

/* Writes what is in the buffers into the trace. */
static int take(const struct recording *recording, const char *buffers,
                struct flextrace_error *error)
{
	const struct path recovered = path_of(recording->trace_dir, "recovered");
	const struct path unfinished = path_of(recording->trace_dir, "recovered.tmp");
	int code;

	FLEXTRACE_TRY(check_entries(recording, buffers, error));
	path_remove_tree(unfinished.text); /* of an attempt that was interrupted */
	mkdir(recording->trace_dir, 0700); /* where it was removed */
	rings_close(buffers, recording->trace_dir);
	code = extract(buffers, unfinished.text, recovered.text, error);
	if (code >= 0)
		code = complete_all(recording->trace_dir, unfinished.text, error);
	if (code < 0) {
		path_remove_tree(unfinished.text);
		return code;
	}
	if (rename(unfinished.text, recovered.text) != 0)
		return error_set(error, FLEXTRACE_E_OUTPUT, "Cannot rename: path=%s, reason=%s",
		                 unfinished.text, strerror(errno));
	cli_note("recovered from the buffers: %s", recovered.text);
	if (strcmp(buffers, recording->memory_dir) == 0)
		path_remove_tree(buffers);
	return FLEXTRACE_OK;
}

/* Recovers the buffers of `dir`, unless that was done before, and stores where the whole trace is
 * then. FLEXTRACE_E_INPUT: the recording still runs, or lttng-crash cannot read them;
 * FLEXTRACE_E_SYSTEM: it is not there; the message says what to type. */
static int recover(const char *dir, char ret_trace_dir[PATH_MAX], struct flextrace_error *error)
{
	struct recording recording, state;
	char buffers[PATH_MAX];

	FLEXTRACE_TRY(recording_locate(dir, &recording, error));
	snprintf(ret_trace_dir, PATH_MAX, "%s", recording.trace_dir);
	if (path_is_there(recording.trace_dir, "recovered"))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(check_ended(dir, error));
	recording.memory_dir[0] = '\0';
	if (recording_load(dir, &state, NULL) == FLEXTRACE_OK)
		memcpy(recording.memory_dir, state.memory_dir, sizeof(recording.memory_dir));
	return find_buffers(recording.dir, &recording, buffers) ? take(&recording, buffers, error)
	                                                        : FLEXTRACE_OK;
}

int recovery_finish(const struct recording *recording, struct flextrace_error *error)
{
	char buffers[PATH_MAX];

	if (!*recording->trace_dir || !find_buffers(recording->dir, recording, buffers)) {
		if (recording->memory_dir[0]) /* what LTTng left of it is empty */
			path_remove_tree(recording->memory_dir);
		return 0;
	}
	FLEXTRACE_TRY(take(recording, buffers, error));
	return 1;
}

/* Of what is not the recording's directory itself the rest can be read without the buffers. */
static void recover_if_possible(const char *dir)
{
	struct flextrace_error error = {0};
	char trace_dir[PATH_MAX];

	if (recover(dir, trace_dir, &error) < 0)
		cli_warn("Converting without the buffers in %s: %s", dir, error.message);
}

/* In directories below, as those of a job's hosts. */
static void recover_below(const char *path)
{
	glob_t found;

	glob_in(path, "*/" RECOVERY_BUFFERS USERS, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		*strstr(found.gl_pathv[i] + strlen(path), "/" RECOVERY_BUFFERS "/") = '\0';
		recover_if_possible(found.gl_pathv[i]);
	}
	globfree(&found);
}

/* Recordings in directories of a recording are not its own. */
static void note_others_below(const char *dir)
{
	glob_t found;

	if (glob_in(dir, "*/" RECORDING_ID_FILE, &found)) {
		*strrchr(found.gl_pathv[0], '/') = '\0';
		cli_note("left out: %zu other recordings below, name them to have them read: "
		         "path=%s",
		         found.gl_pathc, found.gl_pathv[0]);
	}
	globfree(&found);
}

/* Recovers what there is to recover. Returns 1 with what to read instead of `path`, or 0. */
static int prepare(const char *path, char ret_instead[PATH_MAX], struct flextrace_error *error)
{
	struct recording recording;
	bool is_whole;

	if (recovery_is_needed(path)) {
		FLEXTRACE_TRY(recover(path, ret_instead, error));
		return 1;
	}
	if (!recording_of(path, &recording)) {
		recover_below(path);
		return 0;
	}
	FLEXTRACE_TRY(check_ended(recording.dir, error));
	if (recovery_is_needed(recording.dir))
		recover_if_possible(recording.dir);
	snprintf(ret_instead, PATH_MAX, "%s", recording.trace_dir);
	/* What was made of it before is no input. */
	is_whole = recording_is_in(path) && (path_is_there(path, RECORDING_ID_FILE) ||
	                                     path_is_there(recording.dir, "run.json"));
	if (is_whole)
		note_others_below(path);
	return is_whole;
}

char **recovery_inputs(const char *const *paths, uint32_t n, struct flextrace_error *error)
{
	char **inputs = calloc((size_t)n + 1, sizeof(*inputs)), instead[PATH_MAX];
	int code = inputs ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0; i < n && code >= 0; i++) {
		code = prepare(paths[i], instead, error);
		inputs[i] = code < 0 ? NULL : strdup(code ? instead : paths[i]);
		if (code >= 0 && !inputs[i])
			code = error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	}
	if (code >= 0)
		return inputs;
	recovery_free_inputs(inputs, n);
	return NULL;
}

void recovery_free_inputs(char **inputs, uint32_t n)
{
	for (uint32_t i = 0; inputs && i < n; i++)
		free(inputs[i]);
	free(inputs);
}
