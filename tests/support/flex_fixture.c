/* SPDX-License-Identifier: Apache-2.0 */
#include "flex_fixture.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "imports.h"
#include "pipeline.h"
#include "scratch.h"

static char *join(const char *dir, const char *name)
{
	char *path = malloc(strlen(dir) + strlen(name) + 2);

	assert_non_null(path);
	sprintf(path, "%s/%s", dir, name);
	return path;
}

int flex_start(void **state)
{
	struct flex_run *run = calloc(1, sizeof(*run));

	*state = run;
	run->dir = scratch_dir();
	run->in = join(run->dir, "in");
	run->out = join(run->dir, "out");
	run->warnings = calloc(1, 1);
	ledger_init(&run->ledger);
	run->options = (struct pipeline_options){
		.emit = {.output_dir = run->out, .formats = "csv,chrome,text", .n_threads = 1},
		.calibrate = CALIBRATE_OPTIONS_INIT,
		.align = ALIGN_OPTIONS_INIT,
		.findings = {.aie = AIE_OPTIONS_INIT},
	};
	return mkdir(run->in, 0700);
}

int flex_stop(void **state)
{
	struct flex_run *run = *state;

	csv_table_release(&run->events);
	csv_table_release(&run->host);
	ledger_release(&run->ledger);
	scratch_remove(run->dir);
	free(run->in);
	free(run->out);
	free(run->warnings);
	free(run);
	return 0;
}

void flex_add_file(struct flex_run *run, const char *name, const char *text)
{
	char *path = join(run->in, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	free(path);
}

static void note_warning(void *context, const char *text)
{
	struct flex_run *run = context;
	size_t n = strlen(run->warnings);

	run->warnings = realloc(run->warnings, n + strlen(text) + 2);
	assert_non_null(run->warnings);
	sprintf(run->warnings + n, "%s\n", text);
}

static int note_pair(void *context, const struct pair_report *report)
{
	struct flex_run *run = context;

	assert_true(run->n_pairs < sizeof(run->pairs) / sizeof(*run->pairs));
	run->pairs[run->n_pairs++] = *report;
	return 0;
}

struct csv_table flex_read_table(const struct flex_run *run, const char *name)
{
	const struct csv_table_query all = {NULL, NULL, 0};
	struct flextrace_error error = {0};
	struct csv_table table;
	char *path = join(run->out, name);
	FILE *file = fopen(path, "r");

	if (!file) { /* it has no row */
		free(path);
		return (struct csv_table){.n_rows = 0};
	}
	if (csv_table_read(file, name, &all, &table, &error) < 0)
		fail_msg("%s", error.message);
	fclose(file);
	free(path);
	return table;
}

void flex_convert_files(struct flex_run *run, const char *const *paths, uint32_t n)
{
	const struct import_options import = {
		.paths = paths,
		.n_paths = n,
		.dialect = run->dialect,
		.torch_ranks = run->torch_ranks,
		.aie = &run->options.findings.aie,
		.warn = note_warning,
		.pair = note_pair,
		.context = run,
	};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct flextrace_error error = {0};
	struct pipeline_result result;
	int code = import_run(&import, strings, &set, &run->ledger, &error);

	if (code >= 0)
		code = pipeline_run(&set, strings, &run->ledger, &run->options, &result, &error);
	stream_set_release(&set);
	string_pool_free(strings);
	if (code < 0)
		fail_msg("%s", error.message);
	run->events = flex_read_table(run, "tables/events.csv");
	run->host = flex_read_table(run, "tables/host.csv");
}

void flex_convert(struct flex_run *run)
{
	const char *in = run->in;

	assert_true(import_is_foreign(in));
	flex_convert_files(run, &in, 1);
}

/* -- tables ---------------------------------------------------------------------------------- */

const char *flex_cell(const struct csv_table *table, uint64_t row, const char *column)
{
	assert_true(row < table->n_rows);
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (strcmp(table->columns[i], column) == 0)
			return table->rows[row].cells[i];
	}
	fail_msg("No such column: %s", column);
	return "";
}

int64_t flex_number(const struct csv_table *table, uint64_t row, const char *column)
{
	return strtoll(flex_cell(table, row, column), NULL, 10);
}

static bool is_so(const struct csv_table *table, uint64_t row, const char *column,
                  const char *value)
{
	return !column || strcmp(flex_cell(table, row, column), value) == 0;
}

uint64_t flex_count(const struct csv_table *table, const char *column, const char *value)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < table->n_rows; i++)
		n += is_so(table, i, column, value);
	return n;
}

uint64_t flex_row(const struct csv_table *table, const char *column, const char *value,
                  const char *column2, const char *value2)
{
	for (uint64_t i = 0; i < table->n_rows; i++) {
		if (is_so(table, i, column, value) && is_so(table, i, column2, value2))
			return i;
	}
	fail_msg("No row with %s=%s", column, value);
	return 0;
}

char *flex_read_rows(const struct flex_run *run, const char *name)
{
	char *text = scratch_read(run->out, name, NULL), *to = text, *source = NULL;
	bool is_csv = strstr(name, ".csv") != NULL;

	assert_non_null(text);
	for (const char *from = text; *from; from++) {
		if (is_csv ? *from == ',' : strncmp(from, " source=", 8) == 0)
			source = to;
		if (*from == '\n' && source)
			to = source;
		source = *from == '\n' ? NULL : source;
		*to++ = *from;
	}
	*to = '\0';
	return text;
}
