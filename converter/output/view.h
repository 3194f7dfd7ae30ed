/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h: what every format asks of a timeline: whose a row is, what it is called, when it was.
 *
 * A view borrows the timeline and owns a few small arrays (per stream and per process). Each
 * emitter makes its own; const afterwards.
 */
#ifndef FLEXTRACE_VIEW_H
#define FLEXTRACE_VIEW_H

#include "emit.h"
#include "fragments.h"
#include "model/ledger/inputs.h"
#include "model/timeline/timeline_read.h"

struct view {
	const struct findings *findings; /* weak, all four */
	const struct timeline *timeline;
	const struct identity *identity;
	const struct string_pool *strings;
	int64_t epoch_offset_ns; /* time_ns + this = ns since the Unix epoch */
	bool *is_exact;       /* owned: per process, its clock is the reference's: no row is off */
	struct inputs inputs; /* owned */
	struct fragments sources; /* per number of `inputs`: what stands before ":<record>" */
};

/* FLEXTRACE_E_MEMORY or 0. */
int view_init(struct view *view, const struct findings *findings);
void view_release(struct view *view);

/* The process whose row this is; FLEXTRACE_NONE is none. */
uint32_t view_track_process(const struct view *view, uint32_t track);

/* False for TRACK_THREAD and TRACK_ASYNC. */
bool view_is_device_track(const struct track *track);

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
	return &view->timeline->marks.runs[zone->run];
}

/* The place of the origin of a marker row, of which run it is. */
static inline uint32_t view_run_source(const struct view *view, const struct device_row *row,
                                       const struct mark_run *run)
{
	return inputs_part(view->timeline->streams->streams[run->stream], run->index, row->kind);
}

/* Puts what a record is called, see inputs.h, where there is room for SOURCE_BYTES, and returns its
 * end. */
static inline char *view_put_source(const struct view *view, char *at, uint32_t stream,
                                    uint32_t index)
{
	const struct stream *of = view->timeline->streams->streams[stream];
	uint32_t record, place = inputs_find(&view->inputs, of, stream, index, &record);

	at = fragments_put(&view->sources, place, at);
	if (record == ORIGIN_NO_RECORD && of->origins)
		return at;
	*at = ':';
	return put_u64(at + 1, record);
}

static inline void view_write_source(const struct view *view, struct writer *writer,
                                     uint32_t stream, uint32_t index)
{
	char *at = writer_room(writer, SOURCE_BYTES);

	if (at)
		writer->at = view_put_source(view, at, stream, index);
}

/* Appends what the records of a stream are called up to their number; of several files it tells
 * none. */
static inline void view_write_stream(const struct view *view, struct writer *writer,
                                     uint32_t stream)
{
	if (view->timeline->streams->streams[stream]->n_files < 2)
		fragments_write(&view->sources, view->inputs.first[stream], writer);
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
