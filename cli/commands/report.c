/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace report: the summary of a conversion, or its tables. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "report/summary.h"
#include "report/csv_table.h"
#include "base/paths.h"

#define DEFAULT_LIMIT 100

struct report_options {
	const char *sort;
	int64_t limit, rank;
};

#define NO_RANK INT64_MIN

#define AT(member) offsetof(struct report_options, member)
static const struct option_spec report_option_table[] = {
	OPTION("sort", 0, TEXT, AT(sort), "COLUMN", "Sort by a column, largest numbers first"),
	OPTION("limit", 0, NUMBER, AT(limit), "N", "Print N rows of a table, 0 = all"),
	OPTION("rank", 0, NUMBER, AT(rank), "R", "Only rows of this rank", .min = -1,
               .max = INT32_MAX, .fallback = "of all"),
	{.name = NULL}};
#undef AT

static bool has_conversion(const char *dir)
{
	return access(path_of(dir, "run.json").text, R_OK) == 0;
}

/* The current directory if something was converted into it, else the newest recording in it. */
static bool choose_dir(char dir[PATH_MAX])
{
	time_t newest = 0;
	struct stat status;
	glob_t found;

	memcpy(dir, ".", 2);
	if (has_conversion(dir) || glob("flextrace-*", GLOB_ONLYDIR, NULL, &found) != 0)
		return has_conversion(dir);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (has_conversion(found.gl_pathv[i]) && stat(found.gl_pathv[i], &status) == 0 &&
		    status.st_mtime >= newest) {
			newest = status.st_mtime;
			snprintf(dir, PATH_MAX, "%s", found.gl_pathv[i]);
		}
	globfree(&found);
	return newest > 0;
}

static void unknown_table(const char *dir, const char *name)
{
	char known[1024] = "";
	glob_t found;

	glob_in(dir, "*.csv", &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *base = path_base(found.gl_pathv[i]);
		size_t n = strlen(known);

		snprintf(known + n, sizeof(known) - n, "%s%.*s", n ? ", " : "",
		         (int)strlen(base) - 4, base);
	}
	globfree(&found);
	if (!*known)
		cli_error("No tables in %s; `flextrace convert` makes them", dir);
	else
		cli_error("No table `%s` in %s; there are %s", name, dir, known);
}

static int print_table(const char *dir, const char *name, const struct csv_table_query *query)
{
	struct flextrace_error error = {0};
	char path[PATH_MAX];
	struct csv_table table;
	FILE *file;
	int n = snprintf(path, sizeof(path), "%s/%s.csv", dir, name);

	file = n > 0 && (size_t)n < sizeof(path) && !strchr(name, '/') ? fopen(path, "re") : NULL;
	if (!file) {
		unknown_table(dir, name);
		return CLI_USAGE;
	}
	n = csv_table_read(file, path, query, &table, &error);
	fclose(file);
	if (n < 0)
		return cli_fail(&error);
	csv_table_print(&table, stdout, cli_columns(STDOUT_FILENO));
	if (table.n_matching > table.n_rows)
		cli_note("%s: %" PRIu64 " of %" PRIu64 " rows; --limit=0 prints all", name,
		         table.n_rows, table.n_matching);
	csv_table_release(&table);
	return CLI_OK;
}

static int print_tables(const char *dir, char *const *names, const struct report_options *options)
{
	char rank[32];
	struct csv_table_query query = {.sort = options->sort,
	                                .rank = options->rank == NO_RANK ? NULL : rank,
	                                .limit = (uint64_t)options->limit};
	int code = CLI_OK;

	snprintf(rank, sizeof(rank), "%" PRId64, options->rank);
	for (int i = 0; names[i] && code == CLI_OK; i++) {
		if (names[1])
			printf("%s%s%s%s\n", i ? "\n" : "", cli_style(stdout, CLI_DIM), names[i],
			       cli_style(stdout, CLI_PLAIN));
		code = print_table(dir, names[i], &query);
	}
	return code;
}

static int run_report(void *values, int n_operands, char **operands)
{
	const struct report_options *options = values;
	struct flextrace_error error = {0};
	char newest[PATH_MAX];
	const char *dir = newest;

	if (n_operands && (path_has_type(operands[0], S_IFDIR) || strchr(operands[0], '/')))
		dir = *operands++;
	else if (!choose_dir(newest))
		return n_operands ? cli_refuse(CLI_INPUT,
		                               "Nothing converted here, and no directory `%s`",
		                               operands[0])
		                  : cli_refuse(CLI_INPUT, "Nothing converted here; name the output "
		                                          "directory");
	if (*operands)
		return print_tables(dir, operands, options);
	if (options->sort || options->rank != NO_RANK || options->limit != DEFAULT_LIMIT)
		return cli_refuse(CLI_USAGE,
		                  "--sort, --limit and --rank need a table, such as `kernels`");
	return summary_print(dir, stdout, &error) < 0 ? cli_fail(&error) : CLI_OK;
}

const struct command report_command = {
	.name = "report",
	.operands = "[DIR] [TABLE...]",
	.summary = "Print the summary of a conversion, or tables of it",
	.text = "Without DIR, the current directory or the newest flextrace-* in it. TABLE is the "
		"name of a CSV file: kernels, runtime, clocks, losses, events, host, ...",
	.tables = {{report_option_table, 0, NULL}},
	.options_bytes = sizeof(struct report_options),
	.defaults = &(const struct report_options){.limit = DEFAULT_LIMIT, .rank = NO_RANK},
	.run = run_report};
