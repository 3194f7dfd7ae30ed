/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: one LTTng recording session of our own, through liblttng-ctl.
 *
 * The session has two channels with per-user buffers: `definitions` (who and what the records are
 * about, small sub-buffers of its own so that no load can push it out) and `events` (everything
 * else). Full buffers discard what comes; those of a flight recorder overwrite the oldest. Events
 * are enabled by explicit list, never with exclusions: those crash the session daemon of LTTng
 * 2.13.
 *
 * - Names start with SESSION_PREFIX, so that what was left running can be found and stopped.
 * - Needs a session daemon that answers: daemon.h.
 * - Every function that fails says why, with what LTTng said: FLEXTRACE_E_SYSTEM.
 */
#ifndef FLEXTRACE_SESSION_H
#define FLEXTRACE_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring/buffers.h"

/* Where the records go. */
enum session_kind {
	SESSION_TO_DISK, /* into trace_dir */
	SESSION_FLIGHT,  /* nowhere: the newest stay in memory, session_snapshot() writes them */
	SESSION_TO_RELAY /* to lttng-relayd on another host, where they can be read live */
};

#define SESSION_PREFIX    "flextrace-"
#define SESSION_NAME_SIZE 160

struct session_setup {
	const char *name; /* weak */
	enum session_kind kind;
	const char *trace_dir; /* weak, absolute: LTTng writes below it; of SESSION_FLIGHT, where
	                          snapshots go */
	const char *relay_url; /* weak: net://HOST..., of SESSION_TO_RELAY */
	const char *shm_path;  /* weak, absolute: buffers are files there; "" = LTTng hides them */
	struct buffer_plan buffers;
	bool is_blocking; /* programs started with LTTNG_UST_ALLOW_BLOCKING=1 wait for room */
	pid_t pid;        /* only this process (in its own pid namespace); 0 = all */
	/* Ends a session that LTTng makes when nobody waits for it any more. False: it cannot. */
	bool (*undo)(const char *session);
};

struct session_losses {
	uint64_t events; /* LTTng's figure with its stray bit 63 cleared */
	uint64_t packets;
};

struct session_entry {
	char name[SESSION_NAME_SIZE];
	char trace_dir[PATH_MAX]; /* as in session_setup; a URL of SESSION_TO_RELAY */
	bool is_active;
	bool is_flight;
};

/* Of ours in LTTng: NULL = of no session. Owned: lttng_destroy_handle(). */
struct lttng_handle *session_handle(const char *name);

/* All events of the trace model, by enum flextrace_i_event. */
#define SESSION_EVENT_PREFIX "flextrace:"
extern const char *const session_event_names[];

/* Writes an id as recording_id.h has it. Of the program's name other characters than [A-Za-z0-9._]
 * become '_', and what is a label of another scope ends in one. */
void session_make_name(const char *program, char name[SESSION_NAME_SIZE]);
void session_make_name_of(const char *label, char name[SESSION_NAME_SIZE]);

/* Now, as names of sessions and directories have it. */
#define SESSION_DATE_SIZE 32
const char *session_date(char date[SESSION_DATE_SIZE]);

/* Creates the session with its channels, contexts and events; nothing is left of it on failure. */
int session_create(const struct session_setup *setup, struct flextrace_error *error);

/* Starts recording; programs that already run record their definitions now (LTTng's state dump). */
int session_start(const char *name, struct flextrace_error *error);

/* Stops and waits until all data is written. `ret_losses` may be NULL; per-process figures stand
 * in the trace. */
int session_stop(const char *name, struct session_losses *ret_losses,
                 struct flextrace_error *error);

/* Destroys the session; the trace stays. */
int session_destroy(const char *name, struct flextrace_error *error);

/*
 * Lists the sessions whose names start with `prefix` ("" = all). Stores an owned array (free())
 * and returns its length.
 */
int session_list(const char *prefix, struct session_entry **ret_entries,
                 struct flextrace_error *error);

/* "<what>: session=NAME, reason=...", of a negative code of LTTng; other codes are no error. */
int session_failed(struct flextrace_error *error, const char *what, const char *name, int code);

/* How many sessions there are; negative: the daemon does not say within `limit_s`. */
int session_count(int limit_s);

/* What a session has on the disk. */
enum session_verdict {
	SESSION_HAS_DATA,
	SESSION_NO_STREAMS,         /* no program registered */
	SESSION_NO_RECORDS,         /* buffers were made, nothing was written into them */
	SESSION_CHANNEL_NOT_CREATED /* LTTng could not make a user's buffers */
};

/* Looks into a trace directory, also of one snapshot or of all that was rotated; stores a user's
 * directory without buffers in `ret_where` (may be NULL). Records are seen once the session is
 * stopped. */
enum session_verdict session_inspect(const char *trace_dir, char ret_where[PATH_MAX]);

/* Whether there is something in it, or may be. */
bool session_has_records(const char *trace_dir);

#endif
