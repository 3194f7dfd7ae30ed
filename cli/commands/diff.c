/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace diff: what became slower or faster from one run to another. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/text/text_list.h"
#include "recording/recovery.h"
#include "report/diff.h"
#include "terminal/cli.h"

struct diff_options {
	const char *fail_if_slower, *output;
	double min_change_percent, min_share_percent;
	int64_t limit, rank;
	bool is_csv, is_json;
};

#define NO_RANK INT64_MIN

#define AT(member) offsetof(struct diff_options, member)
static const struct option_spec diff_option_table[] = {
	OPTION("fail-if-slower", 0, TEXT, AT(fail_if_slower), "PERCENT",
               "Exit with 5 if something is slower by so much, as 5%"),
	OPTION("min-change", 0, REAL, AT(min_change_percent), "PERCENT",
               "A smaller difference is none", .max = 1e6),
	OPTION("min-share", 0, REAL, AT(min_share_percent), "PERCENT",
               "What takes a smaller part of the time does not fail", .max = 100),
	OPTION("limit", 0, NUMBER, AT(limit), "N", "Print N rows of each table, 0 = all"),
	OPTION("rank", 0, NUMBER, AT(rank), "R", "Compare only this rank", .min = -1,
               .max = INT32_MAX, .fallback = "all together"),
	OPTION("output", 'o', TEXT, AT(output), "FILE",
               "Write a page for browsers, too: diff.html"),
	OPTION("csv", 0, FLAG, AT(is_csv), NULL, "Print all rows as CSV"),
	OPTION("json", 0, FLAG, AT(is_json), NULL, "Print all rows as JSON"),
	{.name = NULL}};
#undef AT

/* -- runs ------------------------------------------------------------------------------------ */

/* Converts a recording, or a file of another tool, into a directory that is made for it. */
static int convert_run(const char *input, char dir[PATH_MAX])
{
	struct conversion_options options = CONVERSION_OPTIONS_INIT;
	struct flextrace_error error = {0};
	char **inputs;
	int code;

	snprintf(dir, PATH_MAX, "%s/flextrace-diff-XXXXXX", temporary_directory());
	if (!mkdtemp(dir)) {
		code = path_not_made("temporary directory", dir, &error);
		dir[0] = '\0';
		error.code = code;
		return cli_fail(&error);
	}
	inputs = recovery_inputs(&input, 1, &error);
	if (!inputs)
		return cli_fail(&error);
	cli_note("converting %s", input);
	options.output_dir = dir;
	options.formats = "csv";
	code = convert_traces((const char *const *)inputs, 1, &options, 0);
	recovery_free_inputs(inputs, 1);
	return code;
}

/* Adds what was converted there, or is now. */
static int add_run(struct diff *diff, enum diff_side side, const char *input)
{
	bool is_converted = path_is_there(input, "run.json");
	struct flextrace_error error = {0};
	char dir[PATH_MAX] = "";
	int code = CLI_OK;

	if (access(input, F_OK) != 0)
		return cli_refuse(CLI_INPUT, "There is no such run: path=%s, reason=%s", input,
		                  strerror(errno));
	if (!is_converted)
		code = convert_run(input, dir);
	if (code == CLI_OK && diff_add(diff, side, input, is_converted ? input : dir, &error) < 0)
		code = cli_fail(&error);
	if (dir[0])
		path_remove_tree(dir);
	return code;
}

/* A side is one run, or several with commas in between. A run whose name has a comma is named
 * alone. */
static int split(const char *side, struct text_list *runs)
{
	while (access(side, F_OK) != 0 && strchr(side, ',')) {
		size_t n = strcspn(side, ",");

		if (n && text_list_add(runs, "%.*s", (int)n, side) < 0)
			return FLEXTRACE_E_MEMORY;
		side += n + 1;
	}
	return *side ? text_list_add(runs, "%s", side) : FLEXTRACE_OK;
}

static int add_side(struct diff *diff, enum diff_side side, const char *operand)
{
	struct text_list runs = {NULL};
	int code = CLI_OK;

	if (split(operand, &runs) < 0)
		code = cli_refuse(CLI_INPUT, "Out of memory");
	else if (!runs.n)
		code = cli_refuse(CLI_USAGE, "A side of the comparison has no run: `%s`", operand);
	for (uint32_t i = 0; i < runs.n && code == CLI_OK; i++)
		code = add_run(diff, side, runs.texts[i]);
	text_list_release(&runs);
	return code;
}

/* -- the verdict ----------------------------------------------------------------------------- */

/* "5%" or "5". */
static bool read_percent(const char *text, double *ret_percent)
{
	char *end;

	*ret_percent = strtod(text, &end);
	end += *end == '%';
	return end != text && !*end && *ret_percent >= 0 && isfinite(*ret_percent);
}

static bool is_too_slow(const struct diff_row *row, const struct diff_options *options,
                        double percent)
{
	return row->is == DIFF_SLOWER && row->change_percent >= percent &&
	       row->share_percent >= options->min_share_percent;
}

static int decide(const struct diff *diff, const struct diff_options *options, double percent)
{
	const struct diff_row *worst = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < diff->n_rows && options->fail_if_slower; i++) {
		const struct diff_row *row = &diff->rows[i];

		if (!is_too_slow(row, options, percent))
			continue;
		if (!worst || row->change_percent > worst->change_percent)
			worst = row;
		n++;
	}
	if (!worst)
		return CLI_OK;
	return cli_refuse(
		CLI_SLOWER, "Slower than allowed: names=%" PRIu32 ", worst=%s%s%s, by %.1f %%", n,
		worst->kind, worst->kind[0] ? ": " : "", worst->name, worst->change_percent);
}

static int compare(struct diff *diff, const struct diff_options *options)
{
	struct flextrace_error error = {0};
	int code = diff_finish(diff, NULL);

	if (code >= 0 && options->output && diff_write_page(diff, options->output, &error) < 0)
		return cli_fail(&error);
	if (code >= 0 && options->is_json)
		code = diff_print_json(diff, stdout);
	else if (code >= 0 && options->is_csv)
		code = diff_print_csv(diff, stdout);
	else if (code >= 0)
		diff_print(diff, (uint64_t)options->limit, stdout);
	return code < 0 ? cli_refuse(CLI_INPUT, "Out of memory") : CLI_OK;
}

static int run_diff(void *values, int n_operands, char **operands)
{
	const struct diff_options *options = values;
	struct diff diff = {.min_change_percent = options->min_change_percent};
	struct flextrace_error error = {0};
	double percent = 0;
	char rank[24];
	int code = CLI_OK;

	if (n_operands != 2)
		return cli_refuse(CLI_USAGE, "Two runs are compared, A and B; `flextrace diff "
		                             "--help` shows the usage");
	if (options->is_csv && options->is_json)
		return cli_refuse(CLI_USAGE, "--csv and --json were both given");
	if (options->fail_if_slower && !read_percent(options->fail_if_slower, &percent))
		return cli_refuse(CLI_USAGE, "--fail-if-slower takes a percentage, as 5%%: `%s`",
		                  options->fail_if_slower);
	snprintf(rank, sizeof(rank), options->rank < 0 ? "" : "%" PRId64, options->rank);
	diff.rank = options->rank == NO_RANK ? NULL : rank;
	if (diff_init(&diff, &error) < 0)
		code = cli_fail(&error);
	for (int side = 0; side < 2 && code == CLI_OK; side++)
		code = add_side(&diff, side, operands[side]);
	if (code == CLI_OK)
		code = compare(&diff, options);
	if (code == CLI_OK)
		code = decide(&diff, options, percent);
	diff_release(&diff);
	return code;
}

const struct command diff_command = {
	.name = "diff",
	.operands = "A[,A...] B[,B...]",
	.summary = "Compare two runs by name: what became slower, and what is noise",
	.text = "A and B are output directories of convert or record; what is not converted yet, a "
		"recording or a file of another tool, is converted on the way. Several runs of a "
		"side are named with commas in between. A difference has a 95 % confidence "
		"interval, from the runs where each side has two or more, else from the calls of "
		"each name.",
	.tables = {{diff_option_table, 0, NULL}},
	.options_bytes = sizeof(struct diff_options),
	.defaults = &(const struct diff_options){.limit = 20,
                                                 .rank = NO_RANK,
                                                 .min_change_percent = 1,
                                                 .min_share_percent = 1},
	.run = run_diff};
