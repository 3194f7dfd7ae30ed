// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_rows.c: one event of trace.json each.
 */
#include "chrome.h"

#include <assert.h>
#include <math.h>

#include "model/words/kinds.h"

/* JavaScript readers lose integers above 2^53. */
#define MAX_EXACT ((uint64_t)1 << 53)

/* -- parts of an event ------------------------------------------------------------------------- */

void chrome_write_ts(struct chrome *chrome, int64_t time_ns)
{
	assert(time_ns >= chrome->base_time_ns);
	writer_us_near(&chrome->writer, &chrome->digits.times,
	               (uint64_t)(time_ns - chrome->base_time_ns));
}

static void write_name(struct chrome *chrome, struct writer *writer, uint32_t name,
                       const char *label)
{
	if (name)
		view_write_json(&chrome->view, writer, name);
	else
		writer_json(writer, label, strlen(label));
}

/* Up to the name. */
static void write_head(struct chrome *chrome, const struct row_kind *kind, uint32_t name)
{
	chrome_write_kind_head(&chrome->writer, kind);
	write_name(chrome, &chrome->writer, name, kind->label);
}

void chrome_write_times(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns)
{
	char *at = writer_room(&chrome->writer, 2 * WRITER_NUMBER_BYTES + 8);

	assert(start_time_ns >= chrome->base_time_ns && end_time_ns >= start_time_ns);
	if (!at)
		return;
	at = put_us_near(at, &chrome->digits.times,
	                 (uint64_t)(start_time_ns - chrome->base_time_ns));
	at = put_literal(at, ",\"dur\":");
	if (chrome->process == FLEXTRACE_NONE)
		at = put_us(at, (uint64_t)(end_time_ns - start_time_ns));
	chrome->writer.at = at;
	if (chrome->process != FLEXTRACE_NONE)
		chrome_write_dur(chrome, start_time_ns, end_time_ns);
}

/* A number that a JavaScript reader would not keep: as a string. */
static char *put_inexact(char *at, uint64_t value)
{
	*at = '"';
	at = put_u64(at + 1, value);
	*at = '"';
	return at + 1;
}

static char *put_exact(char *at, uint64_t value)
{
	return value < MAX_EXACT ? put_u64(at, value) : put_inexact(at, value);
}

void chrome_write_exact(struct writer *writer, uint64_t value)
{
	char *at = writer_room(writer, WRITER_NUMBER_BYTES + 2);

	if (at)
		writer->at = put_exact(at, value);
}

static void write_job(struct chrome *chrome, uint64_t job)
{
	char *at = writer_room(&chrome->writer, WRITER_NUMBER_BYTES + 10);

	if (!at)
		return;
	at = put_literal(at, ",\"job\":");
	chrome->writer.at = job < MAX_EXACT ? put_again(at, &chrome->digits.job, job)
	                                    : put_inexact(at, job);
}

static void write_correlation(struct chrome *chrome, uint64_t correlation)
{
	struct writer *writer = &chrome->writer;

	if (correlation == 0)
		return;
	CHROME_ARG(writer, "correlation");
	chrome_write_exact(writer, correlation);
	CHROME_ARG(writer, "External id");
	chrome_write_exact(writer, chrome->is_without_ops ? 0 : correlation);
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

static void write_status(struct writer *writer, uint8_t status)
{
	CHROME_ARG(writer, "status");
	writer_char(writer, '"');
	writer_raw(writer, time_status_name(status));
	writer_char(writer, '"');
}

/* Readers of the file of a rank have no use for it. */
static char *put_source(const struct chrome *chrome, char *at, uint32_t stream, uint32_t index)
{
	if (chrome->process != FLEXTRACE_NONE)
		return at;
	at = put_literal(at, ",\"source\":\"");
	at = view_put_source(&chrome->view, at, stream, index);
	*at = '"';
	return at + 1;
}

/* `told` is NULL where no file told of the row. */
static void write_source(struct chrome *chrome, const struct told *told, uint32_t stream,
                         uint32_t index)
{
	char *at = writer_room(&chrome->writer, SOURCE_BYTES + 16);

	if (at && !(told && chrome_told_has(told, "source")))
		chrome->writer.at = put_source(chrome, at, stream, index);
}

/* The last argument, and the end of the event. */
static void write_err(struct chrome *chrome, uint32_t err_ns)
{
	char *at = writer_room(&chrome->writer, WRITER_NUMBER_BYTES + 12);

	if (!at)
		return;
	if (err_ns != UINT32_MAX)
		at = put_again(put_literal(at, ",\"err_ns\":"), &chrome->digits.err, err_ns);
	chrome->writer.at = put_literal(at, "}}");
}

/* The counter's low 32 bits, which are all of it until it has wrapped. */
static void write_raw_ticks(struct writer *writer, const uint64_t *ticks, uint32_t n)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= ticks[i];
	if (all <= UINT32_MAX)
		return;
	CHROME_ARG(writer, "raw");
	for (uint32_t i = 0; i < n; i++) {
		writer_char(writer, i ? ',' : '[');
		writer_u64(writer, (uint32_t)ticks[i]);
	}
	writer_char(writer, ']');
}

static char *put_ticks(struct chrome *chrome, char *at, uint64_t ticks)
{
	if (ticks < MAX_EXACT)
		return put_near(at, &chrome->digits.cycles, ticks);
	return put_inexact(at, ticks);
}

/* At most FLEXTRACE_N_STAMPS of them. */
static void write_cycles(struct chrome *chrome, const uint64_t *ticks, uint32_t n)
{
	char *at = writer_room(&chrome->writer,
	                       FLEXTRACE_N_STAMPS * (WRITER_NUMBER_BYTES + 3) + 16);

	if (!at)
		return;
	at = put_literal(at, ",\"cycles\":[");
	for (uint32_t i = 0; i < n; i++) {
		at = put_ticks(chrome, at, ticks[i]);
		*at++ = ',';
	}
	at[-1] = ']';
	chrome->writer.at = at;
}

/* -- events ------------------------------------------------------------------------------------ */

/* Most rows are the user's, as their category says, too. */
static void write_host_kind(struct chrome *chrome, const struct host_row *row)
{
	bool has_kind = row->file == 0 || row->kind != FLEXTRACE_RUNTIME_USER;
	struct writer *writer = &chrome->writer;

	writer_literal(writer, ",\"args\":{");
	if (has_kind)
		chrome_write_kind(writer, kind_of_host(row->kind));
	if (row->file == 0)
		return;
	if (has_kind)
		writer_char(writer, ',');
	writer_literal(writer, "\"file\":");
	chrome_write_source(chrome, writer, row->file, row->line);
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
	write_name(chrome, writer, end->name, kind->label);
	fragments_write(&chrome->fragments.track_ids, end->track, writer);
}

/* `told` is NULL where no file told of the row. */
static void write_host_args(struct chrome *chrome, const struct host_row *row,
                            const struct told *told)
{
	if (told) {
		chrome_write_told_args(chrome, told, kind_of_host(row->kind)->label);
	} else {
		write_host_kind(chrome, row);
		write_correlation(chrome, row->correlation);
		write_text_arg(chrome, "args", row->args);
	}
	if (row->status != TIME_CERTIFIED && !(told && chrome_told_has(told, "status")))
		write_status(&chrome->writer, row->status);
	write_source(chrome, told, row->stream, row->index);
	writer_literal(&chrome->writer, "}}");
}

void chrome_write_host(struct chrome *chrome, const struct host_row *row,
                       const struct chrome_later *end)
{
	const struct row_kind *kind = kind_of_host(row->kind);
	struct writer *writer = &chrome->writer;
	struct told told;
	bool is_told = chrome_told_of_host(chrome, row, &told);

	if (end) {
		write_async(chrome, 'b', kind, end);
		chrome_write_ts(chrome, row->start_time_ns);
	} else {
		chrome_next(chrome);
		if (is_told)
			chrome_write_told_head(chrome, &told, row->name, kind->label);
		else
			write_head(chrome, kind, row->name);
		fragments_write(&chrome->fragments.track_ids, row->track, writer);
		chrome_write_times(chrome, row->start_time_ns, row->end_time_ns);
	}
	write_host_args(chrome, row, is_told ? &told : NULL);
}

/* Of a kernel's control block, what the row of the kernel does not tell as well. Who reads the file
 * of a rank takes what has a correlation and no stream for a launch. */
static void write_part_args(struct chrome *chrome, const struct tick_op *op, uint8_t kind)
{
	const uint64_t *ticks = op->ticks + (kind == ROW_DMA_OUT ? 3 : kind == ROW_PREP ? 1 : 0);
	struct writer *writer = &chrome->writer;

	write_job(chrome, op->job);
	if (op->correlation && chrome->process == FLEXTRACE_NONE) {
		CHROME_ARG(writer, "correlation");
		chrome_write_exact(writer, op->correlation);
	}
	write_raw_ticks(writer, ticks, 2);
	write_cycles(chrome, ticks, 2);
}

static void write_op_args(struct chrome *chrome, const struct tick_op *op)
{
	struct writer *writer = &chrome->writer;

	write_job(chrome, op->job);
	write_correlation(chrome, op->correlation);
	write_raw_ticks(writer, op->ticks, FLEXTRACE_N_STAMPS);
	write_cycles(chrome, op->ticks, FLEXTRACE_N_STAMPS);
	if (op->bytes) {
		CHROME_ARG(writer, "bytes");
		chrome_write_exact(writer, op->bytes);
	}
	if (op->peer >= 0) {
		CHROME_ARG(writer, "peer");
		writer_i64(writer, op->peer);
	}
	write_text_arg(chrome, "group", op->group);
	if (op->type && !told_is_likely(string_get(chrome->view.strings, op->type)))
		write_text_arg(chrome, "type", op->type);
	if (op->power) {
		CHROME_ARG(writer, "power");
		writer_u64(writer, op->power);
	}
}

/* What the compiler says of a kernel. */
static void write_cost_args(struct chrome *chrome, const struct device_row *row)
{
	const struct kernel_costs *costs = chrome->view.findings->costs;
	const struct kernel_cost *cost = kernel_cost_of(costs, row);
	uint32_t device = chrome->view.timeline->tracks[row->track].owner;
	struct writer *writer = &chrome->writer;

	if (!cost)
		return;
	if (cost->phase) {
		CHROME_ARG(writer, "phase");
		writer_char(writer, '"');
		writer_raw(writer, kernel_phase_name(cost->phase));
		writer_char(writer, '"');
	}
	if (!cost->category)
		return;
	write_text_arg(chrome, "category", cost->category);
	CHROME_ARG(writer, "ideal_cycles");
	chrome_write_exact(writer, cost->ideal_cycles);
	if (!kernel_time_ns(costs, row))
		return; /* nothing to divide by */
	CHROME_ARG(writer, "pt_util");
	writer_fixed(writer, kernel_utilization(costs, cost, device, row), 4);
}

/* From the track to the opened list of cycles. */
static char *put_run(struct chrome *chrome, char *at, const struct device_row *row,
                     const struct mark_run *run)
{
	struct run_fragment *fragment = &chrome->fragments.runs[row->track];
	uint32_t source = view_run_source(&chrome->view, row, run);

	if (fragment->run != run || fragment->source != source) {
		char *end = fragments_put(&chrome->fragments.device_args, row->track,
		                          fragment->bytes);

		if (run->run && run->run != run->job)
			end = put_exact(put_literal(end, ",\"run\":"), run->run);
		if (run->job)
			end = put_exact(put_literal(end, ",\"job\":"), run->job);
		end = put_source(chrome, end, run->stream, source);
		run_fragment_end(fragment, run, source, put_literal(end, ",\"cycles\":["));
	}
	return run_fragment_put(fragment, at);
}

/* Up to the error. */
static void write_zone_args(struct chrome *chrome, const struct device_row *row)
{
	const struct zone *zone = &chrome->view.timeline->marks.zones[row->source];
	char *at = writer_room(&chrome->writer, chrome->fragments.zone_bytes);

	if (!at)
		return;
	at = put_run(chrome, at, row, view_run(&chrome->view, zone));
	at = put_ticks(chrome, at, zone->first_ticks);
	*at = ',';
	at = put_ticks(chrome, at + 1, zone->last_ticks);
	*at = ']';
	chrome->writer.at = fragments_put(&chrome->fragments.marker_args, zone->marker, at + 1);
	if (row->status != TIME_CERTIFIED)
		write_status(&chrome->writer, row->status);
}

static void write_row_source(struct chrome *chrome, const struct device_row *row,
                             const struct told *told)
{
	uint32_t stream, index;

	view_device_source(&chrome->view, row, &stream, &index);
	write_source(chrome, told, stream, index);
}

static void write_op_row_args(struct chrome *chrome, const struct device_row *row)
{
	const struct tick_op *op = &chrome->view.timeline->ops[row->source];

	fragments_write(&chrome->fragments.device_args, row->track, &chrome->writer);
	writer_char(&chrome->writer, ',');
	chrome_write_kind(&chrome->writer, kind_of_device(row->kind));
	if (row->kind == ROW_DMA_IN || row->kind == ROW_PREP || row->kind == ROW_DMA_OUT)
		write_part_args(chrome, op, row->kind);
	else
		write_op_args(chrome, op);
	if (chrome_is_copy(chrome, row))
		chrome_write_bandwidth(chrome, row);
	write_cost_args(chrome, row);
	write_status(&chrome->writer, row->status);
	write_row_source(chrome, row, NULL);
}

/* Of ours, what the file does not know. */
static void write_told_row_args(struct chrome *chrome, const struct device_row *row,
                                const struct told *told)
{
	const struct tick_op *op = &chrome->view.timeline->ops[row->source];

	chrome_write_told_args(chrome, told, kind_of_device(row->kind)->label);
	chrome_write_told_ids(chrome, told, row);
	if (!chrome_told_has(told, "job"))
		write_job(chrome, op->job);
	if (op->status != TIME_GIVEN && !chrome_told_has(told, "cycles")) {
		write_raw_ticks(&chrome->writer, op->ticks, FLEXTRACE_N_STAMPS);
		write_cycles(chrome, op->ticks, FLEXTRACE_N_STAMPS);
	}
	write_cost_args(chrome, row);
	if (!chrome_told_has(told, "status"))
		write_status(&chrome->writer, row->status);
	write_row_source(chrome, row, told);
}

static void write_device_args(struct chrome *chrome, const struct device_row *row,
                              const struct told *told)
{
	if (told)
		write_told_row_args(chrome, row, told);
	else if (view_is_zone(row))
		write_zone_args(chrome, row);
	else
		write_op_row_args(chrome, row);
	write_err(chrome, row->err_ns);
}

/* What a file told of a row; false: nothing, or its parts are ours. */
static bool is_told(const struct chrome *chrome, const struct device_row *row,
                    struct told *ret_told)
{
	bool is_part = row->kind == ROW_DMA_IN || row->kind == ROW_PREP || row->kind == ROW_DMA_OUT;

	return !view_is_zone(row) && !is_part &&
	       chrome_told(chrome, chrome->view.timeline->ops[row->source].type, ret_told);
}

/* Up to the name. */
static void write_device_head(struct chrome *chrome, const struct device_row *row)
{
	const struct timeline *timeline = chrome->view.timeline;

	if (view_is_zone(row)) {
		fragments_write(&chrome->fragments.marker_heads,
		                timeline->marks.zones[row->source].marker, &chrome->writer);
		return;
	}
	if (chrome_is_copy(chrome, row))
		chrome_write_copy_head(chrome, row);
	else
		write_head(chrome, kind_of_device(row->kind), timeline->ops[row->source].name);
}

void chrome_write_device(struct chrome *chrome, const struct device_row *row,
                         const struct chrome_later *end)
{
	struct told told;
	bool has_told = is_told(chrome, row, &told);

	if (end) {
		write_async(chrome, 'b', kind_of_device(row->kind), end);
		chrome_write_ts(chrome, row->start_time_ns);
	} else {
		chrome_next(chrome);
		if (has_told)
			chrome_write_told_head(chrome, &told, view_device_name(&chrome->view, row),
			                       kind_of_device(row->kind)->label);
		else
			write_device_head(chrome, row);
		fragments_write(&chrome->fragments.track_ids, row->track, &chrome->writer);
		chrome_write_times(chrome, row->start_time_ns, row->end_time_ns);
	}
	write_device_args(chrome, row, has_told ? &told : NULL);
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
	struct told told;
	bool is_told = chrome_told(chrome, row->value, &told);

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"");
	if (is_told && told.category.length)
		writer_json_inside(writer, told.category.bytes, told.category.length);
	else
		writer_raw(writer,
		           row->class == RECORD_MARKER_BATCH ? "firmware" : "cpu_instant_event");
	writer_literal(writer, "\",\"name\":");
	write_name(chrome, writer, row->name, kind);
	fragments_write(&chrome->fragments.track_ids, row->track, writer);
	chrome_write_ts(chrome, row->time_ns);
	if (is_told) {
		chrome_write_told_args(chrome, &told, kind);
	} else {
		writer_literal(writer, ",\"args\":{\"kind\":\"");
		writer_raw(writer, kind);
		writer_char(writer, '"');
		write_text_arg(chrome, "value", row->value);
		write_correlation(chrome, instant_correlation(row));
	}
	if (!is_told || !chrome_told_has(&told, "status"))
		write_status(writer, row->status);
	write_source(chrome, is_told ? &told : NULL, row->stream, row->index);
	write_err(chrome, row->err_ns);
}

static void start_counter(struct chrome *chrome, uint32_t pid, uint32_t name, const char *label,
                          int64_t time_ns)
{
	chrome_next(chrome);
	writer_literal(&chrome->writer, "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":");
	write_name(chrome, &chrome->writer, name, label);
	chrome_write_ids(&chrome->writer, pid, pid);
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
