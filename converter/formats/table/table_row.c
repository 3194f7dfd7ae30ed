/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a line -> a row: where its columns stand, who it is of, when it was. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/digits.h"
#include "table_impl.h"

#define MAX_UPTIME_NS ((int64_t)1 << 53) /* larger times count from the Unix epoch */
#define END_NS        (INT64_C(1) << 62)
#define SECOND_NS     INT64_C(1000000000)
#define DAY_S         86400
#define NO_COLUMN     SIZE_MAX

/* -- the heading ------------------------------------------------------------------------------ */

/* What flextrace derives from the others, and what says how sure it was. */
static bool is_derived(const char *name)
{
	static const char *const names[] = {
		"depth",  "err_ns",       "ts1",       "ts2",     "ts3",         "ts4",
		"ts5",    "category",     "class",     "core",    "phase",       "moved_ns",
		"source", "ideal_cycles", "iteration", "pt_util", "total_bytes",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static enum table_field column_of(const char *name)
{
	static const char *const names[] = {
#define FIELD_TEXT(id, text) [FIELD_##id] = text,
		TABLE_FIELDS(FIELD_TEXT)
#undef FIELD_TEXT
	};
	enum table_field column = 0;

	if (strcmp(name, "number") == 0) /* collectives.csv */
		return FIELD_SEQ;
	while (column < FIELD_COUNT && strcmp(names[column], name) != 0)
		column++;
	return column;
}

bool table_has(const struct table_file *table, enum table_field column)
{
	return table->at[column] != NO_COLUMN;
}

static const char *missing(const struct table_file *table)
{
	if (!table_has(table, FIELD_RANK))
		return "rank";
	if (table_has(table, FIELD_TIME))
		return NULL;
	if (!table_has(table, FIELD_NAME) && !table_has(table, FIELD_OP))
		return "name";
	if (!table_has(table, FIELD_START))
		return "start_ns";
	return table_has(table, FIELD_END) || table_has(table, FIELD_DUR) ? NULL : "end_ns";
}

int table_read_heading(struct table_file *table, struct flextrace_error *error)
{
	const char *name;

	for (int i = 0; i < FIELD_COUNT; i++)
		table->at[i] = NO_COLUMN;
	text_list_release(&table->headings);
	table->n_fields = table->csv.n_fields;
	free(table->is_other);
	table->is_other = calloc(table->n_fields + 1, sizeof(*table->is_other));
	if (!table->is_other)
		return FLEXTRACE_E_MEMORY;
	for (size_t i = 0; i < table->n_fields; i++) {
		const char *heading = csv_reader_text(&table->csv, i);
		enum table_field column = column_of(heading);

		FLEXTRACE_TRY(text_list_add(&table->headings, "%s", heading));
		if (column == FIELD_COUNT)
			table->is_other[i] = !is_derived(heading);
		else
			table->at[column] = i;
	}
	name = missing(table);
	return name ? error_set(error, FLEXTRACE_E_INPUT, "A column is missing: file=%s, column=%s",
	                        table->path, name)
	            : FLEXTRACE_OK;
}

/* -- fields ----------------------------------------------------------------------------------- */

const char *table_text(const struct table_file *table, enum table_field column)
{
	return table_has(table, column) ? csv_reader_text(&table->csv, table->at[column]) : "";
}

/* Programs that have no integers beside empty cells write "12.0". */
static bool read_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	if (!digits_take(&text, max, ret_number))
		return false;
	if (*text == '.')
		text += 1 + strspn(text + 1, "0");
	return !*text;
}

bool table_number(const struct table_file *table, enum table_field column, uint64_t max,
                  uint64_t *ret_number)
{
	const char *text = table_text(table, column);

	*ret_number = 0;
	return !*text || read_number(text, max, ret_number);
}

/* -- when ------------------------------------------------------------------------------------- */

/* Times since the Unix epoch count from a day before the first one that is read. */
static bool place(struct table_file *table, const char *text, int64_t *ret_ns)
{
	uint64_t ns;

	if (!read_number(text, END_NS, &ns))
		return false;
	if (!table->has_epoch && (int64_t)ns > MAX_UPTIME_NS)
		table->epoch_ns = ((int64_t)ns / SECOND_NS - DAY_S) * SECOND_NS;
	table->has_epoch = true;
	*ret_ns = (int64_t)ns - table->epoch_ns;
	*ret_ns += !*ret_ns; /* 0 would be a time that nobody knows */
	return *ret_ns > 0;
}

/* NULL, or what is wrong. */
static const char *read_times(struct table_file *table, struct table_row *row)
{
	const char *end = table_text(table, FIELD_END);
	uint64_t dur_ns;

	if (table_has(table, FIELD_TIME)) {
		if (!place(table, table_text(table, FIELD_TIME), &row->begin_ns))
			return "time_ns is no time";
		row->end_ns = row->begin_ns;
		return NULL;
	}
	if (!place(table, table_text(table, FIELD_START), &row->begin_ns))
		return "start_ns is no time";
	if (*end)
		return place(table, end, &row->end_ns) ? NULL : "end_ns is no time";
	if (!*table_text(table, FIELD_DUR) || !table_number(table, FIELD_DUR, END_NS, &dur_ns))
		return "there is neither an end_ns nor a dur_ns";
	row->end_ns = row->begin_ns + (int64_t)dur_ns;
	return row->end_ns < END_NS ? NULL : "its end is no time";
}

/* -- who -------------------------------------------------------------------------------------- */

static int add_process(struct table_file *table, const struct table_process *process)
{
	struct import_stream stream = {
		.uuid = "table",
		.clock_offset_ns = table->epoch_ns,
		.is_given = table_has(table, FIELD_STATUS),
	};

	for (int i = 0; i < 4; i++)
		stream.uuid[12 + i] = (uint8_t)(table->n_processes >> (24 - 8 * i));
	FLEXTRACE_TRY(import_add_stream(&table->import, &stream));
	return ARRAY_PUSH(table->processes, table->n_processes, *process);
}

/* Files are named in the streams of those that they have rows of. */
static int note_file(struct table_file *table, uint32_t process)
{
	const struct text_list *files = &table->import.streams[process].files;
	const char *last = files->n ? files->texts[files->n - 1] : "";

	if (strncmp(last, "table ", 6) == 0 && strcmp(last + 6, table->path) == 0)
		return FLEXTRACE_OK;
	return import_add_file(&table->import, process, "table", table->path);
}

static int find_process(struct table_file *table, uint64_t rank, uint64_t pid, uint32_t *ret)
{
	struct table_process process = {
		.rank = *table_text(table, FIELD_RANK) ? (int32_t)rank : FLEXTRACE_RANK_UNKNOWN,
		.pid = (uint32_t)pid};
	uint64_t who;

	FLEXTRACE_TRY(
		string_intern(&table->import.cache, table_text(table, FIELD_HOST), &process.host));
	who = (uint64_t)(uint32_t)process.rank << 32 | process.pid;
	*ret = map_find(&table->process_index, who, process.host);
	if (*ret == MAP_NONE) {
		*ret = table->n_processes;
		FLEXTRACE_TRY(map_put(&table->process_index, who, process.host, *ret));
		FLEXTRACE_TRY(add_process(table, &process));
	}
	return note_file(table, *ret);
}

static int find_thread(struct table_file *table, uint32_t process, int32_t tid)
{
	struct table_thread thread = {.process = process, .tid = tid};

	if (tid < 0 || map_find(&table->thread_index, process, (uint32_t)tid) != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(
		string_intern(&table->import.cache, table_text(table, FIELD_THREAD), &thread.name));
	FLEXTRACE_TRY(map_put(&table->thread_index, process, (uint32_t)tid, table->n_threads));
	return ARRAY_PUSH(table->threads, table->n_threads, thread);
}

static int find_device(struct table_file *table, const struct table_row *row)
{
	struct table_device device = {row->process, row->device};

	if (map_find(&table->device_index, row->process, row->device) != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_put(&table->device_index, row->process, row->device, table->n_devices));
	return ARRAY_PUSH(table->devices, table->n_devices, device);
}

static int find_owner(struct table_file *table, struct table_row *row, const char **ret_fault)
{
	uint64_t rank, pid, tid, device;

	*ret_fault = "a rank, pid, tid or device is no such number";
	if (!table_number(table, FIELD_RANK, INT32_MAX, &rank) ||
	    !table_number(table, FIELD_PID, INT32_MAX, &pid) ||
	    !table_number(table, FIELD_TID, INT32_MAX, &tid) ||
	    !table_number(table, FIELD_DEVICE, INT32_MAX, &device))
		return FLEXTRACE_OK;
	*ret_fault = NULL;
	FLEXTRACE_TRY(find_process(table, rank, pid, &row->process));
	row->tid = *table_text(table, FIELD_TID) ? (int32_t)tid : -1;
	if (!*table_text(table, FIELD_DEVICE))
		return find_thread(table, row->process, row->tid);
	row->device = (uint32_t)device;
	return find_device(table, row);
}

/* -- a row ------------------------------------------------------------------------------------ */

static bool read_numbers(const struct table_file *table, struct table_row *row)
{
	row->has_seq = *table_text(table, FIELD_SEQ) && *row->group;
	return table_number(table, FIELD_CORRELATION, UINT64_MAX, &row->correlation) &&
	       table_number(table, FIELD_JOB, UINT64_MAX, &row->job) &&
	       table_number(table, FIELD_BYTES, UINT64_MAX, &row->bytes) &&
	       table_number(table, FIELD_SEQ, UINT64_MAX, &row->seq);
}

int table_read_row(struct table_file *table, struct table_row *ret_row, const char **ret_fault)
{
	*ret_row = (struct table_row){
		.device = FLEXTRACE_NONE,
		.kind = table_text(table, FIELD_KIND),
		.name = table_text(table, table_has(table, FIELD_NAME) ? FIELD_NAME : FIELD_OP),
		.group = table_text(table, FIELD_GROUP),
		.op = table_text(table, table_has(table, FIELD_OP) ? FIELD_OP : FIELD_NAME),
		.peers = table_text(table, FIELD_PEERS),
	};
	*ret_fault = "there are fewer fields than columns";
	if (table->csv.n_fields != table->n_fields)
		return FLEXTRACE_OK;
	*ret_fault = read_times(table, ret_row);
	if (!*ret_fault && ret_row->end_ns < ret_row->begin_ns)
		*ret_fault = "its end is before its begin";
	if (!*ret_fault && !read_numbers(table, ret_row))
		*ret_fault = "a job, correlation, seq or bytes is no such number";
	if (*ret_fault)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_owner(table, ret_row, ret_fault));
	if (!*ret_fault)
		ret_row->origin = origin_make(table->import.streams[ret_row->process].files.n - 1,
		                              table->csv.line);
	return FLEXTRACE_OK;
}
