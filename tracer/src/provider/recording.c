/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SCHEDULE_NAME "schedule" /* name of the windows that a schedule opens */

static const int off = 0;
static const int on = 1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const struct recording_backend *backend;
	struct flextrace_i_client *clients;
	int windows_only;
	struct recording_schedule schedule;
	uint64_t n_windows; /* open ones */
	uint64_t n_steps;
	int in_active_step;
	int is_on;
	int is_late;
} recording;

/* -- schedule -- */

int recording_is_active(const struct recording_schedule *schedule, uint64_t step)
{
	uint64_t idle = schedule->wait + schedule->warmup;
	uint64_t cycle = idle + schedule->active;

	if (schedule->repeat && step / cycle >= schedule->repeat)
		return 0;
	return step % cycle >= idle;
}

/* -- state words, under the lock -- */

static const int *word_for(const struct flextrace_i_client *client, size_t event)
{
	if (client->off >> event & 1)
		return &off;
	if (event <= flextrace_i_event_marker_name)
		return recording.backend->states[event];
	if (event == flextrace_i_event_step && recording.schedule.active)
		return &on;
	if (!recording.is_on)
		return &off;
	return recording.is_late ? &on : recording.backend->states[event];
}

static void give_words(struct flextrace_i_client *client)
{
	size_t n = client->n_states;
	size_t i;

	if (n > flextrace_i_n_events)
		n = flextrace_i_n_events;
	for (i = 0; i < n; i++)
		__atomic_store_n(&client->state[i], word_for(client, i), __ATOMIC_RELEASE);
}

static void give_all_words(void)
{
	struct flextrace_i_client *client;

	for (client = recording.clients; client; client = client->next)
		give_words(client);
}

static void update(void)
{
	int is_on = (!recording.windows_only || recording.n_windows) &&
	            (!recording.schedule.active || recording.in_active_step);

	if (is_on == recording.is_on)
		return;
	recording.is_on = is_on;
	give_all_words();
}

/* Whether LTTng records an event now, or is about to. */
static int is_recorded(size_t event)
{
	return recording.is_on &&
	       (recording.is_late ||
	        __atomic_load_n(recording.backend->states[event], __ATOMIC_RELAXED));
}

static void emit_window(enum flextrace_edge edge, const char *name)
{
	const struct flextrace_window window = {sizeof(window), (uint32_t)edge, name};

	if (is_recorded(flextrace_i_event_window))
		recording.backend->window(&window);
}

/* -- clients -- */

void recording_init(const struct recording_backend *backend, char *(*get)(const char *name))
{
	const char *windows_only = get("FLEXTRACE_WINDOWS_ONLY");
	const char *schedule = get("FLEXTRACE_SCHEDULE");

	pthread_mutex_lock(&lock);
	memset(&recording, 0, sizeof(recording));
	recording.backend = backend;
	recording.windows_only = windows_only && !strcmp(windows_only, "1");
	if (schedule)
		recording_parse_schedule(schedule, &recording.schedule);
	update();
	pthread_mutex_unlock(&lock);
}

void recording_attach(struct flextrace_i_client *client)
{
	pthread_mutex_lock(&lock);
	client->next = recording.clients;
	recording.clients = client;
	give_words(client);
	pthread_mutex_unlock(&lock);
}

void recording_detach(struct flextrace_i_client *client)
{
	struct flextrace_i_client **link = &recording.clients;

	pthread_mutex_lock(&lock);
	while (*link && *link != client)
		link = &(*link)->next;
	if (*link)
		*link = client->next;
	pthread_mutex_unlock(&lock);
}

int recording_set_late(int is_late, int may_wait)
{
	if (may_wait ? pthread_mutex_lock(&lock) : pthread_mutex_trylock(&lock))
		return 0;
	recording.is_late = is_late;
	give_all_words();
	pthread_mutex_unlock(&lock);
	return 1;
}

void recording_dump(void)
{
	struct flextrace_i_client *client;

	pthread_mutex_lock(&lock);
	for (client = recording.clients; client; client = client->next)
		client->dump();
	pthread_mutex_unlock(&lock);
}

void recording_lock(void)
{
	pthread_mutex_lock(&lock);
}

void recording_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void recording_forked(void)
{
	struct flextrace_i_client *client;

	recording.is_late = 0;
	for (client = recording.clients; client; client = client->next) {
		give_words(client);
		client->forked();
	}
}

/* -- steps and windows -- */

static void advance_schedule(void)
{
	int was_active = recording.in_active_step;
	int is_active = recording_is_active(&recording.schedule, recording.n_steps);

	recording.n_steps++;
	if (was_active && !is_active)
		emit_window(FLEXTRACE_EDGE_END, SCHEDULE_NAME);
	recording.in_active_step = is_active;
	update();
	if (is_active && !was_active)
		emit_window(FLEXTRACE_EDGE_BEGIN, SCHEDULE_NAME);
}

void recording_step(const struct flextrace_step *step)
{
	pthread_mutex_lock(&lock);
	if (recording.schedule.active)
		advance_schedule();
	if (is_recorded(flextrace_i_event_step))
		recording.backend->step(step);
	pthread_mutex_unlock(&lock);
}

void recording_window(const struct flextrace_window *window)
{
	int begins = window->edge == FLEXTRACE_EDGE_BEGIN;

	pthread_mutex_lock(&lock);
	if (begins) {
		recording.n_windows++;
		update();
	}
	emit_window(begins ? FLEXTRACE_EDGE_BEGIN : FLEXTRACE_EDGE_END, window->name);
	if (!begins && recording.n_windows) {
		recording.n_windows--;
		update();
	}
	pthread_mutex_unlock(&lock);
}
