/* SPDX-License-Identifier: Apache-2.0 */
/* Files of plain tables, which nothing but the user says they are; of a folder our own ones. */
#include <stdlib.h>
#include <string.h>

#include "table_impl.h"

/* -- a file ----------------------------------------------------------------------------------- */

/* A bad line costs itself. */
static int take_line(struct table_file *table)
{
	struct table_row row;
	const char *fault;

	FLEXTRACE_TRY(table_read_row(table, &row, &fault));
	return fault ? import_reject(&table->import, LOSS_MALFORMED, fault, table->csv.line)
	             : table_write_row(table, &row);
}

/* What is behind a line that is no CSV cannot be read. */
static int read_lines(struct table_file *table, FILE *file, struct flextrace_error *error)
{
	int code = csv_reader_next(&table->csv, error);

	if (code <= 0)
		return code < 0 ? code
		                : error_set(error, FLEXTRACE_E_INPUT, "The table is empty: file=%s",
		                            table->path);
	FLEXTRACE_TRY(table_read_heading(table, error));
	while ((code = csv_reader_next(&table->csv, error)) > 0)
		FLEXTRACE_TRY(take_line(table));
	if (code == FLEXTRACE_E_INPUT || ferror(file)) {
		import_warn(&table->import, "%s", error->message);
		return import_cut(&table->import, table->path);
	}
	return code;
}

static int read_file(struct table_file *table, const char *path, struct flextrace_error *error)
{
	FILE *file = text_open(path, error);
	int code;

	if (!file)
		return FLEXTRACE_E_INPUT;
	table->path = path;
	csv_reader_init(&table->csv, file, path);
	code = read_lines(table, file, error);
	csv_reader_release(&table->csv);
	fclose(file);
	import_warn_of_faults(&table->import, path, "Rows", "line");
	return code;
}

/* -- all files -------------------------------------------------------------------------------- */

static bool is_ours(const char *name)
{
	static const char *const names[] = {"events.csv", "host.csv", "instants.csv",
	                                    "counters.csv", "memory.csv"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static const struct path_filter files = {.fits = is_ours};

struct reading {
	struct table_file *table;
	struct flextrace_error *error;
};

static int read_entry(void *context, const char *path)
{
	const struct reading *reading = context;

	return read_file(reading->table, path, reading->error);
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	struct reading reading = {(struct table_file *)import, error};
	const struct import_options *options = import->options;
	struct flextrace_error unused;

	if (!error)
		reading.error = &unused;
	reading.table->args = (struct json_text)JSON_TEXT_INIT;
	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(path_each(options->paths[i], &files, read_entry, &reading));
	if (!import->n_streams)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no row of a table: file=%s",
		                 options->paths[0]);
	return table_define(reading.table);
}

/* -- the format ------------------------------------------------------------------------------- */

/* Any CSV file may be one: only --as=table makes it one. */
static int probe_none(const struct probe *probe)
{
	(void)probe;
	return 0;
}

static void release(struct import *import)
{
	struct table_file *table = (struct table_file *)import;

	free(table->processes);
	free(table->threads);
	free(table->devices);
	map_release(&table->process_index);
	map_release(&table->thread_index);
	map_release(&table->device_index);
	text_list_release(&table->headings);
	json_text_release(&table->args);
	free(table->is_other);
}

const struct import_format import_table = {
	.dialect = IMPORT_TABLE,
	.filter = NULL,
	.probe = probe_none,
	.n_bytes = sizeof(struct table_file),
	.read = read_all,
	.release = release,
};
