// SPDX-License-Identifier: Apache-2.0
#include "chrome.h"

#include <stdlib.h>

#include "base/order.h"

#define PIDS_PER_PROCESS 1000u

static int compare_processes(const void *left, const void *right, void *context)
{
	const struct process *processes = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	/* as unsigned, an unknown rank (-1) comes last */
	return ORDER((uint32_t)processes[a].rank, (uint32_t)processes[b].rank) ?: ORDER(a, b);
}

static int compare_devices(const void *left, const void *right, void *context)
{
	const struct device *devices = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return ORDER(devices[a].process, devices[b].process) ?:
	       ORDER(devices[a].device, devices[b].device) ?: ORDER(a, b);
}

/* Main work of a queue first, then what surrounds it. */
static uint32_t place_of_row_kind(const struct track *track)
{
	return track->kind == TRACK_QUEUE && track->row_kind != ROW_EXEC ? track->row_kind + 1u : 0;
}

/* Where a track stands: device tracks by queue or core, host tracks by tid. */
static uint64_t place_of_line(const struct view *view, const struct track *track)
{
	if (view_is_device_track(track))
		return track->id;
	return (uint32_t)view->identity->threads[track->owner].vtid;
}

static int compare_tracks(const void *left, const void *right, void *context)
{
	const struct view *view = context;
	uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct track *a = &view->timeline->tracks[i], *b = &view->timeline->tracks[k];
	const struct thread *threads = view->identity->threads;
	bool is_device = view_is_device_track(a);
	int order = ORDER(is_device, view_is_device_track(b));

	if (order)
		return order;
	order = is_device ? ORDER(a->owner, b->owner) ?: ORDER(a->kind, b->kind)
	                  : ORDER(threads[a->owner].process, threads[b->owner].process);
	return order ?: ORDER(place_of_line(view, a), place_of_line(view, b)) ?:
	       ORDER(a->kind, b->kind) ?:
	       ORDER(a->processor, b->processor) ?:
	       ORDER(place_of_row_kind(a), place_of_row_kind(b)) ?: ORDER(a->lane, b->lane) ?:
	       ORDER(i, k);
}

/* Returns 0..n-1, or NULL: no memory. Owned by the caller. */
static uint32_t *first_numbers(uint32_t n)
{
	uint32_t *numbers = malloc((n + 1) * sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < n; i++)
		numbers[i] = i;
	return numbers;
}

/* Numbers the devices of each process from 1, and leaves their count in process_pid. */
static void count_devices(struct chrome_ids *ids, const struct identity *identity)
{
	for (uint32_t i = 0; i < identity->n_processes; i++)
		ids->process_pid[i] = 0;
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		uint32_t d = ids->device_order[i];

		ids->device_pid[d] = ++ids->process_pid[identity->devices[d].process];
	}
}

static void number_processes(struct chrome_ids *ids, const struct identity *identity)
{
	uint32_t next = 1; /* in thousands */

	count_devices(ids, identity);
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		uint32_t p = ids->process_order[i];
		uint32_t n_devices = ids->process_pid[p];
		int32_t rank = identity->processes[p].rank;

		/* an absurd rank must not overflow a pid */
		if (rank >= 0 && rank < 1000000 && (uint32_t)rank + 1 > next)
			next = (uint32_t)rank + 1;
		ids->process_pid[p] = next * PIDS_PER_PROCESS;
		next += 1 + n_devices / PIDS_PER_PROCESS;
	}
	for (uint32_t i = 0; i < identity->n_devices; i++)
		ids->device_pid[i] += ids->process_pid[identity->devices[i].process];
}

/* The tid that a track has by itself; 0: none, or none that we could write. */
static uint32_t natural_tid(const struct view *view, const struct track *track)
{
	uint32_t tid = 0;

	if (track->lane > 0)
		return 0;
	if (track->kind == TRACK_THREAD && view->identity->threads[track->owner].vtid > 0)
		tid = (uint32_t)view->identity->threads[track->owner].vtid;
	if (track->kind == TRACK_QUEUE && track->row_kind == ROW_EXEC)
		tid = view_stream(view, track);
	return tid < CHROME_FIRST_OWN_TID ? tid : 0;
}

static uint32_t pid_of_track(const struct chrome_ids *ids, const struct view *view, uint32_t track)
{
	const struct track *of = &view->timeline->tracks[track];

	if (view_is_device_track(of))
		return ids->device_pid[of->owner];
	return ids->process_pid[view->identity->threads[of->owner].process];
}

static void number_tracks(struct chrome_ids *ids, const struct view *view)
{
	const struct timeline *timeline = view->timeline;
	uint32_t pid = 0, next = CHROME_FIRST_OWN_TID;

	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		uint32_t t = ids->track_order[i];
		uint32_t tid = natural_tid(view, &timeline->tracks[t]);

		if (pid_of_track(ids, view, t) != pid)
			next = CHROME_FIRST_OWN_TID;
		pid = pid_of_track(ids, view, t);
		ids->track_tid[t] = tid ? tid : next++;
	}
}

static bool is_same_line(const struct track *a, const struct track *b)
{
	return a->kind == b->kind && a->row_kind == b->row_kind && a->owner == b->owner &&
	       a->id == b->id && a->processor == b->processor;
}

/* Lanes of a line follow one another in the order of tracks. */
static void find_lines(struct chrome_ids *ids, const struct view *view)
{
	const struct track *tracks = view->timeline->tracks;
	uint32_t line = 0;

	for (uint32_t i = 0; i < view->timeline->n_tracks; i++) {
		uint32_t t = ids->track_order[i];

		if (i == 0 || !is_same_line(&tracks[line], &tracks[t]))
			line = t;
		ids->track_line[t] = line;
	}
}

int chrome_ids_init(struct chrome_ids *ids, const struct view *view, uint32_t process)
{
	const struct identity *identity = view->identity;
	uint32_t n_tracks = view->timeline->n_tracks;

	*ids = (struct chrome_ids){
		.process_pid = first_numbers(identity->n_processes),
		.device_pid = first_numbers(identity->n_devices),
		.track_tid = first_numbers(n_tracks),
		.process_order = first_numbers(identity->n_processes),
		.device_order = first_numbers(identity->n_devices),
		.track_order = first_numbers(n_tracks),
		.track_line = first_numbers(n_tracks),
	};
	if (!ids->process_pid || !ids->device_pid || !ids->track_tid || !ids->process_order ||
	    !ids->device_order || !ids->track_order || !ids->track_line) {
		chrome_ids_release(ids);
		return FLEXTRACE_E_MEMORY;
	}
	qsort_r(ids->process_order, identity->n_processes, sizeof(uint32_t), compare_processes,
	        identity->processes);
	qsort_r(ids->device_order, identity->n_devices, sizeof(uint32_t), compare_devices,
	        identity->devices);
	qsort_r(ids->track_order, n_tracks, sizeof(uint32_t), compare_tracks, (void *)view);
	number_processes(ids, identity);
	if (process != FLEXTRACE_NONE)
		chrome_number_process(ids, view, process);
	number_tracks(ids, view);
	find_lines(ids, view);
	return 0;
}

void chrome_ids_release(struct chrome_ids *ids)
{
	free(ids->process_pid);
	free(ids->device_pid);
	free(ids->track_tid);
	free(ids->process_order);
	free(ids->device_order);
	free(ids->track_order);
	free(ids->track_line);
	*ids = (struct chrome_ids){.process_pid = NULL};
}
