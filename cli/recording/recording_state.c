/* SPDX-License-Identifier: Apache-2.0 */
/* Where a recording stands on the disk, and its state file. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "recording.h"

#define NO_JOB "-" /* in the state file */

/* What LTTng writes into, by the kind of the session; nothing of SESSION_TO_RELAY. */
static const char *const subdirs[] = {[SESSION_TO_DISK] = "trace", [SESSION_FLIGHT] = "snapshots"};

int recording_name_trace(struct recording *recording, struct flextrace_error *error)
{
	recording->trace_dir[0] = '\0';
	if (recording->kind == SESSION_TO_RELAY)
		return FLEXTRACE_OK;
	return path_join(recording->trace_dir, recording->dir, subdirs[recording->kind], error);
}

static bool has_snapshots(const char *dir)
{
	return path_is_there(dir, subdirs[SESSION_FLIGHT]);
}

bool recording_is_in(const char *dir)
{
	return path_is_there(dir, subdirs[SESSION_TO_DISK]) || has_snapshots(dir);
}

#define STREAMS "ust/uid/*/*-bit/*_[0-9]*"

/* Before it is rotated first it stands in the trace itself. */
uint64_t recording_open_bytes(const struct recording *recording)
{
	return glob_sum_bytes(recording->trace_dir, STREAMS) +
	       glob_sum_bytes(recording->trace_dir, "[0-9]*-[0-9]*/" STREAMS);
}

uint64_t recording_closed_bytes(const struct recording *recording)
{
	return glob_sum_bytes(recording->trace_dir, "archives/*/" STREAMS);
}

/* Writes a file of the recording that has no other. */
static int write_file(const struct recording *recording, const char *name,
                      struct flextrace_error *error, const char *format, ...)
{
	const struct path path = path_of(recording->dir, name);
	bool is_written = false;
	va_list values;
	FILE *file;

	file = path_create(path.text);
	if (file) {
		va_start(values, format);
		is_written = vfprintf(file, format, values) > 0;
		va_end(values);
		is_written &= fclose(file) == 0;
	}
	return is_written ? FLEXTRACE_OK
	                  : error_set(error, FLEXTRACE_E_OUTPUT, "Cannot write: path=%s, reason=%s",
	                              path.text, strerror(errno));
}

int recording_write_id(const struct recording *recording, struct flextrace_error *error)
{
	if (recording->kind == SESSION_TO_RELAY)
		return FLEXTRACE_OK;
	return write_file(recording, RECORDING_ID_FILE, error, "%s\n", recording->session);
}

static int write_state(const struct recording *recording, struct flextrace_error *error)
{
	return write_file(recording, RECORDING_STATE_FILE, error,
	                  "session %s\ndaemon %ld %" PRIu64
	                  "\nkind %d\nmade %d\nbuffers %d\nmemory %s\njob %s\n",
	                  recording->session, (long)recording->daemon.pid,
	                  recording->daemon.start_ticks, (int)recording->kind,
	                  recording->has_made_dir, recording->is_crash_safe,
	                  recording->memory_dir[0] ? recording->memory_dir : NO_JOB,
	                  recording->job[0] ? recording->job : NO_JOB);
}

int recording_save(struct recording *recording, struct flextrace_error *error)
{
	struct recording_outcome outcome = {.verdict = SESSION_NO_STREAMS};
	int code = write_state(recording, error);

	if (code < 0) {
		recording_forget(recording);
		recording_end(recording, &outcome, NULL);
	}
	return code;
}

/* The state names a process to stop: nobody else may tell us which. */
static bool is_ours(FILE *file)
{
	struct stat status;

	return fstat(fileno(file), &status) == 0 && status.st_uid == geteuid();
}

int recording_locate(const char *dir, struct recording *ret_recording,
                     struct flextrace_error *error)
{
	if (!realpath(dir, ret_recording->dir))
		return error_set(error, FLEXTRACE_E_INPUT, "No such directory: path=%s, reason=%s",
		                 dir, strerror(errno));
	ret_recording->kind = has_snapshots(ret_recording->dir) ? SESSION_FLIGHT : SESSION_TO_DISK;
	return recording_name_trace(ret_recording, error);
}

bool recording_of(const char *path, struct recording *ret_recording)
{
	const char *name;
	char parent[PATH_MAX];

	if (recording_locate(path, ret_recording, NULL) < 0)
		return false;
	if (recording_is_in(ret_recording->dir))
		return true;
	name = path_base(ret_recording->dir);
	for (size_t i = 0; i < sizeof(subdirs) / sizeof(subdirs[0]); i++) {
		if (strcmp(name, subdirs[i]) != 0)
			continue;
		snprintf(parent, sizeof(parent), "%s/..", path);
		return recording_locate(parent, ret_recording, NULL) == FLEXTRACE_OK;
	}
	return false;
}

int recording_has_session(const struct recording *recording, bool *ret_is_active,
                          struct flextrace_error *error)
{
	struct session_entry *entries = NULL;
	int n = daemon_is_alive() ? session_list(recording->session, &entries, error) : 0;
	int has_it = n < 0 ? n : 0;

	for (int i = 0; i < n; i++) {
		if (strcmp(entries[i].name, recording->session) != 0)
			continue;
		has_it = 1;
		if (ret_is_active)
			*ret_is_active = entries[i].is_active;
	}
	free(entries);
	return has_it;
}

int recording_runs(const struct recording *recording, struct flextrace_error *error)
{
	bool is_active = false;
	int has_it = recording_has_session(recording, &is_active, error);

	return has_it > 0 ? is_active : has_it;
}

/* As recording.c names it: what is there may be removed, and the file may come from elsewhere. */
static bool is_memory_dir(const char *path)
{
	const char prefix[] = RECORDING_MEMORY SESSION_PREFIX;

	return strncmp(path, prefix, strlen(prefix)) == 0 && !strchr(path + strlen(prefix), '/');
}

int recording_load(const char *dir, struct recording *ret_recording, struct flextrace_error *error)
{
	struct recording recording = {.has_made_dir = false};
	FILE *file;
	int n, kind, made, buffers;
	long pid;

	_Static_assert(SESSION_NAME_SIZE == 160 && LAUNCHER_JOB_SIZE == 96 &&
	                       RECORDING_MEMORY_SIZE == 192,
	               "the widths in the format below");
	FLEXTRACE_TRY(recording_locate(dir, &recording, error));
	file = fopen(path_of(recording.dir, RECORDING_STATE_FILE).text, "re");
	if (!file)
		return error_set(error, FLEXTRACE_E_INPUT, "No recording runs there: path=%s", dir);
	if (!is_ours(file)) {
		fclose(file);
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "The recording belongs to another user: path=%s", dir);
	}
	n = fscanf(file,
	           "session %159s daemon %ld %" SCNu64
	           " kind %d made %d buffers %d memory %191s job %95s",
	           recording.session, &pid, &recording.daemon.start_ticks, &kind, &made, &buffers,
	           recording.memory_dir, recording.job);
	fclose(file);
	if (n != 8 || strncmp(recording.session, SESSION_PREFIX, strlen(SESSION_PREFIX)) != 0 ||
	    kind < 0 || kind > SESSION_TO_RELAY)
		return error_set(error, FLEXTRACE_E_INPUT, "Damaged file: path=%s/%s",
		                 recording.dir, RECORDING_STATE_FILE);
	if (strcmp(recording.job, NO_JOB) == 0)
		recording.job[0] = '\0';
	if (!is_memory_dir(recording.memory_dir))
		recording.memory_dir[0] = '\0';
	recording.daemon.pid = (pid_t)pid;
	recording.kind = (enum session_kind)kind;
	recording.has_made_dir = made;
	recording.is_crash_safe = buffers;
	FLEXTRACE_TRY(recording_name_trace(&recording, error));
	*ret_recording = recording;
	return FLEXTRACE_OK;
}

void recording_make_up(const struct session_entry *entry, const char *dir,
                       struct recording *ret_recording)
{
	*ret_recording = (struct recording){.kind = entry->is_flight ? SESSION_FLIGHT
	                                                             : SESSION_TO_DISK,
	                                    .has_made_dir = true}; /* if it is there again */
	snprintf(ret_recording->dir, sizeof(ret_recording->dir), "%s", dir);
	snprintf(ret_recording->trace_dir, sizeof(ret_recording->trace_dir), "%s",
	         entry->trace_dir);
	snprintf(ret_recording->session, sizeof(ret_recording->session), "%s", entry->name);
}

void recording_forget(const struct recording *recording)
{
	path_remove(recording->dir, RECORDING_STATE_FILE);
}
