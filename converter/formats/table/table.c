/* SPDX-License-Identifier: Apache-2.0 */
/* Files of plain tables, which nothing but the user says they are; of a folder our own ones. */
#include <string.h>

#include "table_impl.h"

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

	if (code == 0)
		return error_set(error, FLEXTRACE_E_INPUT, "The table is empty: file=%s",
		                 table->path);
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(table_read_heading(table, error));
	while ((code = csv_reader_next(&table->csv, error)) > 0)
		FLEXTRACE_TRY(take_line(table));
	if (code == FLEXTRACE_E_INPUT || ferror(file)) {
		import_warn(&table->import, "%s", error->message);
		return import_cut(&table->import, table->path);
	}
	return code;
}

static int read_file(struct import *import, const char *path, struct flextrace_error *error)
{
	struct table_file *table = (struct table_file *)import;
	FILE *file = text_open(path, error);
	int code;

	if (!file)
		return error->code;
	table->path = path;
	csv_reader_init(&table->csv, file, path);
	code = read_lines(table, file, error);
	csv_reader_release(&table->csv);
	fclose(file);
	import_warn_of_faults(import, path, "Rows", "line");
	return code;
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	((struct table_file *)import)->args = (struct json_text)JSON_TEXT_INIT;
	FLEXTRACE_TRY(import_each_file(import, read_file, error));
	return import->n_streams
	               ? FLEXTRACE_OK
	               : error_set(error, FLEXTRACE_E_INPUT, "There is no row of a table: file=%s",
	                           import->options->paths[0]);
}

/* -- the format ------------------------------------------------------------------------------- */

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

static const struct path_filter files = {.fits = is_ours, .below = "tables"};

/* Any CSV file may be one: only --as=table makes it one. */
static int probe_none(const struct probe *probe)
{
	(void)probe;
	return 0;
}

static void release(struct import *import)
{
	struct table_file *table = (struct table_file *)import;

	map_release(&table->process_index);
	map_release(&table->thread_index);
	map_release(&table->device_index);
	map_release(&table->dialect_index);
	text_list_release(&table->others);
	json_text_release(&table->args);
}

const struct import_format import_table = {
	.dialect = IMPORT_TABLE,
	.filter = &files,
	.probe = probe_none,
	.n_bytes = sizeof(struct table_file),
	.read = read_all,
	.release = release,
};
