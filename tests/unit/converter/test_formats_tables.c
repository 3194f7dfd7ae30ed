/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of every CSV file are those that docs/formats.md lists, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/tt-metal/ops.h"
#include "output/csv/csv.h"
#include "scratch.h"

static char *formats; /* owned */

static int read_formats(void **state)
{
	(void)state;
	formats = scratch_read(FORMATS_DIR, "formats.md", NULL);
	return formats ? 0 : -1;
}

static int free_formats(void **state)
{
	(void)state;
	free(formats);
	return 0;
}

/* Whether the description rules out that a cell is empty; where it does not, check_csv looks. */
static bool is_never_empty(const struct column *column)
{
	return strcmp(column_type_name(column), "text") != 0 && column->type != COLUMN_TYPE_REAL &&
	       !column->is_optional;
}

/* Where the list of columns begins; the table of a section is the first one that is a list. */
static const char *list_of(const char *file)
{
	char heading[128];
	const char *section, *list, *end;

	snprintf(heading, sizeof(heading), "\n### %s\n", file);
	section = strstr(formats, heading);
	if (!section)
		fail_msg("docs/formats.md has no section %s", file);
	end = strstr(section + 1, "\n### ");
	list = strstr(section, "\n| column | type | ");
	if (!list || (end && list > end))
		fail_msg("docs/formats.md lists no columns of %s", file);
	return strchr(strchr(list + 1, '\n') + 1, '\n'); /* behind its heading and the rule */
}

/* Returns what is behind the columns, which are listed from `at` on. */
static const char *expect_listed(const char *at, const char *file, const struct column *columns,
                                 uint32_t n_columns)
{
	for (uint32_t i = 0; i < n_columns; i++) {
		const struct column *column = &columns[i];
		char name[64] = "", type[16] = "";
		size_t n;

		sscanf(at, "\n| `%63[^`]` | %15[a-z?] |", name, type);
		n = strcspn(type, "?");
		if (strcmp(name, column->name) != 0)
			fail_msg("%s: column %s is listed as %s", file, column->name, name);
		if (n != strlen(column_type_name(column)) ||
		    strncmp(type, column_type_name(column), n) != 0)
			fail_msg("%s: %s is %s, listed as %s", file, name, column_type_name(column),
			         type);
		if (type[n] && is_never_empty(column))
			fail_msg("%s: %s is never empty, listed as %s", file, name, type);
		at = strchr(at + 1, '\n');
	}
	return at;
}

static void expect_all_listed(const char *file, const struct column *columns, uint32_t n_columns)
{
	const char *end = expect_listed(list_of(file), file, columns, n_columns);

	if (strncmp(end, "\n|", 2) == 0)
		fail_msg("%s has no such column: %.60s", file, end + 1);
}

static void test_formats_tables__lists_the_rows_of_the_timeline(void **state)
{
	(void)state;
	expect_all_listed("host.csv", csv_host_columns, CSV_HOST_COLUMNS);
	expect_all_listed("events.csv", csv_event_columns, CSV_EVENT_COLUMNS);
	for (int i = 0; i < CSV_N_ROWS; i++)
		expect_all_listed(csv_rows[i].name, csv_rows[i].table.columns,
		                  csv_rows[i].table.n_columns);
	for (int i = 0; i < CSV_N_REPORTS; i++)
		expect_all_listed(csv_reports[i].name, csv_reports[i].table.columns,
		                  csv_reports[i].table.n_columns);
}

static void test_formats_tables__lists_what_analyses_find(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (const struct analysis *const *at = analysis_all; *at; at++) {
		const struct column_table *table = &(*at)->file.table;

		if (!table->columns)
			continue;
		if (!(*at)->file.title || !(*at)->file.what)
			fail_msg("%s: nobody told what it is", (*at)->file.name);
		expect_all_listed((*at)->file.name, table->columns, table->n_columns);
		n++;
	}
	assert_true(n >= 14);
}

/* A star in the list stands for a number or a name, as in the description. */
static void test_formats_tables__lists_operations_with_a_star(void **state)
{
	const char *at = list_of("ops.csv");

	(void)state;
	for (int i = 0; i < OPS_N_GROUPS; i++)
		at = expect_listed(at, "ops.csv", ops_groups[i].columns, ops_groups[i].n);
	assert_int_not_equal(strncmp(at, "\n|", 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats_tables__lists_the_rows_of_the_timeline),
		cmocka_unit_test(test_formats_tables__lists_what_analyses_find),
		cmocka_unit_test(test_formats_tables__lists_operations_with_a_star),
	};

	return cmocka_run_group_tests_name("formats_tables", tests, read_formats, free_formats);
}
