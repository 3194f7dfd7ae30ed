// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_meta.c: what stands around the rows of trace.json. The order of keys is Kineto's. `"rank":
 * N` has its space in distributedInfo, where Holistic Trace Analysis looks for it, and only there.
 */
#include "chrome.h"

#include <stdlib.h>

#include "output/clock_columns.h"
#include "output/column_text.h"
#include "model/alignment.h"
#include "model/clocks.h"

/* Appends a key that needs no escapes, with what stands before it: `,"numSms":`. */
#define KEY(writer, before, key) writer_literal(writer, before "\"" key "\":")

/* -- keys of the object ------------------------------------------------------------------------ */

static void write_device_properties(struct chrome *chrome)
{
	const struct identity *identity = chrome->view.identity;
	struct writer *writer = &chrome->writer;
	const char *separator = "\n";

	if (chrome_write_told_member(chrome, "deviceProperties"))
		return;
	KEY(writer, "", "deviceProperties");
	writer_literal(writer, " [");
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		const struct device *device = &identity->devices[chrome->ids.device_order[i]];
		const struct process *process = &identity->processes[device->process];

		if (process->is_excluded || !chrome_shows(chrome, device->process))
			continue;
		writer_raw(writer, separator);
		separator = ",\n";
		KEY(writer, "{", "id");
		writer_u64(writer, device->device);
		KEY(writer, ",", "name");
		view_write_json(&chrome->view, writer, device->name);
		KEY(writer, ",", "uuid");
		view_write_json(&chrome->view, writer, device->uuid);
		KEY(writer, ",", "numSms");
		writer_u64(writer, device->n_cores);
		KEY(writer, ",", "coreHz");
		writer_u64(writer, device->core_hz);
		KEY(writer, ",", "pid");
		writer_u64(writer, chrome->ids.device_pid[chrome->ids.device_order[i]]);
		writer_char(writer, '}');
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
	KEY(writer, "", "distributedInfo");
	writer_literal(writer, " {\"backend\": \"flextrace\"");
	if (is_one) {
		writer_literal(writer, ", \"rank\": ");
		writer_i64(writer, shown);
	}
	writer_literal(writer, ", \"world_size\": ");
	writer_u64(writer, world_size > 0 ? (uint64_t)world_size : n_ranks);
	writer_literal(writer, "},\n");
}

static void write_totals(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;
	struct writer *writer = &chrome->writer;

	KEY(writer, ",\n", "totals");
	KEY(writer, " {", "host_rows");
	writer_u64(writer, timeline->host_rows.n_rows);
	KEY(writer, ",", "device_rows");
	writer_u64(writer, timeline->device_rows.n_rows);
	KEY(writer, ",", "instants");
	writer_u64(writer, timeline->instants.n_rows);
	KEY(writer, ",", "counters");
	writer_u64(writer, timeline->counters.n_rows);
	KEY(writer, ",", "memory");
	writer_u64(writer, timeline->memory.n_rows);
	KEY(writer, ",", "flows");
	writer_u64(writer, chrome->view.findings->flows->n_rows);
	writer_char(writer, '}');
}

static void write_losses(struct chrome *chrome)
{
	struct writer *writer = &chrome->writer;
	const char *separator = "";

	KEY(writer, ",\n", "losses");
	writer_literal(writer, " {");
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		uint64_t count = ledger_total(chrome->view.timeline->ledger, cause);

		if (count == 0)
			continue;
		writer_raw(writer, separator);
		separator = ",";
		writer_char(writer, '"');
		writer_raw(writer, ledger_cause_id(cause));
		writer_literal(writer, "\":");
		writer_u64(writer, count);
	}
	writer_char(writer, '}');
}

static void write_clock(struct chrome *chrome, const struct clock_report *clock)
{
	const struct counter *counter = &chrome->view.identity->counters[clock->counter];
	struct writer *writer = &chrome->writer;
	const struct clock_row row = clock_columns_row(chrome->view.timeline, clock);

	KEY(writer, "\n{", "pid");
	writer_u64(writer, chrome->ids.device_pid[counter->device]);
	KEY(writer, ",", "domain");
	writer_u64(writer, counter->domain);
	column_write_json(clock_columns + CLOCK_OWNER_COLUMNS, CLOCK_COLUMNS - CLOCK_OWNER_COLUMNS,
	                  &row, writer);
	writer_char(writer, '}');
}

static void write_clocks(struct chrome *chrome)
{
	uint32_t n;
	const struct clock_report *clocks = clocks_report(chrome->view.timeline->clocks, &n);
	const struct identity *identity = chrome->view.identity;
	const char *separator = "";

	KEY(&chrome->writer, ",\n", "clocks");
	writer_literal(&chrome->writer, " [");
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
	const char *separator = "\n{";

	KEY(writer, ",\n", "alignment");
	writer_literal(writer, " [");
	for (uint32_t i = 0; i < n; i++) {
		const struct alignment_row row = {.of = lines[i]};

		if (!chrome_shows(chrome, lines[i].process))
			continue;
		writer_raw(writer, separator);
		separator = ",\n{";
		KEY(writer, "", "pid");
		writer_u64(writer, chrome->ids.process_pid[lines[i].process]);
		column_write_json(alignment_columns + ALIGNMENT_OWNER_COLUMNS,
		                  ALIGNMENT_COLUMNS - ALIGNMENT_OWNER_COLUMNS, &row, writer);
		writer_char(writer, '}');
	}
	writer_char(writer, ']');
}

/* -- names of processes and threads ------------------------------------------------------------ */

/* An event of phase M. The tid of a process' own line is its pid: viewers take a missing one as
 * that. */
static void write_metadata(struct chrome *chrome, const char *name, uint32_t pid, uint32_t tid)
{
	struct writer *writer = &chrome->writer;

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"M\",\"name\":\"");
	writer_raw(writer, name);
	writer_literal(writer, "\",\"pid\":");
	writer_u64(writer, pid);
	writer_literal(writer, ",\"tid\":");
	writer_u64(writer, tid);
	writer_literal(writer, ",\"ts\":0.000,\"args\":{\"");
}

static void write_sort_index(struct chrome *chrome, const char *name, uint32_t pid, uint32_t tid,
                             uint64_t index)
{
	write_metadata(chrome, name, pid, tid);
	writer_literal(&chrome->writer, "sort_index\":");
	writer_u64(&chrome->writer, index);
	writer_literal(&chrome->writer, "}}");
}

/* `text` holds bytes up to its end as they are; it is emptied. */
static void write_text_metadata(struct chrome *chrome, const char *name, const char *key,
                                uint32_t pid, uint32_t tid, struct writer *text)
{
	write_metadata(chrome, name, pid, tid);
	writer_raw(&chrome->writer, key);
	writer_literal(&chrome->writer, "\":");
	writer_json(&chrome->writer, text->buffer, (size_t)(text->at - text->buffer));
	writer_literal(&chrome->writer, "}}");
	text->at = text->buffer;
}

static void append_string(struct chrome *chrome, struct writer *text, uint32_t string)
{
	writer_raw(text, string_get(chrome->view.strings, string));
}

static void append_pid(struct writer *text, const struct process *process)
{
	writer_literal(text, "pid ");
	if (identity_pid(process) >= 0)
		writer_i64(text, identity_pid(process));
	else
		writer_literal(text, "unknown");
}

void chrome_append_process(struct writer *text, const struct process *process)
{
	if (process->rank >= 0) {
		writer_literal(text, "Rank ");
		writer_i64(text, process->rank);
	} else {
		append_pid(text, process);
	}
}

static void name_process(struct chrome *chrome, uint32_t p, struct writer *text)
{
	const struct process *process = &chrome->view.identity->processes[p];
	uint32_t pid = chrome->ids.process_pid[p];

	chrome_append_process(text, process);
	writer_literal(text, " host");
	if (process->program) {
		writer_char(text, ' ');
		append_string(chrome, text, process->program);
	}
	write_text_metadata(chrome, "process_name", "name", pid, pid, text);
	append_pid(text, process);
	if (process->host) {
		writer_literal(text, " on ");
		append_string(chrome, text, process->host);
	}
	write_text_metadata(chrome, "process_labels", "labels", pid, pid, text);
	write_sort_index(chrome, "process_sort_index", pid, pid, pid);
}

static void name_device(struct chrome *chrome, uint32_t d, struct writer *text)
{
	const struct device *device = &chrome->view.identity->devices[d];
	const struct process *process = &chrome->view.identity->processes[device->process];
	uint32_t pid = chrome->ids.device_pid[d];

	chrome_append_process(text, process);
	writer_literal(text, " device ");
	writer_u64(text, device->device);
	if (device->name) {
		writer_char(text, ' ');
		append_string(chrome, text, device->name);
	}
	write_text_metadata(chrome, "process_name", "name", pid, pid, text);
	writer_literal(text, "device ");
	writer_u64(text, device->device);
	if (device->uuid) {
		writer_char(text, ' ');
		append_string(chrome, text, device->uuid);
	}
	writer_literal(text, " of ");
	append_pid(text, process);
	write_text_metadata(chrome, "process_labels", "labels", pid, pid, text);
	write_sort_index(chrome, "process_sort_index", pid, pid, pid);
}

static void append_thread(struct chrome *chrome, struct writer *text, const struct track *track)
{
	const struct thread *thread = &chrome->view.identity->threads[track->owner];

	if (thread->name) {
		append_string(chrome, text, thread->name);
	} else if (thread->vtid >= 0) {
		writer_literal(text, "thread ");
		writer_i64(text, thread->vtid);
	} else {
		writer_literal(text, "thread unknown");
	}
	if (track->kind == TRACK_ASYNC)
		writer_literal(text, " async");
}

static void append_queue(struct chrome *chrome, struct writer *text, const struct track *track)
{
	uint32_t name = identity_queue_name(chrome->view.identity, track->owner, track->id);

	writer_literal(text, "queue ");
	writer_u64(text, track->id);
	if (name) {
		writer_literal(text, " (");
		append_string(chrome, text, name);
		writer_char(text, ')');
	}
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

	writer_literal(text, "core ");
	if (track->id >= FLEXTRACE_CORE_STRIDE) {
		writer_u64(text, track->id % FLEXTRACE_CORE_STRIDE);
		writer_char(text, ',');
		writer_u64(text, track->id / FLEXTRACE_CORE_STRIDE);
	} else {
		writer_u64(text, track->id);
	}
	if (identity_processor(view->identity, view->strings, track, &name)) {
		writer_char(text, ' ');
		writer_append(text, name.bytes, name.length);
	} else if (track->processor) {
		writer_literal(text, " processor ");
		writer_u64(text, track->processor);
	}
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
	if (track->lane) {
		writer_literal(text, " lane ");
		writer_u64(text, track->lane + 1ull);
	}
	write_text_metadata(chrome, "thread_name", "name", pid, tid, text);
	write_sort_index(chrome, "thread_sort_index", pid, tid, place);
}

static void name_loss(struct chrome *chrome, uint32_t line, struct writer *text)
{
	const struct loss *loss = &chrome->loss_lines.all[line];

	writer_raw(text, ledger_cause_id(loss->cause));
	writer_literal(text, ": ");
	writer_u64(text, loss->all.count);
	chrome_append_loss_place(chrome, text, &loss->place, ", ");
	write_text_metadata(chrome, "thread_name", "name", chrome_loss_pid(loss->cause), line + 1,
	                    text);
}

/* One process of causes that are losses, or of others, if there is any. */
static void name_losses(struct chrome *chrome, uint32_t pid, struct writer *text)
{
	bool has_name = false;

	for (uint32_t i = 0; i < chrome->loss_lines.n; i++) {
		if (chrome_loss_pid(chrome->loss_lines.all[i].cause) != pid)
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
	writer_literal(writer, "\"displayTimeUnit\": \"");
	writer_raw(writer, chrome->views.shows_ns ? "ns" : "ms");
	writer_literal(writer, "\",\n\"baseTimeNanoseconds\": ");
	writer_i64(writer, chrome->base_time_ns + chrome->view.epoch_offset_ns);
	writer_literal(writer, ",\n");
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
	writer_literal(&chrome->writer, "\n],\n\"traceName\": \"");
	if (chrome->process == FLEXTRACE_NONE)
		writer_literal(&chrome->writer, "trace.json");
	else
		writer_raw(&chrome->writer, chrome->count->file);
	writer_literal(&chrome->writer, "\"\n}\n");
}
