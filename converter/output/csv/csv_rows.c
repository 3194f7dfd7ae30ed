// SPDX-License-Identifier: Apache-2.0
/*
 * csv_rows.c: instants.csv, counters.csv, memory.csv: rows of the timeline that are not many.
 */
#include "csv.h"
#include "model/timeline/any_row.h"
#include "model/words/kinds.h"

/* Of a row what all have, what its table has, and what its record is called. */
struct csv_row {
	struct any_row of;
	union {
		struct counter_row counter;
		struct memory_row memory;
	};
	const char *source;
	char source_text[SOURCE_BYTES + 1];
};

#define COLUMN_SOURCE COLUMN_TYPED("source", WORD, const char *, false, struct csv_row, source)

#define COLUMNS_QUALITY                                          \
	COLUMN_OPTIONAL_AS("err_ns", struct csv_row, of.err_ns), \
		COLUMN_NAMED("status", struct csv_row, of.status, time_status_name)

static const struct column instant_columns[] = {
	COLUMNS_PROCESS(struct csv_row, of.process),
	COLUMNS_THREAD(struct csv_row, of.thread),
	COLUMN_DEVICE(struct csv_row, of.device),
	COLUMN_OPTIONAL_AS("core", struct csv_row, of.core),
	COLUMN_NAMED("kind", struct csv_row, of.class, instant_kind_name),
	COLUMN_STRING("name", struct csv_row, of.name),
	COLUMN_STRING("value", struct csv_row, of.args),
	COLUMN_NONZERO("correlation", struct csv_row, of.correlation),
	COLUMN_TIME("time_ns", struct csv_row, of.start_time_ns),
	COLUMNS_QUALITY,
	COLUMN_SOURCE,
};

static const struct column counter_columns[] = {
	COLUMNS_PROCESS(struct csv_row, of.process),
	COLUMN_DEVICE(struct csv_row, of.device),
	COLUMN_OPTIONAL_AS("core", struct csv_row, of.core),
	COLUMN_STRING("name", struct csv_row, of.name),
	COLUMN_FIXED_AS("value", struct csv_row, counter.value, COLUMN_WORDS),
	COLUMN_TIME("time_ns", struct csv_row, of.start_time_ns),
	COLUMNS_QUALITY,
	COLUMN_SOURCE,
};

static const struct column memory_columns[] = {
	COLUMNS_PROCESS(struct csv_row, of.process),
	COLUMN_TYPED("tid", TID, uint32_t, true, struct csv_row, of.thread),
	COLUMN_DEVICE(struct csv_row, of.device),
	COLUMN_NAMED("op", struct csv_row, memory.op, memory_op_name),
	COLUMN_AS("address", struct csv_row, memory.address),
	COLUMN_AS("bytes", struct csv_row, memory.bytes),
	COLUMN_AS("total_bytes", struct csv_row, memory.total_bytes),
	COLUMN_TIME("time_ns", struct csv_row, of.start_time_ns),
	COLUMN_SOURCE,
};

static int fill(const struct findings *findings, enum row_table table, struct row_sink *sink)
{
	const struct table *rows = timeline_table(findings->timeline, table);
	struct table_cursor cursor = table_begin(rows);
	struct csv_row line;
	struct view view;
	const void *row;

	FLEXTRACE_TRY(view_init(&view, findings));
	line.source = line.source_text;
	while ((row = table_next(&cursor, any_row_bytes[table]))) {
		any_row_read(view.timeline, table, row, &line.of);
		if (table == OF_COUNTERS)
			line.counter = *(const struct counter_row *)row;
		if (table == OF_MEMORY)
			line.memory = *(const struct memory_row *)row;
		*view_put_source(&view, line.source_text, line.of.stream, line.of.index) = '\0';
		row_put(sink, &line);
		sink->count->by_class[line.of.class]++;
	}
	sink->count->expected = rows->n_rows;
	sink->count->has_classes = true;
	view_release(&view);
	return FLEXTRACE_OK;
}

/* -- files ------------------------------------------------------------------------------------ */

static int fill_instants(const struct findings *findings, struct row_sink *sink)
{
	return fill(findings, OF_INSTANTS, sink);
}

static int fill_counters(const struct findings *findings, struct row_sink *sink)
{
	return fill(findings, OF_COUNTERS, sink);
}

static int fill_memory(const struct findings *findings, struct row_sink *sink)
{
	return fill(findings, OF_MEMORY, sink);
}

const struct result_file csv_rows[CSV_N_ROWS] = {
	{.name = "instants.csv",
         .title = "Instants",
         .what = "Points in time: instants, annotations and marks of the "
                 "firmware.",
         .table = COLUMN_TABLE(instant_columns, fill_instants)},
	{.name = "counters.csv",
         .title = "Counters",
         .what = "Samples of counters: recorded ones and computed ones.",
         .table = COLUMN_TABLE(counter_columns, fill_counters)},
	{.name = "memory.csv",
         .title = "Memory records",
         .what = "Allocations and frees of device memory as they were "
                 "recorded, and the total after each.",
         .table = COLUMN_TABLE(memory_columns, fill_memory)},
};
