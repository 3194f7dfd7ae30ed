// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_meta.c: what stands around the rows of trace.json. The order of keys is Kineto's. `"rank":
 * N` has its space in distributedInfo, where Holistic Trace Analysis looks for it, and only there.
 */
#include "chrome.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/archive/archive.h"
#include "model/timeline/clock_columns.h"
#include "output/column_text.h"
#include "model/alignment.h"
#include "model/clocks.h"

/* -- keys of the object ------------------------------------------------------------------------ */

static void write_device_properties(struct chrome *chrome)
{
	const struct identity *identity = chrome->events.view.identity;
	struct writer *writer = &chrome->writer;
	const char *separator = "\n";

	if (chrome_write_told_member(chrome, "deviceProperties") ||
	    chrome->events.states != STATES_AMONG)
		return;
	writer_literal(writer, "\"deviceProperties\": [");
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		const struct device *device =
			&identity->devices[chrome->events.lines.device_order[i]];
		const struct process *process = &identity->processes[device->process];

		if (process->is_excluded || !events_show(&chrome->events, device->process))
			continue;
		writer_format(writer, "%s{\"id\":%u,\"name\":", separator, device->device);
		separator = ",\n";
		view_write_json(&chrome->events.view, writer, device->name);
		writer_literal(writer, ",\"uuid\":");
		view_write_json(&chrome->events.view, writer, device->uuid);
		writer_format(writer, ",\"numSms\":%u,\"coreHz\":%" PRIu64 ",\"pid\":%u}",
		              device->n_cores, device->core_hz,
		              chrome->ids.device_pid[chrome->events.lines.device_order[i]]);
	}
	writer_literal(writer, "],\n");
}

/* The ranks of all processes, in order; one rank alone is what Kineto calls the trace's rank. */
static void write_distributed_info(struct chrome *chrome)
{
	const struct identity *identity = chrome->events.view.identity;
	struct writer *writer = &chrome->writer;
	int64_t last = -1, shown = -1;
	int32_t world_size = 0;
	uint32_t n_ranks = 0;
	bool is_one = true;

	if (chrome_write_told_member(chrome, "distributedInfo"))
		return;
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		uint32_t p = chrome->events.lines.process_order[i];
		const struct process *process = &identity->processes[p];

		if (process->is_excluded || process->rank < 0)
			continue;
		if (process->world_size > world_size)
			world_size = process->world_size;
		n_ranks += process->rank != last;
		last = process->rank;
		if (!events_show(&chrome->events, p))
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
	const struct timeline *timeline = chrome->events.view.timeline;

	writer_format(&chrome->writer,
	              ",\n\"totals\": {\"host_rows\":%" PRIu64 ",\"device_rows\":%" PRIu64
	              ",\"instants\":%" PRIu64 ",\"counters\":%" PRIu64 ",\"memory\":%" PRIu64
	              ",\"flows\":%" PRIu64 "}",
	              timeline->host_rows.n_rows, timeline->device_rows.n_rows,
	              timeline->instants.n_rows, timeline->counters.n_rows, timeline->memory.n_rows,
	              chrome->events.view.findings->flows->n_rows);
}

static void write_losses(struct chrome *chrome)
{
	struct writer *writer = &chrome->writer;
	const char *separator = "";

	writer_literal(writer, ",\n\"losses\": {");
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		uint64_t count = ledger_total(chrome->events.view.timeline->ledger, cause);

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
	const struct counter *counter = &chrome->events.view.identity->counters[clock->counter];
	struct writer *writer = &chrome->writer;
	const struct clock_row row = clock_columns_row(chrome->events.view.timeline, clock);

	writer_format(writer, "\n{\"pid\":%u,\"domain\":%u",
	              chrome->ids.device_pid[counter->device], counter->domain);
	column_write_json(clock_columns + OWNER_COLUMNS + 2, CLOCK_COLUMNS - OWNER_COLUMNS - 2,
	                  &row, writer);
	writer_char(writer, '}');
}

static void write_clocks(struct chrome *chrome)
{
	uint32_t n;
	const struct clock_report *clocks = clocks_report(chrome->events.view.timeline->clocks, &n);
	const struct identity *identity = chrome->events.view.identity;
	const char *separator = "";

	writer_literal(&chrome->writer, ",\n\"clocks\": [");
	for (uint32_t i = 0; i < n; i++) {
		const struct counter *counter = &identity->counters[clocks[i].counter];

		if (!events_show(&chrome->events, identity->devices[counter->device].process))
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
	const struct alignment_report *lines =
		alignment_report(chrome->events.view.timeline->alignment, &n);
	struct writer *writer = &chrome->writer;
	const char *separator = "";

	writer_literal(writer, ",\n\"alignment\": [");
	for (uint32_t i = 0; i < n; i++) {
		const struct alignment_row row = {.of = lines[i]};

		if (!events_show(&chrome->events, lines[i].process))
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

static void name_owner(struct chrome *chrome, bool is_device, uint32_t i, struct writer *text)
{
	const struct view *view = &chrome->events.view;
	uint32_t pid = is_device ? chrome->ids.device_pid[i] : chrome->ids.process_pid[i];

	(is_device ? line_append_device : line_append_process)(view, text, i);
	write_text_metadata(chrome, "process_name", "name", pid, pid, text);
	(is_device ? line_append_device_label : line_append_process_label)(view, text, i);
	write_text_metadata(chrome, "process_labels", "labels", pid, pid, text);
	write_sort_index(chrome, "process_sort_index", pid, pid, pid);
}

static void name_track(struct chrome *chrome, uint32_t t, uint32_t place, struct writer *text)
{
	const struct events *events = &chrome->events;
	uint32_t pid = line_ids_pid(&chrome->ids, &events->view, t), tid = chrome->ids.track_tid[t];

	if (events->views.overlap != OVERLAP_LANES && events_is_lane(events, t))
		return;
	if (!events_name_track(events, t))
		return;
	line_append_track(&events->view, text, t);
	write_text_metadata(chrome, "thread_name", "name", pid, tid, text);
	write_sort_index(chrome, "thread_sort_index", pid, tid, place);
}

uint32_t chrome_loss_pid(enum loss_cause cause)
{
	return ledger_is_loss(cause) ? CHROME_LOSSES_PID : CHROME_LEFT_OUT_PID;
}

/* One process of causes that are losses, or of others, if there is any. */
static void name_losses(struct chrome *chrome, uint32_t pid, struct writer *text)
{
	bool has_name = false;

	for (uint32_t i = 0; i < chrome->events.losses.lines.n; i++) {
		if (chrome_loss_pid(chrome->events.losses.lines.all[i].cause) != pid)
			continue;
		if (!has_name) {
			writer_raw(text, pid == CHROME_LOSSES_PID ? "flextrace losses"
			                                          : "flextrace left out");
			write_text_metadata(chrome, "process_name", "name", pid, pid, text);
			write_sort_index(chrome, "process_sort_index", pid, pid,
			                 pid == CHROME_LOSSES_PID ? 0 : INT32_MAX);
			has_name = true;
		}
		event_append_loss_line(&chrome->events, text, i);
		write_text_metadata(chrome, "thread_name", "name", pid, i + 1, text);
	}
}

static void name_found_rows(struct chrome *chrome, struct writer *text)
{
	const struct event_found *found = &chrome->events.found;
	const uint32_t *pids = chrome->ids.process_pid;
	uint32_t n_tracks = chrome->events.view.timeline->n_tracks;

	if (found->has_steps) {
		writer_literal(text, "steps (found)");
		write_text_metadata(chrome, "thread_name", "name", pids[chrome->events.process],
		                    CHROME_STEPS_TID, text);
	}
	for (uint32_t i = 0; i < found->n_lines; i++) {
		uint32_t pid = pids[found->lines[i].process];
		uint32_t tid = CHROME_FOUND_TID(found->lines[i].lane);

		writer_literal(text, "collectives (found)");
		write_text_metadata(chrome, "thread_name", "name", pid, tid, text);
		write_sort_index(chrome, "thread_sort_index", pid, tid, n_tracks + i);
	}
}

/* The lines of launches and waits that stand once more, by their threads. */
static void name_waits(struct chrome *chrome, struct writer *text)
{
	const struct events *events = &chrome->events;
	const struct timeline *timeline = events->view.timeline;

	for (uint32_t t = 0; events->hta.device != FLEXTRACE_NONE && t < timeline->n_tracks; t++) {
		if (timeline->tracks[t].kind != TRACK_THREAD ||
		    !events_show(events, view_track_process(&events->view, t)))
			continue;
		writer_raw(text, "launches and waits of ");
		line_append_track(&events->view, text, t);
		write_text_metadata(chrome, "thread_name", "name",
		                    chrome->ids.device_pid[events->hta.device],
		                    CHROME_WAITS_TID + t, text);
	}
}

void chrome_write_names(struct chrome *chrome)
{
	const struct identity *identity = chrome->events.view.identity;
	struct writer text;

	writer_open_memory(&text);
	name_losses(chrome, CHROME_LOSSES_PID, &text);
	name_losses(chrome, CHROME_LEFT_OUT_PID, &text);
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		uint32_t p = chrome->events.lines.process_order[i];

		if (events_name_process(&chrome->events, p))
			name_owner(chrome, false, p, &text);
	}
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		uint32_t d = chrome->events.lines.device_order[i];

		if (events_name_device(&chrome->events, d))
			name_owner(chrome, true, d, &text);
	}
	if (chrome->events.views.is_hta)
		name_waits(chrome, &text);
	for (uint32_t i = 0; i < chrome->events.view.timeline->n_tracks; i++)
		name_track(chrome, chrome->events.lines.track_order[i], i, &text);
	name_found_rows(chrome, &text);
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
	              chrome->events.views.shows_ns ? "ns" : "ms",
	              chrome->base_time_ns + chrome->events.view.epoch_offset_ns);
	write_distributed_info(chrome);
	writer_literal(writer, "\"flextrace\": {\"version\":\"" FLEXTRACE_VERSION "\"");
	write_totals(chrome);
	write_losses(chrome);
	write_clocks(chrome);
	write_alignment(chrome);
	writer_literal(writer, "},\n\"traceEvents\": [");
}

static void write_sites(struct chrome *chrome)
{
	const struct view *view = &chrome->events.view;
	struct writer *writer = &chrome->writer;

	writer_literal(writer, "\n],\n\"sites\": [");
	for (uint32_t i = 0; i < chrome->sites.n; i++) {
		const struct chrome_site *site = &chrome->sites.sites[i];

		writer_raw(writer, i ? ",\n{\"cat\":\"" : "\n{\"cat\":\"");
		writer_append(writer, site->category.bytes, site->category.length);
		writer_literal(writer, "\",\"name\":");
		view_write_json(view, writer, site->name);
		CHROME_ARG(writer, "file");
		view_write_json(view, writer, site->file);
		CHROME_ARG(writer, "line");
		writer_u64(writer, site->line);
		writer_char(writer, '}');
	}
}

void chrome_write_tail(struct chrome *chrome)
{
	const char *name = events_are_of_rank(&chrome->events) ? chrome->file : "trace.json";
	size_t n = strlen(name);

	write_sites(chrome);
	writer_format(&chrome->writer, "],\n\"traceName\": \"%.*s\"\n}\n",
	              (int)(n - (name_is_gzip(name) ? 3 : 0)), name);
}
