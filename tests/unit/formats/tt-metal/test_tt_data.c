/* SPDX-License-Identifier: Apache-2.0 */
/* Device logs of tt-metal's own tests, and what its post-processing made of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cJSON.h>
#include <cmocka.h>

#include "flex_fixture.h"

#define DATA   FLEXTRACE_SHARED_DATA "/tt-metal/"
#define GOLDEN DATA "device-log-expected/"

/* A log, and how many of the golden medians are those of cores' medians, not of all. */
static const struct {
	const char *name;
	uint32_t n_wrong_medians;
} logs[] = {
	{"add_two_ints", 0},
	{"out_of_order", 0},
	{"multi_core_multi_launch", 2},
	{"matmul", 0},
	{"matmul_small", 0},
	{"full_buffer_nc_risc", 0},
	{"full_buffer_nc_b_t0_t1_t2_risc", 0},
	{"missing_BRISC", 0},
	{"missing_all_defualt_markers", 0},
	{"wormhole_single_core", 0},
};

#define N_LOGS (sizeof(logs) / sizeof(*logs))

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t n = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &n, EOF, file) < 0)
		text = text ? strcpy(text, "") : calloc(1, 1);
	fclose(file);
	return text;
}

static char *read_output(const struct flex_run *run, const char *name)
{
	char path[4096];
	char *text;

	snprintf(path, sizeof(path), "%s/%s", run->out, name);
	text = read_text(path);
	assert_non_null(text);
	return text;
}

static struct flex_run *convert(void **state, const char *log)
{
	struct flex_run *run = *state;
	char path[4096];
	const char *paths[] = {path};

	snprintf(path, sizeof(path), DATA "device-log/profile_log_device_%s.csv", log);
	if (access(path, R_OK) < 0)
		skip();
	flex_convert_files(run, paths, 1);
	return run;
}

static void again(void **state)
{
	flex_stop(state);
	flex_start(state);
}

/* -- figures --------------------------------------------------------------------------------- */

/* The line of an analysis over the whole device. */
static uint64_t find_line(const struct csv_table *table, const char *analysis, const char *x,
                          const char *y)
{
	for (uint64_t i = 0; i < table->n_rows; i++) {
		if (strcmp(flex_cell(table, i, "analysis"), analysis) == 0 &&
		    strcmp(flex_cell(table, i, "core_x"), x) == 0 &&
		    strcmp(flex_cell(table, i, "core_y"), y) == 0)
			return i;
	}
	fail_msg("no line: %s", analysis);
	return 0;
}

static void expect_figures(const struct csv_table *table, uint64_t row, const cJSON *figures)
{
	const cJSON *figure;

	cJSON_ArrayForEach(figure, figures)
	{
		char column[32];

		snprintf(column, sizeof(column), "%s", figure->string);
		column[0] = (char)(column[0] | 0x20);
		if (strtod(flex_cell(table, row, column), NULL) != figure->valuedouble)
			fail_msg("%s of %s: %s instead of %.17g", column,
			         flex_cell(table, row, "analysis"), flex_cell(table, row, column),
			         figure->valuedouble);
	}
}

static uint32_t count_device_lines(const struct csv_table *table)
{
	return (uint32_t)flex_count(table, "core_x", "");
}

static void test_tt_data__has_the_true_figures(void **state)
{
	char *text = read_text(GOLDEN "expected_stats.json");
	cJSON *expected = cJSON_Parse(text ? text : "");

	free(text);
	if (!expected)
		skip();
	for (size_t i = 0; i < N_LOGS; i++) {
		struct flex_run *run = convert(state, logs[i].name);
		const cJSON *log = cJSON_GetObjectItem(expected, logs[i].name);
		const cJSON *stats = cJSON_GetObjectItem(log, "stats"), *figures;
		struct csv_table table = flex_read_table(run, "tables/device_stats.csv");

		assert_int_equal(count_device_lines(&table), cJSON_GetArraySize(stats));
		cJSON_ArrayForEach(figures, stats)
		{
			expect_figures(&table, find_line(&table, figures->string, "", ""), figures);
		}
		csv_table_release(&table);
		again(state);
	}
	cJSON_Delete(expected);
}

/* "(1, 0)" */
static void expect_core(const struct csv_table *table, const cJSON *core)
{
	const cJSON *analyses = cJSON_GetObjectItem(
		cJSON_GetObjectItem(cJSON_GetObjectItem(core, "riscs"), "TENSIX"), "analysis");
	char x[16], y[16];
	const cJSON *analysis;

	if (sscanf(core->string, "(%15[0-9], %15[0-9])", x, y) != 2)
		x[0] = y[0] = '\0'; /* the device */
	cJSON_ArrayForEach(analysis, analyses)
	{
		expect_figures(table, find_line(table, analysis->string, x, y),
		               cJSON_GetObjectItem(analysis, "stats"));
	}
}

static void test_tt_data__has_the_figures_of_each_core(void **state)
{
	uint32_t n_read = 0;

	for (size_t i = 0; i < N_LOGS; i++) {
		char path[4096];
		char *text;
		cJSON *json, *core;
		struct csv_table table;

		snprintf(path, sizeof(path), GOLDEN "%s/device_analysis_data.json", logs[i].name);
		text = read_text(path);
		json = text ? cJSON_Parse(text) : NULL;
		free(text);
		if (!json)
			continue;
		table = flex_read_table(convert(state, logs[i].name), "tables/device_stats.csv");
		core = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "data"), "devices");
		core = cJSON_GetObjectItem(cJSON_GetObjectItem(core, "0"), "cores");
		cJSON_ArrayForEach(core, core)
		{
			expect_core(&table, core);
		}
		n_read++;
		cJSON_Delete(json);
		csv_table_release(&table);
		again(state);
	}
	if (!n_read)
		skip();
}

/* -- files ----------------------------------------------------------------------------------- */

/* Takes a line off a text, without its end. */
static bool next_line(char **text, char **ret_line)
{
	char *end = *text + strcspn(*text, "\n");

	*ret_line = *text;
	if (!**text)
		return false;
	*text = *end ? end + 1 : end;
	*end = '\0';
	if (end > *ret_line && end[-1] == '\r')
		end[-1] = '\0';
	return true;
}

/* Theirs has columns of BRISC and NCRISC only. */
static void test_tt_data__rearranges_stamps_as_they_do(void **state)
{
	for (size_t i = 0; i < N_LOGS; i++) {
		struct flex_run *run = convert(state, logs[i].name);
		char path[4096], *line, *golden_line;
		char *text = read_output(run, "tables/device_rearranged_timestamps.txt"), *golden;
		char *at = text, *golden_at;

		snprintf(path, sizeof(path), GOLDEN "%s/device_rearranged_timestamps.csv",
		         logs[i].name);
		golden = golden_at = read_text(path);
		assert_non_null(golden);
		while (next_line(&golden_at, &golden_line)) {
			size_t n = strlen(golden_line);

			assert_true(next_line(&at, &line));
			if (strncmp(line, golden_line, n) != 0 || (line[n] && line[n] != ','))
				fail_msg("%s: %s\nis not %s", logs[i].name, line, golden_line);
		}
		assert_false(next_line(&at, &line));
		free(text);
		free(golden);
		again(state);
	}
}

/* Skips to the next line that is a heading or a figure. */
static bool next_figure(char **text, char **ret_line)
{
	while (next_line(text, ret_line)) {
		if (strncmp(*ret_line, "=====", 5) == 0 || strstr(*ret_line, " [cycles] = "))
			return true;
	}
	return false;
}

/* Skips a section that theirs has not. */
static bool is_theirs(const char *line, const char *golden)
{
	return strncmp(line, "=====", 5) != 0 || strstr(golden, line);
}

static uint32_t compare_texts(char *text, char *golden, const char *name)
{
	char *whole = strdup(golden), *line = text, *golden_line;
	bool is_skipped = false;
	uint32_t n_medians = 0;

	while (next_figure(&text, &line)) {
		if (strncmp(line, "=====", 5) == 0)
			is_skipped = !is_theirs(line, whole);
		if (is_skipped)
			continue;
		assert_true(next_figure(&golden, &golden_line));
		if (strcmp(line, golden_line) == 0)
			continue;
		if (!strstr(line, "Median [cycles]") || !strstr(golden_line, "Median [cycles]"))
			fail_msg("%s: %s\nis not %s", name, line, golden_line);
		n_medians++;
	}
	assert_false(next_figure(&golden, &golden_line));
	free(whole);
	return n_medians;
}

/* Where they print nothing there is no file. */
static void test_tt_data__prints_what_they_print(void **state)
{
	for (size_t i = 0; i < N_LOGS; i++) {
		struct flex_run *run = convert(state, logs[i].name);
		char *text, *golden, path[4096];

		snprintf(path, sizeof(path), GOLDEN "%s/device_stats.txt", logs[i].name);
		golden = read_text(path);
		text = golden && *golden ? read_output(run, "tables/device_stats.txt") : NULL;
		if (text)
			assert_int_equal(compare_texts(text, golden, logs[i].name),
			                 logs[i].n_wrong_medians);
		free(golden);
		free(text);
		again(state);
	}
}

/* -- ops reports ----------------------------------------------------------------------------- */

static const struct {
	const char *file;
	uint64_t n_ops, n_codes;
	int64_t kernel_ns;
} reports[] = {
	{"bh20_oft_integral_image_trace.csv", 21, 4, 11398328},
	{"bh_p100_dlv3.csv.gz", 387, 24, 8697954},
	{"wh_clip_encoder_2.csv.gz", 1872, 10, 63218148},
};

static uint64_t count_names(const struct csv_table *events)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < events->n_rows; i++) {
		uint64_t j = 0;

		while (strcmp(flex_cell(events, i, "name"), flex_cell(events, j, "name")) != 0)
			j++;
		n += j == i;
	}
	return n;
}

static void test_tt_data__reads_reports_of_operations(void **state)
{
	for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++) {
		struct flex_run *run = *state;
		char path[4096];
		const char *paths[] = {path};
		int64_t sum_ns = 0;

		snprintf(path, sizeof(path), DATA "ops-perf-results/%s", reports[i].file);
		if (access(path, R_OK) < 0)
			skip();
		flex_convert_files(run, paths, 1);
		assert_int_equal(run->events.n_rows, reports[i].n_ops);
		assert_int_equal(run->host.n_rows, reports[i].n_ops);
		assert_int_equal(count_names(&run->events), reports[i].n_codes);
		for (uint64_t j = 0; j < run->events.n_rows; j++)
			sum_ns += flex_number(&run->events, j, "dur_ns");
		assert_int_equal(sum_ns, reports[i].kernel_ns);
		assert_int_equal(flex_count(&run->events, "status", "given"), reports[i].n_ops);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		again(state);
	}
}

static struct csv_table read_table(const char *path)
{
	const struct csv_table_query all = {NULL, NULL, 0};
	struct flextrace_error error = {0};
	struct csv_table table;
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(csv_table_read(file, path, &all, &table, &error), 0);
	fclose(file);
	return table;
}

static void expect_cells(const struct csv_table *report, uint64_t line, const struct csv_table *ops)
{
	uint64_t row = flex_row(ops, "GLOBAL CALL COUNT",
	                        flex_cell(report, line, "GLOBAL CALL COUNT"), "DEVICE ID",
	                        flex_cell(report, line, "DEVICE ID"));

	for (uint32_t i = 0; i < report->n_columns; i++)
		assert_string_equal(flex_cell(ops, row, report->columns[i]),
		                    flex_cell(report, line, report->columns[i]));
}

static void test_tt_data__keeps_every_cell_of_a_report(void **state)
{
	static const char report[] = DATA "ops-perf-results/bh20_oft_integral_image_trace.csv";
	const char *paths[] = {report};
	struct flex_run *run = *state;
	struct csv_table in, out;

	if (access(report, R_OK) < 0)
		skip();
	flex_convert_files(run, paths, 1);
	in = read_table(report);
	out = flex_read_table(run, "tables/ops.csv");
	for (uint64_t i = 0; i < in.n_rows; i++) {
		if (strcmp(flex_cell(&in, i, "OP TYPE"), "signpost") != 0)
			expect_cells(&in, i, &out);
	}
	csv_table_release(&in);
	csv_table_release(&out);
}

static void test_tt_data__counts_what_full_buffers_lost(void **state)
{
	struct flex_run *run = convert(state, "full_buffer_nc_risc");

	assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_BEGIN), 2);
	again(state);
	run = convert(state, "full_buffer_nc_b_t0_t1_t2_risc");
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_BEGIN), 5);
	again(state);
	run = convert(state, "missing_all_defualt_markers");
	assert_int_equal(ledger_lost(&run->ledger), 0);
	assert_int_equal(run->events.n_rows, 0);
	again(state);
	run = convert(state, "out_of_order");
	assert_true(run->ledger.warnings[WARNING_UNSORTED_ROWS] > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tt_data__has_the_true_figures),
		TEST(test_tt_data__has_the_figures_of_each_core),
		TEST(test_tt_data__rearranges_stamps_as_they_do),
		TEST(test_tt_data__prints_what_they_print),
		TEST(test_tt_data__keeps_every_cell_of_a_report),
		TEST(test_tt_data__counts_what_full_buffers_lost),
		TEST(test_tt_data__reads_reports_of_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
