/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_ids.h: which pid and tid stands for what in trace files.
 */
#ifndef FLEXTRACE_LINE_IDS_H
#define FLEXTRACE_LINE_IDS_H

#include "output/events/events.h"

/* tids from here on are ours; real ones stay below (Linux allows 2^22). */
#define LINE_FIRST_OWN_TID 10000001u

/* One numbering. Processes stand in order of rank, those without a rank behind, at multiples of
 * 1000: rank r at (r + 1) * 1000 unless two processes have one rank. Device k (in order of their
 * numbers) of a process has the process' pid + 1 + k. A thread keeps its tid and the main track
 * of queue q is tid q + 1; every other track has a tid of our own. */
struct line_ids {
	uint32_t *process_pid; /* owned, all; by index of the process, device or track */
	uint32_t *device_pid;
	uint32_t *track_tid;
};

/* The file of a single process has Kineto's numbers instead, which its readers rely on: a device is
 * its number, below 64, the host its real pid, from 64 on. FLEXTRACE_E_MEMORY or 0. */
int line_ids_init(struct line_ids *ids, const struct events *events);
void line_ids_release(struct line_ids *ids); /* also of zeroes */

uint32_t line_ids_pid(const struct line_ids *ids, const struct view *view, uint32_t track);

#endif
