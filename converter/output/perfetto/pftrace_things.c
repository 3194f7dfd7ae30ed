// SPDX-License-Identifier: Apache-2.0
/*
 * pftrace_things.c: what tracks stand for, as numbers and names that need not be guessed from what
 * they are called: the attribute `flextrace` of the trace, a JSON object with a member for each
 * uuid. Viewers show it with what they know of the file; formats/perfetto reads it back.
 */
#include "pftrace.h"

#include "model/clocks.h"
#include "model/timeline/clock_columns.h"

#define MAX_CLOCKS_BYTES (4 << 20) /* a packet that is read has at most 16 MiB */

static void open_thing(struct writer *text, uint64_t uuid, const char *is)
{
	writer_format(text, ",\"%llu\":{\"is\":\"%s\"", (unsigned long long)uuid, is);
}

static void put_number(struct writer *text, const char *key, uint64_t number)
{
	writer_format(text, ",\"%s\":%llu", key, (unsigned long long)number);
}

static void put_text(const struct pftrace *trace, struct writer *text, const char *key,
                     uint32_t string)
{
	if (!string)
		return;
	writer_format(text, ",\"%s\":", key);
	view_write_json(&trace->events.view, text, string);
}

/* Figures as exactly as they are known: what is not known is left out. */
static void put_figures(struct writer *text, const struct column *columns, uint32_t n,
                        const void *row)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct cell cell = column_read(&columns[i], row, NULL);

		if (cell.kind == CELL_NUMBER) {
			put_number(text, columns[i].name, cell.number);
		} else if (cell.kind != CELL_EMPTY) {
			writer_format(text, ",\"%s\":", columns[i].name);
			if (cell.kind == CELL_REAL)
				writer_double(text, cell.real);
			else
				writer_json(text, cell.text, cell.n_bytes);
		}
	}
}

/* What alignment.csv says of a process. */
static void put_alignment(const struct view *view, struct writer *text, uint32_t process)
{
	uint32_t n;
	const struct alignment_report *lines = alignment_report(view->timeline->alignment, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (lines[i].process == process)
			put_figures(text, ALIGNMENT_FIGURES,
			            &(struct alignment_row){.of = lines[i]});
	}
}

static void put_process(const struct pftrace *trace, struct writer *text, uint32_t process)
{
	const struct view *view = &trace->events.view;
	const struct process *of = &view->identity->processes[process];

	open_thing(text, trace->uuids.processes + process, "process");
	if (of->rank >= 0)
		put_number(text, "rank", (uint64_t)of->rank);
	if (of->world_size > 0)
		put_number(text, "world_size", (uint64_t)of->world_size);
	if (identity_pid(of) >= 0)
		put_number(text, "pid", (uint64_t)identity_pid(of));
	put_text(trace, text, "host", of->host);
	put_text(trace, text, "program", of->program);
	put_text(trace, text, "runtime", of->runtime);
	put_text(trace, text, "version", of->version);
	if (of->dialect != DIALECT_AIU) {
		writer_literal(text, ",\"dialect\":");
		writer_json(text, dialect_name(of->dialect), strlen(dialect_name(of->dialect)));
	}
	if (view->is_exact[process] && !of->is_given)
		put_number(text, "exact", 1);
	if (identity_is_torch_file(view->identity, view->strings, process))
		put_number(text, "torch", 1);
	put_alignment(view, text, process);
	writer_char(text, '}');
}

static void put_device(const struct pftrace *trace, struct writer *text, uint32_t device)
{
	const struct device *of = &trace->events.view.identity->devices[device];

	open_thing(text, trace->uuids.devices + device, "device");
	put_number(text, "of", trace->uuids.processes + of->process);
	put_number(text, "number", of->device);
	put_text(trace, text, "name", of->name);
	put_text(trace, text, "uuid", of->uuid);
	put_number(text, "cores", of->n_cores);
	put_number(text, "hz", of->core_hz);
	put_text(trace, text, "power_unit", of->power_unit);
	put_text(trace, text, "processors", of->processors);
	writer_char(text, '}');
}

/* A segment of a counter, as clocks.csv has it. */
static void put_clock(const struct pftrace *trace, struct writer *text, uint32_t index,
                      const struct clock_report *clock)
{
	const struct timeline *timeline = trace->events.view.timeline;
	const struct counter *of = &timeline->identity->counters[clock->counter];
	const struct clock_row row = clock_columns_row(timeline, clock);

	open_thing(text, trace->uuids.clocks + index, "clock");
	put_number(text, "of", trace->uuids.devices + of->device);
	put_number(text, "domain", of->domain);
	put_number(text, "counter_bits", of->counter_bits);
	put_number(text, "nominal_hz", of->nominal_hz);
	put_number(text, "rate_group", of->rate_group);
	put_number(text, "segment", clock->segment);
	put_figures(text, CLOCK_FIGURES, &row);
	writer_char(text, '}');
}

static void put_clocks(const struct pftrace *trace, struct writer *text)
{
	const struct identity *identity = trace->events.view.identity;
	uint32_t n;
	const struct clock_report *clocks = clocks_report(trace->events.view.timeline->clocks, &n);

	for (uint32_t i = 0; i < n && text->at - text->buffer < MAX_CLOCKS_BYTES; i++) {
		uint32_t device = identity->counters[clocks[i].counter].device;
		uint32_t process = identity->devices[device].process;

		if (!identity->processes[process].is_excluded &&
		    events_show(&trace->events, process))
			put_clock(trace, text, i, &clocks[i]);
	}
}

static void put_thread(const struct pftrace *trace, struct writer *text, const struct track *track)
{
	const struct thread *thread = &trace->events.view.identity->threads[track->owner];

	put_number(text, "of", trace->uuids.processes + thread->process);
	if (thread->vtid >= 0)
		put_number(text, "number", (uint64_t)thread->vtid);
	put_text(trace, text, "name", thread->name);
}

static void put_track(const struct pftrace *trace, struct writer *text, uint32_t t)
{
	static const char *const kinds[] = {
		[TRACK_THREAD] = "thread",
		[TRACK_ASYNC] = "async",
		[TRACK_QUEUE] = "queue",
		[TRACK_CORE] = "core",
	};
	const struct view *view = &trace->events.view;
	const struct track *track = &view->timeline->tracks[t];

	open_thing(text, trace->uuids.tracks + t, kinds[track->kind]);
	if (!view_is_device_track(track)) {
		put_thread(trace, text, track);
	} else {
		put_number(text, "of", trace->uuids.devices + track->owner);
		put_number(text, "number", track->id);
		if (track->kind == TRACK_QUEUE)
			put_text(trace, text, "name",
			         identity_queue_name(view->identity, track->owner, track->id));
		else
			put_number(text, "processor", track->processor);
	}
	writer_char(text, '}');
}

static void put_loss(const struct pftrace *trace, struct writer *text, uint32_t line)
{
	const struct loss *loss = &trace->events.losses.lines.all[line];
	int64_t epoch_ns = trace->events.view.epoch_offset_ns;

	open_thing(text, pftrace_loss_uuid(trace, line), "loss");
	writer_format(text, ",\"cause\":\"%s\"", ledger_cause_id(loss->cause));
	put_number(text, "count", loss->all.count);
	if (loss->place.process != FLEXTRACE_NONE)
		put_number(text, "of", trace->uuids.processes + loss->place.process);
	writer_literal(text, ",\"spans\":["); /* since the Unix epoch */
	for (uint32_t i = 0; i < loss->n_spans; i++)
		writer_format(text, "%s%lld,%lld,%llu", i ? "," : "",
		              (long long)(loss->spans[i].first_ns + epoch_ns),
		              (long long)(loss->spans[i].last_ns + epoch_ns),
		              (unsigned long long)loss->spans[i].count);
	writer_char(text, ']');
	if (loss->place.process == FLEXTRACE_NONE && events_are_of_rank(&trace->events))
		put_number(text, "shared", 1ull + loss->place.stream);
	if (loss->place.device != FLEXTRACE_NONE)
		put_number(text, "device", loss->place.device);
	if (loss->place.core != FLEXTRACE_NONE)
		put_number(text, "core", loss->place.core);
	writer_char(text, '}');
}

static void put_all(const struct pftrace *trace, struct writer *text)
{
	const struct identity *identity = trace->events.view.identity;

	writer_literal(text, "{\"version\":1");
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (!identity->processes[i].is_excluded && events_show(&trace->events, i))
			put_process(trace, text, i);
	}
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		uint32_t process = identity->devices[i].process;

		if (!identity->processes[process].is_excluded &&
		    events_show(&trace->events, process))
			put_device(trace, text, i);
	}
	for (uint32_t i = 0; i < trace->events.losses.lines.n; i++)
		put_loss(trace, text, i);
	put_clocks(trace, text);
	for (uint32_t i = 0; i < trace->events.view.timeline->n_tracks; i++) {
		if (events_show(&trace->events, view_track_process(&trace->events.view, i)))
			put_track(trace, text, i);
	}
	for (uint32_t i = 0; i < trace->events.found.n_lines; i++) {
		open_thing(text, trace->uuids.found + i, "found");
		put_number(text, "of",
		           trace->uuids.processes + trace->events.found.lines[i].process);
		writer_char(text, '}');
	}
	writer_char(text, '}');
}

void pftrace_describe_things(struct pftrace *trace)
{
	size_t opened, inside;
	struct writer text;

	writer_open_memory(&text);
	put_all(trace, &text);
	pftrace_open_packet(trace);
	opened = protobuf_open(&trace->packet, PACKET_TRACE_ATTRIBUTES);
	inside = protobuf_open(&trace->packet, ATTRIBUTES_ATTRIBUTE);
	protobuf_write_bytes(&trace->packet, ATTRIBUTE_KEY, "flextrace", 9);
	pftrace_write_text(trace, &trace->packet, ATTRIBUTE_TEXT, text.buffer,
	                   (size_t)(text.at - text.buffer));
	protobuf_close(&trace->packet, inside);
	protobuf_close(&trace->packet, opened);
	pftrace_close_packet(trace);
	if (writer_failed(&text))
		trace->writer.failure = text.failure;
	writer_abandon(&text);
}
