/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h: the lines that a trace file shows: in which order processes, devices and tracks stand,
 * and what they are called.
 */
#ifndef FLEXTRACE_LINES_H
#define FLEXTRACE_LINES_H

#include "output/view.h"

/* Processes in order of their ranks, those without one behind; devices by process and number;
 * tracks by process or device, main work of a queue before what surrounds it. */
struct lines {
	uint32_t *process_order, *device_order, *track_order; /* owned: indexes, as shown */
	uint32_t *track_line; /* owned: by track, the first lane of its line: itself if nothing
	                       * crosses */
	bool *has_process, *has_device; /* owned: whether anything is there, see event_shown.h */
};

/* FLEXTRACE_E_MEMORY or 0. */
int lines_init(struct lines *lines, const struct view *view);
void lines_release(struct lines *lines); /* also of zeroes */

/* 0..n-1, or NULL: no memory. Owned by the caller. */
uint32_t *lines_count_up(uint32_t n);

/* Each appends a name to `text`, and nothing behind it. */
void line_append_rank(struct writer *text, const struct process *process); /* "Rank 0", "pid 17" */
void line_append_process(const struct view *view, struct writer *text, uint32_t process);
void line_append_process_label(const struct view *view, struct writer *text, uint32_t process);
void line_append_device(const struct view *view, struct writer *text, uint32_t device);
void line_append_device_label(const struct view *view, struct writer *text, uint32_t device);
void line_append_track(const struct view *view, struct writer *text, uint32_t track);

#endif
