// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_meta.c: what stands around the rows of trace.json. The order of keys is Kineto's. `"rank":
 * N` has its space in distributedInfo, where Holistic Trace Analysis looks for it, and only there.
 */
#include "chrome.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/clock_columns.h"
#include "output/column_text.h"
#include "model/alignment.h"
#include "model/clocks.h"

/* -- keys of the object ------------------------------------------------------------------------ */

static void write_device_properties(struct chrome *chrome)
{
	const struct identity *identity = chrome->view.identity;
	struct writer *writer = &chrome->writer;
	const char *separator = "\n";

	if (chrome_write_told_member(chrome, "deviceProperties"))
		return;
	writer_literal(writer, "\"deviceProperties\": [");
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		const struct device *device = &identity->devices[chrome->ids.device_order[i]];
		const struct process *process = &identity->processes[device->process];

		if (process->is_excluded || !chrome_shows(chrome, device->process))
			continue;
		writer_format(writer, "%s{\"id\":%u,\"name\":", separator, device->device);
		separator = ",\n";
		view_write_json(&chrome->view, writer, device->name);
		writer_literal(writer, ",\"uuid\":");
		view_write_json(&chrome->view, writer, device->uuid);
		writer_format(writer, ",\"numSms\":%u,\"coreHz\":%" PRIu64 ",\"pid\":%u}",
		              device->n_cores, device->core_hz,
		              chrome->ids.device_pid[chrome->ids.device_order[i]]);
	}
	writer_literal(writer, "],\n");
}

/* The ranks of all processes, in order; one rank alone is what Kineto calls the trace's rank. */
static void write_distributed_info(struct chrome *chrome)
{
	const struct identity *identity = chrome->view.identity;
	struct writer *writer = &chrome->writer;
	int64_t last = -1, shown = -1;
	int32_t world_size = 0;
	uint32_t n_ranks = 0;
	bool is_one = true;

	if (chrome_write_told_member(chrome, "distributedInfo"))
		return;
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		uint32_t p = chrome->ids.process_order[i];
		const struct process *process = &identity->processes[p];

		if (process->is_excluded || process->rank < 0)
			continue;
		if (process->world_size > world_size)
			world_size = process->world_size;
		n_ranks += process->rank != last;
		last = process->rank;
		if (!chrome_shows(chrome, p))
			continue;
		is_one = is_one && (shown < 0 || shown == process->rank);
		shown = process->rank;
	}
	if (shown < 0)
		return;
	writer_literal(writer, "\"distributedInfo\": {\"backend\": \"flextrace\"");
	if (is_one)
		writer_format(writer, ", \"rank\": %" PRId64, shown);
	writer_format(writer, ", \"world_size\": %u},\n",
	              world_size > 0 ? (uint32_t)world_size : n_ranks);
}

static void write_totals(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;

	writer_format(&chrome->writer,
	              ",\n\"totals\": {\"host_rows\":%" PRIu64 ",\"device_rows\":%" PRIu64
	              ",\"instants\":%" PRIu64 ",\"counters\":%" PRIu64 ",\"memory\":%" PRIu64
	              ",\"flows\":%" PRIu64 "}",
	              timeline->host_rows.n_rows, timeline->device_rows.n_rows,
	              timeline->instants.n_rows, timeline->counters.n_rows, timeline->memory.n_rows,
	              chrome->view.findings->flows->n_rows);
}

static void write_losses(struct chrome *chrome)
{
	struct writer *writer = &chrome->writer;
	const char *separator = "";

	writer_literal(writer, ",\n\"losses\": {");
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		uint64_t count = ledger_total(chrome->view.timeline->ledger, cause);

		if (count == 0)
			continue;
		writer_format(writer, "%s\"%s\":%" PRIu64, separator, ledger_cause_id(cause),
		              count);
		separator = ",";
	}
	writer_char(writer, '}');
}

static void write_clock(struct chrome *chrome, const struct clock_report *clock)
{
	const struct counter *counter = &chrome->view.identity->counters[clock->counter];
	struct writer *writer = &chrome->writer;
	const struct clock_row row = clock_columns_row(chrome->view.timeline, clock);

	writer_format(writer, "\n{\"pid\":%u,\"domain\":%u",
	              chrome->ids.device_pid[counter->device], counter->domain);
	column_write_json(clock_columns + OWNER_COLUMNS + 2, CLOCK_COLUMNS - OWNER_COLUMNS - 2,
	                  &row, writer);
	writer_char(writer, '}');
}

static void write_clocks(struct chrome *chrome)
{
	uint32_t n;
	const struct clock_report *clocks = clocks_report(chrome->view.timeline->clocks, &n);
	const struct identity *identity = chrome->view.identity;
	const char *separator = "";

	writer_literal(&chrome->writer, ",\n\"clocks\": [");
	for (uint32_t i = 0; i < n; i++) {
		const struct counter *counter = &identity->counters[clocks[i].counter];

		if (!chrome_shows(chrome, identity->devices[counter->device].process))
			continue;
		writer_raw(&chrome->writer, separator);
		separator = ",";
		write_clock(chrome, &clocks[i]);
	}
	writer_char(&chrome->writer, ']');
}

static void write_alignment(struct chrome *chrome)
{
	uint32_t n;
	const struct alignment_report *lines = alignment_report(chrome->view.timeline->alignment,
	                                                        &n);
	struct writer *writer = &chrome->writer;
	const char *separator = "";

	writer_literal(writer, ",\n\"alignment\": [");
	for (uint32_t i = 0; i < n; i++) {
		const struct alignment_row row = {.of = lines[i]};

		if (!chrome_shows(chrome, lines[i].process))
			continue;
		writer_format(writer, "%s\n{\"pid\":%u", separator,
		              chrome->ids.process_pid[lines[i].process]);
		separator = ",";
		column_write_json(alignment_columns + OWNER_COLUMNS,
		                  ALIGNMENT_COLUMNS - OWNER_COLUMNS, &row, writer);
		writer_char(writer, '}');
	}
	writer_char(writer, ']');
}

/* -- names of processes and threads ------------------------------------------------------------ */

/* An event of phase M. The tid of a process' own line is its pid: viewers take a missing one as
 * that. */
static void write_metadata(struct chrome *chrome, const char *name, uint32_t pid, uint32_t tid)
{
	chrome_next(chrome);
	writer_format(&chrome->writer,
	              "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":0.000,"
	              "\"args\":{\"",
	              name, pid, tid);
}

static void write_sort_index(struct chrome *chrome, const char *name, uint32_t pid, uint32_t tid,
                             uint64_t index)
{
	write_metadata(chrome, name, pid, tid);
	writer_format(&chrome->writer, "sort_index\":%" PRIu64 "}}", index);
}

/* `text` holds bytes up to its end as they are; it is emptied. */
static void write_text_metadata(struct chrome *chrome, const char *name, const char *key,
                                uint32_t pid, uint32_t tid, struct writer *text)
{
	write_metadata(chrome, name, pid, tid);
	writer_format(&chrome->writer, "%s\":", key);
	writer_json(&chrome->writer, text->buffer, (size_t)(text->at - text->buffer));
	writer_literal(&chrome->writer, "}}");
	text->at = text->buffer;
}

/* Appends a string, behind a text, if there is one. */
static void append_string(struct chrome *chrome, struct writer *text, const char *before,
                          uint32_t string)
{
	if (string)
		writer_format(text, "%s%s", before, string_get(chrome->view.strings, string));
}

static void append_pid(struct writer *text, const struct process *process)
{
	if (identity_pid(process) >= 0)
		writer_format(text, "pid %" PRId64, identity_pid(process));
	else
		writer_literal(text, "pid unknown");
}

void chrome_append_process(struct writer *text, const struct process *process)
{
	if (process->rank >= 0)
		writer_format(text, "Rank %d", process->rank);
	else
		append_pid(text, process);
}

static void name_process(struct chrome *chrome, uint32_t p, struct writer *text)
{
	const struct process *process = &chrome->view.identity->processes[p];
	uint32_t pid = chrome->ids.process_pid[p];

	chrome_append_process(text, process);
	writer_literal(text, " host");
	append_string(chrome, text, " ", process->program);
	write_text_metadata(chrome, "process_name", "name", pid, pid, text);
	append_pid(text, process);
	append_string(chrome, text, " on ", process->host);
	write_text_metadata(chrome, "process_labels", "labels", pid, pid, text);
	write_sort_index(chrome, "process_sort_index", pid, pid, pid);
}

static void name_device(struct chrome *chrome, uint32_t d, struct writer *text)
{
	const struct device *device = &chrome->view.identity->devices[d];
	const struct process *process = &chrome->view.identity->processes[device->process];
	uint32_t pid = chrome->ids.device_pid[d];

	chrome_append_process(text, process);
	writer_format(text, " device %u", device->device);
	append_string(chrome, text, " ", device->name);
	write_text_metadata(chrome, "process_name", "name", pid, pid, text);
	writer_format(text, "device %u", device->device);
	append_string(chrome, text, " ", device->uuid);
	writer_literal(text, " of ");
	append_pid(text, process);
	write_text_metadata(chrome, "process_labels", "labels", pid, pid, text);
	write_sort_index(chrome, "process_sort_index", pid, pid, pid);
}

static void append_thread(struct chrome *chrome, struct writer *text, const struct track *track)
{
	const struct thread *thread = &chrome->view.identity->threads[track->owner];

	if (thread->name)
		append_string(chrome, text, "", thread->name);
	else if (thread->vtid >= 0)
		writer_format(text, "thread %d", thread->vtid);
	else
		writer_literal(text, "thread unknown");
	if (track->kind == TRACK_ASYNC)
		writer_literal(text, " async");
}

static void append_queue(struct chrome *chrome, struct writer *text, const struct track *track)
{
	uint32_t name = identity_queue_name(chrome->view.identity, track->owner, track->id);

	writer_format(text, "queue %u", track->id);
	if (name)
		writer_format(text, " (%s)", string_get(chrome->view.strings, name));
	if (track->row_kind == ROW_PREP)
		writer_literal(text, " prep");
	else if (track->row_kind == ROW_DMA_IN)
		writer_literal(text, " DMA in");
	else if (track->row_kind == ROW_DMA_OUT)
		writer_literal(text, " DMA out");
}

/* Where cores stand in a grid, their numbers say where. */
static void append_core(struct chrome *chrome, struct writer *text, const struct track *track)
{
	const struct view *view = &chrome->view;
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

static void name_track(struct chrome *chrome, uint32_t t, uint32_t place, struct writer *text)
{
	const struct track *track = &chrome->view.timeline->tracks[t];
	uint32_t tid = chrome->ids.track_tid[t], pid;

	if (chrome->views.overlap != OVERLAP_LANES && chrome_is_lane(chrome, t))
		return;
	if (!chrome_shows(chrome, view_track_process(&chrome->view, t)))
		return;
	if (view_is_device_track(track))
		pid = chrome->ids.device_pid[track->owner];
	else
		pid = chrome->ids.process_pid[view_track_process(&chrome->view, t)];
	if (track->kind == TRACK_QUEUE)
		append_queue(chrome, text, track);
	else if (track->kind == TRACK_CORE)
		append_core(chrome, text, track);
	else
		append_thread(chrome, text, track);
	if (track->lane)
		writer_format(text, " lane %u", track->lane + 1);
	write_text_metadata(chrome, "thread_name", "name", pid, tid, text);
	write_sort_index(chrome, "thread_sort_index", pid, tid, place);
}

static void name_loss(struct chrome *chrome, uint32_t line, struct writer *text)
{
	const struct loss *loss = &chrome->losses.lines.all[line];

	writer_format(text, "%s: %" PRIu64, ledger_cause_id(loss->cause), loss->all.count);
	chrome_append_loss_place(chrome, text, &loss->place, ", ");
	write_text_metadata(chrome, "thread_name", "name", chrome_loss_pid(loss->cause), line + 1,
	                    text);
}

/* One process of causes that are losses, or of others, if there is any. */
static void name_losses(struct chrome *chrome, uint32_t pid, struct writer *text)
{
	bool has_name = false;

	for (uint32_t i = 0; i < chrome->losses.lines.n; i++) {
		if (chrome_loss_pid(chrome->losses.lines.all[i].cause) != pid)
			continue;
		if (!has_name) {
			writer_raw(text, pid == CHROME_LOSSES_PID ? "flextrace losses"
			                                          : "flextrace left out");
			write_text_metadata(chrome, "process_name", "name", pid, pid, text);
			write_sort_index(chrome, "process_sort_index", pid, pid,
			                 pid == CHROME_LOSSES_PID ? 0 : INT32_MAX);
			has_name = true;
		}
		name_loss(chrome, i, text);
	}
}

static void name_rank_line(struct chrome *chrome, const struct rank_row *row, struct writer *text)
{
	writer_raw(text, row->op ? "collectives (found)" : "steps (found)");
	write_text_metadata(chrome, "thread_name", "name", chrome->ids.process_pid[chrome->process],
	                    chrome_rank_tid(row), text);
}

/* The lines of what was found, in the file of a single rank. */
static void name_rank_rows(struct chrome *chrome, struct writer *text)
{
	const struct rank_rows *rank = chrome->rank_rows;
	struct rank_row line = {.op = NULL};
	bool has_steps = false;
	uint32_t n_lanes = 0;

	for (uint32_t i = 0; rank && i < rank->n; i++) {
		const struct rank_row *row = &rank->rows[i];

		if (row->process != chrome->process)
			continue;
		if (row->op && row->lane >= n_lanes)
			n_lanes = row->lane + 1;
		has_steps = has_steps || !row->op;
	}
	if (has_steps)
		name_rank_line(chrome, &line, text);
	line.op = "";
	for (line.lane = 0; line.lane < n_lanes; line.lane++)
		name_rank_line(chrome, &line, text);
}

static void write_names(struct chrome *chrome)
{
	const struct identity *identity = chrome->view.identity;
	struct writer text;

	writer_open_memory(&text);
	name_losses(chrome, CHROME_LOSSES_PID, &text);
	name_losses(chrome, CHROME_LEFT_OUT_PID, &text);
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		uint32_t p = chrome->ids.process_order[i];

		if (!identity->processes[p].is_excluded && chrome_shows(chrome, p))
			name_process(chrome, p, &text);
	}
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		uint32_t d = chrome->ids.device_order[i], p = identity->devices[d].process;

		if (!identity->processes[p].is_excluded && chrome_shows(chrome, p))
			name_device(chrome, d, &text);
	}
	name_rank_rows(chrome, &text);
	for (uint32_t i = 0; i < chrome->view.timeline->n_tracks; i++)
		name_track(chrome, chrome->ids.track_order[i], i, &text);
	if (writer_failed(&text))
		chrome->writer.failure = text.failure;
	writer_abandon(&text);
}

void chrome_write_head(struct chrome *chrome)
{
	struct writer *writer = &chrome->writer;

	writer_literal(writer, "{\n\"schemaVersion\": 1,\n");
	write_device_properties(chrome);
	writer_format(writer,
	              "\"displayTimeUnit\": \"%s\",\n\"baseTimeNanoseconds\": %" PRId64 ",\n",
	              chrome->views.shows_ns ? "ns" : "ms",
	              chrome->base_time_ns + chrome->view.epoch_offset_ns);
	write_distributed_info(chrome);
	writer_literal(writer, "\"flextrace\": {\"version\":\"" FLEXTRACE_VERSION "\"");
	write_totals(chrome);
	write_losses(chrome);
	write_clocks(chrome);
	write_alignment(chrome);
	writer_literal(writer, "},\n\"traceEvents\": [");
	write_names(chrome);
}

void chrome_write_tail(struct chrome *chrome)
{
	writer_format(&chrome->writer, "\n],\n\"traceName\": \"%s\"\n}\n",
	              chrome->process == FLEXTRACE_NONE ? "trace.json" : chrome->count->file);
}
