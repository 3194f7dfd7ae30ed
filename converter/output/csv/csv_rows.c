// SPDX-License-Identifier: Apache-2.0
/*
 * csv_rows.c: instants.csv, counters.csv, memory.csv: rows of the timeline that are not many.
 */
#include "csv.h"
#include "output/column_text.h"
#include "model/alignment.h"
#include "model/words/kinds.h"

/* What rows of all these tables have. */
struct row_cells {
	struct owner_cells owner;
	int64_t time_ns;
	uint32_t err_ns;
	const char *status, *source;
	char source_text[SOURCE_BYTES + 1];
};

#define COLUMN_SOURCE(row) COLUMN_AS("source", row, cells.source)
#define COLUMNS_OF_OWNER(row)                              \
	COLUMN_OPTIONAL_AS("rank", row, cells.owner.rank), \
		COLUMN_AS("host", row, cells.owner.host),  \
		COLUMN_OPTIONAL_AS("pid", row, cells.owner.pid)
#define COLUMNS_QUALITY(row) \
	COLUMN_OPTIONAL_AS("err_ns", row, cells.err_ns), COLUMN_AS("status", row, cells.status)

static void fill_cells(struct row_cells *cells, const struct view *view, uint32_t process,
                       int64_t time_ns)
{
	cells->owner = identity_owner(view->identity, process);
	cells->time_ns = time_ns + view->epoch_offset_ns;
}

static void fill_source(struct row_cells *cells, const struct view *view, uint32_t stream,
                        uint32_t index)
{
	*view_put_source(view, cells->source_text, stream, index) = '\0';
	cells->source = cells->source_text;
}

static int64_t tid_of(const struct thread *thread)
{
	return thread->vtid >= 0 ? thread->vtid : COLUMN_NONE_I64;
}

/* Puts all rows of a table of the timeline. */
static int fill_rows(const struct findings *findings, const struct table *table, size_t row_bytes,
                     enum record_class (*put)(const struct view *view, const void *row,
                                              struct row_sink *sink),
                     struct row_sink *sink)
{
	struct table_cursor cursor = table_begin(table);
	struct view view;
	const void *row;

	FLEXTRACE_TRY(view_init(&view, findings));
	while ((row = table_next(&cursor, row_bytes)))
		sink->by_class[put(&view, row, sink)]++;
	view_release(&view);
	return FLEXTRACE_OK;
}

/* -- instants.csv ---------------------------------------------------------------------------- */

struct instant_line {
	struct row_cells cells;
	int64_t tid;
	const char *thread, *kind, *name, *value;
	uint32_t device, core;
	uint64_t correlation;
};

static const struct column instant_columns[] = {
	COLUMNS_OF_OWNER(struct instant_line),
	COLUMN_OPTIONAL(struct instant_line, tid),
	COLUMN(struct instant_line, thread),
	COLUMN_OPTIONAL(struct instant_line, device),
	COLUMN_OPTIONAL(struct instant_line, core),
	COLUMN(struct instant_line, kind),
	COLUMN(struct instant_line, name),
	COLUMN(struct instant_line, value),
	COLUMN_OPTIONAL(struct instant_line, correlation),
	COLUMN_AS("time_ns", struct instant_line, cells.time_ns),
	COLUMNS_QUALITY(struct instant_line),
	COLUMN_SOURCE(struct instant_line),
};

static enum record_class put_instant(const struct view *view, const void *any,
                                     struct row_sink *sink)
{
	const struct instant_row *row = any;
	const struct track *track = &view->timeline->tracks[row->track];
	struct instant_line line = {
		.cells.err_ns = row->err_ns,
		.cells.status = time_status_name(row->status),
		.tid = COLUMN_NONE_I64,
		.device = COLUMN_NONE_U32,
		.core = COLUMN_NONE_U32,
		.kind = instant_kind_name(row->class),
		.name = string_get(view->strings, row->name),
		.value = string_get(view->strings, row->value),
		.correlation = instant_correlation(row),
	};

	if (view_is_device_track(track)) {
		line.device = view->identity->devices[track->owner].device;
		line.core = track->kind == TRACK_CORE ? track->id : COLUMN_NONE_U32;
	} else {
		line.tid = tid_of(&view->identity->threads[track->owner]);
		line.thread = string_get(view->strings, view->identity->threads[track->owner].name);
	}
	if (!line.correlation)
		line.correlation = COLUMN_NONE_U64;
	fill_cells(&line.cells, view, view_track_process(view, row->track), row->time_ns);
	fill_source(&line.cells, view, row->stream, row->index);
	row_put(sink, &line);
	return row->class;
}

/* -- counters.csv ---------------------------------------------------------------------------- */

struct counter_line {
	struct row_cells cells;
	uint32_t device, core;
	const char *name;
	double value;
};

static const struct column counter_columns[] = {
	COLUMNS_OF_OWNER(struct counter_line),
	COLUMN_OPTIONAL(struct counter_line, device),
	COLUMN_OPTIONAL(struct counter_line, core),
	COLUMN(struct counter_line, name),
	COLUMN_FIXED(struct counter_line, value, COLUMN_WORDS),
	COLUMN_AS("time_ns", struct counter_line, cells.time_ns),
	COLUMNS_QUALITY(struct counter_line),
	COLUMN_SOURCE(struct counter_line),
};

static enum record_class put_counter(const struct view *view, const void *any,
                                     struct row_sink *sink)
{
	const struct counter_row *row = any;
	const struct device *device = row->is_device ? &view->identity->devices[row->owner] : NULL;
	struct counter_line line = {
		.cells.err_ns = row->err_ns,
		.cells.status = time_status_name(row->status),
		.device = device ? device->device : COLUMN_NONE_U32,
		.core = row->core,
		.name = string_get(view->strings, row->name),
		.value = row->value,
	};

	fill_cells(&line.cells, view, device ? device->process : row->owner, row->time_ns);
	fill_source(&line.cells, view, row->stream, row->index);
	row_put(sink, &line);
	return row->class;
}

/* -- memory.csv ------------------------------------------------------------------------------ */

struct memory_line {
	struct row_cells cells;
	struct memory_row of;
	int64_t tid;
	uint32_t device;
	const char *op;
};

static const struct column memory_columns[] = {
	COLUMNS_OF_OWNER(struct memory_line),
	COLUMN_OPTIONAL(struct memory_line, tid),
	COLUMN(struct memory_line, device),
	COLUMN(struct memory_line, op),
	COLUMN_AS("address", struct memory_line, of.address),
	COLUMN_AS("bytes", struct memory_line, of.bytes),
	COLUMN_AS("total_bytes", struct memory_line, of.total_bytes),
	COLUMN_AS("time_ns", struct memory_line, cells.time_ns),
	COLUMN_SOURCE(struct memory_line),
};

static enum record_class put_memory(const struct view *view, const void *any, struct row_sink *sink)
{
	const struct memory_row *row = any;
	const struct device *device = &view->identity->devices[row->device];
	struct memory_line line = {
		.of = *row,
		.tid = tid_of(&view->identity->threads[row->thread]),
		.device = device->device,
		.op = memory_op_name(row->op),
	};

	fill_cells(&line.cells, view, device->process, row->time_ns);
	fill_source(&line.cells, view, row->stream, row->index);
	row_put(sink, &line);
	return RECORD_MEMORY;
}

/* -- files ------------------------------------------------------------------------------------ */

static int fill_instants(const struct findings *findings, struct row_sink *sink)
{
	return fill_rows(findings, &findings->timeline->instants, sizeof(struct instant_row),
	                 put_instant, sink);
}

static int fill_counters(const struct findings *findings, struct row_sink *sink)
{
	return fill_rows(findings, &findings->timeline->counters, sizeof(struct counter_row),
	                 put_counter, sink);
}

static int fill_memory(const struct findings *findings, struct row_sink *sink)
{
	return fill_rows(findings, &findings->timeline->memory, sizeof(struct memory_row),
	                 put_memory, sink);
}

const struct result_file csv_rows[CSV_N_ROWS] = {
	{"instants.csv", {instant_columns, N_COLUMNS(instant_columns), fill_instants, true}, NULL},
	{"counters.csv", {counter_columns, N_COLUMNS(counter_columns), fill_counters, true}, NULL},
	{"memory.csv", {memory_columns, N_COLUMNS(memory_columns), fill_memory, true}, NULL},
};

int csv_write_rows(const struct findings *findings, const struct emit_options *options,
                   struct emit_file_count *counts, uint32_t *n, struct flextrace_error *error)
{
	const struct timeline *timeline = findings->timeline;
	const struct table *const tables[CSV_N_ROWS] = {&timeline->instants, &timeline->counters,
	                                                &timeline->memory};

	for (size_t i = 0; i < CSV_N_ROWS; i++) {
		struct emit_file_count *count = &counts[(*n)++];

		FLEXTRACE_TRY(
			column_save(&csv_rows[i], findings, options->output_dir, count, error));
		count->expected = tables[i]->n_rows;
	}
	return FLEXTRACE_OK;
}
