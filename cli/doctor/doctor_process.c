/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace doctor --pid: why a running process is not in a recording, or that it is. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/lttng/daemon.h"
#include "doctor.h"
#include "process/process.h"
#include "instrumentation.h"
#include "recording/lttng/registration.h"

/* What is mapped in the process. */
struct mapped {
	struct verdicts *verdicts;
	pid_t pid;
	bool is_instrumented, has_provider;
};

static void look_into(struct mapped *mapped, const char *path)
{
	struct flextrace_error error = {0};
	char seen_from_here[PATH_MAX + 32];
	struct instrumentation found;

	snprintf(seen_from_here, sizeof(seen_from_here), "/proc/%ld/root%s", (long)mapped->pid,
	         path);
	if (instrumentation_read(seen_from_here, &found, &error) < 0)
		return; /* no ELF file: data */
	if (*found.program)
		verdict_ok(mapped->verdicts, "instrumented: %s, flextrace %s", path, found.program);
	if (*found.provider)
		verdict_ok(mapped->verdicts, "LTTng provider: %s, flextrace %s", path,
		           found.provider);
	mapped->is_instrumented |= *found.program != '\0';
	mapped->has_provider |= *found.provider != '\0';
}

/* Reads the lines of code of /proc/PID/maps: "from-to r-xp offset device inode  path". False: with
 * errno. */
static bool look_at_maps(struct mapped *mapped)
{
	FILE *maps = process_fopen(mapped->pid, "maps");
	char last[PATH_MAX] = "", *line = NULL;
	size_t n_bytes = 0;

	if (!maps)
		return false;
	while (getline(&line, &n_bytes, maps) > 0) {
		char *file = strchr(line, '/');

		if (!file || !strstr(line, " r-xp ") || strlen(file) >= sizeof(last))
			continue;
		file[strcspn(file, "\n")] = '\0';
		if (strcmp(file, last) != 0)
			look_into(mapped, file);
		strcpy(last, file);
	}
	free(line);
	fclose(maps);
	return true;
}

/* The value of a variable that the process was started with; NULL: none. Owned. */
static char *find_variable(pid_t pid, const char *name)
{
	FILE *file = process_fopen(pid, "environ");
	size_t n_bytes = 0, n_name = strlen(name);
	char *text = NULL, *value = NULL;

	while (file && !value && getdelim(&text, &n_bytes, '\0', file) > 0)
		if (strncmp(text, name, n_name) == 0 && text[n_name] == '=')
			value = strdup(text + n_name + 1);
	free(text);
	if (file)
		fclose(file);
	return value;
}

static void explain_no_provider(struct verdicts *verdicts, pid_t pid)
{
	char *off = find_variable(pid, "FLEXTRACE");
	char *path = find_variable(pid, "FLEXTRACE_PROVIDER");

	if (off && strcmp(off, "0") == 0)
		verdict_fail(verdicts, "start it without FLEXTRACE=0",
		             "LTTng provider: switched off by FLEXTRACE=0");
	else
		verdict_fail(verdicts,
		             "start it with FLEXTRACE_VERBOSE=1, which says why, or by "
		             "`flextrace record -- COMMAND`",
		             "LTTng provider: not loaded%s%s",
		             path ? ", although FLEXTRACE_PROVIDER=" : "", path ? path : "");
	free(off);
	free(path);
}

static void check_registration(struct verdicts *verdicts, pid_t pid)
{
	struct flextrace_error error = {0};
	uint32_t n_events;

	if (registration_count(pid, &n_events, &error) < 0)
		verdict_fail(verdicts, NULL, "session daemon: %s", error.message);
	else if (n_events == 0)
		verdict_fail(verdicts,
		             "processes register with root's daemon and with their own user's: run "
		             "the doctor as that user; if it was so, start the process again",
		             "session daemon: does not know the process");
	else
		verdict_ok(verdicts, "session daemon: knows %" PRIu32 " events of the process",
		           n_events);
}

static void check_sessions(struct verdicts *verdicts, pid_t pid)
{
	struct registration_session *sessions = NULL;
	struct flextrace_error error = {0};
	char mend[64];
	int n = registration_sessions(pid, &sessions, &error);

	snprintf(mend, sizeof(mend), "flextrace record --pid=%ld", (long)pid);
	if (n < 0)
		verdict_fail(verdicts, NULL, "events: %s", error.message);
	else if (n == 0)
		verdict_warn(verdicts, mend, "events: off, no session records them");
	for (int i = 0; i < n; i++)
		verdict_ok(verdicts, "events: %" PRIu32 " are on, session %s records them",
		           sessions[i].n_events, sessions[i].name);
	free(sessions);
}

void doctor_process(struct verdicts *verdicts, pid_t pid)
{
	struct mapped mapped = {.verdicts = verdicts, .pid = pid};

	if (!look_at_maps(&mapped)) {
		verdict_fail(verdicts,
		             errno == EACCES ? "run the doctor as its user, or as root" : NULL,
		             "process %ld: %s", (long)pid,
		             errno == ENOENT ? "there is none" : strerror(errno));
		return;
	}
	if (!mapped.is_instrumented)
		verdict_fail(verdicts,
		             "compile it with flextrace/flextrace.h and without FLEXTRACE_DISABLE",
		             "process %ld: not instrumented, or compiled out", (long)pid);
	else if (!mapped.has_provider)
		explain_no_provider(verdicts, pid);
	if (!mapped.is_instrumented || !mapped.has_provider)
		return;
	if (!daemon_is_alive()) {
		verdict_warn(verdicts, NULL,
		             "session daemon: none answers, `flextrace record --pid` starts one");
		return;
	}
	check_registration(verdicts, pid);
	check_sessions(verdicts, pid);
}
