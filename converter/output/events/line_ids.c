// SPDX-License-Identifier: Apache-2.0
#include "line_ids.h"

#include <stdlib.h>

#define PIDS_PER_PROCESS 1000u
#define MAX_DEVICES      64 /* of a single process: pids below are devices */

/* Numbers the devices of each process from 1, and leaves their count in process_pid. */
static void count_devices(struct line_ids *ids, const struct identity *identity,
                          const struct lines *lines)
{
	for (uint32_t i = 0; i < identity->n_processes; i++)
		ids->process_pid[i] = 0;
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		uint32_t d = lines->device_order[i];

		ids->device_pid[d] = ++ids->process_pid[identity->devices[d].process];
	}
}

static void number_processes(struct line_ids *ids, const struct identity *identity,
                             const struct lines *lines)
{
	uint32_t next = 1; /* in thousands */

	count_devices(ids, identity, lines);
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		uint32_t p = lines->process_order[i];
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
	return tid < LINE_FIRST_OWN_TID ? tid : 0;
}

uint32_t line_ids_pid(const struct line_ids *ids, const struct view *view, uint32_t track)
{
	const struct track *of = &view->timeline->tracks[track];

	if (view_is_device_track(of))
		return ids->device_pid[of->owner];
	return ids->process_pid[view->identity->threads[of->owner].process];
}

static void number_tracks(struct line_ids *ids, const struct view *view, const struct lines *lines)
{
	const struct timeline *timeline = view->timeline;
	uint32_t pid = 0, next = LINE_FIRST_OWN_TID;

	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		uint32_t t = lines->track_order[i];
		uint32_t tid = natural_tid(view, &timeline->tracks[t]);

		if (line_ids_pid(ids, view, t) != pid)
			next = LINE_FIRST_OWN_TID;
		pid = line_ids_pid(ids, view, t);
		ids->track_tid[t] = tid ? tid : next++;
	}
}

/* -- a single process -------------------------------------------------------------------------- */

/* The real pid where it cannot be taken for a device. */
static uint32_t number_host(const struct process *process, uint32_t otherwise)
{
	int64_t pid = identity_pid(process);

	return pid >= MAX_DEVICES ? (uint32_t)pid : otherwise;
}

static void number_process(struct line_ids *ids, const struct events *events)
{
	const struct identity *identity = events->view.identity;
	uint32_t process = events->process;

	ids->process_pid[process] = number_host(&identity->processes[process],
	                                        ids->process_pid[process]);
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		if (identity->devices[i].process == process &&
		    events->device_number[i] < MAX_DEVICES)
			ids->device_pid[i] = events->device_number[i];
	}
}

int line_ids_init(struct line_ids *ids, const struct events *events)
{
	const struct view *view = &events->view;
	const struct identity *identity = view->identity;

	*ids = (struct line_ids){
		.process_pid = lines_count_up(identity->n_processes),
		.device_pid = lines_count_up(identity->n_devices),
		.track_tid = lines_count_up(view->timeline->n_tracks),
	};
	if (!ids->process_pid || !ids->device_pid || !ids->track_tid) {
		line_ids_release(ids);
		return FLEXTRACE_E_MEMORY;
	}
	number_processes(ids, identity, &events->lines);
	if (events_are_kineto(events))
		number_process(ids, events);
	number_tracks(ids, view, &events->lines);
	return 0;
}

void line_ids_release(struct line_ids *ids)
{
	free(ids->process_pid);
	free(ids->device_pid);
	free(ids->track_tid);
	*ids = (struct line_ids){.process_pid = NULL};
}
