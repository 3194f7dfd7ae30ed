/* SPDX-License-Identifier: Apache-2.0 */
#include "report_data.h"

#include <errno.h>
#include <stdlib.h>

#include "output/column_json.h"
#include "output/column_text.h"
#include "output/run_json.h"

static void write_text(struct writer *writer, const char *key, const char *text)
{
	writer_raw(writer, key);
	writer_json(writer, text ? text : "", text ? strlen(text) : 0);
}

/* "kernels" of "tables/kernels.csv". */
static void write_name(struct writer *writer, const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	writer_json(writer, name, strcspn(name, "."));
}

static void write_table(struct writer *writer, const struct file_count *count)
{
	write_name(writer, count->file);
	write_text(writer, ":{\"title\":", count->title);
	write_text(writer, ",\"what\":", count->what);
	write_text(writer, ",\"file\":", count->file);
	writer_raw(writer, ",\"n_rows\":");
	writer_u64(writer, count->rows);
	writer_raw(writer, ",\"columns\":");
	writer_raw(writer, count->columns);
	writer_raw(writer, ",\"rows\":[");
	writer_raw(writer, count->captured);
	writer_raw(writer, "]}");
}

void report_data_write(struct writer *writer, const struct findings *findings,
                       const struct emit_options *options, const struct file_count *counts,
                       uint32_t n_counts)
{
	char *run = run_json_print(findings, options, counts, n_counts);
	const char *comma = "";

	if (!run) {
		writer->failure = ENOMEM;
		return;
	}
	writer_raw(writer, "{\"run\":");
	writer_raw(writer, run);
	free(run);
	writer_raw(writer, ",\"tables\":{");
	for (uint32_t i = 0; i < n_counts; i++) {
		if (!counts[i].columns || !counts[i].captured)
			continue;
		writer_raw(writer, comma);
		write_table(writer, &counts[i]);
		comma = ",\n";
	}
	writer_raw(writer, "}}");
}

void report_data_rows(struct writer *writer, const struct report_rows *of)
{
	struct json_rows json = {.columns = of->columns,
	                         .n_columns = of->n_columns,
	                         .n_to_capture = REPORT_ROWS_MAX,
	                         .limit_bytes = REPORT_ROWS_MAX_BYTES};
	struct file_count count = {.file = of->name, .title = of->title, .rows = of->n};

	writer_open_memory(&json.captured);
	for (uint32_t i = 0; i < of->n && json.n_to_capture; i++)
		json_rows_put(&json, (const char *)of->rows + i * of->row_bytes, NULL, NULL);
	writer_char(&json.captured, '\0');
	count.columns = column_describe(of->columns, of->n_columns);
	if (!count.columns || writer_failed(&json.captured)) {
		writer->failure = ENOMEM;
	} else {
		if (json.captured.at - json.captured.buffer > 1)
			json.captured.at[-2] = '\0'; /* the last comma */
		count.captured = json.captured.buffer;
		write_table(writer, &count);
	}
	free(count.columns);
	writer_abandon(&json.captured);
}
