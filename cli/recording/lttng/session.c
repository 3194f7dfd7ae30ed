/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <lttng/lttng.h>
#include <lttng/tracker.h>

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <flextrace/flextrace_impl.h>

#include "ring/former.h"
#include "base/paths.h"
#include "model/identity/recording_id.h"
#include "recording/lttng/rlimits.h"
#include "watch.h"

#define DEFINITIONS "definitions"
#define EVENTS      "events"

#define SMALL_BYTES   (UINT64_C(1) << 20)
#define READ_BYTES_US 1000 /* that a program may write in a microsecond: 1 GB/s */
#define MIN_TIMER_US  10000u
#define MAX_TIMER_US  50000u

#define DESTROY_LIMIT_S 20      /* all has been read before */
#define LIVE_TIMER_US   1000000 /* a reader on the relay sees a record within this time */

/* The first ones are definitions. */
const char *const session_event_names[flextrace_i_n_events] = {
#define EVENT_NAME(event, payload) SESSION_EVENT_PREFIX #event,
	FLEXTRACE_I_EVENTS(EVENT_NAME)
#undef EVENT_NAME
};
#define N_DEFINITIONS (flextrace_i_event_marker_name + 1)

int session_failed(struct flextrace_error *error, const char *what, const char *name, int code)
{
	char limits[RLIMITS_TEXT];

	if (code >= 0)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_SYSTEM, "%s: session=%s, reason=%s%s", what, name,
	                 lttng_strerror(code), rlimits_describe(limits));
}

const char *session_date(char date[SESSION_DATE_SIZE])
{
	time_t now = time(NULL);
	struct tm local;

	strftime(date, SESSION_DATE_SIZE, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	return date;
}

void session_make_name_of(const char *label, char name[SESSION_NAME_SIZE])
{
	char date[SESSION_DATE_SIZE];

	snprintf(name, SESSION_NAME_SIZE, SESSION_PREFIX "%s-%s-%ld", label, session_date(date),
	         (long)getpid());
}

void session_make_name(const char *program, char name[SESSION_NAME_SIZE])
{
	char label[64];
	size_t n = 0;

	for (const char *base = path_base(program); *base && n < sizeof(label) - 2; base++) {
		bool is_plain = isalnum((unsigned char)*base) || *base == '.' || *base == '_';

		label[n++] = (char)(is_plain ? *base : '_');
	}
	label[n] = '\0';
	session_make_name_of(label, name);
	if (recording_scope_of(name) == RECORDING_OF_COMMAND)
		return;
	memcpy(label + n, "_", 2);
	session_make_name_of(label, name);
}

/*
 * How often LTTng's consumer looks for what it can read. With such a timer no program has to wake
 * it: it makes no system call for that, writes into no pipe of LTTng's, and what is delivered
 * without it (ring.h) is read as well. Small buffers fill up sooner.
 */
static unsigned read_timer_us(const struct channel_plan *plan)
{
	uint64_t n_bytes = plan->subbuf_bytes * plan->n_subbufs;
	uint64_t us = n_bytes / READ_BYTES_US;
	unsigned least = n_bytes < SMALL_BYTES ? MIN_TIMER_US / 10 : MIN_TIMER_US;

	return us < least ? least : us > MAX_TIMER_US ? MAX_TIMER_US : (unsigned)us;
}

static int add_channel(struct lttng_handle *handle, const char *channel_name,
                       const struct channel_plan *plan, const struct session_setup *setup)
{
	struct lttng_channel *channel = lttng_channel_create(&handle->domain);
	int code = -LTTNG_ERR_NOMEM;

	if (!channel)
		return code;
	snprintf(channel->name, sizeof(channel->name), "%s", channel_name);
	channel->attr.overwrite = setup->kind == SESSION_FLIGHT;
	channel->attr.subbuf_size = plan->subbuf_bytes;
	channel->attr.num_subbuf = plan->n_subbufs;
	channel->attr.output = LTTNG_EVENT_MMAP;
	channel->attr.read_timer_interval = read_timer_us(plan);
	code = setup->is_blocking ? lttng_channel_set_blocking_timeout(channel, -1) : 0;
	if (code == 0)
		code = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return code;
}

static int add_contexts(struct lttng_handle *handle, const char *channel_name)
{
	static const enum lttng_event_context_type types[] = {LTTNG_EVENT_CONTEXT_VPID,
	                                                      LTTNG_EVENT_CONTEXT_VTID};
	int code = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && code >= 0; i++) {
		struct lttng_event_context context = {.ctx = types[i]};

		code = lttng_add_context(handle, &context, NULL, channel_name);
	}
	return code;
}

static int add_event(struct lttng_handle *handle, const char *event_name, const char *channel_name)
{
	struct lttng_event *event = lttng_event_create();
	int code;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	snprintf(event->name, sizeof(event->name), "%s", event_name);
	code = lttng_enable_event(handle, event, channel_name);
	lttng_event_destroy(event);
	return code;
}

static int fill_session(struct lttng_handle *handle, const struct session_setup *setup)
{
	int code = add_channel(handle, DEFINITIONS, &setup->buffers.definitions, setup);

	if (code >= 0)
		code = add_channel(handle, EVENTS, &setup->buffers.events, setup);
	if (code >= 0)
		code = add_contexts(handle, DEFINITIONS);
	if (code >= 0)
		code = add_contexts(handle, EVENTS);
	for (size_t i = 0; i < flextrace_i_n_events && code >= 0; i++)
		code = add_event(handle, session_event_names[i],
		                 i < N_DEFINITIONS ? DEFINITIONS : EVENTS);
	return code;
}

/* Narrows the session to one process; returns LTTng's negative code. */
static int track_process(const char *name, pid_t pid)
{
	struct lttng_process_attr_tracker_handle *tracker = NULL;
	enum lttng_error_code code = lttng_session_get_tracker_handle(
		name, LTTNG_DOMAIN_UST, LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID, &tracker);
	int status;

	if (code != LTTNG_OK)
		return -(int)code;
	status = lttng_process_attr_tracker_handle_set_tracking_policy(
		tracker, LTTNG_TRACKING_POLICY_INCLUDE_SET);
	if (status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK)
		status = lttng_process_attr_virtual_process_id_tracker_handle_add_pid(tracker, pid);
	lttng_process_attr_tracker_handle_destroy(tracker);
	return status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK ? 0 : -LTTNG_ERR_UNK;
}

struct lttng_handle *session_handle(const char *name)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

	return lttng_create_handle(name, &domain);
}

static int fill_and_track(const struct session_setup *setup)
{
	struct lttng_handle *handle = session_handle(setup->name);
	int code;

	if (!handle)
		return -LTTNG_ERR_NOMEM;
	code = fill_session(handle, setup);
	lttng_destroy_handle(handle);
	if (code >= 0 && setup->pid)
		code = track_process(setup->name, setup->pid);
	return code;
}

/* Returns LTTng's negative code. */
static int create_empty(const struct session_setup *setup)
{
	char url[PATH_MAX + 16];

	snprintf(url, sizeof(url), "file://%s", setup->trace_dir);
	switch (setup->kind) {
	case SESSION_FLIGHT:
		return lttng_create_session_snapshot(setup->name, url);
	case SESSION_TO_RELAY:
		return lttng_create_session_live(setup->name, setup->relay_url, LIVE_TIMER_US);
	default:
		return lttng_create_session(setup->name, url);
	}
}

static int creation_failed(const struct session_setup *setup, int code,
                           struct flextrace_error *error)
{
	if (setup->kind == SESSION_TO_RELAY && code == -LTTNG_ERR_INVALID)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "Cannot use the relay, it is neither a HOST[:CONTROL[:DATA]] that "
		                 "is known nor a URL: relay=%s",
		                 setup->relay_url);
	if (code == -LTTNG_ERR_RELAYD_CONNECT_FAIL)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "No lttng-relayd answers, start it on that host with "
		                 "`lttng-relayd --daemonize`: relay=%s",
		                 setup->relay_url);
	return session_failed(error, "Cannot create the LTTng session", setup->name, code);
}

static int create(const struct session_setup *setup, struct flextrace_error *error)
{
	int code = create_empty(setup);

	if (code < 0)
		return creation_failed(setup, code, error);
	code = setup->shm_path[0] ? lttng_set_session_shm_path(setup->name, setup->shm_path) : 0;
	if (code >= 0)
		code = fill_and_track(setup);
	if (code < 0) {
		lttng_destroy_session(setup->name);
		return creation_failed(setup, code, error);
	}
	return FLEXTRACE_OK;
}

int session_create(const struct session_setup *setup, struct flextrace_error *error)
{
	struct watch watch;
	int code;

	watch_begin(&watch, WATCH_LIMIT_S);
	code = create(setup, error);
	if (!watch_end(&watch) || code >= 0)
		return code;
	if (setup->undo(setup->name))
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "LTTng does not answer; what it makes of this session when it "
		                 "goes on is taken back: session=%s",
		                 setup->name);
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "LTTng does not answer; if it makes the session when it goes on, `lttng "
	                 "destroy %s` ends that",
	                 setup->name);
}

int session_start(const char *name, struct flextrace_error *error)
{
	int code;

	WATCH(code, lttng_start_tracing(name));
	return session_failed(error, "Cannot start the LTTng session", name, code);
}

/* LTTng 2.13 sometimes sets bit 63 of what it counts. */
static uint64_t clear_stray_bit(uint64_t count)
{
	return count & (UINT64_MAX >> 1);
}

static void count_losses(const char *name, struct session_losses *losses)
{
	struct lttng_handle *handle = session_handle(name);
	struct lttng_channel *channels = NULL;
	int n;

	WATCH(n, handle ? lttng_list_channels(handle, &channels) : 0);
	for (int i = 0; i < n; i++) {
		uint64_t events = 0, packets = 0;

		lttng_channel_get_discarded_event_count(&channels[i], &events);
		lttng_channel_get_lost_packet_count(&channels[i], &packets);
		losses->events += clear_stray_bit(events);
		losses->packets += clear_stray_bit(packets);
	}
	free(channels);
	lttng_destroy_handle(handle);
}

int session_stop(const char *name, struct session_losses *ret_losses, struct flextrace_error *error)
{
	struct session_losses losses = {0};
	int code;

	WATCH(code, lttng_stop_tracing(name));
	if (code < 0 && code != -LTTNG_ERR_UST_STOP_FAIL &&
	    code != -LTTNG_ERR_TRACE_ALREADY_STOPPED)
		return session_failed(error, "Cannot stop the LTTng session", name, code);
	count_losses(name, &losses);
	if (ret_losses)
		*ret_losses = losses;
	return FLEXTRACE_OK;
}

int session_destroy(const char *name, struct flextrace_error *error)
{
	int code;

	WATCH_FOR(DESTROY_LIMIT_S, code, lttng_destroy_session(name));
	return session_failed(error, "Cannot destroy the LTTng session", name, code);
}

/* Where a flight recorder's snapshots go: LTTng tells no path of such a session. */
static void name_output(const char *name, char path[PATH_MAX])
{
	struct lttng_snapshot_output_list *outputs = NULL;
	const struct lttng_snapshot_output *output;
	const char *url;
	int code;

	WATCH(code, lttng_snapshot_list_output(name, &outputs));
	if (code < 0)
		return;
	output = lttng_snapshot_output_list_get_next(outputs);
	url = output ? lttng_snapshot_output_get_ctrl_url(output) : "";
	snprintf(path, PATH_MAX, "%s", strncmp(url, "file://", 7) == 0 ? url + 7 : url);
	lttng_snapshot_output_list_destroy(outputs);
}

static bool copy_entry(const struct lttng_session *session, struct session_entry *entry)
{
	size_t n_name = strlen(session->name), n_path = strlen(session->path);

	if (n_name >= sizeof(entry->name) || n_path >= sizeof(entry->trace_dir))
		return false;
	memcpy(entry->name, session->name, n_name + 1);
	memcpy(entry->trace_dir, session->path, n_path + 1);
	entry->is_active = session->enabled;
	entry->is_flight = session->snapshot_mode;
	if (entry->is_flight)
		name_output(entry->name, entry->trace_dir);
	return true;
}

int session_list(const char *prefix, struct session_entry **ret_entries,
                 struct flextrace_error *error)
{
	struct lttng_session *sessions = NULL;
	struct session_entry *entries;
	int n, n_kept = 0;

	WATCH(n, lttng_list_sessions(&sessions));
	if (n < 0)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "Cannot list the LTTng sessions: reason=%s", lttng_strerror(n));
	entries = calloc((size_t)n + 1, sizeof(*entries));
	for (int i = 0; i < n && entries; i++)
		if (strncmp(sessions[i].name, prefix, strlen(prefix)) == 0 &&
		    copy_entry(&sessions[i], &entries[n_kept]))
			n_kept++;
	free(sessions);
	if (!entries)
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	*ret_entries = entries;
	return n_kept;
}

int session_count(int limit_s)
{
	struct lttng_session *sessions = NULL;
	int n;

	WATCH_FOR(limit_s, n, lttng_list_sessions(&sessions));
	free(sessions);
	return n;
}

/* A packet without records: 32 bytes of header and 52 of context. */
#define EMPTY_PACKET_BITS 672

/* True if a packet of a stream file holds a record. */
static bool has_records(const char *stream_path)
{
	struct packet_header header;
	int fd = open(stream_path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	off_t offset = 0;

	while (fd >= 0 && !found && pread(fd, &header, sizeof(header), offset) == sizeof(header) &&
	       header.packet_bits >= EMPTY_PACKET_BITS && header.packet_bits / 8 < INT64_MAX / 16) {
		found = header.content_bits > EMPTY_PACKET_BITS;
		offset += (off_t)(header.packet_bits / 8);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Streams of a channel in a user's directory; counts those with records apart. */
static size_t count_streams(const char *directory, const char *channel, size_t *ret_n_filled)
{
	char pattern[64];
	glob_t found;
	size_t n;

	snprintf(pattern, sizeof(pattern), "%s_[0-9]*", channel);
	n = glob_in(directory, pattern, &found);
	for (size_t i = 0; i < n; i++)
		*ret_n_filled += has_records(found.gl_pathv[i]);
	globfree(&found);
	return n;
}

enum session_verdict session_inspect(const char *trace_dir, char ret_where[PATH_MAX])
{
	enum session_verdict verdict = SESSION_NO_STREAMS;
	size_t n_filled = 0;
	glob_t users;

	if (!glob_in(trace_dir, "ust/uid/*/*-bit", &users))
		glob_in(trace_dir, "archives/*/ust/uid/*/*-bit", &users);
	for (size_t i = 0; i < users.gl_pathc && verdict != SESSION_CHANNEL_NOT_CREATED; i++) {
		const char *user = users.gl_pathv[i];

		verdict = SESSION_NO_RECORDS;
		if (count_streams(user, DEFINITIONS, &n_filled) &&
		    count_streams(user, EVENTS, &n_filled))
			continue;
		verdict = SESSION_CHANNEL_NOT_CREATED;
		if (ret_where)
			snprintf(ret_where, PATH_MAX, "%s", user);
	}
	globfree(&users);
	return verdict == SESSION_NO_RECORDS && n_filled ? SESSION_HAS_DATA : verdict;
}

bool session_has_records(const char *trace_dir)
{
	enum session_verdict verdict = session_inspect(trace_dir, NULL);

	return verdict != SESSION_NO_STREAMS && verdict != SESSION_NO_RECORDS;
}
