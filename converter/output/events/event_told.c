// SPDX-License-Identifier: Apache-2.0
/*
 * event_told.c: rows that a file of another tool told of (model/told.h). What the file said comes
 * out again, byte for byte: its category and arguments, behind which ours stand that it has not.
 */
#include "events.h"

#include "model/words/kinds.h"

bool event_told(const struct events *events, uint32_t string, struct told *ret_told)
{
	struct string_text text;

	if (!string)
		return false;
	text = string_text(events->view.strings, string);
	return told_is_likely(text.bytes) && told_read(text.bytes, text.length, ret_told);
}

bool event_told_of_host(const struct events *events, const struct host_row *row,
                        struct told *ret_told)
{
	uint32_t process = view_track_process(&events->view, row->track);

	if (row->kind != HOST_WINDOW ||
	    !identity_is_torch_file(events->view.identity, events->view.strings, process))
		return event_told(events, row->args, ret_told);
	*ret_told = (struct told){.category = {"Trace", 5}, .members = {"", 0}};
	return true;
}

bool event_told_has(const struct told *told, const char *key)
{
	struct trace_value value;

	return told->members.length && told_find(told, key, &value);
}

void event_tell(struct file_event *event, const struct told *told, struct trace_text kind)
{
	if (told->category.length || event->type == EVENT_INTERVAL)
		event->category = told->category;
	event->told = told->members;
	if (!event_told_has(told, "kind"))
		event_add_text(event, EVENT_KEY_KIND, ARG_WORD, kind.bytes, kind.length);
}

void event_add_told_ids(const struct events *events, const struct told *told,
                        const struct device_row *row, struct file_event *event)
{
	const struct track *track = &events->view.timeline->tracks[row->track];
	const struct device *device = &events->view.identity->devices[track->owner];
	int32_t rank = events->view.identity->processes[device->process].rank;

	if (rank >= 0 && !event_told_has(told, "rank"))
		event_add_i64(event, EVENT_KEY_RANK, rank);
	if (row->kind == ROW_STATE)
		return;
	if (!event_told_has(told, "device"))
		event_add_u64(event, EVENT_KEY_DEVICE, events->device_number[track->owner]);
	if (!event_told_has(told, "stream"))
		event_add_u64(event, EVENT_KEY_STREAM, /* from 1 on */
		              track->id ? view_stream(&events->view, track) : 1);
}
