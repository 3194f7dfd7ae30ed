// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_told.c: rows that a file of another tool told of (model/told.h). What the file said comes
 * out again, byte for byte: its category and arguments, behind which ours stand that it has not. So
 * do, in the file of a rank, what it said of devices and of who the rank is.
 */
#include "chrome.h"

#include "model/words/kinds.h"

bool chrome_told(const struct chrome *chrome, uint32_t string, struct told *ret_told)
{
	struct string_text text;

	if (!string)
		return false;
	text = string_text(chrome->view.strings, string);
	return told_is_likely(text.bytes) && told_read(text.bytes, text.length, ret_told);
}

bool chrome_told_of_host(const struct chrome *chrome, const struct host_row *row,
                         struct told *ret_told)
{
	uint32_t process = view_track_process(&chrome->view, row->track);

	if (row->kind != HOST_WINDOW ||
	    !identity_is_torch_file(chrome->view.identity, chrome->view.strings, process))
		return chrome_told(chrome, row->args, ret_told);
	*ret_told = (struct told){.category = {"Trace", 5}, .members = {"", 0}};
	return true;
}

bool chrome_told_has(const struct told *told, const char *key)
{
	struct trace_value value;

	return told->members.length && told_find(told, key, &value);
}

void chrome_write_told_head(struct chrome *chrome, const struct told *told, uint32_t name,
                            const char *label)
{
	struct writer *writer = &chrome->writer;

	writer_literal(writer, "{\"ph\":\"X\",\"cat\":\"");
	writer_json_inside(writer, told->category.bytes, told->category.length);
	writer_literal(writer, "\",\"name\":");
	if (name)
		view_write_json(&chrome->view, writer, name);
	else
		writer_json(writer, label, strlen(label));
}

void chrome_write_told_args(struct chrome *chrome, const struct told *told, const char *kind)
{
	struct writer *writer = &chrome->writer;

	writer_literal(writer, ",\"args\":{");
	if (!chrome_told_has(told, "kind")) {
		writer_literal(writer, "\"kind\":\"");
		writer_raw(writer, kind);
		writer_char(writer, '"');
		if (told->members.length)
			writer_char(writer, ',');
	}
	writer_json_inside(writer, told->members.bytes, told->members.length);
}

/* What readers must find of work, where the file does not say it. */
void chrome_write_told_ids(struct chrome *chrome, const struct told *told,
                           const struct device_row *row)
{
	const struct track *track = &chrome->view.timeline->tracks[row->track];
	const struct device *device = &chrome->view.identity->devices[track->owner];
	int32_t rank = chrome->view.identity->processes[device->process].rank;
	struct writer *writer = &chrome->writer;

	if (rank >= 0 && !chrome_told_has(told, "rank")) {
		CHROME_ARG(writer, "rank");
		writer_i64(writer, rank);
	}
	if (row->kind == ROW_STATE)
		return;
	if (!chrome_told_has(told, "device")) {
		CHROME_ARG(writer, "device");
		writer_u64(writer, chrome->process == FLEXTRACE_NONE
		                           ? device->device
		                           : chrome->ids.device_pid[track->owner]);
	}
	if (!chrome_told_has(told, "stream")) {
		CHROME_ARG(writer, "stream"); /* from 1 on */
		writer_u64(writer, track->id ? view_stream(&chrome->view, track) : 1);
	}
}

/* The text of an annotation of the file's process; NULL: there is none. */
static const char *find_annotation(const struct chrome *chrome, const char *name)
{
	const struct string_pool *strings = chrome->view.strings;

	TABLE_EACH(struct instant_row, row, &chrome->view.timeline->instants) {
		if (row->class == RECORD_ANNOTATION &&
		    view_track_process(&chrome->view, row->track) == chrome->process &&
		    strcmp(string_get(strings, row->name), name) == 0)
			return string_get(strings, row->value);
	}
	return NULL;
}

bool chrome_write_told_member(struct chrome *chrome, const char *name)
{
	const char *said = NULL;

	if (chrome->process != FLEXTRACE_NONE &&
	    identity_is_torch_file(chrome->view.identity, chrome->view.strings, chrome->process))
		said = find_annotation(chrome, name);
	/* Holistic Trace Analysis looks for this blank. */
	if (!said || (*said != '[' && !strstr(said, "\"rank\": ")) || !told_is_json(said))
		return false;
	writer_char(&chrome->writer, '"');
	writer_raw(&chrome->writer, name);
	writer_literal(&chrome->writer, "\": ");
	writer_json_inside(&chrome->writer, said, strlen(said));
	writer_literal(&chrome->writer, ",\n");
	return true;
}
