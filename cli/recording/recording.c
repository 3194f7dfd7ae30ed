/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "recording/emit_parts.h"
#include "guardian.h"
#include "process/provider.h"
#include "recording/recovery.h"
#include "ring/rings.h"
#include "recording/lttng/rlimits.h"
#include "recording/lttng/session_running.h"
#include "wanted_note.h"

#define REGISTER_TIMEOUT_MS 30000
#define CUT_SHORT           "LTTng failed while it recorded, most likely because %s,"
#define FULL_BYTES          65536 /* of room left: less is none */

#define AT(member) offsetof(struct recording_options, member)
const struct option_spec recording_option_table[] = {
	OPTION("subbuf-size", 0, TEXT, AT(subbuf_size), "SIZE",
               "Size of an events sub-buffer, such as 512K",
               .fallback = "8M, less if /dev/shm is small"),
	OPTION("num-subbuf", 0, NUMBER, AT(num_subbuf), "N",
               "Number of events sub-buffers per CPU, a power of two", .min = 2, .max = 65536,
               .fallback = "8"),
	OPTION("blocking", 0, FLAG, AT(is_blocking), NULL,
               "Let programs wait for room; fewer events are lost, but not none"),
	OPTION("crash-safe", 0, FLAG, AT(is_crash_safe), NULL,
               "Keep the buffers in files, not in memory: they survive a crash of the machine"),
	OPTION("relay", 0, TEXT, AT(relay), "HOST[:PORT]|URL",
               "Record to lttng-relayd on another host, where it can be read live"),
	OPTION("flight-recorder", 0, BUDGET, AT(flight), "SIZE",
               "Keep only the newest records, in SIZE of memory, until a snapshot is taken"),
	{.name = NULL}};
#undef AT

int recording_make_dir(const char *path, bool *ret_made, struct flextrace_error *error)
{
	char parent[PATH_MAX];

	snprintf(parent, sizeof(parent), "%s", path);
	for (char *slash = strchr(parent + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(parent, 0700);
		*slash = '/';
	}
	*ret_made = mkdir(path, 0700) == 0;
	return *ret_made || errno == EEXIST ? FLEXTRACE_OK
	                                    : path_not_made("output directory", path, error);
}

struct path recording_memory(const struct recording *recording)
{
	struct path memory;

	if (recording->is_crash_safe)
		return path_of(recording->dir, RECOVERY_BUFFERS);
	snprintf(memory.text, sizeof(memory.text), "%s", recording->memory_dir);
	return memory;
}

/* In the same memory where LTTng would have them, but with a name. Where that cannot be, LTTng has
 * its own. */
static void make_memory(struct recording *recording)
{
	snprintf(recording->memory_dir, sizeof(recording->memory_dir), RECORDING_MEMORY "%s",
	         recording->session);
	if (recording->is_crash_safe || mkdir(recording->memory_dir, 0700) != 0)
		recording->memory_dir[0] = '\0';
}

static void remove_memory(const struct recording *recording)
{
	if (recording->memory_dir[0])
		path_remove_tree(recording->memory_dir);
}

/* What is not there yet is ours, and ours to remove. */
static int make_subdirectories(const struct recording *recording, struct flextrace_error *error)
{
	const struct path buffers = path_of(recording->dir, RECOVERY_BUFFERS);

	if (recording->trace_dir[0] && mkdir(recording->trace_dir, 0700) != 0)
		return path_not_made("trace directory", recording->trace_dir, error);
	if (!recording->is_crash_safe || mkdir(buffers.text, 0700) == 0)
		return FLEXTRACE_OK;
	path_not_made("directory of the buffers", buffers.text, error);
	rmdir(recording->trace_dir);
	return FLEXTRACE_E_OUTPUT;
}

static int make_directories(const char *dir, struct recording *recording,
                            struct flextrace_error *error)
{
	if (strlen(dir) >= PATH_MAX)
		return error_set(error, FLEXTRACE_E_OUTPUT, "Path is too long: path=%.64s...", dir);
	FLEXTRACE_TRY(recording_make_dir(dir, &recording->has_made_dir, error));
	if (!realpath(dir, recording->dir))
		return error_set(error, FLEXTRACE_E_OUTPUT, "No such directory: path=%s, reason=%s",
		                 dir, strerror(errno));
	FLEXTRACE_TRY(recording_name_trace(recording, error));
	if (recording_is_in(recording->dir))
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "There is a recording already, choose another directory with -o: "
		                 "path=%s",
		                 recording->dir);
	return make_subdirectories(recording, error);
}

/* LTTng leaves empty directories. */
static void remove_buffers(const struct recording *recording)
{
	if (recording->is_crash_safe)
		path_remove_tree(path_of(recording->dir, RECOVERY_BUFFERS).text);
}

/* Removes the trace, and the directory if it is ours and nothing else is in it: recording_begin()
 * made them. */
static void remove_all(const struct recording *recording)
{
	path_remove(recording->dir, EMITTED_FILE);
	path_remove(recording->dir, RECORDING_ID_FILE);
	path_remove_tree(recording->trace_dir);
	remove_buffers(recording);
	if (recording->has_made_dir)
		rmdir(recording->dir);
}

static int plan_buffers(const char *dir, const struct recording_options *options,
                        struct buffer_plan *ret_plan, struct flextrace_error *error)
{
	struct buffer_wish wish = {.n_subbufs = (uint64_t)options->num_subbuf,
	                           .total_bytes = options->flight.value};
	uint64_t free_bytes;
	char size[32];
	int code;

	if (wish.total_bytes && (wish.n_subbufs || options->subbuf_size))
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Either --flight-recorder=SIZE or sizes of sub-buffers, not both");
	if (wish.n_subbufs & (wish.n_subbufs - 1))
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Not a power of two: --num-subbuf=%" PRIu64, wish.n_subbufs);
	if (options->subbuf_size)
		FLEXTRACE_TRY(buffers_parse_size(options->subbuf_size, &wish.subbuf_bytes, error));
	if (!options->is_crash_safe && access("/dev/shm", W_OK | X_OK) != 0)
		return error_set(
			error, FLEXTRACE_E_SYSTEM,
			"Cannot write to /dev/shm, where LTTng has its buffers, `flextrace "
			"doctor` says what to do: reason=%s",
			strerror(errno));
	FLEXTRACE_TRY(
		buffers_free_bytes(options->is_crash_safe ? dir : "/dev/shm", &free_bytes, error));
	code = buffers_plan(&wish, buffers_possible_cpus(), free_bytes, ret_plan, error);
	if (code == FLEXTRACE_E_SYSTEM && options->is_crash_safe)
		return error_set(error, code,
		                 "Not enough room for the buffers on the disk: path=%s, free=%s; "
		                 "choose another directory, or a smaller --subbuf-size",
		                 dir, buffers_format_size(free_bytes, size));
	return code;
}

/* A flight recorder shows its buffers only in a snapshot. */
static enum session_verdict look_for_buffers(const struct recording *recording)
{
	const struct path dir = path_of(recording->trace_dir, "probe");
	const struct path trace = path_of(dir.text, "trace");
	enum session_verdict verdict = SESSION_NO_STREAMS;

	if (recording->kind == SESSION_TO_DISK)
		return session_inspect(recording->trace_dir, NULL);
	if (recording->kind == SESSION_TO_RELAY)
		return SESSION_NO_RECORDS; /* the relay knows */
	if (mkdir(dir.text, 0700) == 0 &&
	    session_snapshot(recording->session, trace.text, NULL) == FLEXTRACE_OK)
		verdict = session_inspect(trace.text, NULL);
	path_remove_tree(dir.text);
	return verdict;
}

/*
 * Has this user's buffers made before the first program comes: it starts sooner, and a recording
 * that cannot work fails now.
 */
static int make_buffers(const struct recording *recording, struct flextrace_error *error)
{
	struct flextrace_error reason = {0};
	char provider[PATH_MAX], size[32], limits[RLIMITS_TEXT];
	enum session_verdict verdict;
	int code;

	FLEXTRACE_TRY(rlimits_check(&recording->buffers, error));
	code = provider_try(provider_choose(provider), REGISTER_TIMEOUT_MS, &reason);
	if (code == 1)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "The LTTng provider does not finish loading: path=%s", provider);
	if (code < 0) {
		cli_warn("The LTTng provider cannot be loaded, programs will record nothing: %s",
		         reason.message);
		return FLEXTRACE_OK;
	}
	verdict = look_for_buffers(recording);
	if (verdict == SESSION_NO_RECORDS || verdict == SESSION_HAS_DATA)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "LTTng could not make buffers of %" PRIu64
	                 " x %s per CPU, " RECORDING_TOO_SMALL "%s",
	                 recording->buffers.events.n_subbufs,
	                 buffers_format_size(recording->buffers.events.subbuf_bytes, size),
	                 rlimits_describe(limits));
}

static int locked_out(struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "Another flextrace, which begins or ends a recording, does not finish");
}

static int start_session(const struct recording *recording, const struct recording_options *options,
                         pid_t pid, struct flextrace_error *error)
{
	const struct emit_wish wish = {.wants_all = options->wants_all, .pid = pid};

	if (!pid && !wanted_note(recording->session, options->wants_all))
		return locked_out(error);
	emit_parts_note(recording, wish, EMITTED_STARTING);
	FLEXTRACE_TRY(session_start(recording->session, error));
	emit_parts_note(recording, wish, EMITTED_STARTED);
	return pid ? FLEXTRACE_OK : make_buffers(recording, error);
}

static enum session_kind choose_kind(const struct recording_options *options)
{
	if (options->flight.is_set)
		return SESSION_FLIGHT;
	return options->relay ? SESSION_TO_RELAY : SESSION_TO_DISK;
}

/* LTTng answers nobody from here on until the directory is gone; nobody but us may remove it where
 * a program or the consumer daemon still has it. What is to be recovered gets another name. */
static void clear_memory(struct recording *recording, bool is_destroyed)
{
	char left[RECORDING_MEMORY_SIZE + 8];
	int n;

	if (!recording->memory_dir[0])
		return;
	n = snprintf(left, sizeof(left), "%s.left", recording->memory_dir);
	if (is_destroyed || n >= RECORDING_MEMORY_SIZE || rename(recording->memory_dir, left) != 0)
		remove_memory(recording);
	else
		memcpy(recording->memory_dir, left, (size_t)n + 1);
}

/* Ends the session, and the daemon if nobody else needs it. Returns 1 if it does. */
static int end_session(struct recording *recording, int *ret_destroyed,
                       struct flextrace_error *error)
{
	struct session_daemon daemon = recording->daemon;
	int lock, destroyed, ended;
	bool is_locked = daemon_lock(&lock);

	destroyed = session_destroy(recording->session, error);
	clear_memory(recording, destroyed == 0);
	/* Whose recording started it may have ended before us, and left it to us. */
	if (!daemon.pid)
		daemon_recognize(&daemon);
	/* Else another one needs it. */
	ended = is_locked ? daemon_stop(&daemon) : 1;
	daemon_unlock(lock);
	if (ret_destroyed)
		*ret_destroyed = destroyed;
	return ended;
}

static int make_session(struct recording *recording, const struct session_setup *setup,
                        struct flextrace_error *error)
{
	int lock, code;

	if (!daemon_lock(&lock))
		return locked_out(error);
	code = daemon_ensure(&recording->daemon, error);
	if (code == FLEXTRACE_OK) {
		/* Nobody else begins one meanwhile. */
		relay_watch_before(&recording->relay, recording->kind == SESSION_TO_RELAY);
		code = session_create(setup, error);
		relay_watch_after(&recording->relay);
		if (code < 0)
			daemon_stop(&recording->daemon);
	}
	daemon_unlock(lock);
	return code;
}

static int begin_session(struct recording *recording, const struct recording_options *options,
                         pid_t pid, struct flextrace_error *error)
{
	struct path memory;
	char relay_url[PATH_MAX];
	struct session_setup setup = {.name = recording->session,
	                              .kind = recording->kind,
	                              .trace_dir = recording->trace_dir,
	                              .relay_url = relay_url,
	                              .shm_path = memory.text,
	                              .buffers = recording->buffers,
	                              .is_blocking = options->is_blocking,
	                              .pid = pid,
	                              .undo = guardian_undo};
	int code;

	make_memory(recording);
	memory = recording_memory(recording);
	if (options->relay)
		snprintf(relay_url, sizeof(relay_url), "%s%s",
		         strstr(options->relay, "://") ? "" : "net://", options->relay);
	guardian_begin(recording, options->guard);
	code = make_session(recording, &setup, error);
	if (code == FLEXTRACE_OK) {
		code = start_session(recording, options, pid, error);
		if (code < 0) {
			wanted_remove(recording->session);
			end_session(recording, NULL, NULL);
		}
	}
	if (code < 0) {
		remove_memory(recording);
		guardian_end(recording);
	}
	return code;
}

/* Of what goes over the network nothing but the state is in the directory. */
static int check_free(const char *dir, struct flextrace_error *error)
{
	struct recording other;

	if (recording_load(dir, &other, NULL) < 0 || recording_runs(&other, NULL) <= 0)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_OUTPUT,
	                 "A recording runs there, stop it with `flextrace stop` or choose another "
	                 "directory with -o: path=%s",
	                 other.dir);
}

static void note_scaled(const struct buffer_plan *buffers, bool is_crash_safe)
{
	char size[32];

	if (buffers->is_scaled)
		cli_note("%s: buffers of %" PRIu64 " x %s per CPU",
		         is_crash_safe ? "The disk has little room" : "/dev/shm is small",
		         buffers->events.n_subbufs,
		         buffers_format_size(buffers->events.subbuf_bytes, size));
}

int recording_begin(const char *dir, const char *session, const struct recording_options *options,
                    pid_t pid, struct recording *ret_recording, struct flextrace_error *error)
{
	struct recording recording = {.kind = choose_kind(options),
	                              .is_crash_safe = options->is_crash_safe,
	                              .wants_all = options->wants_all};
	int code;

	if (options->relay && (options->flight.is_set || options->is_crash_safe))
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "--relay goes neither with --flight-recorder nor with "
		                 "--crash-safe: nothing is written here");

	snprintf(recording.session, sizeof(recording.session), "%s", session);
	FLEXTRACE_TRY(check_free(dir, error));
	FLEXTRACE_TRY(make_directories(dir, &recording, error));
	code = recording_write_id(&recording, error);
	if (code == FLEXTRACE_OK)
		code = plan_buffers(recording.dir, options, &recording.buffers, error);
	if (code == FLEXTRACE_OK)
		code = begin_session(&recording, options, pid, error);
	if (code < 0) {
		remove_all(&recording);
		return code;
	}
	note_scaled(&recording.buffers, options->is_crash_safe);
	*ret_recording = recording;
	return FLEXTRACE_OK;
}

uint32_t recording_heal(const struct recording *recording, bool is_quiet)
{
	return rings_heal(recording_memory(recording).text, recording->trace_dir, is_quiet);
}

void recording_tend(const struct recording *recording, struct rings_watch *watch)
{
	rings_tend(watch, recording_memory(recording).text, recording->trace_dir);
}

static enum session_verdict inspect(const struct recording *recording, char where[PATH_MAX])
{
	if (recording->kind == SESSION_TO_RELAY)
		return SESSION_HAS_DATA; /* the relay knows */
	if (recording->kind != SESSION_FLIGHT)
		return session_inspect(recording->trace_dir, where);
	return glob_count(recording->trace_dir, "*/trace") ? SESSION_HAS_DATA : SESSION_NO_RECORDS;
}

/* What a consumer wrote last is in no index if it died, and a chunk that could not be closed lacks
 * streams. */
static void look_for_bytes(const struct recording *recording, struct recording_outcome *outcome)
{
	if (recording_open_bytes(recording) || recording_closed_bytes(recording))
		outcome->verdict = SESSION_HAS_DATA;
}

/* Takes what stands in the buffers, where they are files. */
static bool recover(const struct recording *recording)
{
	struct flextrace_error error = {0};
	int code = recovery_finish(recording, &error);

	if (code < 0) {
		cli_error("%s", error.message);
		/* Nobody would find it again who was not told how to read it. */
		if (code != FLEXTRACE_E_SYSTEM)
			remove_memory(recording);
	}
	return code > 0;
}

/* LTTng failed while it recorded. */
static int explain_cut(struct recording *recording, struct recording_outcome *outcome,
                       struct flextrace_error *error)
{
	struct flextrace_error reason = *error;
	const char *guess = outcome->is_full ? "the disk is full"
	                    : recording->kind == SESSION_TO_RELAY
	                            ? "lttng-relayd ended, its disk is full or the network broke"
	                            : "its session or consumer daemon was killed";

	if (recover(recording))
		outcome->verdict = SESSION_HAS_DATA;
	if (!recording->cut_code)
		recording->cut_code = CLI_INPUT;
	if (outcome->verdict != SESSION_HAS_DATA)
		return error_set(error, outcome->is_full ? FLEXTRACE_E_OUTPUT : FLEXTRACE_E_SYSTEM,
		                 CUT_SHORT " and had written nothing: %s", guess, reason.message);
	cli_error(CUT_SHORT " but what it had written is kept: %s", guess, reason.message);
	return FLEXTRACE_OK;
}

bool recording_is_full(const char *path)
{
	struct statvfs disk;

	if (statvfs(path, &disk) != 0)
		return false;
	return (geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * disk.f_frsize < FULL_BYTES;
}

/* LTTng's consumer drops what it cannot write, and nobody counts it. */
static void look_at_disk(struct recording *recording, struct recording_outcome *outcome)
{
	if (recording->kind == SESSION_TO_RELAY)
		return;
	outcome->is_removed = access(recording->trace_dir, F_OK) != 0 && errno == ENOENT;
	outcome->is_full = !outcome->is_removed && recording_is_full(recording->trace_dir);
	if (!outcome->is_full)
		return;
	look_for_bytes(recording, outcome);
	recording->cut_code = CLI_OUTPUT;
}

/* A chunk that LTTng could not close is left where nobody finds it. */
static void show_cut_chunk(const struct recording *recording)
{
	const char *dir = recording->trace_dir;

	if (recording->kind != SESSION_TO_DISK || !path_is_there(dir, ".tmp_old_chunk"))
		return;
	mkdir(path_of(dir, "archives").text, 0700);
	/* Where it cannot be, it is where LTTng left it. */
	rename(path_of(dir, ".tmp_old_chunk").text, path_of(dir, "archives/cut").text);
}

/* Counts of programs that ended are of use to whoever still records. */
static void forget_emitted(int ended)
{
	struct session_entry *entries = NULL;

	if (ended == 0 || (ended == 1 && session_list("", &entries, NULL) == 0))
		emit_forget();
	free(entries);
}

int recording_end(struct recording *recording, struct recording_outcome *ret_outcome,
                  struct flextrace_error *error)
{
	struct emit_wish wish = {.wants_all = false}; /* that stands in the note */
	struct flextrace_error later;
	int stopped, destroyed, code, ended;

	wanted_remove(recording->session);
	emit_parts_note(recording, wish, EMITTED_STOPPING);
	stopped = session_stop(recording->session, &ret_outcome->losses, error);
	wish.n_discarded = stopped < 0 ? NULL : &ret_outcome->losses.events;
	emit_parts_note(recording, wish, EMITTED_STOPPED);
	/* Before LTTng takes the buffers down: it would wait for the dead. */
	recording_heal(recording, true);
	ended = end_session(recording, &destroyed, stopped < 0 ? &later : error);
	forget_emitted(ended);
	code = stopped < 0 ? stopped : destroyed;
	if (code < 0)
		daemon_await_orphans(NULL);
	show_cut_chunk(recording);
	emit_parts_settle(recording);
	ret_outcome->verdict = inspect(recording, ret_outcome->where);
	look_at_disk(recording, ret_outcome);
	if (code < 0 || recording->cut_code)
		look_for_bytes(recording, ret_outcome);
	if (code == 0) {
		remove_buffers(recording);
	} else if (error) {
		code = explain_cut(recording, ret_outcome, error);
	} else if (recovery_finish(recording, NULL) > 0) {
		ret_outcome->verdict = SESSION_HAS_DATA;
	}
	if (recovery_is_needed(recording->dir))
		return code < 0 ? code : ended;
	if (ret_outcome->verdict == SESSION_NO_STREAMS ||
	    ret_outcome->verdict == SESSION_NO_RECORDS) {
		recording_count_unread(recording, &ret_outcome->unread);
		remove_all(recording);
	}
	return code < 0 ? code : ended;
}
