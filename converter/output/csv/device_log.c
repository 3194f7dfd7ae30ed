// SPDX-License-Identifier: Apache-2.0
/*
 * device_log.c: the firmware's marks as tt-metal's profile_log_device.csv, in the form of today (15
 * columns) and the first one (6), for scripts that read these. Not RFC 4180: their readers split
 * lines at commas.
 *
 * Lines stand by device, core and processor, in order of cycles: at one cycle, ends of what began
 * before come first, the inner ones before the outer; then what begins there, the outer ones first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "output/emit.h"
#include "output/view.h"
#include "model/clocks.h"

#define FIRST_USER_TIMER 5 /* 1..4 are FW start, kernel start, kernel end, FW end */
#define PACKET_TYPE_BITS 16

struct log_line {
	uint64_t ticks, other_ticks; /* this end, the other one */
	uint64_t job;
	uint32_t device; /* index */
	uint32_t core, processor;
	uint32_t order; /* of the row, of its kind */
	uint32_t track;
	uint32_t marker; /* of a zone, index; of an instant its name, a string */
	uint32_t id;     /* of the marker, whatever the strings' are */
	uint8_t kind;    /* enum device_row_kind; DEVICE_ROW_KIND_COUNT: an instant */
	bool is_end;
	bool is_late; /* an end, behind its begin */
};

struct device_log {
	struct view view;
	struct writer *writer;  /* weak */
	struct log_line *lines; /* owned */
	uint32_t n;
	uint32_t *slots;     /* owned: by device */
	struct map instants; /* name -> number */
	uint32_t columns;    /* 6 or 15 */
};

/* -- in -------------------------------------------------------------------------------------- */

static int add_zone(struct device_log *log, const struct device_row *row, uint32_t order)
{
	const struct zone *zone = &log->view.timeline->marks.zones[row->source];
	const struct mark_run *run = view_run(&log->view, zone);
	struct log_line line = {
		.ticks = zone->first_ticks,
		.other_ticks = zone->last_ticks,
		.job = run->job,
		.device = run->device,
		.core = run->core,
		.processor = run->processor,
		.order = order,
		.track = row->track,
		.marker = zone->marker,
		.id = zone->marker,
		.kind = row->kind,
	};

	FLEXTRACE_TRY(ARRAY_PUSH(log->lines, log->n, line));
	line.ticks = zone->last_ticks;
	line.other_ticks = zone->first_ticks;
	line.is_end = true;
	line.is_late = zone->last_ticks > zone->first_ticks;
	return ARRAY_PUSH(log->lines, log->n, line);
}

static int take_zones(struct device_log *log)
{
	uint32_t order = 0;

	TABLE_EACH(struct device_row, row, &log->view.timeline->device_rows) {
		if (view_is_zone(row))
			FLEXTRACE_TRY(add_zone(log, row, order++));
	}
	return FLEXTRACE_OK;
}

/* In order of time, behind the zones. */
static int number_instant(struct device_log *log, uint32_t name, uint32_t *ret_id)
{
	uint32_t found = map_find(&log->instants, name, 0);

	if (found == MAP_NONE) {
		found = (uint32_t)log->instants.n_used;
		FLEXTRACE_TRY(map_put(&log->instants, name, 0, found));
	}
	*ret_id = log->view.timeline->n_markers + found;
	return FLEXTRACE_OK;
}

static int take_instants(struct device_log *log)
{
	const struct timeline *timeline = log->view.timeline;
	uint32_t n = 0;

	TABLE_EACH(struct instant_row, row, &timeline->instants) {
		const struct track *track = &timeline->tracks[row->track];
		struct log_line line = {
			.ticks = row->ticks,
			.other_ticks = row->ticks,
			.device = track->owner,
			.core = track->id,
			.processor = track->processor,
			.order = n++,
			.track = row->track,
			.marker = row->name,
			.kind = DEVICE_ROW_KIND_COUNT,
		};

		if (row->class != RECORD_MARKER_BATCH)
			continue;
		FLEXTRACE_TRY(number_instant(log, row->name, &line.id));
		FLEXTRACE_TRY(ARRAY_PUSH(log->lines, log->n, line));
	}
	return FLEXTRACE_OK;
}

/* Values have no cycles of their own. */
static uint64_t count_values(const struct timeline *timeline)
{
	uint64_t n = 0;

	TABLE_EACH(struct counter_row, row, &timeline->counters)
		n += row->class == RECORD_MARKER_BATCH;
	return n;
}

/* -- order ----------------------------------------------------------------------------------- */

static int compare_lines(const void *left, const void *right)
{
	const struct log_line *a = left, *b = right;
	int order = ORDER(a->device, b->device) ?: ORDER(a->core, b->core) ?:
	            ORDER(a->processor, b->processor) ?: ORDER(a->ticks, b->ticks) ?:
	            ORDER(!a->is_late, !b->is_late) ?: ORDER(b->other_ticks, a->other_ticks);
	int kinds = ORDER(a->kind, b->kind) ?: ORDER(a->order, b->order);

	return order ?: (a->is_late ? -kinds : kinds) ?: a->is_end - b->is_end;
}

/* -- devices --------------------------------------------------------------------------------- */

/* The runtime's numbers, or indexes where several processes have the same. */
static int number_devices(struct device_log *log)
{
	const struct identity *identity = log->view.identity;
	bool are_unique = true;

	FLEXTRACE_TRY(ARRAY_NEW(log->slots, identity->n_devices + 1ull));
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		log->slots[i] = identity->devices[i].device;
		for (uint32_t j = 0; j < i && are_unique; j++)
			are_unique = log->slots[j] != log->slots[i];
	}
	for (uint32_t i = 0; i < identity->n_devices && !are_unique; i++)
		log->slots[i] = i;
	return FLEXTRACE_OK;
}

/* In MHz, of the first counter of the first device that there are lines of. */
static double frequency_of(const struct device_log *log)
{
	const struct identity *identity = log->view.identity;
	uint32_t n;
	const struct clock_report *reports = clocks_report(log->view.timeline->clocks, &n);

	for (uint32_t i = 0; log->n && i < n; i++) {
		const struct counter *counter = &identity->counters[reports[i].counter];

		if (counter->device != log->lines[0].device)
			continue;
		if (isfinite(reports[i].freq_mhz))
			return reports[i].freq_mhz;
		if (counter->nominal_hz)
			return (double)counter->nominal_hz / 1e6;
	}
	return 1000; /* a cycle is a ns */
}

/* -- out ------------------------------------------------------------------------------------- */

/* A text that splits no line. */
static void write_text(struct device_log *log, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if ((unsigned char)c < ' ')
			c = ' ';
		if (c == ',')
			c = ';';
		writer_char(log->writer, c);
	}
}

static void write_string(struct device_log *log, uint32_t string)
{
	write_text(log, string_get(log->view.strings, string),
	           string_length(log->view.strings, string));
}

static void write_risc(struct device_log *log, const struct log_line *line)
{
	static const char *const names[] = {"BRISC",   "NCRISC",  "TRISC_0",
	                                    "TRISC_1", "TRISC_2", "ERISC"};
	struct string_text name;

	if (identity_processor(log->view.identity, log->view.strings,
	                       &log->view.timeline->tracks[line->track], &name)) {
		write_text(log, name.bytes, name.length);
	} else if (line->processor < sizeof(names) / sizeof(*names)) {
		writer_raw(log->writer, names[line->processor]);
	} else {
		writer_format(log->writer, "RISC_%u", line->processor);
	}
}

static uint32_t packet_type(const struct log_line *line)
{
	enum { ZONE_START, ZONE_END, TS_EVENT = 4 };

	if (line->kind == DEVICE_ROW_KIND_COUNT)
		return TS_EVENT;
	return line->is_end ? ZONE_END : ZONE_START;
}

/* Of the first form: the four of the firmware, then one for each begin, end and mark. */
static uint64_t timer_of(const struct device_log *log, const struct log_line *line)
{
	if (log->columns == 15)
		return (uint64_t)packet_type(line) << PACKET_TYPE_BITS | (line->id & 0xffff);
	if (line->kind == ROW_FIRMWARE)
		return line->is_end ? 4 : 1;
	if (line->kind == ROW_KERNEL)
		return line->is_end ? 3 : 2;
	return FIRST_USER_TIMER + 2 * (uint64_t)line->id + line->is_end;
}

static void write_zone_name(struct device_log *log, const struct log_line *line)
{
	if (line->kind == DEVICE_ROW_KIND_COUNT) {
		write_string(log, line->marker);
	} else if (line->kind == ROW_ZONE) {
		write_string(log, log->view.timeline->markers[line->marker].name);
	} else {
		write_risc(log, line);
		writer_raw(log->writer, line->kind == ROW_FIRMWARE ? "-FW" : "-KERNEL");
	}
}

static void write_source(struct device_log *log, const struct log_line *line)
{
	const struct marker *marker = line->kind == ROW_ZONE
	                                      ? &log->view.timeline->markers[line->marker]
	                                      : NULL;

	writer_format(log->writer, "%u,", marker ? marker->line : 0);
	if (marker)
		write_string(log, marker->file);
}

static void write_rest(struct device_log *log, const struct log_line *line)
{
	static const char *const types[] = {"ZONE_START", "ZONE_END", "", "", "TS_EVENT"};

	writer_format(log->writer, ",0,%" PRIu64 ",,,", line->job);
	write_zone_name(log, line);
	writer_format(log->writer, ",%s,", types[packet_type(line)]);
	write_source(log, line);
	writer_char(log->writer, ',');
}

static void write_line(struct device_log *log, const struct log_line *line)
{
	struct writer *writer = log->writer;

	writer_format(writer, "%u,%u,%u,", log->slots[line->device],
	              line->core % FLEXTRACE_CORE_STRIDE, line->core / FLEXTRACE_CORE_STRIDE);
	write_risc(log, line);
	writer_format(writer, ",%" PRIu64 ",%" PRIu64, timer_of(log, line), line->ticks);
	if (log->columns == 15)
		write_rest(log, line);
	writer_char(writer, '\n');
}

static void write_header(struct device_log *log)
{
	const struct device *device = log->n ? &log->view.identity->devices[log->lines[0].device]
	                                     : NULL;

	writer_literal(log->writer, "ARCH: ");
	if (device && device->name)
		write_string(log, device->name);
	else
		writer_literal(log->writer, "unknown");
	writer_format(log->writer, ", CHIP_FREQ[MHz]: %lld", llround(frequency_of(log)));
	if (log->columns == 15)
		writer_format(log->writer, ", Max Compute Cores: %u", device ? device->n_cores : 0);
	writer_literal(log->writer, "\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
	                            "time[cycles since reset]");
	if (log->columns == 15)
		writer_literal(log->writer,
		               ", data, run host ID, trace id, trace id counter, zone name, type, "
		               "source line, source file, meta data");
	writer_char(log->writer, '\n');
}

static int fill(struct device_log *log)
{
	FLEXTRACE_TRY(number_devices(log));
	FLEXTRACE_TRY(take_zones(log));
	FLEXTRACE_TRY(take_instants(log));
	ORDER_ARRAY(log->lines, log->n, compare_lines);
	return FLEXTRACE_OK;
}

static int write_log(const struct findings *findings, struct text_sink *sink, uint32_t columns)
{
	struct device_log log = {.writer = &sink->writer, .columns = columns};
	int code = view_init(&log.view, findings);

	if (code >= 0)
		code = fill(&log);
	if (code >= 0)
		write_header(&log);
	for (uint32_t i = 0; code >= 0 && i < log.n && !writer_failed(log.writer); i++)
		write_line(&log, &log.lines[i]);
	sink->count->rows = log.n;
	sink->count->left_out = count_values(findings->timeline);
	free(log.lines);
	free(log.slots);
	map_release(&log.instants);
	view_release(&log.view);
	return code;
}

static int write_log_15(const struct findings *findings, struct text_sink *sink)
{
	return write_log(findings, sink, 15);
}

static int write_log_6(const struct findings *findings, struct text_sink *sink)
{
	return write_log(findings, sink, 6);
}

const struct result_file emit_tt_log = {
	.name = "profile_log_device.csv", .write = write_log_15, .is_on_top = true};
const struct result_file emit_tt_log_6 = {
	.name = "profile_log_device_6.csv", .write = write_log_6, .is_on_top = true};
