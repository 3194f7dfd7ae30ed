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
#include "report/summary_impl.h"
#include "report/table_view.h"
#include "base/paths.h"
#include "model/timeline/columns.h"

#define DEFAULT_LIMIT 100

struct report_options {
	const char *sort, *columns;
	int64_t limit, rank;
	bool is_human, is_json;
};

#define NO_RANK INT64_MIN

#define AT(member) offsetof(struct report_options, member)
static const struct option_spec report_option_table[] = {
	OPTION("sort", 0, TEXT, AT(sort), "COLUMN",
               "Sort by a column, largest numbers first; -COLUMN descends, +COLUMN ascends"),
	OPTION("columns", 0, TEXT, AT(columns), "NAME,...", "Only these columns, in this order"),
	OPTION("limit", 0, NUMBER, AT(limit), "N", "Print N rows of a table, 0 = all"),
	OPTION("rank", 0, NUMBER, AT(rank), "R", "Only rows of this rank", .min = -1,
               .max = INT32_MAX, .fallback = "of all"),
	OPTION("human", 0, FLAG, AT(is_human), NULL,
               "Durations and bytes with units, as on a terminal"),
	OPTION("json", 0, FLAG, AT(is_json), NULL, "Print a table as a JSON list of objects"),
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
	char known[1024] = "", old[PATH_MAX];
	glob_t found;

	snprintf(old, sizeof(old), "%s.csv", name);
	if (!strchr(name, '/') && path_is_there(dir, old)) {
		cli_error("Tables of an earlier version, convert again: path=%s", dir);
		return;
	}
	glob_in(dir, TABLES_DIR "/*.csv", &found);
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
		cli_error("No table `%s` with a row in %s; there are %s", name, dir, known);
}

/* By column, what run.json says is text. Owned; NULL: it says nothing. */
static bool *find_texts(const char *dir, const char *file, const struct csv_table *table)
{
	cJSON *run = summary_json(dir, "run.json");
	bool *is_text = run ? calloc(table->n_columns + 1ull, sizeof(*is_text)) : NULL;
	const cJSON *item, *column;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(run, "files"))
	{
		uint32_t i = 0;

		if (!is_text || strcmp(path_base(summary_text(item, "file")), file) != 0)
			continue;
		cJSON_ArrayForEach(column, cJSON_GetObjectItemCaseSensitive(item, "columns"))
		{
			if (i < table->n_columns)
				is_text[i++] = strcmp(summary_text(column, "type"), "text") == 0;
		}
	}
	cJSON_Delete(run);
	return is_text;
}

static int print_json(const char *dir, const char *name, const struct csv_table *table,
                      const struct table_view *view, struct flextrace_error *error)
{
	char file[NAME_MAX + sizeof(".csv")];
	bool *is_text;
	int code;

	snprintf(file, sizeof(file), "%s.csv", name);
	is_text = find_texts(dir, file, table);
	code = table_view_print_json(table, view, is_text, stdout, error);
	free(is_text);
	return code;
}

static int print_view(const char *name, const struct csv_table *table,
                      const struct table_view *view, struct flextrace_error *error)
{
	uint32_t n_hidden;
	int code = table_view_print(table, view, stdout, &n_hidden, error);

	if (code == FLEXTRACE_OK && n_hidden)
		cli_note("%s: no room here for the last %" PRIu32 " of its columns; --columns "
		         "chooses, and a pipe gets all",
		         name, n_hidden);
	return code;
}

static int print_table(const char *dir, const char *name, const struct csv_table_query *query,
                       const struct report_options *options)
{
	const struct table_view view = {
		.columns = options->columns,
		.width = cli_columns(STDOUT_FILENO),
		.is_human = options->is_human || cli_columns(STDOUT_FILENO),
	};
	struct flextrace_error error = {0};
	char path[PATH_MAX];
	struct csv_table table;
	FILE *file;
	int n = snprintf(path, sizeof(path), "%s/" TABLES_DIR "/%s.csv", dir, name);

	file = n > 0 && (size_t)n < sizeof(path) && !strchr(name, '/') ? fopen(path, "re") : NULL;
	if (!file) {
		unknown_table(dir, name);
		return CLI_USAGE;
	}
	n = csv_table_read(file, path, query, &table, &error);
	fclose(file);
	if (n < 0)
		return cli_fail(&error);
	n = options->is_json ? print_json(dir, name, &table, &view, &error)
	                     : print_view(name, &table, &view, &error);
	if (n == FLEXTRACE_OK && table.n_matching > table.n_rows)
		cli_note("%s: %" PRIu64 " of %" PRIu64 " rows; --limit=0 prints all", name,
		         table.n_rows, table.n_matching);
	csv_table_release(&table);
	return n < 0 ? cli_fail(&error) : CLI_OK;
}

/* Of "kernels", "kernels.csv" or "tables/kernels.csv": the first. */
static void strip(const char *operand, char name[NAME_MAX + 1])
{
	const char *base = strncmp(operand, "tables/", 7) == 0 ? operand + 7 : operand;
	size_t n = strlen(base);

	if (n > 4 && strcmp(base + n - 4, ".csv") == 0)
		n -= 4;
	snprintf(name, NAME_MAX + 1, "%.*s", (int)(n < NAME_MAX ? n : NAME_MAX), base);
}

static int print_tables(const char *dir, char *const *names, const struct report_options *options)
{
	char rank[32];
	struct csv_table_query query = {.sort = options->sort,
	                                .rank = options->rank == NO_RANK ? NULL : rank,
	                                .limit = (uint64_t)options->limit};
	int code = CLI_OK;

	if (options->is_json && names[1])
		return cli_refuse(CLI_USAGE, "--json prints one table, so that it is one document");
	snprintf(rank, sizeof(rank), "%" PRId64, options->rank);
	for (int i = 0; names[i] && code == CLI_OK; i++) {
		char name[NAME_MAX + 1];

		strip(names[i], name);
		if (names[1])
			printf("%s%s%s%s\n", i ? "\n" : "", cli_style(stdout, CLI_DIM), name,
			       cli_style(stdout, CLI_PLAIN));
		code = print_table(dir, name, &query, options);
	}
	return code;
}

static bool asks_for_table(const struct report_options *options)
{
	return options->sort || options->columns || options->rank != NO_RANK ||
	       options->limit != DEFAULT_LIMIT || options->is_human || options->is_json;
}

/* Puts the output directory before the tables. */
static void put_dir_first(int n_operands, char **operands)
{
	int at = 0;

	while (at < n_operands && !path_has_type(operands[at], S_IFDIR))
		at++;
	for (char *dir = at < n_operands ? operands[at] : NULL; dir && at >= 0; at--)
		operands[at] = at ? operands[at - 1] : dir;
}

static int run_report(void *values, int n_operands, char **operands)
{
	const struct report_options *options = values;
	struct flextrace_error error = {0};
	char newest[PATH_MAX];
	const char *dir = newest;

	put_dir_first(n_operands, operands);
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
	if (asks_for_table(options))
		return cli_refuse(CLI_USAGE, "--sort, --columns, --limit, --rank, --human and "
		                             "--json need a table, such as `kernels`");
	return summary_print(dir, stdout, &error) < 0 ? cli_fail(&error) : CLI_OK;
}

const struct command report_command = {
	.name = "report",
	.operands = "[DIR] [TABLE...]",
	.summary = "Print the summary of a conversion, or tables of it",
	.text = "Without DIR, the current directory or the newest flextrace-* in it. TABLE is the "
		"name of a CSV file: kernels, key_averages, clocks, losses, events, host, ... On a "
		"terminal durations and bytes have units, and columns without any value or room "
		"are left out; a pipe gets all as it is.",
	.tables = {{report_option_table, 0, NULL}},
	.options_bytes = sizeof(struct report_options),
	.defaults = &(const struct report_options){.limit = DEFAULT_LIMIT, .rank = NO_RANK},
	.run = run_report};
