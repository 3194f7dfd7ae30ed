/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/digits.h"
#include "model/words/told.h"
#include "nsys_impl.h"

#define MAGIC   "SQLite format 3"
#define LAST_NS (INT64_MAX / 2)

/* -- what becomes of a row ------------------------------------------------------------------- */

int nsys_reject(struct nsys *nsys, const struct nsys_rows *rows, enum loss_cause cause,
                const char *fault)
{
	return import_reject(&nsys->import, cause, fault, rows->place);
}

struct event nsys_event(const struct nsys *nsys, const struct nsys_row *row,
                        enum record_class class)
{
	struct event event = {.class = class, .clock_ns = row->end_ns, .n_origins = 1};

	event.vpid = nsys->processes[row->process].pid;
	event.vtid = row->tid;
	event.origins[0] = origin_make(nsys->import.streams[nsys->stream].files.n - 1,
	                               row->cells->place);
	return event;
}

int nsys_write(struct nsys *nsys, const struct event *event)
{
	nsys->n_rows++;
	return import_write(&nsys->import, nsys->stream, event);
}

/* -- arguments ------------------------------------------------------------------------------- */

static void add_text(struct json_text *args, const char *key, const char *text)
{
	uint64_t number;

	if (*key != '=')
		json_text_string(args, key, text);
	else if (told_is_json(text) || digits_read_all(text, UINT64_MAX, &number))
		json_text_raw(args, key + 1, text);
	else if (*text)
		json_text_string(args, key + 1, text);
}

static void add_cell(struct json_text *args, sqlite3_stmt *row, int cell)
{
	const char *key = sqlite3_column_name(row, cell), *text;
	int type = sqlite3_column_type(row, cell);
	char real[32];

	if (type == SQLITE_NULL || type == SQLITE_BLOB)
		return;
	text = (const char *)sqlite3_column_text(row, cell);
	if (type == SQLITE_FLOAT) {
		snprintf(real, sizeof(real), "%.17g", sqlite3_column_double(row, cell));
		text = isfinite(sqlite3_column_double(row, cell)) ? real : NULL;
	}
	if (text && type == SQLITE_TEXT)
		add_text(args, key, text);
	else if (text)
		json_text_raw(args, key + (*key == '='), text);
}

int nsys_args(struct nsys *nsys, const struct nsys_row *row, const char **ret_args)
{
	sqlite3_stmt *cells = row->cells->statement;
	size_t n_bytes;

	json_text_clear(&nsys->args);
	json_text_open(&nsys->args, '{');
	for (int i = NSYS_CATEGORY; i < sqlite3_column_count(cells); i++)
		add_cell(&nsys->args, cells, i);
	json_text_close(&nsys->args, '}');
	return json_text_get(&nsys->args, ret_args, &n_bytes);
}

/* -- rows ------------------------------------------------------------------------------------ */

/* Moves a time to the clock of the stream. */
static bool move_time(const struct nsys *nsys, int64_t ns, uint64_t *ret_ns)
{
	int64_t moved;

	if (__builtin_sub_overflow(ns, nsys->base_ns, &moved) || moved <= 0 || moved > LAST_NS)
		return false;
	*ret_ns = (uint64_t)moved;
	return true;
}

/* Returns what is wrong with the times of a row; NULL: nothing is. */
static const char *read_times(const struct nsys *nsys, struct nsys_row *row)
{
	int64_t begin_ns, end_ns;

	if (!nsys_integer(row->cells, NSYS_START, &begin_ns))
		return "its start is no number";
	row->has_end = nsys_integer(row->cells, NSYS_END, &end_ns);
	if (!row->has_end && !nsys->table->may_be_open)
		return "its end is no number";
	if (!row->has_end)
		end_ns = begin_ns;
	if (!move_time(nsys, begin_ns, &row->begin_ns) || !move_time(nsys, end_ns, &row->end_ns))
		return "its time is out of range";
	return NULL;
}

/* What tells no process is of the only one, or of one without a number. */
static int read_owner(struct nsys *nsys, struct nsys_row *row)
{
	int64_t global;

	row->tid = -1;
	if (nsys_integer(row->cells, NSYS_TID, &global))
		row->tid = (int32_t)(global & 0xffffff);
	else if (!nsys_integer(row->cells, NSYS_PID, &global)) {
		if (nsys->n_processes == 1)
			return FLEXTRACE_OK;
		global = 0;
	}
	return nsys_find_process(nsys, global, &row->process);
}

static int take_row(struct nsys *nsys, const struct nsys_rows *rows)
{
	struct nsys_row row = {.cells = rows};
	const char *fault = read_times(nsys, &row), *name = nsys_text(rows, NSYS_NAME);
	int64_t correlation;

	if (fault)
		return nsys_reject(nsys, rows, LOSS_MALFORMED, fault);
	if (row.end_ns < row.begin_ns)
		return nsys_reject(nsys, rows, LOSS_BACKWARDS, "its end is before its start");
	FLEXTRACE_TRY(read_owner(nsys, &row));
	row.name = name ? name : "";
	row.group = nsys_text(rows, NSYS_GROUP);
	if (nsys_integer(rows, NSYS_CORRELATION, &correlation) && correlation > 0)
		row.correlation = (uint64_t)correlation;
	return nsys->table->take(nsys, &row);
}

/* Nothing that is counted is sure behind that. */
static int tell_damage(struct nsys *nsys, const char *table)
{
	import_warn(&nsys->import,
	            "The table is damaged, and not read to its end: file=%s:%s, cause=%s",
	            nsys->path, table, nsys_db_cause(&nsys->db));
	nsys->session.has_lost = true;
	return import_lose(&nsys->import, LOSS_TRUNCATED_STREAM, 1);
}

int nsys_run(struct nsys *nsys, const char *table, const char *sql)
{
	int code = nsys_db_run(&nsys->db, sql);

	return code == FLEXTRACE_E_INPUT ? tell_damage(nsys, table) : code;
}

int nsys_each(struct nsys *nsys, const char *table, const char *sql,
              int (*visit)(struct nsys *nsys, const struct nsys_rows *rows))
{
	struct nsys_rows rows;
	char path[4096];
	int code = nsys_rows_begin(&rows, &nsys->db, sql);

	rows.has_numbers = nsys->table;
	rows.is_in_any_order = nsys->table && nsys->table->is_in_any_order;
	snprintf(path, sizeof(path), "%s:%s", nsys->path, table);
	while (code == 0 && (code = nsys_rows_next(&rows)) > 0)
		code = visit(nsys, &rows);
	import_warn_of_faults(&nsys->import, path, "Rows", "row");
	if (code == 0 && rows.is_damaged)
		code = tell_damage(nsys, table);
	nsys_rows_end(&rows);
	return code;
}

/* A table is an input of its own: rows are numbered in it. */
int nsys_read_table(struct nsys *nsys, const struct nsys_table *table)
{
	char sql[8192];
	int code;

	snprintf(sql, sizeof(sql), "%s:%s", nsys->path, table->table);
	FLEXTRACE_TRY(import_add_file(&nsys->import, nsys->stream, "nsys", sql));
	snprintf(sql, sizeof(sql), "SELECT " NSYS_CELLS ", %s, %s, %s AS cat, %s FROM %s",
	         table->meeting, table->name, table->category, table->args,
	         table->from ? table->from : table->table);
	nsys->table = table;
	code = nsys_each(nsys, table->table, sql, take_row);
	nsys->table = NULL;
	return code;
}

/* -- a file ---------------------------------------------------------------------------------- */

static void end_file(struct nsys *nsys)
{
	nsys_db_close(&nsys->db);
	nsys->n_rows = nsys->n_processes = nsys->n_fields = 0;
	map_release(&nsys->process_index);
	map_release(&nsys->devices);
}

static int read_rows(struct nsys *nsys)
{
	const struct import_stream stream = {.instance = nsys->stream};

	FLEXTRACE_TRY(import_add_stream(&nsys->import, &stream));
	FLEXTRACE_TRY(nsys_read_session(nsys));
	FLEXTRACE_TRY(nsys_read_payloads(nsys));
	FLEXTRACE_TRY(nsys_read_communicators(nsys));
	FLEXTRACE_TRY(nsys_read_tables(nsys));
	FLEXTRACE_TRY(nsys_tell_what_is_not_read(nsys));
	return nsys_define_all(nsys);
}

/* A report as nsys keeps it, which only nsys can read. */
static bool is_unexported(const char *path)
{
	return path_ends_with(path, ".nsys-rep") || path_ends_with(path, ".qdrep");
}

static int read_file(struct nsys *nsys, const char *path, struct flextrace_error *error)
{
	int code;

	if (is_unexported(path))
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Only nsys can read its reports; run `nsys export --type sqlite` "
		                 "on it first, and give what that writes: file=%s",
		                 path);
	nsys->path = path;
	nsys->stream = nsys->import.n_streams;
	nsys->db.strings = nsys->import.strings;
	nsys->db.cache = &nsys->import.cache;
	code = nsys_db_open(&nsys->db, path);
	if (code == 0)
		code = nsys_define_tables(&nsys->db);
	if (code < 0)
		error_set(error, code, "Cannot read the SQLite file: file=%s, cause=%s", path,
		          code == FLEXTRACE_E_MEMORY ? "no memory" : nsys_db_cause(&nsys->db));
	else
		code = read_rows(nsys);
	if (code >= 0 && !nsys->n_rows)
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "There is no row of a report of nsys: file=%s", path);
	end_file(nsys);
	return code;
}

/* -- the format ------------------------------------------------------------------------------ */

static int probe_report(const struct probe *probe)
{
	return memcmp(probe->bytes, MAGIC, sizeof(MAGIC)) == 0 || is_unexported(probe->path);
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	struct nsys *nsys = (struct nsys *)import;
	int code = FLEXTRACE_OK;

	nsys->args = (struct json_text)JSON_TEXT_INIT;
	nsys->ranks = import->options->torch_ranks;
	for (uint32_t i = 0; i < import->options->n_paths && code >= 0; i++)
		code = read_file(nsys, import->options->paths[i], error);
	json_text_release(&nsys->args);
	return code;
}

static void release(struct import *import)
{
	struct nsys *nsys = (struct nsys *)import;

	end_file(nsys);
	free(nsys->processes);
	free(nsys->fields);
}

const struct import_format import_nsys = {
	.dialect = IMPORT_NSYS,
	.probe = probe_report,
	.n_bytes = sizeof(struct nsys),
	.read = read_all,
	.release = release,
};
