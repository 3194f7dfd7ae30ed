/* SPDX-License-Identifier: Apache-2.0 */
/* What was compared, as text for reading, as CSV and as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "diff.h"
#include "output/column_text.h"
#include "terminal/cli.h"
#include "terminal/human.h"
#include "summary_impl.h"

#define NAME_COLUMNS   24 /* at least */
#define OTHER_COLUMNS  78 /* of a line, without the name */
#define CHANGE_COLUMNS 20

/* -- for reading ----------------------------------------------------------------------------- */

static void print_calls(const struct diff_row *row, FILE *to)
{
	char text[64];

	if (row->a_calls == row->b_calls)
		snprintf(text, sizeof(text), "%.6g", row->a_calls);
	else
		snprintf(text, sizeof(text), "%.6g > %.6g", row->a_calls, row->b_calls);
	fprintf(to, " %13s", text);
}

static void print_time(FILE *to, double ns)
{
	char text[HUMAN_BYTES];

	if (isnan(ns))
		fprintf(to, " %9s", "-");
	else
		fprintf(to, " %9s", human_time(ns, text));
}

static void print_change(const struct diff_row *row, FILE *to)
{
	char text[64] = "";

	if (!isnan(row->error_ns))
		snprintf(text, sizeof(text), "%+.1f %% +- %.1f", row->change_percent,
		         row->error_percent);
	else if (!isnan(row->change_ns))
		snprintf(text, sizeof(text), "%+.1f %% +- ?", row->change_percent);
	fprintf(to, " %*s ", CHANGE_COLUMNS, text);
}

static void print_name(const struct diff_row *row, FILE *to)
{
	uint32_t columns = cli_columns(fileno(to));
	bool is_one = !row->kind[0] || !row->name[0] || strcmp(row->kind, row->name) == 0;
	int n_columns = columns > OTHER_COLUMNS ? (int)columns - OTHER_COLUMNS : 0;
	char name[4096];

	if (columns && n_columns < NAME_COLUMNS)
		n_columns = NAME_COLUMNS;
	snprintf(name, sizeof(name), "%s%s%s", row->kind[0] ? row->kind : row->name,
	         is_one ? "" : ": ", is_one ? "" : row->name);
	summary_cell(to, "  ", name, n_columns);
	fputc('\n', to);
}

static void print_row(const struct diff_row *row, FILE *to)
{
	static const enum cli_style styles[N_DIFF_VERDICTS] = {
		[DIFF_SLOWER] = CLI_RED, [DIFF_FASTER] = CLI_GREEN};

	fprintf(to, "  %s%-9s%s", cli_style(to, styles[row->is]), row->verdict,
	        cli_style(to, CLI_PLAIN));
	print_calls(row, to);
	print_time(to, row->a_mean_ns);
	print_time(to, row->b_mean_ns);
	print_change(row, to);
	fputc(row->difference_ns < 0 ? '-' : '+', to);
	print_time(to, fabs(row->difference_ns));
	print_name(row, to);
}

static void print_verdicts(const struct diff *diff, FILE *to)
{
	static const char *const words[N_DIFF_VERDICTS] = {
		"slower", "faster", "unchanged", "not known, for they are not repeated",
		"added",  "removed"};
	const char *between = "";

	for (int i = 0; i < N_DIFF_VERDICTS; i++) {
		if (!diff->n_verdicts[i])
			continue;
		fprintf(to, "%s%" PRIu32 " %s", between, diff->n_verdicts[i], words[i]);
		between = ", ";
	}
	if (diff_is_of_runs(diff))
		fprintf(to,
		        "\nThe mean of a call is compared; +- is its %d %% confidence interval, "
		        "from %" PRIu32 " and %" PRIu32 " runs.\n",
		        CONFIDENCE_PERCENT, diff->n_runs[DIFF_A], diff->n_runs[DIFF_B]);
	else
		fprintf(to,
		        "\nThe mean of a call is compared; +- is its %d %% confidence interval, "
		        "from the calls of one run: what differs from run to run is not in it.\n",
		        CONFIDENCE_PERCENT);
}

static void print_table(const struct diff *diff, enum diff_table table, uint64_t limit, FILE *to)
{
	static const char *const titles[] = {"Whole run", "Device work", "Host functions"};
	uint64_t n = 0;

	for (uint32_t i = 0; i < diff->n_rows; i++) {
		if (diff->rows[i].table != table)
			continue;
		if (!n)
			fprintf(to, "%s%-15s%10s %9s %9s %*s %12s%s\n", cli_style(to, CLI_BOLD),
			        titles[table], "calls", "mean A", "mean B", CHANGE_COLUMNS,
			        "change of mean", "total B - A", cli_style(to, CLI_PLAIN));
		if (!limit || n < limit)
			print_row(&diff->rows[i], to);
		n++;
	}
	if (limit && n > limit)
		fprintf(to, "  and %" PRIu64 " more with a smaller difference: --limit=0\n",
		        n - limit);
}

void diff_print(const struct diff *diff, uint64_t limit, FILE *to)
{
	for (enum diff_table table = DIFF_RUN; table < N_DIFF_TABLES; table++)
		print_table(diff, table, limit, to);
	print_verdicts(diff, to);
}

/* -- for programs ---------------------------------------------------------------------------- */

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

/* What was written into memory goes out. */
static int put_out(struct writer *writer, FILE *to)
{
	int code = FLEXTRACE_OK;

	if (writer_failed(writer))
		code = FLEXTRACE_E_MEMORY;
	else
		fwrite(writer->buffer, 1, (size_t)(writer->at - writer->buffer), to);
	writer_abandon(writer);
	return code;
}

int diff_print_csv(const struct diff *diff, FILE *to)
{
	struct writer writer;

	writer_open_memory(&writer);
	column_write_names(&writer, columns, N_COLUMNS(columns));
	for (uint32_t i = 0; i < diff->n_rows; i++)
		column_write_row(&writer, columns, N_COLUMNS(columns), &diff->rows[i]);
	return put_out(&writer, to);
}

static void write_runs(struct writer *writer, const char *side, const struct text_list *runs)
{
	writer_format(writer, "\"%s\": [", side);
	for (uint32_t i = 0; i < runs->n; i++) {
		writer_raw(writer, i ? ", " : "");
		writer_json(writer, runs->texts[i], strlen(runs->texts[i]));
	}
	writer_raw(writer, "],\n ");
}

int diff_print_json(const struct diff *diff, const struct text_list runs[2], FILE *to)
{
	struct writer writer;

	writer_open_memory(&writer);
	writer_raw(&writer, "{");
	write_runs(&writer, "a", &runs[DIFF_A]);
	write_runs(&writer, "b", &runs[DIFF_B]);
	writer_format(&writer, "\"confidence_percent\": %d,\n \"repeats\": \"%s\",\n \"rows\": [",
	              CONFIDENCE_PERCENT, diff_is_of_runs(diff) ? "runs" : "calls");
	for (uint32_t i = 0; i < diff->n_rows; i++) {
		writer_format(&writer, "%s\n  {\"number\":%" PRIu32, i ? "," : "", i + 1);
		column_write_json(columns, N_COLUMNS(columns), &diff->rows[i], &writer);
		writer_raw(&writer, "}");
	}
	writer_raw(&writer, "]}\n");
	return put_out(&writer, to);
}
