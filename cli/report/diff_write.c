/* SPDX-License-Identifier: Apache-2.0 */
/* What was compared, as CSV, as JSON and as a page. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/paths.h"
#include "diff.h"
#include "output/column_text.h"
#include "output/report/page.h"
#include "output/report_data.h"
#include "summary_impl.h"

static const struct column columns[] = {
	COLUMN(struct diff_row, of),
	COLUMN(struct diff_row, kind),
	COLUMN(struct diff_row, name),
	COLUMN(struct diff_row, verdict),
	COLUMN(struct diff_row, a_calls),
	COLUMN(struct diff_row, b_calls),
	COLUMN(struct diff_row, a_total_ns),
	COLUMN(struct diff_row, b_total_ns),
	COLUMN(struct diff_row, difference_ns),
	COLUMN_FIXED(struct diff_row, a_mean_ns, 3),
	COLUMN_FIXED(struct diff_row, b_mean_ns, 3),
	COLUMN_FIXED(struct diff_row, change_ns, 3),
	COLUMN_FIXED(struct diff_row, error_ns, 3),
	COLUMN_FIXED(struct diff_row, change_percent, 2),
	COLUMN_FIXED(struct diff_row, error_percent, 2),
	COLUMN_FIXED(struct diff_row, share_percent, 2),
	COLUMN(struct diff_row, a_repeats),
	COLUMN(struct diff_row, b_repeats),
};

int diff_print_csv(const struct diff *diff, FILE *to)
{
	struct writer writer;

	writer_open_memory(&writer);
	column_write_names(&writer, columns, N_COLUMNS(columns));
	for (uint32_t i = 0; i < diff->n_rows; i++)
		column_write_row(&writer, columns, N_COLUMNS(columns), &diff->rows[i]);
	return writer_print(&writer, to);
}

static void write_runs(struct writer *writer, const char *side, const cJSON *runs)
{
	const cJSON *run;

	writer_format(writer, "\"%s\": [", side);
	cJSON_ArrayForEach(run, runs)
	{
		const char *path = summary_text(run, "path");

		writer_raw(writer, run == runs->child ? "" : ", ");
		writer_json(writer, path, strlen(path));
	}
	writer_raw(writer, "],\n ");
}

int diff_print_json(const struct diff *diff, FILE *to)
{
	struct writer writer;

	writer_open_memory(&writer);
	writer_raw(&writer, "{");
	write_runs(&writer, "a", diff->runs[DIFF_A]);
	write_runs(&writer, "b", diff->runs[DIFF_B]);
	writer_format(&writer, "\"confidence_percent\": %d,\n \"repeats\": \"%s\",\n \"rows\": [",
	              CONFIDENCE_PERCENT, diff_is_of_runs(diff) ? "runs" : "calls");
	for (uint32_t i = 0; i < diff->n_rows; i++) {
		writer_format(&writer, "%s\n  {\"number\":%" PRIu32, i ? "," : "", i + 1);
		column_write_json(columns, N_COLUMNS(columns), &diff->rows[i], &writer);
		writer_raw(&writer, "}");
	}
	writer_raw(&writer, "]}\n");
	return writer_print(&writer, to);
}

/* -- a page ---------------------------------------------------------------------------------- */

/* A JSON document, in which `<` may stand only in texts. */
static void write_json(struct writer *writer, const char *key, const cJSON *document)
{
	char *text = cJSON_PrintUnformatted(document);

	writer_raw(writer, key);
	for (const char *at = text; at && *at; at++) {
		if (*at == '<')
			writer_raw(writer, "\\u003c");
		else
			writer_char(writer, *at);
	}
	if (!text)
		writer->failure = ENOMEM;
	cJSON_free(text);
}

/* Rows stand in order of the tables. */
static void write_tables(const struct diff *diff, struct writer *writer)
{
	for (uint32_t first = 0, end = 0; first < diff->n_rows; first = end) {
		const struct diff_row *row = &diff->rows[first];

		while (end < diff->n_rows && diff->rows[end].table == row->table)
			end++;
		writer_raw(writer, first ? ",\n" : "");
		report_data_rows(writer, &(struct report_rows){.name = row->of,
		                                               .title = diff_titles[row->table],
		                                               .columns = columns,
		                                               .n_columns = N_COLUMNS(columns),
		                                               .n = end - first,
		                                               .rows = row,
		                                               .row_bytes = sizeof(*row)});
	}
}

int diff_write_page(const struct diff *diff, const char *path, struct flextrace_error *error)
{
	const char *name = path_base(path);
	struct writer writer;
	char dir[PATH_MAX] = ".";

	if (name != path)
		snprintf(dir, sizeof(dir), "%.*s", (int)(name - path - 1), path);
	FLEXTRACE_TRY(writer_open(&writer, dir, name, false, error));
	writer_raw(&writer, report_page_head);
	writer_format(&writer, "{\"comparison\":{\"confidence_percent\":%d,\"repeats\":\"%s\"",
	              CONFIDENCE_PERCENT, diff_is_of_runs(diff) ? "runs" : "calls");
	write_json(&writer, ",\"a\":", diff->runs[DIFF_A]);
	write_json(&writer, ",\"b\":", diff->runs[DIFF_B]);
	writer_raw(&writer, "},\n\"tables\":{");
	write_tables(diff, &writer);
	writer_raw(&writer, "}}");
	writer_raw(&writer, report_page_tail);
	return writer_close(&writer, error);
}
