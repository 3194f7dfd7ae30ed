/* SPDX-License-Identifier: Apache-2.0 */
/* What was compared, as text for reading. */
#include <inttypes.h>
#include <string.h>

#include "diff.h"
#include "terminal/cli.h"
#include "terminal/human.h"
#include "summary_impl.h"

#define NAME_COLUMNS   24 /* at least */
#define OTHER_COLUMNS  78 /* of a line, without the name */
#define CHANGE_COLUMNS 20

const char *const diff_titles[] = {"Whole run", "Device work", "Host functions"};

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
	fprintf(to, "\nThe mean of a call is compared; +- is its %d %% confidence interval, from ",
	        CONFIDENCE_PERCENT);
	if (diff_is_of_runs(diff))
		fprintf(to, "%" PRIu32 " and %" PRIu32 " runs.\n", diff->n_runs[DIFF_A],
		        diff->n_runs[DIFF_B]);
	else
		fputs("the calls of one run: what differs from run to run is not in it.\n", to);
}

static void print_table(const struct diff *diff, enum diff_table table, uint64_t limit, FILE *to)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < diff->n_rows; i++) {
		if (diff->rows[i].table != table)
			continue;
		if (!n)
			fprintf(to, "%s%-15s%10s %9s %9s %*s %12s%s\n", cli_style(to, CLI_BOLD),
			        diff_titles[table], "calls", "mean A", "mean B", CHANGE_COLUMNS,
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
