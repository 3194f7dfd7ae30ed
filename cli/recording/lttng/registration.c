/* SPDX-License-Identifier: Apache-2.0 */
#include "registration.h"

#include <lttng/lttng.h>
#include <lttng/tracker.h>

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <flextrace/flextrace_impl.h>

#include "watch.h"

int registration_count(pid_t pid, uint32_t *ret_n_events, struct flextrace_error *error)
{
	struct lttng_handle *handle = session_handle(NULL);
	struct lttng_event *events = NULL;
	int n;

	WATCH(n, handle ? lttng_list_tracepoints(handle, &events) : -LTTNG_ERR_NOMEM);
	*ret_n_events = 0;
	for (int i = 0; i < n; i++)
		*ret_n_events += events[i].pid == pid &&
		                 strncmp(events[i].name, SESSION_EVENT_PREFIX,
		                         strlen(SESSION_EVENT_PREFIX)) == 0;
	free(events);
	lttng_destroy_handle(handle);
	return n < 0 ? error_set(error, FLEXTRACE_E_SYSTEM,
	                         "Cannot list what programs registered: reason=%s",
	                         lttng_strerror(n))
	             : FLEXTRACE_OK;
}

static bool is_in_set(struct lttng_process_attr_tracker_handle *tracker, pid_t pid)
{
	const struct lttng_process_attr_values *values;
	unsigned int n = 0;

	if (lttng_process_attr_tracker_handle_get_inclusion_set(tracker, &values) !=
	            LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK ||
	    lttng_process_attr_values_get_count(values, &n) != LTTNG_PROCESS_ATTR_VALUES_STATUS_OK)
		return true;
	for (unsigned int i = 0; i < n; i++) {
		pid_t found;

		if (lttng_process_attr_values_get_pid_at_index(values, i, &found) ==
		            LTTNG_PROCESS_ATTR_VALUES_STATUS_OK &&
		    found == pid)
			return true;
	}
	return false;
}

/* Whether a session may be narrowed to other processes. */
static bool takes_process(const char *session, pid_t pid)
{
	struct lttng_process_attr_tracker_handle *tracker = NULL;
	enum lttng_tracking_policy policy = LTTNG_TRACKING_POLICY_INCLUDE_ALL;
	bool takes = true;

	if (lttng_session_get_tracker_handle(session, LTTNG_DOMAIN_UST,
	                                     LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID,
	                                     &tracker) != LTTNG_OK)
		return true;
	lttng_process_attr_tracker_handle_get_tracking_policy(tracker, &policy);
	if (policy == LTTNG_TRACKING_POLICY_EXCLUDE_ALL)
		takes = false;
	else if (policy == LTTNG_TRACKING_POLICY_INCLUDE_SET)
		takes = is_in_set(tracker, pid);
	lttng_process_attr_tracker_handle_destroy(tracker);
	return takes;
}

/* Marks the events of ours that are on in a channel, by name or by pattern. */
static void mark_events(struct lttng_handle *handle, const char *channel, uint64_t *marked)
{
	struct lttng_event *events = NULL;
	int n = lttng_list_events(handle, channel, &events);

	for (int i = 0; i < n; i++) {
		for (uint32_t e = 0; e < flextrace_i_n_events && events[i].enabled; e++) {
			if (fnmatch(events[i].name, session_event_names[e], 0) == 0)
				*marked |= UINT64_C(1) << e;
		}
	}
	free(events);
}

static uint32_t count_events(const char *session)
{
	struct lttng_handle *handle = session_handle(session);
	struct lttng_channel *channels = NULL;
	int n = handle ? lttng_list_channels(handle, &channels) : 0;
	uint64_t marked = 0;

	for (int i = 0; i < n; i++)
		if (channels[i].enabled)
			mark_events(handle, channels[i].name, &marked);
	free(channels);
	lttng_destroy_handle(handle);
	return (uint32_t)__builtin_popcountll(marked);
}

int registration_sessions(pid_t pid, struct registration_session **ret_sessions,
                          struct flextrace_error *error)
{
	struct registration_session *found;
	struct session_entry *entries;
	int n_found = 0, n = session_list("", &entries, error);

	if (n < 0)
		return n;
	found = calloc((size_t)n + 1, sizeof(*found));
	for (int i = 0; i < n && found; i++) {
		struct registration_session *session = &found[n_found];

		WATCH(session->n_events, entries[i].is_active && takes_process(entries[i].name, pid)
		                                 ? count_events(entries[i].name)
		                                 : 0);
		memcpy(session->name, entries[i].name, sizeof(session->name));
		n_found += session->n_events > 0;
	}
	free(entries);
	if (!found)
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	*ret_sessions = found;
	return n_found;
}
