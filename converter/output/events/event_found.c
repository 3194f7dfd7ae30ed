// SPDX-License-Identifier: Apache-2.0
/*
 * event_found.c: collectives that were found in the work of devices, on lines of their process; and
 * whose those and steps are.
 */
#include "event_shown.h"

#include <stdlib.h>

#include "base/array.h"

bool event_found_is_shown(const struct events *events, const struct found_row *row)
{
	return events_show(events, row->process) && event_is_shown(events, FROM_FOUND) &&
	       (row->op || events_are_kineto(events));
}

/* Counts the lanes of each process, then numbers all. */
int event_found_init(struct events *events)
{
	struct event_found *found = &events->found;
	uint32_t n_processes = events->view.identity->n_processes;
	uint32_t *n_lanes = calloc(n_processes + 1ull, sizeof(*n_lanes));
	int code = n_lanes ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	found->rows = events->view.findings->found_rows;
	found->first_line = n_lanes;
	for (uint32_t i = 0; n_lanes && found->rows && i < found->rows->n; i++) {
		const struct found_row *row = &found->rows->rows[i];

		if (!event_found_is_shown(events, row))
			continue;
		events->lines.has_process[row->process] = true;
		found->has_steps |= !row->op;
		if (row->op && row->lane >= n_lanes[row->process])
			n_lanes[row->process] = row->lane + 1;
	}
	for (uint32_t i = 0; n_lanes && i < n_processes; i++) {
		uint32_t n = n_lanes[i];

		found->first_line[i] = found->n_lines;
		for (uint32_t lane = 0; lane < n && code >= 0; lane++)
			code = ARRAY_PUSH(found->lines, found->n_lines,
			                  (struct found_line){i, lane});
	}
	return code;
}

void event_found_release(struct event_found *found)
{
	free(found->lines);
	free(found->first_line);
}

void event_of_found_row(struct events *events, const struct found_row *row,
                        struct file_event *event)
{
	if (row->op)
		event_begin(event, EVENT_INTERVAL, ON_FOUND_WORK,
		            events->found.first_line[row->process] + row->lane);
	else
		event_begin(event, EVENT_INTERVAL, ON_FOUND_STEPS, row->process);
	event->start_time_ns = row->start_time_ns;
	event->end_time_ns = row->end_time_ns;
	if (row->op) {
		event->label = (struct trace_text){row->op, strlen(row->op)};
		event->name = *row->op ? 0 : row->group;
	}
	if (events_are_kineto(events)) {
		event_of_rank_row(events, row, event);
		return;
	}
	event->category = EVENT_TEXT("collective_comm");
	event->err_ns = row->err_ns;
	event->status = row->status;
	event->has_status = true;
	event_add_u64(event, EVENT_KEY_DEVICE, events->device_number[row->device]);
	event_add_string(event, EVENT_KEY_GROUP, row->group);
	if (row->bytes)
		event_add_u64(event, EVENT_KEY_BYTES, row->bytes);
	event_add_word(event, EVENT_KEY_FOUND, EVENT_FOUND_IN_WORK);
}
