// SPDX-License-Identifier: Apache-2.0
#include "csv.h"

#include "model/words/kinds.h"
#include "model/alignment.h"

/* -- fields ------------------------------------------------------------------------------------ */

void csv_write_owner(struct csv *csv, struct writer *writer, uint32_t process)
{
	if (process == FLEXTRACE_NONE)
		writer_literal(writer, ",,,");
	else
		fragments_write(&csv->owners, process, writer);
}

void csv_write_id(struct writer *writer, uint32_t value)
{
	if (value != FLEXTRACE_NONE)
		writer_u64(writer, value);
	writer_char(writer, ',');
}

void csv_write_nonzero(struct writer *writer, uint64_t value)
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

void csv_write_time(struct csv *csv, struct writer *writer, int64_t time_ns)
{
	char *at = writer_room(writer, WRITER_NUMBER_BYTES + 2);

	if (at)
		writer->at = put_time(csv, at, time_ns);
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

struct emit_file_count *csv_count(struct csv *csv, const char *file, uint64_t expected)
{
	struct emit_file_count *count = &csv->counts[(*csv->n_counts)++];

	*count = (struct emit_file_count){.file = file, .expected = expected};
	return count;
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
                       uint8_t kind, uint32_t name)
{
	fragments_write(kinds, kind, writer);
	csv_write_string(csv, writer, name);
}

static enum record_class write_host(struct csv *csv, struct writer *writer, const void *any)
{
	const struct host_row *row = any;
	const struct track *track = &csv->view.timeline->tracks[row->track];

	fragments_write(&csv->tracks, row->track, writer);
	write_kind(csv, writer, &csv->host_kinds, row->kind, row->name);
	csv_write_nonzero(writer, row->correlation);
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
	uint32_t stream, index;

	fragments_write(&csv->tracks, row->track, writer);
	write_kind(csv, writer, &csv->device_kinds, row->kind, op->name);
	writer_u64(writer, op->job);
	writer_char(writer, ',');
	csv_write_nonzero(writer, op->correlation);
	write_interval(csv, writer, row->start_time_ns, row->end_time_ns);
	write_quality(csv, writer, row->err_ns, row->status);
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		write_ticks(csv, writer, op->ticks[i]);
	csv_write_nonzero(writer, op->bytes);
	csv_write_nonzero(writer, op->power);
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
		write_zone(csv, writer, row, &timeline->zones[row->source]);
	else
		write_op(csv, writer, row, &timeline->ops[row->source]);
	return view_device_class(&csv->view, row);
}

static enum record_class write_instant(struct csv *csv, struct writer *writer, const void *any)
{
	const struct instant_row *row = any;
	const struct track *track = &csv->view.timeline->tracks[row->track];

	csv_write_owner(csv, writer, view_track_process(&csv->view, row->track));
	if (view_is_device_track(track)) {
		writer_literal(writer, ",,");
		csv_write_id(writer, csv->view.identity->devices[track->owner].device);
		csv_write_id(writer, track->kind == TRACK_CORE ? track->id : FLEXTRACE_NONE);
	} else {
		csv_write_tid(writer, &csv->view.identity->threads[track->owner]);
		csv_write_string(csv, writer, csv->view.identity->threads[track->owner].name);
		writer_literal(writer, ",,");
	}
	writer_raw(writer, instant_kind_name(row->class));
	writer_char(writer, ',');
	csv_write_string(csv, writer, row->name);
	csv_write_string(csv, writer, row->value);
	csv_write_nonzero(writer, instant_correlation(row));
	csv_write_time(csv, writer, row->time_ns);
	write_quality(csv, writer, row->err_ns, row->status);
	write_source(csv, writer, row->stream, row->index);
	return row->class;
}

static enum record_class write_counter(struct csv *csv, struct writer *writer, const void *any)
{
	const struct counter_row *row = any;
	const struct identity *identity = csv->view.identity;

	csv_write_owner(csv, writer,
	                row->is_device ? identity->devices[row->owner].process : row->owner);
	csv_write_id(writer,
	             row->is_device ? identity->devices[row->owner].device : FLEXTRACE_NONE);
	csv_write_id(writer, row->core);
	csv_write_string(csv, writer, row->name);
	writer_double(writer, row->value);
	writer_char(writer, ',');
	csv_write_time(csv, writer, row->time_ns);
	write_quality(csv, writer, row->err_ns, row->status);
	write_source(csv, writer, row->stream, row->index);
	return row->class;
}

static enum record_class write_memory(struct csv *csv, struct writer *writer, const void *any)
{
	const struct memory_row *row = any;
	const struct device *device = &csv->view.identity->devices[row->device];

	csv_write_owner(csv, writer, device->process);
	csv_write_tid(writer, &csv->view.identity->threads[row->thread]);
	csv_write_id(writer, device->device);
	writer_raw(writer, memory_op_name(row->op));
	writer_char(writer, ',');
	writer_u64(writer, row->address);
	writer_char(writer, ',');
	writer_u64(writer, row->bytes);
	writer_char(writer, ',');
	writer_u64(writer, row->total_bytes);
	writer_char(writer, ',');
	csv_write_time(csv, writer, row->time_ns);
	write_source(csv, writer, row->stream, row->index);
	return RECORD_MEMORY;
}

/* -- files ------------------------------------------------------------------------------------- */

struct csv_file {
	const char *name, *header;
	size_t table_offset; /* in struct timeline */
	size_t row_bytes;
	enum record_class (*write)(struct csv *csv, struct writer *writer, const void *row);
};

static const struct csv_file host_file = {
	"host.csv",
	"rank,host,pid,tid,thread,kind,name,correlation,depth,start_ns,end_ns,dur_ns,err_ns,status,"
	"args,source\n",
	offsetof(struct timeline, host_rows),
	sizeof(struct host_row),
	write_host,
};

static const struct csv_file device_file = {
	"events.csv",
	"rank,host,pid,device,core,queue,kind,name,job,correlation,start_ns,end_ns,dur_ns,err_ns,"
	"status,ts1,ts2,ts3,ts4,ts5,bytes,power,category,class,group,peer,ideal_cycles,pt_util,"
	"iteration,phase,moved_ns,source\n",
	offsetof(struct timeline, device_rows),
	sizeof(struct device_row),
	write_device,
};

static const struct csv_file other_files[] = {
	{
		"instants.csv",
		"rank,host,pid,tid,thread,device,core,kind,name,value,correlation,time_ns,err_ns,"
		"status,source\n",
		offsetof(struct timeline, instants),
		sizeof(struct instant_row),
		write_instant,
	},
	{
		"counters.csv",
		"rank,host,pid,device,core,name,value,time_ns,err_ns,status,source\n",
		offsetof(struct timeline, counters),
		sizeof(struct counter_row),
		write_counter,
	},
	{
		"memory.csv",
		"rank,host,pid,tid,device,op,address,bytes,total_bytes,time_ns,source\n",
		offsetof(struct timeline, memory),
		sizeof(struct memory_row),
		write_memory,
	},
};

static int write_file(struct csv *csv, const struct csv_file *file, struct flextrace_error *error)
{
	const char *base = (const char *)csv->view.timeline;
	const struct table *table = (const void *)(base + file->table_offset);
	struct emit_file_count *count = csv_count(csv, file->name, table->n_rows);
	struct table_cursor cursor;
	struct writer writer;
	const void *row;

	count->has_classes = true;
	FLEXTRACE_TRY(writer_open(&writer, csv->options->output_dir, file->name, false, error));
	writer_raw(&writer, file->header);
	timeline_read(&cursor, table);
	while ((row = table_next(&cursor, file->row_bytes)) && !writer_failed(&writer)) {
		count->by_class[file->write(csv, &writer, row)]++;
		count->rows++;
	}
	count->replaced_bytes = writer.replaced_bytes;
	return writer_close(&writer, error);
}

static int write_others(struct csv *csv, struct flextrace_error *error)
{
	for (size_t i = 0; i < sizeof(other_files) / sizeof(other_files[0]); i++)
		FLEXTRACE_TRY(write_file(csv, &other_files[i], error));
	return csv_write_reports(csv, error);
}

enum csv_part { PART_HOST, PART_DEVICE, PART_REST };

static int write_part(enum csv_part part, const struct findings *findings,
                      const struct emit_options *options, struct emit_file_count *counts,
                      uint32_t *n, struct flextrace_error *error)
{
	struct csv csv;
	int code = csv_init(&csv, findings, options);

	csv.counts = counts;
	csv.n_counts = n;
	if (code < 0)
		error_set(error, code, "Cannot write CSV files: cause=no memory");
	else if (part == PART_HOST)
		code = write_file(&csv, &host_file, error);
	else if (part == PART_DEVICE)
		code = write_file(&csv, &device_file, error);
	else
		code = write_others(&csv, error);
	csv_release(&csv);
	return code;
}

static int write_host_part(const struct findings *findings, const struct emit_options *options,
                           struct emit_file_count *counts, uint32_t *n,
                           struct flextrace_error *error)
{
	return write_part(PART_HOST, findings, options, counts, n, error);
}

static int write_device_part(const struct findings *findings, const struct emit_options *options,
                             struct emit_file_count *counts, uint32_t *n,
                             struct flextrace_error *error)
{
	return write_part(PART_DEVICE, findings, options, counts, n, error);
}

static int write_rest(const struct findings *findings, const struct emit_options *options,
                      struct emit_file_count *counts, uint32_t *n, struct flextrace_error *error)
{
	return write_part(PART_REST, findings, options, counts, n, error);
}

const struct emitter emit_csv_host = {.format = "csv", .write = write_host_part};
const struct emitter emit_csv_device = {.format = "csv", .write = write_device_part};
const struct emitter emit_csv_rest = {.format = "csv", .write = write_rest};
