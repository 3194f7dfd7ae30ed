// SPDX-License-Identifier: Apache-2.0
#include "csv.h"

#include "model/timeline/any_row.h"
#include "model/words/kinds.h"
#include "model/alignment.h"

/* -- fields ------------------------------------------------------------------------------------ */

static void write_nonzero(struct writer *writer, uint64_t value)
{
	if (value)
		writer_u64(writer, value);
	writer_char(writer, ',');
}

static char *put_time(struct csv *csv, char *at, int64_t time_ns)
{
	int64_t epoch_ns = time_ns + csv->view.epoch_offset_ns;

	if (epoch_ns < 0)
		*at++ = '-';
	at = put_near(at, &csv->times, epoch_ns < 0 ? -(uint64_t)epoch_ns : (uint64_t)epoch_ns);
	*at++ = ',';
	return at;
}

static void write_ticks(struct csv *csv, struct writer *writer, uint64_t ticks)
{
	if (ticks)
		writer_near(writer, &csv->ticks, ticks);
	writer_char(writer, ',');
}

static char *put_interval(struct csv *csv, char *at, int64_t start_time_ns, int64_t end_time_ns)
{
	at = put_time(csv, at, start_time_ns);
	at = put_time(csv, at, end_time_ns);
	at = put_u64(at, (uint64_t)(end_time_ns - start_time_ns));
	*at = ',';
	return at + 1;
}

static void write_interval(struct csv *csv, struct writer *writer, int64_t start_time_ns,
                           int64_t end_time_ns)
{
	char *at = writer_room(writer, 3 * (WRITER_NUMBER_BYTES + 2));

	if (at)
		writer->at = put_interval(csv, at, start_time_ns, end_time_ns);
}

static void learn_quality(struct csv *csv, uint32_t err_ns, uint8_t status)
{
	struct csv_quality *quality = &csv->quality;
	char *at = quality->bytes;

	if (err_ns != UINT32_MAX) /* no bound */
		at = put_u64(at, err_ns);
	*at++ = ',';
	quality->n = (uint32_t)(fragments_put(&csv->statuses, status, at) - quality->bytes);
	quality->err_ns = err_ns;
	quality->status = status;
}

/* Most rows are as good as the one before. */
static char *put_quality(struct csv *csv, char *at, uint32_t err_ns, uint8_t status)
{
	struct csv_quality *quality = &csv->quality;

	if (quality->err_ns != err_ns || quality->status != status || !quality->n)
		learn_quality(csv, err_ns, status);
	memcpy(at, quality->bytes, sizeof(quality->bytes));
	return at + quality->n;
}

static void write_quality(struct csv *csv, struct writer *writer, uint32_t err_ns, uint8_t status)
{
	char *at = writer_room(writer, sizeof(csv->quality.bytes));

	if (at)
		writer->at = put_quality(csv, at, err_ns, status);
}

/* Ends the line. */
static void write_source(struct csv *csv, struct writer *writer, uint32_t stream, uint32_t index)
{
	view_write_source(&csv->view, writer, stream, index);
	writer_char(writer, '\n');
}

/* -- lines ------------------------------------------------------------------------------------- */

static void write_host_quality(struct csv *csv, struct writer *writer, const struct host_row *row,
                               uint32_t process)
{
	const struct alignment *alignment = csv->view.timeline->alignment;
	uint32_t start_ns, end_ns;

	if (row->status != TIME_CERTIFIED) {
		write_quality(csv, writer, UINT32_MAX, row->status);
		return;
	}
	if (csv->view.is_exact[process]) {
		writer_literal(writer, "0,certified,");
		return;
	}
	start_ns = alignment_bound(alignment, process, row->start_time_ns);
	end_ns = alignment_bound(alignment, process, row->end_time_ns);
	write_quality(csv, writer, start_ns > end_ns ? start_ns : end_ns, TIME_CERTIFIED);
}

/* Two columns. `kinds` are those of all rows of a file. */
static void write_kind(struct csv *csv, struct writer *writer, const struct fragments *kinds,
                       uint32_t key, uint32_t name)
{
	fragments_write(kinds, key, writer);
	csv_write_string(csv, writer, name);
}

static enum record_class write_host(struct csv *csv, struct writer *writer, const void *any)
{
	const struct host_row *row = any;
	const struct track *track = &csv->view.timeline->tracks[row->track];

	fragments_write(&csv->tracks, row->track, writer);
	write_kind(csv, writer, &csv->host_kinds, KIND_KEY(track->dialect, row->kind), row->name);
	write_nonzero(writer, row->correlation);
	writer_u64(writer, row->depth);
	writer_char(writer, ',');
	write_interval(csv, writer, row->start_time_ns, row->end_time_ns);
	write_host_quality(csv, writer, row, csv->view.identity->threads[track->owner].process);
	csv_write_string(csv, writer, row->args);
	write_source(csv, writer, row->stream, row->index);
	return row->class;
}

static void write_iteration(struct csv *csv, struct writer *writer, uint32_t source)
{
	const uint32_t *iteration_of_op = csv->view.findings->iteration_of_op;

	if (iteration_of_op && iteration_of_op[source])
		writer_u64(writer, iteration_of_op[source] - 1);
	writer_char(writer, ',');
}

/* From ideal_cycles to phase. */
static void write_cost(struct csv *csv, struct writer *writer, const struct device_row *row)
{
	const struct kernel_costs *costs = csv->view.findings->costs;
	const struct kernel_cost *cost = kernel_cost_of(costs, row);
	uint32_t device = csv->view.timeline->tracks[row->track].owner;

	if (!cost || !cost->category) {
		writer_literal(writer, ",,");
	} else {
		writer_u64(writer, cost->ideal_cycles);
		writer_char(writer, ',');
		writer_fixed(writer, kernel_utilization(costs, cost, device, row), 4);
		writer_char(writer, ',');
	}
	write_iteration(csv, writer, row->source);
	if (cost)
		writer_raw(writer, kernel_phase_name(cost->phase));
	writer_char(writer, ',');
}

static void write_moved(const struct csv *csv, struct writer *writer, const struct device_row *row,
                        const struct tick_op *op)
{
	int64_t moved_ns;

	if (op->estimate && view_moved(&csv->view, row, op, &moved_ns))
		writer_i64(writer, moved_ns);
	writer_char(writer, ',');
}

static void write_op(struct csv *csv, struct writer *writer, const struct device_row *row,
                     const struct tick_op *op)
{
	const struct kernel_cost *cost = kernel_cost_of(csv->view.findings->costs, row);
	uint8_t dialect = csv->view.timeline->tracks[row->track].dialect;
	uint32_t stream, index;

	fragments_write(&csv->tracks, row->track, writer);
	write_kind(csv, writer, &csv->device_kinds, KIND_KEY(dialect, row->kind), op->name);
	writer_u64(writer, op->job);
	writer_char(writer, ',');
	write_nonzero(writer, op->correlation);
	write_interval(csv, writer, row->start_time_ns, row->end_time_ns);
	write_quality(csv, writer, row->err_ns, row->status);
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		write_ticks(csv, writer, op->ticks[i]);
	write_nonzero(writer, op->bytes);
	write_nonzero(writer, op->power);
	csv_write_string(csv, writer, cost ? cost->category : 0);
	fragments_write(&csv->classes, event_class_of(csv->view.findings->classes, row), writer);
	csv_write_string(csv, writer, op->group);
	if (op->peer >= 0)
		writer_i64(writer, op->peer);
	writer_char(writer, ',');
	write_cost(csv, writer, row);
	write_moved(csv, writer, row, op);
	view_device_source(&csv->view, row, &stream, &index);
	write_source(csv, writer, stream, index);
}

/* The source, and the end of the line. */
static char *put_run(struct csv *csv, char *at, const struct device_row *row,
                     const struct mark_run *run)
{
	struct run_fragment *fragment = &csv->runs[row->track];
	uint32_t source = view_run_source(&csv->view, row, run);

	if (fragment->run != run || fragment->source != source) {
		char *end = view_put_source(&csv->view, fragment->bytes, run->stream, source);

		run_fragment_end(fragment, run, source, put_literal(end, "\n"));
	}
	return run_fragment_put(fragment, at);
}

static void write_zone(struct csv *csv, struct writer *writer, const struct device_row *row,
                       const struct zone *zone)
{
	const struct mark_run *run = view_run(&csv->view, zone);
	char *at = writer_room(writer, csv->zone_bytes);

	if (!at)
		return;
	at = fragments_put(&csv->tracks, row->track, at);
	at = fragments_put(&csv->markers, zone->marker, at);
	if (run->job)
		at = put_again(at, &csv->job, run->job);
	at = put_literal(at, ",,");
	at = put_interval(csv, at, row->start_time_ns, row->end_time_ns);
	at = put_quality(csv, at, row->err_ns, row->status);
	at = put_near(at, &csv->ticks, zone->first_ticks);
	at = put_literal(at, ",,,,");
	at = put_near(at, &csv->ticks, zone->last_ticks);
	at = put_literal(at, ",,,,,,,,,,,,");
	writer->at = put_run(csv, at, row, run);
}

static enum record_class write_device(struct csv *csv, struct writer *writer, const void *any)
{
	const struct device_row *row = any;
	const struct timeline *timeline = csv->view.timeline;

	if (view_is_zone(row))
		write_zone(csv, writer, row, &timeline->marks.zones[row->source]);
	else
		write_op(csv, writer, row, &timeline->ops[row->source]);
	return view_device_class(&csv->view, row);
}

/* -- files ------------------------------------------------------------------------------------- */

const struct column csv_host_columns[CSV_HOST_COLUMNS] = {
	COLUMNS_PROCESS(struct any_row, process), COLUMNS_THREAD(struct any_row, thread),
	COLUMN_WRITTEN("kind", TEXT, false),      COLUMN_WRITTEN("name", TEXT, false),
	COLUMN_WRITTEN("correlation", U64, true), COLUMN_WRITTEN("depth", U32, false),
	COLUMN_WRITTEN("start_ns", I64, false),   COLUMN_WRITTEN("end_ns", I64, false),
	COLUMN_WRITTEN("dur_ns", U64, false),     COLUMN_WRITTEN("err_ns", U32, true),
	COLUMN_WRITTEN("status", TEXT, false),    COLUMN_WRITTEN("args", TEXT, false),
	COLUMN_WRITTEN("source", TEXT, false),
};

const struct column csv_event_columns[CSV_EVENT_COLUMNS] = {
	COLUMNS_PROCESS(struct any_row, process),  COLUMN_DEVICE(struct any_row, device),
	COLUMN_OPTIONAL(struct any_row, core),     COLUMN_OPTIONAL(struct any_row, queue),
	COLUMN_WRITTEN("kind", TEXT, false),       COLUMN_WRITTEN("name", TEXT, false),
	COLUMN_WRITTEN("job", U64, true),          COLUMN_WRITTEN("correlation", U64, true),
	COLUMN_WRITTEN("start_ns", I64, false),    COLUMN_WRITTEN("end_ns", I64, false),
	COLUMN_WRITTEN("dur_ns", U64, false),      COLUMN_WRITTEN("err_ns", U32, true),
	COLUMN_WRITTEN("status", TEXT, false),     COLUMN_WRITTEN("ts1", U64, true),
	COLUMN_WRITTEN("ts2", U64, true),          COLUMN_WRITTEN("ts3", U64, true),
	COLUMN_WRITTEN("ts4", U64, true),          COLUMN_WRITTEN("ts5", U64, true),
	COLUMN_WRITTEN("bytes", U64, true),        COLUMN_WRITTEN("power", U32, true),
	COLUMN_WRITTEN("category", TEXT, false),   COLUMN_WRITTEN("class", TEXT, false),
	COLUMN_WRITTEN("group", TEXT, false),      COLUMN_WRITTEN("peer", I64, true),
	COLUMN_WRITTEN("ideal_cycles", U64, true), COLUMN_WRITTEN("pt_util", REAL, false),
	COLUMN_WRITTEN("iteration", U32, true),    COLUMN_WRITTEN("phase", TEXT, false),
	COLUMN_WRITTEN("moved_ns", I64, true),     COLUMN_WRITTEN("source", TEXT, false),
};

typedef enum record_class write_row(struct csv *csv, struct writer *writer, const void *row);

static void write_rows(struct csv *csv, enum row_table table, write_row *write,
                       struct text_sink *sink)
{
	const struct table *rows = timeline_table(csv->view.timeline, table);
	struct table_cursor cursor = table_begin(rows);
	const void *row;

	while ((row = table_next(&cursor, any_row_bytes[table])) && !writer_failed(&sink->writer)) {
		struct writer *writer = sink->lines ? &sink->lines->line : &sink->writer;

		file_count_row(sink->count, write(csv, writer, row));
		if (sink->lines)
			sink->lines->take(sink);
	}
	sink->count->expected = rows->n_rows;
	sink->count->has_classes = true;
}

/* Many rows: what they have in common is written once and copied. */
static int write_file(const struct findings *findings, enum row_table table, write_row *write,
                      struct text_sink *sink)
{
	struct csv csv;
	int code = csv_init(&csv, findings);

	if (code == FLEXTRACE_OK)
		write_rows(&csv, table, write, sink);
	csv_release(&csv);
	return code;
}

static int write_host_file(const struct findings *findings, struct text_sink *sink)
{
	return write_file(findings, OF_HOST, write_host, sink);
}

static int write_device_file(const struct findings *findings, struct text_sink *sink)
{
	return write_file(findings, OF_DEVICE, write_device, sink);
}

const struct result_file emit_csv_host = {
	.name = "host.csv",
	.title = "Host intervals",
	.what = "Each interval of the host, in order of its begin.",
	.table = {csv_host_columns, CSV_HOST_COLUMNS, NULL},
	.write = write_host_file};
const struct result_file emit_csv_device = {
	.name = "events.csv",
	.title = "Device intervals",
	.what = "Each interval of a device, in order of its begin, with its "
		"error bar.",
	.table = {csv_event_columns, CSV_EVENT_COLUMNS, NULL},
	.write = write_device_file};
