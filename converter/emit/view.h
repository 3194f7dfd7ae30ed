/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h: what every format asks of a timeline: whose a row is, what it is called, when it was.
 *
 * A view borrows the timeline and owns a few small arrays (per stream and per process). Each
 * emitter makes its own; const afterwards.
 */
#ifndef FLEXTRACE_VIEW_H
#define FLEXTRACE_VIEW_H

#include "derive/derive.h"
#include "emit/emit.h"
#include "emit/texts.h"

struct view {
	const struct timeline *timeline; /* weak, all three */
	const struct identity *identity;
	const struct string_pool *strings;
	int64_t epoch_offset_ns; /* time_ns + this = ns since the Unix epoch */
	bool *is_exact;       /* owned: per process, its clock is the reference's: no row is off */
	struct texts sources; /* per stream: "<trace>/<stream class>.<stream instance>" */
};

/* FLEXTRACE_E_MEMORY or 0. */
int view_init(struct view *view, const struct timeline *timeline);
void view_release(struct view *view);

/* The process whose row this is; FLEXTRACE_NONE is none. */
uint32_t view_track_process(const struct view *view, uint32_t track);

/* False for TRACK_THREAD and TRACK_ASYNC. */
bool view_is_device_track(const struct track *track);

/* Its pid as the program saw it; -1 = the trace does not tell. */
static inline int64_t view_pid(const struct process *process)
{
	return process->is_defined ? (int64_t)process->pid : process->vpid;
}

/* The number that a queue's stream has in Kineto's files: from 1 on, but for those of a file that
 * numbers its streams itself. */
uint32_t view_stream(const struct view *view, const struct track *track);

/* The name of a device row, the source of its record and their record class. */
uint32_t view_device_name(const struct view *view, const struct device_row *row);
void view_device_source(const struct view *view, const struct device_row *row, uint32_t *ret_stream,
                        uint32_t *ret_index);
enum record_class view_device_class(const struct view *view, const struct device_row *row);

/* When a loss happened, in time_ns; false: that is not known. */
bool view_loss_times(const struct view *view, const struct loss_place *place,
                     const struct loss_span *span, struct loss_span *ret_shown);

/* How far a row of a control block begins behind what its file said, both on the clock of the Unix
 * epoch as the row's host has it; false: no file said it. */
bool view_moved(const struct view *view, const struct device_row *row, const struct tick_op *op,
                int64_t *ret_moved_ns);

static inline bool view_is_zone(const struct device_row *row)
{
	return row->kind >= ROW_FIRMWARE;
}

/* What a marker row is called, and the run that it is of. */
static inline const struct marker *view_marker(const struct view *view, const struct zone *zone)
{
	return &view->timeline->markers[zone->marker];
}

static inline const struct mark_run *view_run(const struct view *view, const struct zone *zone)
{
	return &view->timeline->runs[zone->run];
}

/* Starts reading a table that stays as it is. */
static inline void view_read(struct table_cursor *cursor, const struct table *table)
{
	table_read(cursor, (struct table *)table, false);
}

/* Appends "<trace>/<stream class>.<stream instance>:<index>". */
static inline void view_write_source(const struct view *view, struct writer *writer,
                                     uint32_t stream, uint32_t index)
{
	char *at;

	texts_write(&view->sources, stream, writer);
	at = writer_room(writer, WRITER_NUMBER_BYTES + 1);
	if (!at)
		return;
	*at = ':';
	writer->at = put_u64(at + 1, index);
}

static inline void view_write_csv(const struct view *view, struct writer *writer, uint32_t string)
{
	struct string_text text;

	if (!string)
		return;
	text = string_text(view->strings, string);
	if (text.is_plain)
		writer_append(writer, text.bytes, text.length);
	else
		writer_csv(writer, text.bytes, text.length);
}

static inline void view_write_json(const struct view *view, struct writer *writer, uint32_t string)
{
	struct string_text text = string_text(view->strings, string);

	if (!text.is_plain) {
		writer_json(writer, text.bytes, text.length);
		return;
	}
	writer_char(writer, '"');
	writer_append(writer, text.bytes, text.length);
	writer_char(writer, '"');
}

#endif
