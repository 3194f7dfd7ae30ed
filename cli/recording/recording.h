/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h: a recording from its directory to its trace: what `record`, `start` and `stop`
 * share.
 *
 *	DIR/                      the output directory
 *	DIR/trace/                what LTTng writes
 *	DIR/snapshots/            instead of it, of a flight recorder: see flight.h
 *	DIR/buffers/              with --crash-safe, while it runs: see recovery.h
 *	/dev/shm/SESSION/         without: the buffers, while it runs, so that what a program that
 *	                          died left unfinished can be read (ring.h)
 *	DIR/.flextrace-id         its id (recording_id.h), for good: not of --relay
 *	DIR/.flextrace-recording  while it runs: session, daemon and job, for whoever ends it
 *
 * - With --relay the trace is on another host, and DIR has only the state file.
 * - recording_begin() makes directory, daemon and session, or nothing at all.
 * - recording_end() takes down exactly what recording_begin() made; the trace stays.
 */
#ifndef FLEXTRACE_RECORDING_H
#define FLEXTRACE_RECORDING_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "ring/buffers.h"
#include "recording/lttng/daemon.h"
#include "process/launcher.h"
#include "base/paths.h"
#include "terminal/cli.h"
#include "options.h"
#include "recording/lttng/relay_watch.h"
#include "recording/lttng/session.h"

#define RECORDING_STATE_FILE  ".flextrace-recording"
#define RECORDING_ID_FILE     ".flextrace-id"
#define RECORDING_MEMORY      "/dev/shm/"
#define RECORDING_MEMORY_SIZE 192
#define RECORDING_TOO_SMALL                                                                \
	"most likely because /dev/shm or the memory is too small; enlarge it (docker run " \
	"--shm-size) or choose a smaller --subbuf-size"

struct guardian_work;
struct rings_watch;

/* What the user may choose: options of `record` and `start`. */
struct recording_options {
	const char *subbuf_size; /* weak; NULL = default */
	int64_t num_subbuf;      /* 0 = default */
	bool is_blocking;
	bool is_crash_safe;
	bool wants_all;                    /* programs that it did not start, too */
	const char *relay;                 /* weak: [net://]HOST[:CONTROL[:DATA]]; NULL = none */
	struct option_limit flight;        /* value: bytes of memory, 0 = as any recording */
	const struct guardian_work *guard; /* weak: of `record`; NULL: `start` (guardian.h) */
};
extern const struct option_spec recording_option_table[];

/* What becomes of a recording that has ended: options of the commands that end one. */
struct recorded_options {
	bool is_unconverted;
	int64_t n_workers;
	struct conversion_options conversion;
};
/* clang-format off */
#define RECORDED_OPTION_TABLE(no_convert_help) { \
	OPTION("no-convert", 0, FLAG, offsetof(struct recorded_options, is_unconverted), NULL, \
	       no_convert_help), \
	CLI_WORKERS_OPTION(struct recorded_options, 1024), {.name = NULL}}
#define RECORDED_TABLES(table) { \
	{table, 0, NULL}, \
	{conversion_option_table, offsetof(struct recorded_options, conversion), "conversion"}}
/* clang-format on */

struct recording {
	char dir[PATH_MAX]; /* absolute, as all paths here */
	/* Of a flight recorder: the parent of its snapshots; "" = elsewhere. */
	char trace_dir[PATH_MAX];
	enum session_kind kind;
	char session[SESSION_NAME_SIZE];
	char job[LAUNCHER_JOB_SIZE]; /* "" = none: of one `record`, or of `start` */
	bool wants_all; /* as in recording_options, of a recording that this process began */
	struct session_daemon daemon;
	struct buffer_plan buffers; /* zero in a recording that was loaded */
	bool has_made_dir;          /* the directory did not exist before */
	bool is_crash_safe;         /* DIR/buffers is ours, as the trace is */
	/* With the buffers; "" = LTTng keeps them to itself. */
	char memory_dir[RECORDING_MEMORY_SIZE];
	struct relay_watch relay; /* of --relay, in the process that began it */
	int cut_code;             /* exit code of one that is not whole; 0 = it is */
	int guardian;             /* owned: to tell its guardian (guardian.h); 0 = there is none */
};

/* How a recording ended. */
/* What programs emitted, as they counted it, of a recording that has nothing of it. */
struct recording_unread {
	uint64_t n_records;
	uint32_t n_programs;
	int32_t pid;      /* of the first one */
	char program[64]; /* its name */
};

struct recording_outcome {
	struct session_losses losses;
	struct recording_unread unread; /* where there is no data */
	enum session_verdict verdict;
	bool is_removed;      /* the directory that LTTng wrote into is gone */
	bool is_full;         /* its disk is */
	char where[PATH_MAX]; /* for SESSION_CHANNEL_NOT_CREATED: the user's directory */
};

/* Makes an output directory with its parents; stores whether it is new. */
int recording_make_dir(const char *dir, bool *ret_made, struct flextrace_error *error);

/* True if there is no room left on the disk of `path`. */
bool recording_is_full(const char *path);

/* True if a recording was ever made in `dir`. */
bool recording_is_in(const char *dir);

/*
 * Starts a recording in `dir` (made where missing, without an earlier recording). `session`
 * names the session; `pid` narrows it to one process, 0 = all. FLEXTRACE_E_USAGE, _OUTPUT or
 * _SYSTEM: nothing is left behind.
 */
int recording_begin(const char *dir, const char *session, const struct recording_options *options,
                    pid_t pid, struct recording *ret_recording, struct flextrace_error *error);

/* Stops and destroys the session, looks at the trace, stops our daemon; a trace without records
 * is removed, and a flight recorder without a snapshot. Continues past errors and reports the
 * first. Where LTTng had failed meanwhile and there is something to convert, says so, sets
 * `cut_code` and goes on (with `error` NULL: only reports). Returns 1 if the daemon is left to
 * others. */
int recording_end(struct recording *recording, struct recording_outcome *ret_outcome,
                  struct flextrace_error *error);

/* Where the buffers of a recording are, as far as we can know. "" = nowhere. */
struct path recording_memory(const struct recording *recording);

/* Delivers what programs that died left unfinished in the buffers (rings.h). `is_quiet`: nothing is
 * recorded any more. Returns how many sub-buffers. */
uint32_t recording_heal(const struct recording *recording, bool is_quiet);

/* The same while it records, for its guardian. */
void recording_tend(const struct recording *recording, struct rings_watch *watch);

/* Writes the id into `recording->dir`. */
int recording_write_id(const struct recording *recording, struct flextrace_error *error);

/* Writes the state file of `recording->dir`, or ends the recording. */
int recording_save(struct recording *recording, struct flextrace_error *error);

/* Stores where the trace of a recording of its kind is, in its directory. */
int recording_name_trace(struct recording *recording, struct flextrace_error *error);

/* Finds where the trace of a recording is, whether it runs or not. FLEXTRACE_E_INPUT: no such
 * directory. Only its paths and kind are stored. */
int recording_locate(const char *dir, struct recording *ret_recording,
                     struct flextrace_error *error);

/* The same of a path that may be its trace, too; false: it is neither. */
bool recording_of(const char *path, struct recording *ret_recording);

/* Returns 1 if its session is there, 0 if not; stores whether it records (may be NULL). */
int recording_has_session(const struct recording *recording, bool *ret_is_active,
                          struct flextrace_error *error);

/* Returns 1 if its session is there and records, 0 if not. */
int recording_runs(const struct recording *recording, struct flextrace_error *error);

/* Reads the state file of a directory. Where there is none or a damaged one: FLEXTRACE_E_INPUT. */
int recording_load(const char *dir, struct recording *ret_recording, struct flextrace_error *error);

/* The recording of a session whose state file is gone, with its directory: only to be ended. */
void recording_make_up(const struct session_entry *entry, const char *dir,
                       struct recording *ret_recording);
void recording_forget(const struct recording *recording);

/* Reads it from the note in the directory, before it is removed. */
void recording_count_unread(const struct recording *recording, struct recording_unread *ret_unread);

/*
 * Tells the user how it went: losses and what to do about them, no data, buffers that were not
 * made. Returns an exit code: CLI_OK if there is something to convert, else CLI_INPUT.
 */
int recording_explain(const struct recording *recording, const struct recording_outcome *outcome);

/* Of a recording over the network: the same, and where its trace is. Returns `cut_code`. */
int recording_tell_relay(const struct recording *recording,
                         const struct recording_outcome *outcome);

/* Converts the trace, if it is to be, and prints the summary on `to`. Writes beside the trace
 * unless an output directory is set, which is then. Returns an exit code, at least `cut_code`. */
typedef int recording_converter(const struct recording *recording, struct recorded_options *options,
                                FILE *to);
recording_converter recording_convert;

/* Size of its stream files: of the part that is being written, of what rotation has closed. */
uint64_t recording_open_bytes(const struct recording *recording);
uint64_t recording_closed_bytes(const struct recording *recording);

/* Sums up, of an output directory, what its losses name with this cause. */
uint64_t recording_count_lost(const char *output_dir, const char *cause);

#endif
