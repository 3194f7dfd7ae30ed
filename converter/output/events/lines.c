// SPDX-License-Identifier: Apache-2.0
#include "lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"

/* -- order ------------------------------------------------------------------------------------- */

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

uint32_t *lines_count_up(uint32_t n)
{
	uint32_t *numbers = malloc((n + 1) * sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < n; i++)
		numbers[i] = i;
	return numbers;
}

static bool is_same_line(const struct track *a, const struct track *b)
{
	return a->kind == b->kind && a->row_kind == b->row_kind && a->owner == b->owner &&
	       a->id == b->id && a->processor == b->processor;
}

/* Lanes of a line follow one another in the order of tracks. */
static void find_lines(struct lines *lines, const struct view *view)
{
	const struct track *tracks = view->timeline->tracks;
	uint32_t line = 0;

	for (uint32_t i = 0; i < view->timeline->n_tracks; i++) {
		uint32_t t = lines->track_order[i];

		if (i == 0 || !is_same_line(&tracks[line], &tracks[t]))
			line = t;
		lines->track_line[t] = line;
	}
}

int lines_init(struct lines *lines, const struct view *view)
{
	const struct identity *identity = view->identity;
	uint32_t n_tracks = view->timeline->n_tracks;

	*lines = (struct lines){
		.process_order = lines_count_up(identity->n_processes),
		.device_order = lines_count_up(identity->n_devices),
		.track_order = lines_count_up(n_tracks),
		.track_line = lines_count_up(n_tracks),
		.has_process = calloc(identity->n_processes + 1, sizeof(bool)),
		.has_device = calloc(identity->n_devices + 1, sizeof(bool)),
	};
	if (!lines->process_order || !lines->device_order || !lines->track_order ||
	    !lines->track_line || !lines->has_process || !lines->has_device) {
		lines_release(lines);
		return FLEXTRACE_E_MEMORY;
	}
	qsort_r(lines->process_order, identity->n_processes, sizeof(uint32_t), compare_processes,
	        identity->processes);
	qsort_r(lines->device_order, identity->n_devices, sizeof(uint32_t), compare_devices,
	        identity->devices);
	qsort_r(lines->track_order, n_tracks, sizeof(uint32_t), compare_tracks, (void *)view);
	find_lines(lines, view);
	return FLEXTRACE_OK;
}

void lines_release(struct lines *lines)
{
	free(lines->process_order);
	free(lines->device_order);
	free(lines->track_order);
	free(lines->track_line);
	free(lines->has_process);
	free(lines->has_device);
	*lines = (struct lines){.process_order = NULL};
}

/* -- names ------------------------------------------------------------------------------------- */

/* Appends a string, behind a text, if there is one. */
static void append_string(const struct view *view, struct writer *text, const char *before,
                          uint32_t string)
{
	if (string)
		writer_format(text, "%s%s", before, string_get(view->strings, string));
}

static void append_pid(struct writer *text, const struct process *process)
{
	if (identity_pid(process) >= 0)
		writer_format(text, "pid %" PRId64, identity_pid(process));
	else
		writer_literal(text, "pid unknown");
}

void line_append_rank(struct writer *text, const struct process *process)
{
	if (process->rank >= 0)
		writer_format(text, "Rank %d", process->rank);
	else
		append_pid(text, process);
}

void line_append_process(const struct view *view, struct writer *text, uint32_t process)
{
	const struct process *of = &view->identity->processes[process];

	line_append_rank(text, of);
	writer_literal(text, " host");
	append_string(view, text, " ", of->program);
}

void line_append_process_label(const struct view *view, struct writer *text, uint32_t process)
{
	const struct process *of = &view->identity->processes[process];

	append_pid(text, of);
	append_string(view, text, " on ", of->host);
}

void line_append_device(const struct view *view, struct writer *text, uint32_t device)
{
	const struct device *of = &view->identity->devices[device];

	line_append_rank(text, &view->identity->processes[of->process]);
	writer_format(text, " device %u", of->device);
	append_string(view, text, " ", of->name);
}

void line_append_device_label(const struct view *view, struct writer *text, uint32_t device)
{
	const struct device *of = &view->identity->devices[device];

	writer_format(text, "device %u", of->device);
	append_string(view, text, " ", of->uuid);
	writer_literal(text, " of ");
	append_pid(text, &view->identity->processes[of->process]);
}

static void append_thread(const struct view *view, struct writer *text, const struct track *track)
{
	const struct thread *thread = &view->identity->threads[track->owner];

	if (thread->name)
		append_string(view, text, "", thread->name);
	else if (thread->vtid >= 0)
		writer_format(text, "thread %d", thread->vtid);
	else
		writer_literal(text, "thread unknown");
	if (track->kind == TRACK_ASYNC)
		writer_literal(text, " async");
}

static void append_queue(const struct view *view, struct writer *text, const struct track *track)
{
	uint32_t name = identity_queue_name(view->identity, track->owner, track->id);

	writer_format(text, "queue %u", track->id);
	if (name)
		writer_format(text, " (%s)", string_get(view->strings, name));
	if (track->row_kind == ROW_PREP)
		writer_literal(text, " prep");
	else if (track->row_kind == ROW_DMA_IN)
		writer_literal(text, " DMA in");
	else if (track->row_kind == ROW_DMA_OUT)
		writer_literal(text, " DMA out");
	else if (track->row_kind == ROW_UNKNOWN)
		writer_literal(text, " unknown");
}

/* Where cores stand in a grid, their numbers say where. */
static void append_core(const struct view *view, struct writer *text, const struct track *track)
{
	struct string_text name;

	if (track->id >= FLEXTRACE_CORE_STRIDE)
		writer_format(text, "core %u,%u", track->id % FLEXTRACE_CORE_STRIDE,
		              track->id / FLEXTRACE_CORE_STRIDE);
	else
		writer_format(text, "core %u", track->id);
	if (identity_processor(view->identity, view->strings, track, &name))
		writer_format(text, " %.*s", (int)name.length, name.bytes);
	else if (track->processor)
		writer_format(text, " processor %u", track->processor);
}

void line_append_track(const struct view *view, struct writer *text, uint32_t track)
{
	const struct track *of = &view->timeline->tracks[track];

	if (of->kind == TRACK_QUEUE)
		append_queue(view, text, of);
	else if (of->kind == TRACK_CORE)
		append_core(view, text, of);
	else
		append_thread(view, text, of);
	if (of->lane)
		writer_format(text, " lane %u", of->lane + 1);
}
