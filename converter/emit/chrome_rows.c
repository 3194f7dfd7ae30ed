// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_rows.c: one event of trace.json each. What rows of a track, device or kind share is made
 * once (texts).
 */
#include "emit/chrome.h"

#include <assert.h>
#include <math.h>

#include "emit/kinds.h"

/* JavaScript readers lose integers above 2^53. */
#define MAX_EXACT ((uint64_t)1 << 53)

#define N_HOST_KINDS 256

#define ARG(writer, key) writer_literal(writer, ",\"" key "\":")

/* -- what rows share --------------------------------------------------------------------------- */

static void write_place(struct writer *writer, uint32_t pid, uint32_t tid)
{
	writer_literal(writer, ",\"pid\":");
	writer_u64(writer, pid);
	writer_literal(writer, ",\"tid\":");
	writer_u64(writer, tid);
	writer_literal(writer, ",\"ts\":");
}

static int make_places(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;
	const struct chrome_ids *ids = &chrome->ids;

	FLEXTRACE_TRY(texts_init(&chrome->places, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		const struct track *track = &timeline->tracks[i];
		uint32_t pid = view_is_device_track(track)
		                       ? ids->device_pid[track->owner]
		                       : ids->process_pid[view_track_process(&chrome->view, i)];
		uint32_t line = chrome->views.overlap == OVERLAP_LANES ? i : ids->track_line[i];

		write_place(&chrome->places.bytes, pid, ids->track_tid[line]);
		texts_end(&chrome->places);
	}
	return texts_check(&chrome->places);
}

static void write_head(struct writer *writer, const struct row_kind *kind)
{
	writer_literal(writer, "{\"ph\":\"X\",\"cat\":\"");
	writer_raw(writer, kind->category);
	writer_literal(writer, "\",\"name\":");
}

static int make_host_kinds(struct chrome *chrome)
{
	FLEXTRACE_TRY(texts_init(&chrome->host_heads, N_HOST_KINDS));
	FLEXTRACE_TRY(texts_init(&chrome->host_kinds, N_HOST_KINDS));
	for (int i = 0; i < N_HOST_KINDS; i++) {
		const struct row_kind *kind = kind_of_host((uint8_t)i);
		struct writer *writer = &chrome->host_kinds.bytes;

		write_head(&chrome->host_heads.bytes, kind);
		texts_end(&chrome->host_heads);
		writer_literal(writer, ",\"args\":{\"kind\":\"");
		writer_raw(writer, kind->label);
		writer_char(writer, '"');
		texts_end(&chrome->host_kinds);
	}
	FLEXTRACE_TRY(texts_check(&chrome->host_heads));
	return texts_check(&chrome->host_kinds);
}

static int make_device_kinds(struct chrome *chrome)
{
	FLEXTRACE_TRY(texts_init(&chrome->device_heads, DEVICE_ROW_KIND_COUNT));
	FLEXTRACE_TRY(texts_init(&chrome->device_kinds, DEVICE_ROW_KIND_COUNT));
	for (int i = 0; i < DEVICE_ROW_KIND_COUNT; i++) {
		const struct row_kind *kind = kind_of_device((uint8_t)i);

		write_head(&chrome->device_heads.bytes, kind);
		texts_end(&chrome->device_heads);
		if (i != ROW_ZONE) {
			writer_literal(&chrome->device_kinds.bytes, ",\"kind\":\"");
			writer_raw(&chrome->device_kinds.bytes, kind->label);
			writer_char(&chrome->device_kinds.bytes, '"');
		}
		texts_end(&chrome->device_kinds);
	}
	FLEXTRACE_TRY(texts_check(&chrome->device_heads));
	return texts_check(&chrome->device_kinds);
}

/* What the arguments of all rows of a track begin with. */
static void write_track_args(struct chrome *chrome, const struct track *track)
{
	const struct identity *identity = chrome->view.identity;
	const struct device *device = &identity->devices[track->owner];
	int32_t rank = identity->processes[device->process].rank;
	bool is_of_all = chrome->process == FLEXTRACE_NONE;
	struct writer *writer = &chrome->device_args.bytes;

	writer_literal(writer, ",\"args\":{");
	if (rank >= 0) {
		writer_literal(writer, "\"rank\":");
		writer_i64(writer, rank);
		writer_char(writer, ',');
	}
	writer_literal(writer, "\"device\":");
	writer_u64(writer, is_of_all ? device->device : chrome->ids.device_pid[track->owner]);
	if (track->kind == TRACK_QUEUE) {
		/* In the file of one rank readers take all for kernels that have a stream. */
		if (!is_of_all && track->row_kind != ROW_EXEC)
			return;
		ARG(writer, "stream");
		writer_u64(writer, track->id + 1ull);
		return;
	}
	ARG(writer, "core");
	writer_u64(writer, track->id);
	if (track->processor) {
		ARG(writer, "processor");
		writer_u64(writer, track->processor);
	}
}

static int make_device_args(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;

	FLEXTRACE_TRY(texts_init(&chrome->device_args, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		if (view_is_device_track(&timeline->tracks[i]))
			write_track_args(chrome, &timeline->tracks[i]);
		texts_end(&chrome->device_args);
	}
	return texts_check(&chrome->device_args);
}

int chrome_rows_init(struct chrome *chrome)
{
	FLEXTRACE_TRY(make_places(chrome));
	FLEXTRACE_TRY(make_host_kinds(chrome));
	FLEXTRACE_TRY(make_device_kinds(chrome));
	return make_device_args(chrome);
}

void chrome_rows_release(struct chrome *chrome)
{
	texts_release(&chrome->places);
	texts_release(&chrome->host_heads);
	texts_release(&chrome->host_kinds);
	texts_release(&chrome->device_heads);
	texts_release(&chrome->device_kinds);
	texts_release(&chrome->device_args);
}

/* -- parts of an event ------------------------------------------------------------------------- */

void chrome_write_ts(struct chrome *chrome, int64_t time_ns)
{
	assert(time_ns >= chrome->base_time_ns);
	writer_us(&chrome->writer, (uint64_t)(time_ns - chrome->base_time_ns));
}

static void write_name(struct chrome *chrome, uint32_t name, const char *label)
{
	if (name)
		view_write_json(&chrome->view, &chrome->writer, name);
	else
		writer_json(&chrome->writer, label, strlen(label));
}

void chrome_write_times(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns)
{
	assert(end_time_ns >= start_time_ns);
	chrome_write_ts(chrome, start_time_ns);
	writer_literal(&chrome->writer, ",\"dur\":");
	if (chrome->process == FLEXTRACE_NONE)
		writer_us(&chrome->writer, (uint64_t)(end_time_ns - start_time_ns));
	else
		chrome_write_dur(chrome, start_time_ns, end_time_ns);
}

/* A number that a JavaScript reader keeps, else the same digits as a string. */
static void write_exact(struct writer *writer, uint64_t value)
{
	if (value >= MAX_EXACT)
		writer_char(writer, '"');
	writer_u64(writer, value);
	if (value >= MAX_EXACT)
		writer_char(writer, '"');
}

static void write_correlation(struct chrome *chrome, uint64_t correlation)
{
	struct writer *writer = &chrome->writer;

	if (correlation == 0)
		return;
	ARG(writer, "correlation");
	write_exact(writer, correlation);
	ARG(writer, "External id");
	write_exact(writer, chrome->is_without_ops ? 0 : correlation);
}

static void write_text_arg(struct chrome *chrome, const char *key, uint32_t string)
{
	if (string == 0)
		return;
	writer_literal(&chrome->writer, ",\"");
	writer_raw(&chrome->writer, key);
	writer_literal(&chrome->writer, "\":");
	view_write_json(&chrome->view, &chrome->writer, string);
}

/* Behind the key of the file. */
static void write_place_in_source(struct chrome *chrome, uint32_t file, uint32_t line)
{
	view_write_json(&chrome->view, &chrome->writer, file);
	ARG(&chrome->writer, "line");
	writer_u64(&chrome->writer, line);
}

static void write_status(struct writer *writer, uint8_t status)
{
	ARG(writer, "status");
	writer_char(writer, '"');
	writer_raw(writer, time_status_name(status));
	writer_char(writer, '"');
}

static void write_err(struct writer *writer, uint32_t err_ns)
{
	if (err_ns == UINT32_MAX)
		return;
	ARG(writer, "err_ns");
	writer_u64(writer, err_ns);
}

/* The counter's low 32 bits, which are all of it until it has wrapped. */
static void write_raw_ticks(struct writer *writer, const uint64_t *ticks, uint32_t n)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= ticks[i];
	if (all <= UINT32_MAX)
		return;
	ARG(writer, "raw");
	for (uint32_t i = 0; i < n; i++) {
		writer_char(writer, i ? ',' : '[');
		writer_u64(writer, (uint32_t)ticks[i]);
	}
	writer_char(writer, ']');
}

static void write_cycles(struct chrome *chrome, const uint64_t *ticks, uint32_t n)
{
	struct writer *writer = &chrome->writer;

	ARG(writer, "cycles");
	for (uint32_t i = 0; i < n; i++) {
		writer_char(writer, i ? ',' : '[');
		if (ticks[i] < MAX_EXACT)
			writer_near(writer, &chrome->cycles, ticks[i]);
		else
			write_exact(writer, ticks[i]);
	}
	writer_char(writer, ']');
}

/* -- events ------------------------------------------------------------------------------------ */

/* Most rows are the user's, as their category says, too. */
static void write_host_kind(struct chrome *chrome, const struct host_row *row)
{
	if (row->file == 0) {
		texts_write(&chrome->host_kinds, row->kind, &chrome->writer);
		return;
	}
	if (row->kind == FLEXTRACE_RUNTIME_USER) {
		writer_literal(&chrome->writer, ",\"args\":{\"file\":");
	} else {
		texts_write(&chrome->host_kinds, row->kind, &chrome->writer);
		ARG(&chrome->writer, "file");
	}
	write_place_in_source(chrome, row->file, row->line);
}

/* From the phase to the time: what both ends of an async interval have in common. */
static void write_async(struct chrome *chrome, char phase, const struct row_kind *kind,
                        const struct chrome_later *end)
{
	struct writer *writer = &chrome->writer;

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"");
	writer_char(writer, phase);
	writer_literal(writer, "\",\"id\":");
	writer_u64(writer, end->id);
	writer_literal(writer, ",\"cat\":\"");
	writer_raw(writer, kind->category);
	writer_literal(writer, "\",\"name\":");
	write_name(chrome, end->name, kind->label);
	texts_write(&chrome->places, end->track, writer);
}

void chrome_write_host(struct chrome *chrome, const struct host_row *row,
                       const struct chrome_later *end)
{
	struct writer *writer = &chrome->writer;

	if (end) {
		write_async(chrome, 'b', kind_of_host(row->kind), end);
		chrome_write_ts(chrome, row->start_time_ns);
	} else {
		chrome_next(chrome);
		texts_write(&chrome->host_heads, row->kind, writer);
		write_name(chrome, row->name, kind_of_host(row->kind)->label);
		texts_write(&chrome->places, row->track, writer);
		chrome_write_times(chrome, row->start_time_ns, row->end_time_ns);
	}
	write_host_kind(chrome, row);
	write_correlation(chrome, row->correlation);
	write_text_arg(chrome, "args", row->args);
	if (row->status != TIME_CERTIFIED)
		write_status(writer, row->status);
	writer_literal(writer, "}}");
}

/* Of a kernel's control block, what the row of the kernel does not tell as well. */
static void write_part_args(struct chrome *chrome, const struct tick_op *op, uint8_t kind)
{
	const uint64_t *ticks = op->ticks + (kind == ROW_DMA_OUT ? 3 : kind == ROW_PREP ? 1 : 0);
	struct writer *writer = &chrome->writer;

	ARG(writer, "job");
	write_exact(writer, op->job);
	if (op->correlation) {
		ARG(writer, "correlation");
		write_exact(writer, op->correlation);
	}
	write_raw_ticks(writer, ticks, 2);
	write_cycles(chrome, ticks, 2);
}

static void write_op_args(struct chrome *chrome, const struct tick_op *op)
{
	struct writer *writer = &chrome->writer;

	ARG(writer, "job");
	write_exact(writer, op->job);
	write_correlation(chrome, op->correlation);
	write_raw_ticks(writer, op->ticks, FLEXTRACE_N_STAMPS);
	write_cycles(chrome, op->ticks, FLEXTRACE_N_STAMPS);
	if (op->bytes) {
		ARG(writer, "bytes");
		write_exact(writer, op->bytes);
	}
	if (op->peer >= 0) {
		ARG(writer, "peer");
		writer_i64(writer, op->peer);
	}
	write_text_arg(chrome, "group", op->group);
	write_text_arg(chrome, "type", op->type);
	if (op->power) {
		ARG(writer, "power");
		writer_u64(writer, op->power);
	}
}

/* What the compiler says of a kernel. */
static void write_cost_args(struct chrome *chrome, const struct device_row *row)
{
	const struct kernel_costs *costs = chrome->view.timeline->costs;
	const struct kernel_cost *cost = kernel_cost_of(costs, row);
	uint32_t device = chrome->view.timeline->tracks[row->track].owner;
	struct writer *writer = &chrome->writer;

	if (!cost)
		return;
	if (cost->phase) {
		ARG(writer, "phase");
		writer_char(writer, '"');
		writer_raw(writer, kernel_phase_name(cost->phase));
		writer_char(writer, '"');
	}
	if (!cost->category)
		return;
	write_text_arg(chrome, "category", cost->category);
	ARG(writer, "ideal_cycles");
	write_exact(writer, cost->ideal_cycles);
	if (row->end_time_ns == row->start_time_ns)
		return; /* nothing to divide by */
	ARG(writer, "pt_util");
	writer_fixed(writer, kernel_utilization(costs, device, row), 4);
}

static void write_zone_args(struct chrome *chrome, const struct zone *zone)
{
	struct writer *writer = &chrome->writer;
	const uint64_t ticks[2] = {zone->first_ticks, zone->last_ticks};

	if (zone->run && zone->run != zone->job) {
		ARG(writer, "run");
		write_exact(writer, zone->run);
	}
	if (zone->job) {
		ARG(writer, "job");
		write_exact(writer, zone->job);
	}
	write_cycles(chrome, ticks, 2);
	if (zone->file) {
		ARG(writer, "file");
		write_place_in_source(chrome, zone->file, zone->line);
	}
}

static void write_any_args(struct chrome *chrome, const struct device_row *row)
{
	const struct timeline *timeline = chrome->view.timeline;

	if (view_is_zone(row))
		write_zone_args(chrome, &timeline->zones[row->source]);
	else if (row->kind == ROW_DMA_IN || row->kind == ROW_PREP || row->kind == ROW_DMA_OUT)
		write_part_args(chrome, &timeline->ops[row->source], row->kind);
	else
		write_op_args(chrome, &timeline->ops[row->source]);
	write_cost_args(chrome, row);
}

void chrome_write_device(struct chrome *chrome, const struct device_row *row,
                         const struct chrome_later *end)
{
	const struct row_kind *kind = kind_of_device(row->kind);
	struct writer *writer = &chrome->writer;

	if (end) {
		write_async(chrome, 'b', kind, end);
		chrome_write_ts(chrome, row->start_time_ns);
	} else {
		chrome_next(chrome);
		texts_write(&chrome->device_heads, row->kind, writer);
		write_name(chrome, view_device_name(&chrome->view, row), kind->label);
		texts_write(&chrome->places, row->track, writer);
		chrome_write_times(chrome, row->start_time_ns, row->end_time_ns);
	}
	texts_write(&chrome->device_args, row->track, writer);
	texts_write(&chrome->device_kinds, row->kind, writer);
	write_any_args(chrome, row);
	if (!view_is_zone(row) || row->status != TIME_CERTIFIED)
		write_status(writer, row->status);
	write_err(writer, row->err_ns);
	writer_literal(writer, "}}");
}

void chrome_write_end(struct chrome *chrome, const struct chrome_later *end)
{
	write_async(chrome, 'e',
	            end->what == LATER_HOST_END ? kind_of_host(end->kind)
	                                        : kind_of_device(end->kind),
	            end);
	chrome_write_ts(chrome, end->time_ns);
	writer_literal(&chrome->writer, ",\"args\":{}}");
}

void chrome_write_instant(struct chrome *chrome, const struct instant_row *row)
{
	struct writer *writer = &chrome->writer;
	const char *kind = instant_kind_name(row->class);

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"");
	writer_raw(writer, row->class == RECORD_MARKER_BATCH ? "firmware" : "cpu_instant_event");
	writer_literal(writer, "\",\"name\":");
	write_name(chrome, row->name, kind);
	texts_write(&chrome->places, row->track, writer);
	chrome_write_ts(chrome, row->time_ns);
	writer_literal(writer, ",\"args\":{\"kind\":\"");
	writer_raw(writer, kind);
	writer_char(writer, '"');
	write_text_arg(chrome, "value", row->value);
	write_correlation(chrome, row->correlation);
	write_status(writer, row->status);
	write_err(writer, row->err_ns);
	writer_literal(writer, "}}");
}

static void start_counter(struct chrome *chrome, uint32_t pid, uint32_t name, const char *label,
                          int64_t time_ns)
{
	chrome_next(chrome);
	writer_literal(&chrome->writer, "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":");
	write_name(chrome, name, label);
	write_place(&chrome->writer, pid, pid);
	chrome_write_ts(chrome, time_ns);
	writer_literal(&chrome->writer, ",\"args\":{");
}

/* A viewer shows one line per pid, name and key of args, so that the key tells the core. */
void chrome_write_counter(struct chrome *chrome, const struct counter_row *row)
{
	struct writer *writer = &chrome->writer;
	uint32_t pid = row->is_device ? chrome->ids.device_pid[row->owner]
	                              : chrome->ids.process_pid[row->owner];

	assert(isfinite(row->value));
	start_counter(chrome, pid, row->name, "counter", row->time_ns);
	if (row->core == FLEXTRACE_NONE) {
		writer_literal(writer, "\"value\":");
	} else {
		writer_literal(writer, "\"core ");
		writer_u64(writer, row->core);
		writer_literal(writer, "\":");
	}
	writer_double(writer, row->value);
	writer_literal(writer, "}}");
}

void chrome_write_memory(struct chrome *chrome, const struct memory_row *row)
{
	start_counter(chrome, chrome->ids.device_pid[row->device], 0, "allocated memory",
	              row->time_ns);
	writer_literal(&chrome->writer, "\"bytes\":");
	writer_u64(&chrome->writer, row->total_bytes);
	writer_literal(&chrome->writer, "}}");
}

void chrome_write_loss(struct chrome *chrome, const struct chrome_loss *loss)
{
	struct writer *writer = &chrome->writer;

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"");
	writer_raw(writer, ledger_cause_id(loss->cause));
	writer_char(writer, '"');
	write_place(writer, CHROME_LOSSES_PID, loss->cause + 1u);
	chrome_write_times(chrome, loss->first_time_ns, loss->last_time_ns);
	writer_literal(writer, ",\"args\":{\"count\":");
	write_exact(writer, loss->count);
	writer_literal(writer, "}}");
}

void chrome_write_flow(struct chrome *chrome, char phase, uint64_t id, const struct flow *flow)
{
	struct writer *writer = &chrome->writer;
	bool is_message = flow_is_message(flow, chrome->view.timeline->tracks);
	bool is_start = phase == 's';

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"");
	writer_char(writer, phase);
	writer_literal(writer, "\",\"id\":");
	writer_u64(writer, id);
	if (is_message) {
		writer_literal(writer, ",\"cat\":\"message\",\"name\":");
		view_write_json(&chrome->view, writer, flow->message.sync);
	} else {
		writer_literal(writer, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
	}
	if (!is_start)
		writer_literal(writer, ",\"bp\":\"e\"");
	texts_write(&chrome->places, is_start ? flow->from_track : flow->to_track, writer);
	chrome_write_ts(chrome, is_start ? flow->from_time_ns : flow->to_time_ns);
	writer_literal(writer, ",\"args\":{");
	if (is_message) {
		writer_literal(writer, "\"group\":");
		view_write_json(&chrome->view, writer, flow->message.group);
	}
	writer_literal(writer, "}}");
}
