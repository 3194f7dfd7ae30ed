/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a line -> a row: where its columns stand, who it is of, when it was. */
#include <stdio.h>
#include <string.h>

#include "base/text/digits.h"
#include "model/words/kinds.h"
#include "table_impl.h"

#define END_NS    (INT64_C(1) << 62)
#define NO_COLUMN SIZE_MAX

/* -- the heading ------------------------------------------------------------------------------ */

/* What a column is. FIELD_COUNT: an argument; more: what flextrace derives from the others, or says
 * of how sure it was. */
static size_t column_of(const char *name)
{
	static const char *const names[] = {
#define FIELD_TEXT(id, text) [FIELD_##id] = text,
		TABLE_FIELDS(FIELD_TEXT)
#undef FIELD_TEXT
			[FIELD_COUNT] = "",
		TABLE_DERIVED};

	if (strcmp(name, "number") == 0) /* collectives.csv */
		return FIELD_SEQ;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return FIELD_COUNT;
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

static int take_heading(struct table_file *table, size_t field, struct flextrace_error *error)
{
	const char *heading = csv_reader_text(&table->csv, field);
	size_t column = column_of(heading);
	bool is_ours = column < FIELD_COUNT;

	FLEXTRACE_TRY(text_list_add(&table->others, "%s", column == FIELD_COUNT ? heading : ""));
	if (*heading && (csv_reader_find(&table->csv, heading) != field ||
	                 (is_ours && table->at[column] != NO_COLUMN)))
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "A column stands twice: file=%s, column=%s", table->path, heading);
	if (is_ours)
		table->at[column] = field;
	return FLEXTRACE_OK;
}

int table_read_heading(struct table_file *table, struct flextrace_error *error)
{
	const char *name;

	for (int i = 0; i < FIELD_COUNT; i++)
		table->at[i] = NO_COLUMN;
	text_list_release(&table->others);
	for (size_t i = 0; i < table->csv.n_fields; i++)
		FLEXTRACE_TRY(take_heading(table, i, error));
	name = missing(table);
	return name ? error_set(error, FLEXTRACE_E_INPUT,
	                        "A column is missing: file=%s, column=%s%s", table->path, name,
	                        table->csv.n_fields == 1 ? "; commas are to stand between columns"
	                                                 : "")
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

static bool place(struct table_file *table, enum table_field column, int64_t *ret_ns)
{
	uint64_t ns;

	if (!read_number(table_text(table, column), END_NS, &ns))
		return false;
	if (!table->has_epoch)
		table->epoch_ns = import_epoch_of((int64_t)ns);
	table->has_epoch = true;
	*ret_ns = (int64_t)ns - table->epoch_ns;
	*ret_ns += !*ret_ns; /* 0 would be a time that nobody knows */
	return *ret_ns > 0;
}

/* NULL, or what is wrong. */
static const char *read_times(struct table_file *table, struct table_row *row)
{
	uint64_t dur_ns;

	if (table_has(table, FIELD_TIME)) {
		if (!place(table, FIELD_TIME, &row->begin_ns))
			return "time_ns is no time";
		row->end_ns = row->begin_ns;
		return NULL;
	}
	if (!place(table, FIELD_START, &row->begin_ns))
		return "start_ns is no time";
	if (*table_text(table, FIELD_END)) {
		if (!place(table, FIELD_END, &row->end_ns))
			return "end_ns is no time";
		return row->end_ns < row->begin_ns ? "its end is before its begin" : NULL;
	}
	if (!read_number(table_text(table, FIELD_DUR), END_NS, &dur_ns))
		return "there is neither an end_ns nor a dur_ns";
	row->end_ns = row->begin_ns + (int64_t)dur_ns;
	return row->end_ns < END_NS ? NULL : "its end is no time";
}

/* -- who -------------------------------------------------------------------------------------- */

/* What somebody placed counts on one clock; else each process has one of its own. */
static int define_process(struct table_file *table, const struct table_row *row)
{
	const char *host = table_text(table, FIELD_HOST);
	char boot_id[64] = "imported table";
	const struct flextrace_process process = {
		.rank = row->rank,
		.pid = (uint32_t)row->pid,
		.boot_id = boot_id,
		.host = *host ? host : IMPORT_HOST,
		.program = "table",
		.runtime = "table",
		.dialect = dialect_name(row->dialect),
	};

	if (!table_has(table, FIELD_STATUS))
		snprintf(boot_id, sizeof(boot_id), "imported table %u", row->process);
	return import_define(&table->import, row->process, row->pid, RECORD_PROCESS, &process);
}

static int add_process(struct table_file *table, const struct table_row *row)
{
	struct import_stream stream = {
		.uuid = "table",
		.clock_offset_ns = table->epoch_ns,
		.is_given = table_has(table, FIELD_STATUS),
	};

	import_number_stream(&stream, 0, row->process);
	FLEXTRACE_TRY(import_add_stream(&table->import, &stream));
	return define_process(table, row);
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

static int find_process(struct table_file *table, struct table_row *row)
{
	uint64_t who = (uint64_t)(uint32_t)row->rank << 32 | (uint32_t)row->pid;
	uint32_t *place, host;

	FLEXTRACE_TRY(string_intern(&table->import.cache, table_text(table, FIELD_HOST), &host));
	FLEXTRACE_TRY(map_enter(&table->process_index, who, host, &place));
	row->process = *place;
	if (row->process == MAP_NONE) {
		row->process = *place = table->import.n_streams;
		FLEXTRACE_TRY(add_process(table, row));
	}
	return note_file(table, row->process);
}

/* 1: the first of it, 0: it is known, or FLEXTRACE_E_MEMORY. */
static int is_new(struct map *map, uint32_t process, uint32_t number)
{
	uint32_t *place;

	FLEXTRACE_TRY(map_enter(map, process, number, &place));
	if (*place != MAP_NONE)
		return 0;
	*place = 0;
	return 1;
}

static int find_thread(struct table_file *table, const struct table_row *row)
{
	struct event event = {
		.class = RECORD_THREAD_NAME,
		.vpid = row->pid,
		.vtid = row->tid,
		.payload.name = {.id = (uint32_t)row->tid, .name = table_text(table, FIELD_THREAD)},
	};
	int code = row->tid < 0 ? 0
	                        : is_new(&table->thread_index, row->process, event.payload.name.id);

	return code <= 0 || !*event.payload.name.name
	               ? code
	               : import_write(&table->import, row->process, &event);
}

static int find_device(struct table_file *table, const struct table_row *row)
{
	const struct flextrace_device device = {.device = row->device};
	int code = is_new(&table->device_index, row->process, row->device);

	return code <= 0 ? code
	                 : import_define(&table->import, row->process, row->pid, RECORD_DEVICE,
	                                 &device);
}

/* Finds the kind of a row. What only one dialect calls so tells the dialect of its process. */
static int find_kind(struct table_file *table, struct table_row *row)
{
	size_t n = strlen(row->kind);
	int code;

	row->kind_key = row->device == FLEXTRACE_NONE ? kind_find_host(row->kind, n, false)
	                                              : kind_find_device(row->kind, n, false);
	if (row->kind_key >= KIND_KEY(DIALECT_COUNT, 0))
		return FLEXTRACE_OK;
	row->dialect = (uint8_t)(row->kind_key >> 8);
	code = is_new(&table->dialect_index, row->process, row->dialect);
	return code <= 0 ? code : define_process(table, row);
}

static int find_owner(struct table_file *table, struct table_row *row, const char **ret_fault)
{
	bool has_rank = *table_text(table, FIELD_RANK), has_tid = *table_text(table, FIELD_TID);
	uint64_t rank, pid, tid, device;

	*ret_fault = "a rank, pid, tid or device is no such number";
	if (!table_number(table, FIELD_RANK, INT32_MAX, &rank) ||
	    !table_number(table, FIELD_PID, INT32_MAX, &pid) ||
	    !table_number(table, FIELD_TID, INT32_MAX, &tid) ||
	    !table_number(table, FIELD_DEVICE, INT32_MAX, &device))
		return FLEXTRACE_OK;
	*ret_fault = NULL;
	row->pid = (int32_t)pid;
	row->tid = has_tid ? (int32_t)tid : -1;
	row->rank = has_rank ? (int32_t)rank : FLEXTRACE_RANK_UNKNOWN;
	FLEXTRACE_TRY(find_process(table, row));
	row->origin = origin_make(table->import.streams[row->process].files.n - 1, table->csv.line);
	if (!*table_text(table, FIELD_DEVICE))
		return find_thread(table, row);
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
		.dialect = DIALECT_NEUTRAL,
		.kind = table_text(table, FIELD_KIND),
		.name = table_text(table, table_has(table, FIELD_NAME) ? FIELD_NAME : FIELD_OP),
		.group = table_text(table, FIELD_GROUP),
		.op = table_text(table, table_has(table, FIELD_OP) ? FIELD_OP : FIELD_NAME),
		.peers = table_text(table, FIELD_PEERS),
	};
	*ret_fault = table->csv.n_fields < table->others.n   ? "there are fewer fields than columns"
	             : table->csv.n_fields > table->others.n ? "there are more fields than columns"
	                                                     : read_times(table, ret_row);
	if (!*ret_fault && !read_numbers(table, ret_row))
		*ret_fault = "a job, correlation, seq or bytes is no such number";
	if (!*ret_fault)
		FLEXTRACE_TRY(find_owner(table, ret_row, ret_fault));
	return *ret_fault ? FLEXTRACE_OK : find_kind(table, ret_row);
}
