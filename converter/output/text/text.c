// SPDX-License-Identifier: Apache-2.0
/*
 * text.c: timeline.txt, the golden format: one row a line, every field named, texts as JSON
 * strings. Times are ns since the first row, so that a line tells nothing about when it was
 * recorded.
 */
#include "model/timeline/any_row.h"
#include "model/words/kinds.h"
#include "output/view.h"
#include "model/words/told.h"

struct text {
	struct view view;
	struct writer *writer; /* weak, both */
	struct file_count *count;
};

/* Appends " key=" and leaves the value to the caller. */
#define FIELD(text, key) writer_literal((text)->writer, " " key "=")

static void write_u64(struct text *text, const char *key, uint64_t value)
{
	writer_char(text->writer, ' ');
	writer_raw(text->writer, key);
	writer_char(text->writer, '=');
	writer_u64(text->writer, value);
}

static void write_nonzero(struct text *text, const char *key, uint64_t value)
{
	if (value)
		write_u64(text, key, value);
}

static void write_word(struct text *text, const char *key, const char *word)
{
	writer_char(text->writer, ' ');
	writer_raw(text->writer, key);
	writer_char(text->writer, '=');
	writer_raw(text->writer, word);
}

static void write_string(struct text *text, const char *key, uint32_t string)
{
	if (!string)
		return;
	write_word(text, key, "");
	view_write_json(&text->view, text->writer, string);
}

static void write_time(struct text *text, int64_t time_ns)
{
	writer_char(text->writer, ' ');
	writer_i64(text->writer, time_ns - text->view.timeline->first_time_ns);
}

static void write_process(struct text *text, uint32_t process)
{
	const struct process *of = &text->view.identity->processes[process];

	if (of->rank >= 0)
		write_u64(text, "rank", (uint64_t)of->rank);
	else
		write_u64(text, "process", process);
}

static void write_track(struct text *text, uint32_t index)
{
	const struct track *track = &text->view.timeline->tracks[index];
	const struct identity *identity = text->view.identity;

	write_process(text, view_track_process(&text->view, index));
	if (!view_is_device_track(track)) {
		FIELD(text, "tid");
		writer_i64(text->writer, identity->threads[track->owner].vtid);
		if (track->kind == TRACK_ASYNC)
			writer_literal(text->writer, " async");
	} else {
		write_u64(text, "device", identity->devices[track->owner].device);
		write_u64(text, track->kind == TRACK_QUEUE ? "queue" : "core", track->id);
		write_nonzero(text, "processor", track->processor);
		if (track->kind == TRACK_QUEUE && track->row_kind != ROW_EXEC)
			write_word(text, "line",
			           kind_of_device(track->dialect, track->row_kind)->label);
	}
	write_nonzero(text, "lane", track->lane);
}

static void write_quality(struct text *text, uint8_t status, uint32_t err_ns)
{
	write_word(text, "status", time_status_name(status));
	if (err_ns != UINT32_MAX)
		write_u64(text, "err_ns", err_ns);
}

/* The last fields of a line, and its place in the count. */
static void end_row(struct text *text, uint32_t stream, uint32_t index, enum record_class class)
{
	FIELD(text, "source");
	view_write_source(&text->view, text->writer, stream, index);
	writer_char(text->writer, '\n');
	file_count_row(text->count, class);
}

static uint8_t dialect_of(const struct text *text, uint32_t track)
{
	return text->view.timeline->tracks[track].dialect;
}

static void write_host_row(struct text *text, const void *any)
{
	const struct host_row *row = any;

	writer_literal(text->writer, "host");
	write_time(text, row->start_time_ns);
	write_time(text, row->end_time_ns);
	write_track(text, row->track);
	write_u64(text, "depth", row->depth);
	write_word(text, "kind", kind_of_host(dialect_of(text, row->track), row->kind)->label);
	write_string(text, "name", row->name);
	write_nonzero(text, "correlation", row->correlation);
	write_string(text, "file", row->file);
	write_nonzero(text, "line", row->line);
	write_string(text, "args", row->args);
	write_quality(text, row->status, UINT32_MAX);
	end_row(text, row->stream, row->index, row->class);
}

static void write_op(struct text *text, const struct tick_op *op)
{
	write_u64(text, "job", op->job);
	write_nonzero(text, "correlation", op->correlation);
	FIELD(text, "ts");
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (i > 0)
			writer_char(text->writer, ',');
		writer_u64(text->writer, op->ticks[i]);
	}
	write_nonzero(text, "bytes", op->bytes);
	write_nonzero(text, "power", op->power);
	if (op->peer >= 0)
		write_u64(text, "peer", (uint64_t)op->peer);
	write_string(text, "group", op->group);
	write_string(text,
	             told_is_likely(string_get(text->view.strings, op->type)) ? "args" : "type",
	             op->type);
	write_string(text, "args", op->args);
}

static void write_zone(struct text *text, const struct zone *zone)
{
	const struct mark_run *run = view_run(&text->view, zone);
	const struct marker *marker = view_marker(&text->view, zone);

	write_nonzero(text, "run", run->run);
	write_nonzero(text, "job", run->job);
	FIELD(text, "ts");
	writer_u64(text->writer, zone->first_ticks);
	writer_char(text->writer, ',');
	writer_u64(text->writer, zone->last_ticks);
	write_string(text, "file", marker->file);
	write_nonzero(text, "line", marker->line);
}

static void write_device_row(struct text *text, const void *any)
{
	const struct device_row *row = any;
	const struct row_kind *kind = kind_of_device(dialect_of(text, row->track), row->kind);
	uint32_t stream, index;

	writer_literal(text->writer, "device");
	write_time(text, row->start_time_ns);
	write_time(text, row->end_time_ns);
	write_track(text, row->track);
	write_word(text, "kind", "");
	writer_json(text->writer, kind->label, kind->n_label);
	write_string(text, "name", view_device_name(&text->view, row));
	if (view_is_zone(row))
		write_zone(text, &text->view.timeline->marks.zones[row->source]);
	else
		write_op(text, &text->view.timeline->ops[row->source]);
	write_quality(text, row->status, row->err_ns);
	view_device_source(&text->view, row, &stream, &index);
	end_row(text, stream, index, view_device_class(&text->view, row));
}

static void write_instant_row(struct text *text, const void *any)
{
	const struct instant_row *row = any;

	writer_raw(text->writer, instant_kind_name(row->class));
	write_time(text, row->time_ns);
	write_track(text, row->track);
	write_string(text, "name", row->name);
	write_string(text, "value", row->value);
	write_nonzero(text, "correlation", instant_correlation(row));
	write_quality(text, row->status, row->err_ns);
	end_row(text, row->stream, row->index, row->class);
}

static void write_counter_row(struct text *text, const void *any)
{
	const struct counter_row *row = any;
	const struct identity *identity = text->view.identity;

	writer_literal(text->writer, "counter");
	write_time(text, row->time_ns);
	write_process(text, row->is_device ? identity->devices[row->owner].process : row->owner);
	if (row->is_device)
		write_u64(text, "device", identity->devices[row->owner].device);
	if (row->core != FLEXTRACE_NONE)
		write_u64(text, "core", row->core);
	write_string(text, "name", row->name);
	write_string(text, "unit", row->unit);
	FIELD(text, "value");
	writer_double(text->writer, row->value);
	write_quality(text, row->status, row->err_ns);
	end_row(text, row->stream, row->index, row->class);
}

static void write_memory_row(struct text *text, const void *any)
{
	const struct memory_row *row = any;
	const struct device *device = &text->view.identity->devices[row->device];

	writer_literal(text->writer, "memory");
	write_time(text, row->time_ns);
	write_process(text, device->process);
	FIELD(text, "tid");
	writer_i64(text->writer, text->view.identity->threads[row->thread].vtid);
	write_u64(text, "device", device->device);
	write_word(text, "op", memory_op_name(row->op));
	write_u64(text, "address", row->address);
	write_u64(text, "bytes", row->bytes);
	write_u64(text, "total_bytes", row->total_bytes);
	end_row(text, row->stream, row->index, RECORD_MEMORY);
}

static void write_flow(struct text *text, const void *any)
{
	const struct flow *flow = any;

	writer_literal(text->writer, "flow");
	write_time(text, flow->from_time_ns);
	write_time(text, flow->to_time_ns);
	write_track(text, flow->from_track);
	writer_literal(text->writer, " ->");
	write_track(text, flow->to_track);
	if (flow->is_told || flow_is_message(flow, text->view.timeline->tracks))
		write_string(text, "message", flow->message.sync);
	else if (flow->is_critical)
		writer_literal(text->writer, " critical_path");
	else
		write_nonzero(text, "correlation", flow->correlation);
	writer_char(text->writer, '\n');
	text->count->arrows++;
}

static void write_losses(struct text *text)
{
	const struct ledger *ledger = text->view.timeline->ledger;

	for (uint32_t i = 0; i < ledger->losses.n; i++) {
		const struct loss *loss = &ledger->losses.all[i];

		writer_literal(text->writer, "loss");
		write_word(text, "cause", ledger_cause_id(loss->cause));
		write_u64(text, "count", loss->all.count);
		if (loss->place.process != FLEXTRACE_NONE)
			write_process(text, loss->place.process);
		if (loss->place.device != FLEXTRACE_NONE)
			write_u64(text, "device", loss->place.device);
		if (loss->place.core != FLEXTRACE_NONE)
			write_u64(text, "core", loss->place.core);
		if (loss->place.stream != FLEXTRACE_NONE) {
			FIELD(text, "stream");
			view_write_stream(&text->view, text->writer, loss->place.stream);
		}
		writer_char(text->writer, '\n');
	}
}

static void write_table(struct text *text, const struct table *table, size_t row_bytes,
                        void (*write)(struct text *text, const void *row))
{
	struct table_cursor cursor = table_begin(table);
	const void *row;

	while ((row = table_next(&cursor, row_bytes)) && !writer_failed(text->writer))
		write(text, row);
}

static void write_rows(struct text *text)
{
	const struct timeline *timeline = text->view.timeline;

	write_table(text, &timeline->host_rows, sizeof(struct host_row), write_host_row);
	write_table(text, &timeline->device_rows, sizeof(struct device_row), write_device_row);
	write_table(text, &timeline->instants, sizeof(struct instant_row), write_instant_row);
	write_table(text, &timeline->counters, sizeof(struct counter_row), write_counter_row);
	write_table(text, &timeline->memory, sizeof(struct memory_row), write_memory_row);
	write_table(text, text->view.findings->flows, sizeof(struct flow), write_flow);
	write_losses(text);
}

static int text_write(const struct findings *findings, struct text_sink *sink)
{
	struct text text = {.writer = &sink->writer, .count = sink->count};

	FLEXTRACE_TRY(view_init(&text.view, findings));
	write_rows(&text);
	view_release(&text.view);
	sink->count->expected = timeline_n_rows(findings->timeline);
	sink->count->has_classes = true;
	return FLEXTRACE_OK;
}

const struct result_file emit_text = {
	.name = "timeline.txt", .write = text_write, .is_on_top = true};
